//! The products of `DATA_PRODUCTS` with a total: `/json` and `/compress`.

use std::fs;

use actix_web::error::ErrorBadRequest;
use actix_web::middleware::Compress;
use actix_web::web::{self, Data, Json, Path, Query, ServiceConfig};
use actix_web::{Resource, Result};
use serde::{Deserialize, Serialize};

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

pub fn configure(config: &mut ServiceConfig) {
    config.service(resource("/json/{count}"));
    config.service(resource("/compress/{count}").wrap(Compress::default()));
}

fn resource(path: &str) -> Resource {
    web::resource(path).route(web::get().to(sales)).route(web::head().to(sales))
}

async fn sales(products: Data<Products>, count: Path<usize>, factor: Query<Factor>) -> Result<Json<Sales>> {
    let (count, m) = (*count, factor.m);
    if count == 0 || !(1..=1_000_000).contains(&m) {
        return Err(ErrorBadRequest("m is 1 to 1000000"));
    }
    let products = products.get(..count).ok_or_else(|| ErrorBadRequest("there are fewer products"))?;
    let items = products
        .iter()
        .map(|product| Sale { product, total: product.price * product.quantity * m })
        .collect();
    Ok(Json(Sales { items, count }))
}
