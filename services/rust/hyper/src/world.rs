//! Rows of the table `world`, by random ids: `/db`, `/queries`, `/updates`.

use deadpool_postgres::{Client, Pool, PoolError, Transaction};
use futures_util::future::try_join_all;
use hyper::Response;
use rand::seq::index;
use serde::Serialize;
use tokio_postgres::Statement;

use crate::query::parameter;
use crate::response::{Body, Error, json};

const WORLDS: i32 = 10_000;

const SELECT: &str = "SELECT id, randomnumber FROM world WHERE id = $1";
const UPDATE: &str = "UPDATE world SET randomnumber = $2 WHERE id = $1";

#[derive(Serialize)]
struct World {
    id: i32,
    #[serde(rename = "randomNumber")]
    random_number: i32,
}

impl World {
    async fn read(client: &Client, select: &Statement, id: i32) -> Result<Self, tokio_postgres::Error> {
        let row = client.query_one(select, &[&id]).await?;
        Ok(Self { id: row.try_get("id")?, random_number: row.try_get("randomnumber")? })
    }

    async fn write(
        &self,
        transaction: &Transaction<'_>,
        update: &Statement,
    ) -> Result<u64, tokio_postgres::Error> {
        transaction.execute(update, &[&self.id, &self.random_number]).await
    }
}

/// What is no integer counts as 1.
fn count(query: Option<&str>) -> usize {
    let number: Option<i64> = parameter(query, "queries").and_then(|text| text.parse().ok());
    number.unwrap_or(1).clamp(1, 500) as usize
}

fn random() -> i32 {
    rand::random_range(1..=WORLDS)
}

pub async fn db(pool: &Pool) -> Result<Response<Body>, Error> {
    Ok(json(&read(pool, [random()]).await?[0]))
}

pub async fn queries(pool: &Pool, query: Option<&str>) -> Result<Response<Body>, Error> {
    let ids = (0..count(query)).map(|_| random());
    Ok(json(&read(pool, ids).await?))
}

pub async fn updates(pool: &Pool, query: Option<&str>) -> Result<Response<Body>, Error> {
    Ok(json(&change(pool, count(query)).await?))
}

/// A query for each row. The driver pipelines them: it sends the next before the last is answered.
async fn read(pool: &Pool, ids: impl IntoIterator<Item = i32>) -> Result<Vec<World>, PoolError> {
    let client = pool.get().await?;
    let select = client.prepare_cached(SELECT).await?;
    let worlds = try_join_all(ids.into_iter().map(|id| World::read(&client, &select, id))).await?;
    Ok(worlds)
}

async fn change(pool: &Pool, count: usize) -> Result<Vec<World>, PoolError> {
    let mut client = pool.get().await?;
    let select = client.prepare_cached(SELECT).await?;
    let update = client.prepare_cached(UPDATE).await?;
    let mut ids = index::sample(&mut rand::rng(), WORLDS as usize, count).into_vec();
    // Rows are locked in this order: two requests cannot deadlock.
    ids.sort_unstable();
    let reads = ids.into_iter().map(|index| World::read(&client, &select, index as i32 + 1));
    let mut worlds = try_join_all(reads).await?;
    for world in &mut worlds {
        world.random_number = random();
    }
    let transaction = client.transaction().await?;
    try_join_all(worlds.iter().map(|world| world.write(&transaction, &update))).await?;
    transaction.commit().await?;
    Ok(worlds)
}
