//! What is answered on which path. hyper has no router: a `match` on method and path, as its documentation does it.

use std::io;
use std::time::Duration;

use http_body_util::{BodyExt, Either, Full};
use hyper::body::Incoming;
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;
use tokio::time;

use crate::backings::Backings;
use crate::query::parameter;
use crate::response::{Body, json, status, text};
use crate::settings::Settings;
use crate::upload;

const COUNT_DEFAULT: usize = 10_000;
const COUNT_MAX: usize = 1_000_000;

/// The simulated work on a message: as many wait at once as there are slots.
struct Work {
    slots: Semaphore,
    delay: Duration,
}

impl Work {
    async fn wait(&self) {
        let _slot = self.slots.acquire().await.expect("the semaphore is never closed");
        time::sleep(self.delay).await;
    }
}

pub struct Application {
    work: Option<Work>,
    bare: bool,
    backings: Backings,
}

impl Application {
    pub fn new(settings: &Settings, bare: bool) -> io::Result<Self> {
        let work = (!settings.delay.is_zero())
            .then(|| Work { slots: Semaphore::new(settings.threads), delay: settings.delay });
        let backings = Backings::new(settings).map_err(io::Error::other)?;
        Ok(Self { work, bare, backings })
    }

    /// Two contracts want different answers to `GET /`: `bare` asks for no content type.
    pub async fn answer(&self, request: Request<Incoming>) -> hyper::Result<Response<Body>> {
        let path = request.uri().path();
        Ok(match (request.method(), path) {
            (&Method::GET | &Method::HEAD, "/") if self.bare => {
                Response::new(Either::Left("Hello World!".into()))
            }
            (&Method::GET | &Method::HEAD, "/") => text("Hello world!"),
            (&Method::GET | &Method::HEAD, "/api/test") => text("Hello, World!"),
            (&Method::POST, "/test") => {
                let body = request.into_body().collect().await?.to_bytes();
                echo(&body, &self.work).await
            }
            (&Method::GET | &Method::HEAD, "/test/status") => text("OK"),
            (&Method::GET | &Method::HEAD, "/framework") => json(&json!({ "Hello": "world" })),
            (&Method::GET | &Method::HEAD, "/benchmark") => benchmark(request.uri().query()),
            (&Method::GET | &Method::HEAD, _) if path.starts_with("/test/labels/") => {
                let label = &path["/test/labels/".len()..];
                if label.is_empty() || label.contains('/') {
                    status(StatusCode::NOT_FOUND)
                } else {
                    text(label.to_owned())
                }
            }
            (&Method::POST, "/upload") => upload::answer(request).await?,
            _ => match self.backings.answer(request).await {
                Ok(response) => response,
                Err(_) => status(StatusCode::INTERNAL_SERVER_ERROR),
            },
        })
    }

    /// hyper leaves the body of an answer to `HEAD` out in HTTP/1.1; in HTTP/2 it would send it.
    pub async fn answer_h2(&self, request: Request<Incoming>) -> hyper::Result<Response<Body>> {
        let head = request.method() == Method::HEAD;
        let response = self.answer(request).await?;
        Ok(if head { response.map(|_| Either::Left(Full::default())) } else { response })
    }
}

async fn echo(body: &[u8], work: &Option<Work>) -> Response<Body> {
    let Ok(mut message) = serde_json::from_slice::<Map<String, Value>>(body) else {
        return status(StatusCode::BAD_REQUEST);
    };
    if let Some(work) = work {
        work.wait().await;
    }
    message.insert("text".to_owned(), "received".into());
    json(&message)
}

fn benchmark(query: Option<&str>) -> Response<Body> {
    let count = match parameter(query, "count") {
        None => Some(COUNT_DEFAULT),
        Some(value) => value.parse().ok().filter(|count| *count <= COUNT_MAX),
    };
    let Some(count) = count else {
        return status(StatusCode::BAD_REQUEST);
    };
    let strings: Vec<String> = (0..count).map(|index| format!("Index {index}")).collect();
    json(&strings[..count.min(10)])
}
