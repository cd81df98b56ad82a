//! What routes need beside the request: a database, products, a folder, another server. Those that a variable did not
//! name are not there, and neither are their routes.

use std::path::PathBuf;

use actix_files::Files;
use actix_web::web::{Data, ServiceConfig};
use deadpool_postgres::{BuildError, Manager, Pool};
use tokio_postgres::NoTls;

use crate::gateway::Upstream;
use crate::products::Products;
use crate::settings::Settings;
use crate::{crud, fortunes, gateway, products, world};

#[derive(Clone)]
pub struct Backings {
    pool: Option<Data<Pool>>,
    products: Option<Products>,
    folder_static: Option<PathBuf>,
    upstream: Option<Data<Upstream>>,
}

impl Backings {
    pub fn new(settings: &Settings) -> Result<Self, BuildError> {
        let pool = |database: &tokio_postgres::Config| {
            let manager = Manager::new(database.clone(), NoTls);
            Pool::builder(manager).max_size(settings.database_connections).build()
        };
        Ok(Self {
            pool: settings.database.as_ref().map(pool).transpose()?.map(Data::new),
            products: settings.products,
            folder_static: settings.folder_static.clone(),
            upstream: settings.upstream.clone().map(|url| Data::new(Upstream(url))),
        })
    }

    /// Called by each worker.
    pub fn configure(&self, config: &mut ServiceConfig) {
        if let Some(pool) = &self.pool {
            config.app_data(pool.clone());
            config.configure(world::configure).configure(fortunes::configure).configure(crud::configure);
        }
        if let Some(products) = self.products {
            config.app_data(Data::new(products)).configure(products::configure);
        }
        if let Some(folder) = &self.folder_static {
            config.service(Files::new("/static", folder));
        }
        if let Some(upstream) = &self.upstream {
            gateway::configure(config, upstream.clone());
        }
    }
}
