//! The products of `DATA_PRODUCTS` with a total: `/json` and `/compress`.

use std::fs;

use serde::{Deserialize, Serialize};
use xitca_web::error::{Error, ErrorStatus};
use xitca_web::handler::json::Json;
use xitca_web::handler::params::Params;
use xitca_web::handler::query::Query;
use xitca_web::handler::state::StateRef;

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
pub struct Sales {
    items: Vec<Sale>,
    count: usize,
}

#[derive(Deserialize)]
pub struct Factor {
    m: u64,
}

pub fn read(file: &str) -> Result<Products, String> {
    let text = fs::read(file).map_err(|error| error.to_string())?;
    let products: Vec<Product> = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    Ok(products.leak())
}

pub async fn sales(
    Params(count): Params<usize>,
    Query(Factor { m }): Query<Factor>,
    StateRef(products): StateRef<'_, Products>,
) -> Result<Json<Sales>, Error> {
    if count == 0 || !(1..=1_000_000).contains(&m) {
        return Err(ErrorStatus::bad_request().into());
    }
    let products: Products = products;
    let products = products.get(..count).ok_or_else(ErrorStatus::bad_request)?;
    let items = products
        .iter()
        .map(|product| Sale { product, total: product.price * product.quantity * m })
        .collect();
    Ok(Json(Sales { items, count }))
}
