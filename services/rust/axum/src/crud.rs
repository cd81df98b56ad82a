//! Items that are read, listed, made and changed: `/crud/items`. Each answer takes one statement.

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use sqlx::{FromRow, PgPool};

use crate::failure::Failure;

#[derive(FromRow, Serialize)]
struct Item {
    id: i32,
    name: String,
    category: String,
    price: i32,
    quantity: i32,
}

/// An item as a client sends it: the database chooses its id.
#[derive(Deserialize)]
struct NewItem {
    name: String,
    category: String,
    price: i32,
    quantity: i32,
}

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

pub fn router(pool: PgPool) -> Router {
    Router::new()
        .route("/crud/items", get(list).post(create))
        .route("/crud/items/{id}", get(read).put(update))
        .with_state(pool)
}

async fn read(State(pool): State<PgPool>, Path(id): Path<i32>) -> Result<Response, Failure> {
    let item: Option<Item> =
        sqlx::query_as("SELECT id, name, category, price, quantity FROM items WHERE id = $1")
            .bind(id)
            .fetch_optional(&pool)
            .await?;
    Ok(item.map(Json).ok_or(StatusCode::NOT_FOUND).into_response())
}

async fn list(State(pool): State<PgPool>, Query(selection): Query<Selection>) -> Result<Response, Failure> {
    let Selection { category, page, limit } = selection;
    if page < 1 || !(1..=50).contains(&limit) {
        return Ok(StatusCode::BAD_REQUEST.into_response());
    }
    let items = sqlx::query_as(
        "SELECT id, name, category, price, quantity FROM items WHERE category = $1
        ORDER BY id LIMIT $2 OFFSET $3",
    )
    .bind(category)
    .bind(limit)
    .bind((page - 1).saturating_mul(limit))
    .fetch_all(&pool)
    .await?;
    Ok(Json(Items { items, page, limit }).into_response())
}

async fn create(
    State(pool): State<PgPool>,
    Json(item): Json<NewItem>,
) -> Result<(StatusCode, Json<Item>), Failure> {
    let stored = sqlx::query_as(
        "INSERT INTO items (name, category, price, quantity) VALUES ($1, $2, $3, $4)
        RETURNING id, name, category, price, quantity",
    )
    .bind(item.name)
    .bind(item.category)
    .bind(item.price)
    .bind(item.quantity)
    .fetch_one(&pool)
    .await?;
    Ok((StatusCode::CREATED, Json(stored)))
}

async fn update(
    State(pool): State<PgPool>,
    Path(id): Path<i32>,
    Json(item): Json<NewItem>,
) -> Result<Response, Failure> {
    let stored: Option<Item> = sqlx::query_as(
        "UPDATE items SET name = $2, category = $3, price = $4, quantity = $5 WHERE id = $1
        RETURNING id, name, category, price, quantity",
    )
    .bind(id)
    .bind(item.name)
    .bind(item.category)
    .bind(item.price)
    .bind(item.quantity)
    .fetch_optional(&pool)
    .await?;
    Ok(stored.map(Json).ok_or(StatusCode::NOT_FOUND).into_response())
}
