//! Rows of the table `world`, by random ids: `/db`, `/queries`, `/updates`.

use axum::extract::{Query, State};
use axum::routing::get;
use axum::{Json, Router};
use rand::seq::index;
use serde::{Deserialize, Serialize};
use sqlx::{FromRow, PgConnection, PgPool};

use crate::failure::Failure;

const WORLDS: i32 = 10_000;

#[derive(FromRow, Serialize)]
struct World {
    id: i32,
    #[sqlx(rename = "randomnumber")]
    #[serde(rename = "randomNumber")]
    random_number: i32,
}

impl World {
    async fn read(connection: &mut PgConnection, id: i32) -> sqlx::Result<Self> {
        sqlx::query_as("SELECT id, randomnumber FROM world WHERE id = $1")
            .bind(id)
            .fetch_one(connection)
            .await
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

pub fn router(pool: PgPool) -> Router {
    Router::new()
        .route("/db", get(db))
        .route("/queries", get(queries))
        .route("/updates", get(updates))
        .with_state(pool)
}

fn random() -> i32 {
    rand::random_range(1..=WORLDS)
}

async fn db(State(pool): State<PgPool>) -> Result<Json<World>, Failure> {
    let mut connection = pool.acquire().await?;
    Ok(Json(World::read(&mut connection, random()).await?))
}

async fn queries(
    State(pool): State<PgPool>,
    Query(queries): Query<Queries>,
) -> Result<Json<Vec<World>>, Failure> {
    let mut connection = pool.acquire().await?;
    let mut worlds = Vec::with_capacity(queries.count());
    for _ in 0..queries.count() {
        worlds.push(World::read(&mut connection, random()).await?);
    }
    Ok(Json(worlds))
}

async fn updates(
    State(pool): State<PgPool>,
    Query(queries): Query<Queries>,
) -> Result<Json<Vec<World>>, Failure> {
    let ids = index::sample(&mut rand::rng(), WORLDS as usize, queries.count());
    let mut connection = pool.acquire().await?;
    let mut worlds = Vec::with_capacity(ids.len());
    for index in ids {
        worlds.push(World::read(&mut connection, index as i32 + 1).await?);
    }
    let (ids, numbers): (Vec<_>, Vec<_>) =
        worlds.iter_mut().map(|world| (world.id, new_number(world))).unzip();
    // The rows are locked by ascending id before the first is written, whatever the plan: two requests cannot deadlock.
    sqlx::query(
        "UPDATE world SET randomnumber = locked.number FROM (
            SELECT id, number FROM world JOIN unnest($1::integer[], $2::integer[]) AS new (id, number) USING (id)
            ORDER BY id FOR NO KEY UPDATE OF world
        ) AS locked WHERE world.id = locked.id",
    )
    .bind(ids)
    .bind(numbers)
    .execute(&mut *connection)
    .await?;
    Ok(Json(worlds))
}

fn new_number(world: &mut World) -> i32 {
    world.random_number = random();
    world.random_number
}
