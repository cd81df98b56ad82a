//! What is answered on which path.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use xitca_web::error::{Error, ErrorStatus, RouterError};
use xitca_web::handler::handler_service;
use xitca_web::handler::json::Json;
use xitca_web::handler::params::Params;
use xitca_web::handler::query::Query;
use xitca_web::handler::state::StateRef;
use xitca_web::middleware::compress::Compress;
use xitca_web::middleware::eraser::TypeEraser;
use xitca_web::route::{get, post};
use xitca_web::service::file::ServeDir;
use xitca_web::service::{Service, ServiceExt};
use xitca_web::{App, NestApp, WebContext};

use crate::application::Application;
use crate::products::sales;
use crate::settings::Settings;
use crate::upload::upload;
use crate::work::Work;

const COUNT_MAX: usize = 1_000_000;

pub fn routes(settings: &Settings) -> NestApp<Application> {
    let mut app = App::new()
        .at("/", get(handler_service(hello)).head(handler_service(hello)))
        .at("/api/test", get(handler_service(api)).head(handler_service(api)))
        .at("/test", post(handler_service(echo)))
        .at("/test/status", get(handler_service(status)).head(handler_service(status)))
        .at("/test/labels/{label}", get(handler_service(label)).head(handler_service(label)))
        .at("/framework", get(handler_service(framework)).head(handler_service(framework)))
        .at("/benchmark", get(handler_service(benchmark)).head(handler_service(benchmark)))
        .at("/upload", post(handler_service(upload)));
    if settings.products.is_some() {
        let compressed = get(handler_service(sales)).head(handler_service(sales));
        let compressed = compressed.enclosed(Compress).enclosed(TypeEraser::response_body());
        app = app
            .at("/json/{count}", get(handler_service(sales)).head(handler_service(sales)))
            .at("/compress/{count}", compressed);
    }
    if let Some(folder) = &settings.folder_static {
        app = app.at("/static", ServeDir::new(folder.clone()).enclosed_fn(below_static));
    }
    app
}

/// ServeDir looks for the whole path in its folder.
async fn below_static<S, C, B, R>(
    service: &S,
    mut context: WebContext<'_, C, B>,
) -> Result<R, RouterError<Error>>
where
    S: for<'r> Service<WebContext<'r, C, B>, Response = R, Error = RouterError<Error>>,
{
    let path = context.req().uri().path();
    let name = path.strip_prefix("/static").unwrap_or(path).parse();
    *context.req_mut().uri_mut() =
        name.map_err(|_| RouterError::Service(ErrorStatus::bad_request().into()))?;
    service.call(context).await
}

async fn hello() -> &'static str {
    "Hello world!"
}

async fn api() -> &'static str {
    "Hello, World!"
}

async fn echo(
    Json(mut message): Json<Map<String, Value>>,
    StateRef(work): StateRef<'_, Work>,
) -> Json<Map<String, Value>> {
    work.wait().await;
    message.insert("text".to_owned(), "received".into());
    Json(message)
}

async fn status() -> &'static str {
    "OK"
}

async fn label(Params(label): Params<String>) -> String {
    label
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

async fn benchmark(Query(Benchmark { count }): Query<Benchmark>) -> Result<Json<Vec<String>>, Error> {
    if count > COUNT_MAX {
        return Err(ErrorStatus::bad_request().into());
    }
    let mut strings: Vec<String> = (0..count).map(|index| format!("Index {index}")).collect();
    strings.truncate(10);
    Ok(Json(strings))
}
