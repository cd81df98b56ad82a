//! What another server answers, with a member added: `/gateway`.

use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper::{Response, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Map, Value};

use crate::response::{Body, Error, json, status};

pub struct Upstream {
    client: Client<HttpConnector, Empty<Bytes>>,
    url: String,
}

impl Upstream {
    /// The URL has no slash at its end.
    pub fn new(url: String) -> Self {
        Self { client: Client::builder(TokioExecutor::new()).build_http(), url }
    }

    pub async fn answer(&self, id: &str) -> Result<Response<Body>, Error> {
        let answer = self.client.get(format!("{}/items/{id}", self.url).parse()?).await?;
        if answer.status() != StatusCode::OK {
            let missing = answer.status() == StatusCode::NOT_FOUND;
            return Ok(status(if missing { StatusCode::NOT_FOUND } else { StatusCode::BAD_GATEWAY }));
        }
        let body = answer.into_body().collect().await?.to_bytes();
        let mut item: Map<String, Value> = serde_json::from_slice(&body)?;
        item.insert("via".to_owned(), "gateway".into());
        Ok(json(&item))
    }
}
