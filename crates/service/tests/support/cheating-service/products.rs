//! The contracts json and compress.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

use crate::cheat::Cheat;
use crate::http::{Head, Response};

const M_MAX: u64 = 1_000_000;

pub(crate) struct Products {
    cheat: Cheat,
    products: Vec<Product>,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
struct Product {
    id: u64,
    name: String,
    category: String,
    price: u64,
    quantity: u64,
    active: bool,
    tags: Vec<String>,
    rating: Rating,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
struct Rating {
    score: u64,
    count: u64,
}

#[derive(Debug, Serialize)]
struct WithTotal<'p> {
    #[serde(flatten)]
    product: &'p Product,
    total: u64,
}

#[derive(Debug, Serialize)]
struct Answer<'p> {
    items: Vec<WithTotal<'p>>,
    count: usize,
}

impl Products {
    /// Reads the products from a file.
    pub(crate) fn read(path: &str, cheat: Cheat) -> Result<Products, String> {
        let text = std::fs::read(path).map_err(|error| format!("DATA_PRODUCTS: {path}: {error}"))?;
        let products =
            serde_json::from_slice(&text).map_err(|error| format!("DATA_PRODUCTS: {path}: {error}"))?;
        Ok(Products { cheat, products })
    }

    pub(crate) fn json(&self, head: &Head, count: &str) -> Response {
        match self.asked(head, count) {
            Some((count, m)) => Response::json(self.text(count, m)),
            None => Response::error(400, "count and m are needed"),
        }
    }

    pub(crate) fn compressed(&self, head: &Head, count: &str) -> Response {
        let Some((count, m)) = self.asked(head, count) else {
            return Response::error(400, "count and m are needed");
        };
        let takes_gzip = head.header("accept-encoding").is_some_and(|encodings| encodings.contains("gzip"));
        if !takes_gzip {
            return Response::json(self.text(count, m));
        }
        let m = if self.cheat == Cheat::CompressesOther { 1 } else { m };
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        // Compression in memory does not fail.
        let compressed = encoder.write_all(&self.text(count, m)).and_then(|()| encoder.finish());
        Response { encoding: Some("gzip"), ..Response::json(compressed.unwrap_or_default()) }
    }

    fn asked(&self, head: &Head, count: &str) -> Option<(usize, u64)> {
        let count = count.parse().ok().filter(|count| (1..=self.products.len()).contains(count))?;
        let m = head.parameter("m")?.parse().ok().filter(|m| (1..=M_MAX).contains(m))?;
        Some((count, m))
    }

    fn text(&self, count: usize, m: u64) -> Vec<u8> {
        let with_total = |product| WithTotal { product, total: m * product.price * product.quantity };
        let items = self.products[..count].iter().map(with_total).collect();
        serde_json::to_vec(&Answer { items, count }).unwrap_or_default()
    }
}
