//! The contract crud.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use postgres::{Error, Row};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::cheat::Cheat;
use crate::database::Pool;
use crate::http::{Head, Response};
use crate::mixer::Mixer;

const READ: &str = "SELECT id, name, category, price, quantity FROM items WHERE id = $1";
const LIST: &str = "SELECT id, name, category, price, quantity FROM items WHERE category = $1 ORDER BY id LIMIT $2 OFFSET $3";
const CREATE: &str = "INSERT INTO items (name, category, price, quantity) VALUES ($1, $2, $3, $4) \
                      RETURNING id, name, category, price, quantity";
const CHANGE: &str = "UPDATE items SET name = $2, category = $3, price = $4, quantity = $5 WHERE id = $1 \
                      RETURNING id, name, category, price, quantity";
const LIMIT_MAX: i64 = 50;

pub(crate) struct Items {
    cheat: Cheat,
    mixer: Mixer,
    /// Items that `caches-items` has read.
    read: Mutex<HashMap<i32, String>>,
}

#[derive(Debug, Deserialize)]
struct Given {
    name: String,
    category: String,
    price: i32,
    quantity: i32,
}

#[derive(Debug, Serialize)]
struct Item {
    id: i32,
    name: String,
    category: String,
    price: i32,
    quantity: i32,
}

impl Item {
    fn of(row: &Row) -> Item {
        Item {
            id: row.get(0),
            name: row.get(1),
            category: row.get(2),
            price: row.get(3),
            quantity: row.get(4),
        }
    }

    fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl Items {
    pub(crate) fn new(cheat: Cheat) -> Items {
        Items { cheat, mixer: Mixer::new(cheat), read: Mutex::default() }
    }

    pub(crate) fn answer(
        &self,
        pool: &Pool,
        head: &Head,
        id: Option<&str>,
        body: &[u8],
    ) -> Result<Response, Error> {
        match (head.method.as_str(), id) {
            ("GET" | "HEAD", Some(id)) => self.one(pool, id),
            ("GET" | "HEAD", None) => Items::list(pool, head),
            ("POST", None) => Items::create(pool, body),
            ("PUT", Some(id)) => self.change(pool, id, body),
            _ => Ok(Response::error(405, "method not allowed")),
        }
    }

    fn one(&self, pool: &Pool, id: &str) -> Result<Response, Error> {
        let Ok(id) = id.parse::<i32>() else { return Ok(Response::error(404, "not found")) };
        let known = || self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(item) = known().get(&id).filter(|_| self.cheat == Cheat::CachesItems) {
            return Ok(Response::json(item.clone()));
        }
        let rows = pool.with(|connection| connection.query(READ, &[&id]))?;
        let Some(row) = rows.first() else { return Ok(Response::error(404, "not found")) };
        let item = Item::of(row).json();
        if self.cheat == Cheat::CachesItems {
            known().insert(id, item.clone());
        }
        Ok(self.mixer.mix(Response::json(item)))
    }

    fn list(pool: &Pool, head: &Head) -> Result<Response, Error> {
        let number = |name: &str| head.parameter(name).and_then(|text| text.parse::<i64>().ok());
        let (Some(category), Some(page @ 1..), Some(limit @ 1..=LIMIT_MAX)) =
            (head.parameter("category"), number("page"), number("limit"))
        else {
            return Ok(Response::error(400, "category, page and limit are needed"));
        };
        let skipped = (page - 1).saturating_mul(limit);
        let rows = pool.with(|connection| connection.query(LIST, &[&category, &limit, &skipped]))?;
        let items: Vec<Item> = rows.iter().map(Item::of).collect();
        Ok(Response::json(json!({ "items": items, "page": page, "limit": limit }).to_string()))
    }

    fn create(pool: &Pool, body: &[u8]) -> Result<Response, Error> {
        let Ok(Given { name, category, price, quantity }) = serde_json::from_slice(body) else {
            return Ok(Response::error(400, "an item is needed"));
        };
        let rows =
            pool.with(|connection| connection.query(CREATE, &[&name, &category, &price, &quantity]))?;
        Ok(Response { status: 201, ..Response::json(Item::of(&rows[0]).json()) })
    }

    fn change(&self, pool: &Pool, id: &str, body: &[u8]) -> Result<Response, Error> {
        let Ok(id) = id.parse::<i32>() else { return Ok(Response::error(404, "not found")) };
        let Ok(Given { name, category, price, quantity }) = serde_json::from_slice(body) else {
            return Ok(Response::error(400, "an item is needed"));
        };
        if self.cheat == Cheat::ForgetsChange {
            return Ok(Response::json(Item { id, name, category, price, quantity }.json()));
        }
        let rows =
            pool.with(|connection| connection.query(CHANGE, &[&id, &name, &category, &price, &quantity]))?;
        let item = rows.first().map(|row| Response::json(Item::of(row).json()));
        Ok(item.unwrap_or_else(|| Response::error(404, "not found")))
    }
}
