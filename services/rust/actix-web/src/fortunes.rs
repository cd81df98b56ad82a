//! The table `fortune` as a page: `/fortunes`.

use actix_web::error::ErrorInternalServerError;
use actix_web::web::{Data, Html, ServiceConfig};
use actix_web::{Result, routes};
use askama::Template;
use deadpool_postgres::{Pool, PoolError};

struct Fortune {
    id: i32,
    message: String,
}

#[derive(Template)]
#[template(path = "fortunes.html")]
struct Page {
    fortunes: Vec<Fortune>,
}

pub fn configure(config: &mut ServiceConfig) {
    config.service(page);
}

#[routes]
#[get("/fortunes")]
#[head("/fortunes")]
async fn page(pool: Data<Pool>) -> Result<Html> {
    let mut fortunes = read(&pool).await.map_err(ErrorInternalServerError)?;
    fortunes.push(Fortune { id: 0, message: "Additional fortune added at request time.".to_owned() });
    fortunes.sort_by(|a, b| a.message.cmp(&b.message));
    Ok(Html::new(Page { fortunes }.render().map_err(ErrorInternalServerError)?))
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
