//! What another server answers, with a member added: `/gateway`.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use reqwest::{Client, Url};
use serde_json::{Map, Value};

use crate::failure::Failure;

#[derive(Clone)]
struct Upstream {
    client: Client,
    url: Url,
}

pub fn router(url: Url) -> reqwest::Result<Router> {
    let client = Client::builder().no_proxy().build()?;
    Ok(Router::new().route("/gateway/{id}", get(gateway)).with_state(Upstream { client, url }))
}

async fn gateway(
    State(Upstream { client, mut url }): State<Upstream>,
    Path(id): Path<String>,
) -> Result<Response, Failure> {
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(["items", &id]);
    }
    let answer = client.get(url).send().await?;
    if answer.status() == StatusCode::NOT_FOUND {
        return Ok(StatusCode::NOT_FOUND.into_response());
    }
    let mut item: Map<String, Value> = answer.error_for_status()?.json().await?;
    item.insert("via".to_owned(), "gateway".into());
    Ok(Json(item).into_response())
}
