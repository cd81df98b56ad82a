//! The products of `DATA_PRODUCTS` with a total: `/json`.

use std::fs;

use rocket::http::Status;
use rocket::serde::json::{Json, serde_json};
use rocket::serde::{Deserialize, Serialize};
use rocket::{State, get};

#[derive(Deserialize, Serialize)]
#[serde(crate = "rocket::serde")]
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
#[serde(crate = "rocket::serde")]
struct Rating {
    score: u32,
    count: u32,
}

/// Read once, and there until the program ends.
pub type Products = &'static [Product];

#[derive(Serialize)]
#[serde(crate = "rocket::serde")]
struct Sale {
    #[serde(flatten)]
    product: &'static Product,
    total: u64,
}

#[derive(Serialize)]
#[serde(crate = "rocket::serde")]
pub struct Sales {
    items: Vec<Sale>,
    count: usize,
}

pub fn read(file: &str) -> Result<Products, String> {
    let text = fs::read(file).map_err(|error| error.to_string())?;
    let products: Vec<Product> = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    Ok(products.leak())
}

#[get("/json/<count>?<m>")]
pub fn sales(count: usize, m: u64, products: &State<Products>) -> Result<Json<Sales>, Status> {
    if count == 0 || !(1..=1_000_000).contains(&m) {
        return Err(Status::BadRequest);
    }
    let products: Products = products.inner();
    let products = products.get(..count).ok_or(Status::BadRequest)?;
    let items = products
        .iter()
        .map(|product| Sale { product, total: product.price * product.quantity * m })
        .collect();
    Ok(Json(Sales { items, count }))
}
