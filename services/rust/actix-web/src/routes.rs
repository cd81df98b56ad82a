//! What is answered on which path.

use actix_web::error::ErrorBadRequest;
use actix_web::web::{Data, Json, Path, Query, ServiceConfig};
use actix_web::{Result, post, routes};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::upload::upload;
use crate::work::Work;

const COUNT_MAX: usize = 1_000_000;

pub fn configure(config: &mut ServiceConfig) {
    config
        .service(hello)
        .service(api)
        .service(echo)
        .service(status)
        .service(label)
        .service(framework)
        .service(benchmark)
        .service(upload);
}

#[routes]
#[get("/")]
#[head("/")]
async fn hello() -> &'static str {
    "Hello world!"
}

#[routes]
#[get("/api/test")]
#[head("/api/test")]
async fn api() -> &'static str {
    "Hello, World!"
}

#[post("/test")]
async fn echo(message: Json<Map<String, Value>>, work: Data<Work>) -> Json<Map<String, Value>> {
    work.wait().await;
    let mut message = message.into_inner();
    message.insert("text".to_owned(), "received".into());
    Json(message)
}

#[routes]
#[get("/test/status")]
#[head("/test/status")]
async fn status() -> &'static str {
    "OK"
}

#[routes]
#[get("/test/labels/{label}")]
#[head("/test/labels/{label}")]
async fn label(label: Path<String>) -> String {
    label.into_inner()
}

#[routes]
#[get("/framework")]
#[head("/framework")]
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

#[routes]
#[get("/benchmark")]
#[head("/benchmark")]
async fn benchmark(query: Query<Benchmark>) -> Result<Json<Vec<String>>> {
    if query.count > COUNT_MAX {
        return Err(ErrorBadRequest("count is at most 1000000"));
    }
    let mut strings: Vec<String> = (0..query.count).map(|index| format!("Index {index}")).collect();
    strings.truncate(10);
    Ok(Json(strings))
}
