//! Items that are read, listed, made and changed: `/crud/items`.

use actix_web::error::{ErrorBadRequest, ErrorInternalServerError, ErrorNotFound};
use actix_web::http::StatusCode;
use actix_web::web::{Data, Json, Path, Query, ServiceConfig};
use actix_web::{Responder, Result, post, put, routes};
use deadpool_postgres::Pool;
use serde::{Deserialize, Serialize};

use crate::items::{self, Item, NewItem};

#[derive(Deserialize)]
struct Selection {
    category: String,
    page: i64,
    limit: i64,
}

#[derive(Serialize)]
struct Items {
    items: Vec<Item>,
    page: i64,
    limit: i64,
}

pub fn configure(config: &mut ServiceConfig) {
    config.service(read).service(list).service(create).service(update);
}

#[routes]
#[get("/crud/items/{id}")]
#[head("/crud/items/{id}")]
async fn read(pool: Data<Pool>, id: Path<i32>) -> Result<Json<Item>> {
    let item = items::read(&pool, *id).await.map_err(ErrorInternalServerError)?;
    item.map(Json).ok_or_else(|| ErrorNotFound("there is no such item"))
}

#[routes]
#[get("/crud/items")]
#[head("/crud/items")]
async fn list(pool: Data<Pool>, selection: Query<Selection>) -> Result<Json<Items>> {
    let Selection { category, page, limit } = selection.into_inner();
    if page < 1 || !(1..=50).contains(&limit) {
        return Err(ErrorBadRequest("page is at least 1, limit is 1 to 50"));
    }
    let offset = (page - 1).saturating_mul(limit);
    let items = items::list(&pool, &category, limit, offset).await.map_err(ErrorInternalServerError)?;
    Ok(Json(Items { items, page, limit }))
}

#[post("/crud/items")]
async fn create(pool: Data<Pool>, item: Json<NewItem>) -> Result<impl Responder> {
    let item = items::create(&pool, &item).await.map_err(ErrorInternalServerError)?;
    Ok(Json(item).customize().with_status(StatusCode::CREATED))
}

#[put("/crud/items/{id}")]
async fn update(pool: Data<Pool>, id: Path<i32>, item: Json<NewItem>) -> Result<Json<Item>> {
    let item = items::update(&pool, *id, &item).await.map_err(ErrorInternalServerError)?;
    item.map(Json).ok_or_else(|| ErrorNotFound("there is no such item"))
}
