//! The products of `DATA_PRODUCTS` with a total: `/json` and `/compress`.

use std::fs;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use tower_http::compression::CompressionLayer;

#[derive(Deserialize, Serialize)]
pub struct Product {
    id: u32,
    name: String,
    category: String,
    price: u64,
    quantity: u64,
    active: bool,
    tags: Vec<String>,
    rating: Rating,
}

#[derive(Deserialize, Serialize)]
struct Rating {
    score: u32,
    count: u32,
}

/// Read once, and there until the program ends.
pub type Products = &'static [Product];

#[derive(Serialize)]
struct Sale {
    #[serde(flatten)]
    product: &'static Product,
    total: u64,
}

#[derive(Serialize)]
struct Sales {
    items: Vec<Sale>,
    count: usize,
}

#[derive(Deserialize)]
struct Factor {
    m: u64,
}

pub fn read(file: &str) -> Result<Products, String> {
    let text = fs::read(file).map_err(|error| error.to_string())?;
    let products: Vec<Product> = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    Ok(products.leak())
}

pub fn router(products: Products) -> Router {
    let compressed = Router::new().route("/compress/{count}", get(sales)).layer(CompressionLayer::new());
    Router::new().route("/json/{count}", get(sales)).merge(compressed).with_state(products)
}

async fn sales(
    State(products): State<Products>,
    Path(count): Path<usize>,
    Query(Factor { m }): Query<Factor>,
) -> Result<Json<Sales>, StatusCode> {
    if count == 0 || !(1..=1_000_000).contains(&m) {
        return Err(StatusCode::BAD_REQUEST);
    }
    let products = products.get(..count).ok_or(StatusCode::BAD_REQUEST)?;
    let items = products
        .iter()
        .map(|product| Sale { product, total: product.price * product.quantity * m })
        .collect();
    Ok(Json(Sales { items, count }))
}
