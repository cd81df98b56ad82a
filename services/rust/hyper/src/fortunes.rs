//! The table `fortune` as a page: `/fortunes`.

use askama::Template;
use deadpool_postgres::{Pool, PoolError};
use hyper::Response;

use crate::response::{Body, Error, html};

struct Fortune {
    id: i32,
    message: String,
}

#[derive(Template)]
#[template(path = "fortunes.html")]
struct Page {
    fortunes: Vec<Fortune>,
}

pub async fn page(pool: &Pool) -> Result<Response<Body>, Error> {
    let mut fortunes = read(pool).await?;
    fortunes.push(Fortune { id: 0, message: "Additional fortune added at request time.".to_owned() });
    fortunes.sort_by(|a, b| a.message.cmp(&b.message));
    Ok(html(Page { fortunes }.render()?))
}

async fn read(pool: &Pool) -> Result<Vec<Fortune>, PoolError> {
    let client = pool.get().await?;
    let select = client.prepare_cached("SELECT id, message FROM fortune").await?;
    let mut fortunes = Vec::new();
    for row in client.query(&select, &[]).await? {
        fortunes.push(Fortune { id: row.try_get("id")?, message: row.try_get("message")? });
    }
    Ok(fortunes)
}
