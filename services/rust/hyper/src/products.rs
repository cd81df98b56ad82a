//! The products of `DATA_PRODUCTS` with a total: `/json` and `/compress`.

use std::fs;
use std::future;

use std::convert::Infallible;

use futures_util::FutureExt;
use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode};
use serde::{Deserialize, Serialize};
use tower::{ServiceExt, service_fn};
use tower_http::compression::Compression;

use crate::query::parameter;
use crate::response::{Body, boxed, json, status};

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

pub fn read(file: &str) -> Result<Products, String> {
    let text = fs::read(file).map_err(|error| error.to_string())?;
    let products: Vec<Product> = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    Ok(products.leak())
}

pub fn sales(products: Products, count: &str, query: Option<&str>) -> Response<Body> {
    let factor = parameter(query, "m").and_then(|m| m.parse::<u64>().ok());
    let factor = factor.filter(|m| (1..=1_000_000).contains(m));
    let count = count.parse().ok().filter(|count| (1..=products.len()).contains(count));
    let (Some(m), Some(count)) = (factor, count) else {
        return status(StatusCode::BAD_REQUEST);
    };
    let total = |product: &Product| product.price * product.quantity * m;
    let items = products[..count].iter().map(|product| Sale { product, total: total(product) }).collect();
    json(&Sales { items, count })
}

/// As the request accepts it. The future is boxed, as the compiler cannot prove by itself that it is `Send`.
pub async fn compressed(answer: Response<Body>, request: Request<Incoming>) -> Response<Body> {
    let mut answer = Some(answer);
    let service = service_fn(move |_: Request<Incoming>| {
        future::ready(Ok::<_, Infallible>(answer.take().expect("it is asked once")))
    });
    let Ok(response) = Compression::new(service).oneshot(request).boxed().await;
    response.map(boxed)
}
