//! What answers need beside the request: a database, products, a folder, another server. Those that a variable did not
//! name are not there, and neither are their routes.

use deadpool_postgres::{Manager, Pool};
use hyper::body::Incoming;
use hyper::{Method, Request, Response, StatusCode};
use tokio_postgres::NoTls;
use tower::ServiceExt;
use tower_http::services::ServeDir;

use crate::gateway::Upstream;
use crate::products::Products;
use crate::response::{Body, Error, boxed, status};
use crate::settings::Settings;
use crate::{crud, fortunes, products, world};

pub struct Backings {
    pool: Option<Pool>,
    products: Option<Products>,
    folder_static: Option<ServeDir>,
    upstream: Option<Upstream>,
}

impl Backings {
    pub fn new(settings: &Settings) -> Result<Self, Error> {
        let pool = |database: &tokio_postgres::Config| {
            let manager = Manager::new(database.clone(), NoTls);
            Pool::builder(manager).max_size(settings.database_connections).build()
        };
        Ok(Self {
            pool: settings.database.as_ref().map(pool).transpose()?,
            products: settings.products,
            folder_static: settings.folder_static.as_ref().map(ServeDir::new),
            upstream: settings.upstream.clone().map(Upstream::new),
        })
    }

    pub async fn answer(&self, request: Request<Incoming>) -> Result<Response<Body>, Error> {
        let uri = request.uri().clone();
        let path: Vec<&str> = uri.path().split('/').skip(1).collect();
        let reads = matches!(*request.method(), Method::GET | Method::HEAD);
        match (path.as_slice(), self) {
            (["db"], Self { pool: Some(pool), .. }) if reads => world::db(pool).await,
            (["queries"], Self { pool: Some(pool), .. }) if reads => world::queries(pool, uri.query()).await,
            (["updates"], Self { pool: Some(pool), .. }) if reads => world::updates(pool, uri.query()).await,
            (["fortunes"], Self { pool: Some(pool), .. }) if reads => fortunes::page(pool).await,
            (["crud", "items"], Self { pool: Some(pool), .. }) => crud::items(pool, request).await,
            (["crud", "items", id], Self { pool: Some(pool), .. }) => crud::item(pool, id, request).await,
            (["json", count], Self { products: Some(products), .. }) if reads => {
                Ok(products::sales(products, count, uri.query()))
            }
            (["compress", count], Self { products: Some(products), .. }) if reads => {
                let answer = products::sales(products, count, uri.query());
                Ok(products::compressed(answer, request).await)
            }
            (["static", ..], Self { folder_static: Some(files), .. }) => serve(files, request).await,
            (["gateway", id], Self { upstream: Some(upstream), .. }) if reads => upstream.answer(id).await,
            _ => Ok(status(StatusCode::NOT_FOUND)),
        }
    }
}

async fn serve(files: &ServeDir, mut request: Request<Incoming>) -> Result<Response<Body>, Error> {
    let name = request.uri().path().strip_prefix("/static").unwrap_or_default();
    if !name.starts_with('/') {
        return Ok(status(StatusCode::NOT_FOUND));
    }
    *request.uri_mut() = name.parse()?;
    Ok(files.clone().oneshot(request).await?.map(boxed))
}
