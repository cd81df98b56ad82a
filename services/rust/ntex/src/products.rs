//! The products of `DATA_PRODUCTS` with a total: `/json` and `/compress`.

use std::fs;

use ntex::web::error::ErrorBadRequest;
use ntex::web::middleware::Compress;
use ntex::web::types::{Json, Path, Query, State};
use ntex::web::{self, ServiceConfig};
use serde::{Deserialize, Serialize};

use crate::routes::reads;

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
    let compressed = web::resource("/compress/{count}").middleware(Compress::default());
    config
        .service(web::resource("/json/{count}").route(reads().to(sales)))
        .service(compressed.route(reads().to(sales)));
}

async fn sales(
    products: State<Products>,
    count: Path<usize>,
    factor: Query<Factor>,
) -> Result<Json<Sales>, web::Error> {
    let (count, m) = (*count, factor.m);
    if count == 0 || !(1..=1_000_000).contains(&m) {
        return Err(ErrorBadRequest("m is 1 to 1000000").into());
    }
    let products = products.get(..count).ok_or_else(|| ErrorBadRequest("there are fewer products"))?;
    let items = products
        .iter()
        .map(|product| Sale { product, total: product.price * product.quantity * m })
        .collect();
    Ok(Json(Sales { items, count }))
}
