//! Items that are read, listed, made and changed: `/crud/items`.

use deadpool_postgres::Pool;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::{Method, Request, Response, StatusCode};
use serde::Serialize;

use crate::items::{self, Item, NewItem};
use crate::query::parameter;
use crate::response::{Body, Error, json, status};

#[derive(Serialize)]
struct Items {
    items: Vec<Item>,
    page: i64,
    limit: i64,
}

pub async fn items(pool: &Pool, request: Request<Incoming>) -> Result<Response<Body>, Error> {
    match *request.method() {
        Method::GET | Method::HEAD => list(pool, request.uri().query()).await,
        Method::POST => match new_item(request).await? {
            None => Ok(status(StatusCode::BAD_REQUEST)),
            Some(item) => {
                let mut response = json(&items::create(pool, &item).await?);
                *response.status_mut() = StatusCode::CREATED;
                Ok(response)
            }
        },
        _ => Ok(status(StatusCode::NOT_FOUND)),
    }
}

pub async fn item(pool: &Pool, id: &str, request: Request<Incoming>) -> Result<Response<Body>, Error> {
    let Ok(id) = id.parse() else {
        return Ok(status(StatusCode::BAD_REQUEST));
    };
    let item = match *request.method() {
        Method::GET | Method::HEAD => items::read(pool, id).await?,
        Method::PUT => match new_item(request).await? {
            None => return Ok(status(StatusCode::BAD_REQUEST)),
            Some(item) => items::update(pool, id, &item).await?,
        },
        _ => None,
    };
    Ok(item.map_or_else(|| status(StatusCode::NOT_FOUND), |item| json(&item)))
}

async fn list(pool: &Pool, query: Option<&str>) -> Result<Response<Body>, Error> {
    let number = |name| parameter(query, name).and_then(|text| text.parse::<i64>().ok());
    let page = number("page").filter(|page| *page >= 1);
    let limit = number("limit").filter(|limit| (1..=50).contains(limit));
    let (Some(category), Some(page), Some(limit)) = (parameter(query, "category"), page, limit) else {
        return Ok(status(StatusCode::BAD_REQUEST));
    };
    let items = items::list(pool, &category, limit, (page - 1).saturating_mul(limit)).await?;
    Ok(json(&Items { items, page, limit }))
}

async fn new_item(request: Request<Incoming>) -> hyper::Result<Option<NewItem>> {
    let body = request.into_body().collect().await?.to_bytes();
    Ok(serde_json::from_slice(&body).ok())
}
