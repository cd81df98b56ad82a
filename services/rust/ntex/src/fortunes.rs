//! The table `fortune` as a page: `/fortunes`.

use askama::Template;
use deadpool_postgres::{Pool, PoolError};
use ntex::web::error::ErrorInternalServerError;
use ntex::web::types::State;
use ntex::web::{self, HttpResponse, ServiceConfig};

use crate::routes::reads;

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
    config.service(web::resource("/fortunes").route(reads().to(page)));
}

async fn page(pool: State<Pool>) -> Result<HttpResponse, web::Error> {
    let mut fortunes = read(&pool).await.map_err(ErrorInternalServerError)?;
    fortunes.push(Fortune { id: 0, message: "Additional fortune added at request time.".to_owned() });
    fortunes.sort_by(|a, b| a.message.cmp(&b.message));
    let page = Page { fortunes }.render().map_err(ErrorInternalServerError)?;
    Ok(HttpResponse::Ok().content_type("text/html; charset=utf-8").body(page))
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
