//! The contracts of Tare on hyper. It has no router: a `match` on method and path, as its documentation does it.

mod settings;
mod tls;

use std::env;
use std::io;
use std::net::Ipv4Addr;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;
use tokio::time;
use tokio_rustls::TlsAcceptor;

use settings::{Protocol, Settings};

const COUNT_DEFAULT: usize = 10_000;
const COUNT_MAX: usize = 1_000_000;

/// How long requests in flight may take to end after SIGTERM.
const GRACE: Duration = Duration::from_millis(250);

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

fn main() -> ExitCode {
    if env::args().skip(1).eq(["--version"]) {
        println!("{}", env!("HYPER_VERSION"));
        return ExitCode::SUCCESS;
    }
    let bare = env::args().skip(1).eq(["--bare"]);
    let settings = match Settings::from_env() {
        Ok(settings) => settings,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let runtime = runtime::Builder::new_multi_thread().worker_threads(settings.threads).enable_all().build();
    match runtime.and_then(|runtime| runtime.block_on(serve(&settings, bare))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot serve on port {}: {error}", settings.port);
            ExitCode::FAILURE
        }
    }
}

async fn serve(settings: &Settings, bare: bool) -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, settings.port)).await?;
    let work = (!settings.delay.is_zero())
        .then(|| Arc::new(Work { slots: Semaphore::new(settings.threads), delay: settings.delay }));
    let graceful = GracefulShutdown::new();
    let mut terminated = pin!(terminate.recv());

    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else {
                    // Out of file descriptors, as a rule: some may be free again soon.
                    time::sleep(Duration::from_millis(100)).await;
                    continue;
                };
                let work = work.clone();
                // An error here is one of the client's: its connection is over, and nothing else.
                match &settings.protocol {
                    Protocol::Http1 => {
                        let service = service_fn(move |request| answer(request, work.clone(), bare));
                        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                        tokio::spawn(graceful.watch(connection))
                    }
                    Protocol::H2c => {
                        let _ = stream.set_nodelay(true);
                        let service = service_fn(move |request| answer_h2(request, work.clone(), bare));
                        let builder = http2::Builder::new(TokioExecutor::new());
                        tokio::spawn(graceful.watch(builder.serve_connection(TokioIo::new(stream), service)))
                    }
                    Protocol::Tls(acceptor) => {
                        tokio::spawn(serve_tls(stream, acceptor.clone(), graceful.watcher(), work, bare))
                    }
                };
            }
            _ = &mut terminated => break,
        }
    }

    drop(listener);
    let _ = time::timeout(GRACE, graceful.shutdown()).await;
    Ok(())
}

/// The handshake is made here and not where connections are accepted: it waits for the client.
async fn serve_tls(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    watcher: Watcher,
    work: Option<Arc<Work>>,
    bare: bool,
) -> hyper::Result<()> {
    let _ = stream.set_nodelay(true);
    let Ok(stream) = acceptor.accept(stream).await else {
        return Ok(());
    };
    let h2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let stream = TokioIo::new(stream);
    if h2 {
        let service = service_fn(move |request| answer_h2(request, work.clone(), bare));
        watcher.watch(http2::Builder::new(TokioExecutor::new()).serve_connection(stream, service)).await
    } else {
        let service = service_fn(move |request| answer(request, work.clone(), bare));
        watcher.watch(http1::Builder::new().serve_connection(stream, service)).await
    }
}

/// Two contracts want different answers to `GET /`: `bare` asks for no content type.
async fn answer(
    request: Request<Incoming>,
    work: Option<Arc<Work>>,
    bare: bool,
) -> hyper::Result<Response<Full<Bytes>>> {
    let path = request.uri().path();
    Ok(match (request.method(), path) {
        (&Method::GET | &Method::HEAD, "/") if bare => Response::new("Hello World!".into()),
        (&Method::GET | &Method::HEAD, "/") => text("Hello world!"),
        (&Method::GET | &Method::HEAD, "/api/test") => text("Hello, World!"),
        (&Method::POST, "/test") => {
            let body = request.into_body().collect().await?.to_bytes();
            echo(&body, work).await
        }
        (&Method::GET | &Method::HEAD, "/test/status") => text("OK"),
        (&Method::GET | &Method::HEAD, "/framework") => json(&json!({ "Hello": "world" })),
        (&Method::GET | &Method::HEAD, "/benchmark") => benchmark(request.uri().query()),
        (&Method::GET | &Method::HEAD, _) => match path.strip_prefix("/test/labels/") {
            Some(label) if !label.is_empty() && !label.contains('/') => text(label.to_owned()),
            _ => status(StatusCode::NOT_FOUND),
        },
        _ => status(StatusCode::NOT_FOUND),
    })
}

/// hyper leaves the body of an answer to `HEAD` out in HTTP/1.1; in HTTP/2 it would send it.
async fn answer_h2(
    request: Request<Incoming>,
    work: Option<Arc<Work>>,
    bare: bool,
) -> hyper::Result<Response<Full<Bytes>>> {
    let head = request.method() == Method::HEAD;
    let response = answer(request, work, bare).await?;
    Ok(if head { response.map(|_| Full::default()) } else { response })
}

async fn echo(body: &[u8], work: Option<Arc<Work>>) -> Response<Full<Bytes>> {
    let Ok(mut message) = serde_json::from_slice::<Map<String, Value>>(body) else {
        return status(StatusCode::BAD_REQUEST);
    };
    if let Some(work) = work {
        work.wait().await;
    }
    message.insert("text".to_owned(), "received".into());
    json(&message)
}

fn benchmark(query: Option<&str>) -> Response<Full<Bytes>> {
    let mut parameters = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let count = match parameters.find(|(name, _)| name == "count") {
        None => Some(COUNT_DEFAULT),
        Some((_, value)) => value.parse().ok().filter(|count| *count <= COUNT_MAX),
    };
    let Some(count) = count else {
        return status(StatusCode::BAD_REQUEST);
    };
    let strings: Vec<String> = (0..count).map(|index| format!("Index {index}")).collect();
    json(&strings[..count.min(10)])
}

fn text(body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    respond("text/plain; charset=utf-8", body.into())
}

fn json<T: Serialize + ?Sized>(value: &T) -> Response<Full<Bytes>> {
    let body = serde_json::to_vec(value).expect("strings and JSON values have a JSON form");
    respond("application/json", body.into())
}

fn respond(content_type: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

fn status(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}
