//! Rows of the table `world`, by random ids: `/db`, `/queries`, `/updates`.

use actix_web::error::ErrorInternalServerError;
use actix_web::web::{Data, Json, Query, ServiceConfig};
use actix_web::{Result, routes};
use deadpool_postgres::{Client, Pool, PoolError, Transaction};
use futures_util::future::try_join_all;
use rand::seq::index;
use serde::{Deserialize, Serialize};
use tokio_postgres::{Error, Statement};

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
    async fn read(client: &Client, select: &Statement, id: i32) -> Result<Self, Error> {
        let row = client.query_one(select, &[&id]).await?;
        Ok(Self { id: row.try_get("id")?, random_number: row.try_get("randomnumber")? })
    }

    async fn write(&self, transaction: &Transaction<'_>, update: &Statement) -> Result<u64, Error> {
        transaction.execute(update, &[&self.id, &self.random_number]).await
    }
}

#[derive(Deserialize)]
struct Queries {
    queries: Option<String>,
}

impl Queries {
    /// What is no integer counts as 1.
    fn count(&self) -> usize {
        let number: Option<i64> = self.queries.as_ref().and_then(|text| text.parse().ok());
        number.unwrap_or(1).clamp(1, 500) as usize
    }
}

pub fn configure(config: &mut ServiceConfig) {
    config.service(db).service(queries).service(updates);
}

fn random() -> i32 {
    rand::random_range(1..=WORLDS)
}

#[routes]
#[get("/db")]
#[head("/db")]
async fn db(pool: Data<Pool>) -> Result<Json<World>> {
    let mut worlds = read(&pool, [random()]).await.map_err(ErrorInternalServerError)?;
    Ok(Json(worlds.remove(0)))
}

#[routes]
#[get("/queries")]
#[head("/queries")]
async fn queries(pool: Data<Pool>, query: Query<Queries>) -> Result<Json<Vec<World>>> {
    let ids = (0..query.count()).map(|_| random());
    Ok(Json(read(&pool, ids).await.map_err(ErrorInternalServerError)?))
}

#[routes]
#[get("/updates")]
#[head("/updates")]
async fn updates(pool: Data<Pool>, query: Query<Queries>) -> Result<Json<Vec<World>>> {
    Ok(Json(change(&pool, query.count()).await.map_err(ErrorInternalServerError)?))
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
