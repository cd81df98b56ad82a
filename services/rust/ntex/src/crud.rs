//! Items that are read, listed, made and changed: `/crud/items`.

use deadpool_postgres::Pool;
use ntex::web::error::{ErrorBadRequest, ErrorInternalServerError, ErrorNotFound};
use ntex::web::types::{Json, Path, Query, State};
use ntex::web::{self, HttpResponse, ServiceConfig};
use serde::{Deserialize, Serialize};

use crate::items::{self, Item, NewItem};
use crate::routes::reads;

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
    config
        .service(web::resource("/crud/items").route(reads().to(list)).route(web::post().to(create)))
        .service(web::resource("/crud/items/{id}").route(reads().to(read)).route(web::put().to(update)));
}

async fn read(pool: State<Pool>, id: Path<i32>) -> Result<Json<Item>, web::Error> {
    let item = items::read(&pool, *id).await.map_err(ErrorInternalServerError)?;
    Ok(item.map(Json).ok_or_else(|| ErrorNotFound("there is no such item"))?)
}

async fn list(pool: State<Pool>, selection: Query<Selection>) -> Result<Json<Items>, web::Error> {
    let Selection { category, page, limit } = selection.into_inner();
    if page < 1 || !(1..=50).contains(&limit) {
        return Err(ErrorBadRequest("page is at least 1, limit is 1 to 50").into());
    }
    let offset = (page - 1).saturating_mul(limit);
    let items = items::list(&pool, &category, limit, offset).await.map_err(ErrorInternalServerError)?;
    Ok(Json(Items { items, page, limit }))
}

async fn create(pool: State<Pool>, item: Json<NewItem>) -> Result<HttpResponse, web::Error> {
    let item = items::create(&pool, &item).await.map_err(ErrorInternalServerError)?;
    Ok(HttpResponse::Created().json(&item))
}

async fn update(pool: State<Pool>, id: Path<i32>, item: Json<NewItem>) -> Result<Json<Item>, web::Error> {
    let item = items::update(&pool, *id, &item).await.map_err(ErrorInternalServerError)?;
    Ok(item.map(Json).ok_or_else(|| ErrorNotFound("there is no such item"))?)
}
