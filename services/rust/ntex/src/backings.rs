//! What routes need beside the request: a database, products, another server. Those that a variable did not
//! name are not there, and neither are their routes.

use deadpool_postgres::{BuildError, Manager, Pool};
use ntex::web::ServiceConfig;
use tokio_postgres::NoTls;

use crate::gateway::Upstream;
use crate::products::Products;
use crate::settings::Settings;
use crate::{crud, fortunes, gateway, products, world};

#[derive(Clone)]
pub struct Backings {
    pool: Option<Pool>,
    products: Option<Products>,
    upstream: Option<String>,
}

impl Backings {
    pub fn new(settings: &Settings) -> Result<Self, BuildError> {
        let pool = |database: &tokio_postgres::Config| {
            let manager = Manager::new(database.clone(), NoTls);
            Pool::builder(manager).max_size(settings.database_connections).build()
        };
        Ok(Self {
            pool: settings.database.as_ref().map(pool).transpose()?,
            products: settings.products,
            upstream: settings.upstream.clone(),
        })
    }

    /// Called by each worker.
    pub async fn upstream(&self) -> Option<Upstream> {
        match &self.upstream {
            Some(url) => Some(Upstream::new(url.clone()).await),
            None => None,
        }
    }

    /// Called by each worker.
    pub fn configure(&self, config: &mut ServiceConfig, upstream: Option<Upstream>) {
        if let Some(pool) = &self.pool {
            config.state(pool.clone());
            world::configure(config);
            fortunes::configure(config);
            crud::configure(config);
        }
        if let Some(products) = self.products {
            config.state(products);
            products::configure(config);
        }
        if let Some(upstream) = upstream {
            gateway::configure(config, upstream);
        }
    }
}
