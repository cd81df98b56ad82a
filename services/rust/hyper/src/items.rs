//! The table `items`: each function is one statement.

use deadpool_postgres::{Pool, PoolError};
use serde::{Deserialize, Serialize};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row};

#[derive(Serialize)]
pub struct Item {
    id: i32,
    name: String,
    category: String,
    price: i32,
    quantity: i32,
}

/// An item as a client sends it: the database chooses its id.
#[derive(Deserialize)]
pub struct NewItem {
    name: String,
    category: String,
    price: i32,
    quantity: i32,
}

impl TryFrom<Row> for Item {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self, Error> {
        Ok(Self {
            id: row.try_get("id")?,
            name: row.try_get("name")?,
            category: row.try_get("category")?,
            price: row.try_get("price")?,
            quantity: row.try_get("quantity")?,
        })
    }
}

pub async fn read(pool: &Pool, id: i32) -> Result<Option<Item>, PoolError> {
    let select = "SELECT id, name, category, price, quantity FROM items WHERE id = $1";
    Ok(ask(pool, select, &[&id]).await?.pop())
}

pub async fn list(pool: &Pool, category: &str, limit: i64, offset: i64) -> Result<Vec<Item>, PoolError> {
    let select = "SELECT id, name, category, price, quantity FROM items WHERE category = $1
        ORDER BY id LIMIT $2 OFFSET $3";
    ask(pool, select, &[&category, &limit, &offset]).await
}

pub async fn create(pool: &Pool, item: &NewItem) -> Result<Option<Item>, PoolError> {
    let insert = "INSERT INTO items (name, category, price, quantity) VALUES ($1, $2, $3, $4)
        RETURNING id, name, category, price, quantity";
    let values: [&(dyn ToSql + Sync); 4] = [&item.name, &item.category, &item.price, &item.quantity];
    Ok(ask(pool, insert, &values).await?.pop())
}

pub async fn update(pool: &Pool, id: i32, item: &NewItem) -> Result<Option<Item>, PoolError> {
    let update = "UPDATE items SET name = $2, category = $3, price = $4, quantity = $5 WHERE id = $1
        RETURNING id, name, category, price, quantity";
    let values: [&(dyn ToSql + Sync); 5] = [&id, &item.name, &item.category, &item.price, &item.quantity];
    Ok(ask(pool, update, &values).await?.pop())
}

async fn ask(pool: &Pool, statement: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Item>, PoolError> {
    let client = pool.get().await?;
    let statement = client.prepare_cached(statement).await?;
    let rows = client.query(&statement, values).await?;
    Ok(rows.into_iter().map(Item::try_from).collect::<Result<_, _>>()?)
}
