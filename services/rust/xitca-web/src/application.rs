//! What the routes share.

use std::sync::Arc;

use xitca_web::handler::state::BorrowState;

use crate::products::Products;
use crate::settings::Settings;
use crate::work::Work;

/// What the routes need beside the request.
#[derive(Clone)]
pub struct Application {
    work: Arc<Work>,
    products: Products,
}

impl Application {
    pub fn new(settings: &Settings) -> Self {
        let work = Arc::new(Work::new(settings.threads, settings.delay));
        Self { work, products: settings.products.unwrap_or_default() }
    }
}

impl BorrowState<Work> for Application {
    fn borrow(&self) -> &Work {
        &self.work
    }
}

impl BorrowState<Products> for Application {
    fn borrow(&self) -> &Products {
        &self.products
    }
}
