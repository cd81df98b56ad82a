//! The table `fortune` as a page: `/fortunes`.

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::Html;
use axum::routing::get;
use sqlx::{FromRow, PgPool};

use crate::failure::Failure;

#[derive(FromRow)]
struct Fortune {
    id: i32,
    message: String,
}

#[derive(Template)]
#[template(path = "fortunes.html")]
struct Page {
    fortunes: Vec<Fortune>,
}

pub fn router(pool: PgPool) -> Router {
    Router::new().route("/fortunes", get(fortunes)).with_state(pool)
}

async fn fortunes(State(pool): State<PgPool>) -> Result<Html<String>, Failure> {
    let mut fortunes: Vec<Fortune> =
        sqlx::query_as("SELECT id, message FROM fortune").fetch_all(&pool).await?;
    fortunes.push(Fortune { id: 0, message: "Additional fortune added at request time.".to_owned() });
    fortunes.sort_by(|a, b| a.message.cmp(&b.message));
    Ok(Html(Page { fortunes }.render()?))
}
