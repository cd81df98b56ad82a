//! What another server answers, with a member added: `/gateway`.

use actix_web::error::{ErrorBadGateway, ErrorNotFound};
use actix_web::http::StatusCode;
use actix_web::web::{Data, Json, Path, ServiceConfig};
use actix_web::{Result, routes};
use awc::Client;
use serde_json::{Map, Value};

/// A client for each worker, as it cannot leave its thread.
pub fn configure(config: &mut ServiceConfig, upstream: Data<Upstream>) {
    config.app_data(Data::new(Client::default())).app_data(upstream).service(gateway);
}

/// The URL of the other server, without a slash at the end.
pub struct Upstream(pub String);

#[routes]
#[get("/gateway/{id:[0-9]+}")]
#[head("/gateway/{id:[0-9]+}")]
async fn gateway(
    client: Data<Client>,
    upstream: Data<Upstream>,
    id: Path<String>,
) -> Result<Json<Map<String, Value>>> {
    let mut answer =
        client.get(format!("{}/items/{id}", upstream.0)).send().await.map_err(ErrorBadGateway)?;
    match answer.status() {
        StatusCode::OK => {}
        StatusCode::NOT_FOUND => return Err(ErrorNotFound("there is no such item")),
        status => return Err(ErrorBadGateway(status)),
    }
    let mut item: Map<String, Value> = answer.json().await.map_err(ErrorBadGateway)?;
    item.insert("via".to_owned(), "gateway".into());
    Ok(Json(item))
}
