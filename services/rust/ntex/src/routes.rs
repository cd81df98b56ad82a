//! What is answered on which path.

use std::sync::Arc;

use ntex::web::error::{ErrorBadRequest, InternalError};
use ntex::web::guard::{Any, Get, Head};
use ntex::web::types::{Json, Path, Query, State};
use ntex::web::{self, Route, ServiceConfig};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::upload::upload;
use crate::work::Work;

const COUNT_MAX: usize = 1_000_000;

pub fn configure(config: &mut ServiceConfig) {
    config
        .service(web::resource("/").route(reads().to(hello)))
        .service(web::resource("/api/test").route(reads().to(api)))
        .service(web::resource("/test").route(web::post().to(echo)))
        .service(web::resource("/test/status").route(reads().to(status)))
        .service(web::resource("/test/labels/{label}").route(reads().to(label)))
        .service(web::resource("/framework").route(reads().to(framework)))
        .service(web::resource("/benchmark").route(reads().to(benchmark)))
        .service(web::resource("/upload").route(web::post().to(upload)));
}

/// ntex answers `HEAD` where a route asks for it, with the head of the answer alone.
pub fn reads() -> Route {
    web::route().guard(Any(Get()).or(Head()))
}

async fn hello() -> &'static str {
    "Hello world!"
}

async fn api() -> &'static str {
    "Hello, World!"
}

async fn echo(message: Json<Map<String, Value>>, work: State<Arc<Work>>) -> Json<Map<String, Value>> {
    work.wait().await;
    let mut message = message.into_inner();
    message.insert("text".to_owned(), "received".into());
    Json(message)
}

async fn status() -> &'static str {
    "OK"
}

async fn label(label: Path<String>) -> String {
    label.into_inner()
}

async fn framework() -> Json<Value> {
    Json(json!({ "Hello": "world" }))
}

#[derive(Deserialize)]
struct Benchmark {
    #[serde(default = "count_default")]
    count: usize,
}

fn count_default() -> usize {
    10_000
}

async fn benchmark(query: Query<Benchmark>) -> Result<Json<Vec<String>>, InternalError<&'static str>> {
    if query.count > COUNT_MAX {
        return Err(ErrorBadRequest("count is at most 1000000").into());
    }
    let mut strings: Vec<String> = (0..query.count).map(|index| format!("Index {index}")).collect();
    strings.truncate(10);
    Ok(Json(strings))
}
