//! Routes of requests. Each contract whose variable is set has routes.

use crate::cheat::Cheat;
use crate::database::Pool;
use crate::gateway::Gateway;
use crate::http::{Head, Response};
use crate::items::Items;
use crate::products::Products;
use crate::world::World;
use crate::{number, upload};

const CONNECTIONS: u32 = 8;

pub(crate) struct Service {
    cheat: Cheat,
    pool: Option<Pool>,
    world: World,
    items: Items,
    products: Option<Products>,
    /// The folder for the contract static.
    files: Option<String>,
    gateway: Option<Gateway>,
}

fn set(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

impl Service {
    /// A service with the settings of the environment.
    pub(crate) fn given(cheat: Cheat) -> Result<Service, String> {
        let connections = number("DATABASE_MAX_CONN", Some(CONNECTIONS))?;
        Ok(Service {
            cheat,
            pool: set("DATABASE_URL").map(|url| Pool::new(url, connections)),
            world: World::new(cheat),
            items: Items::new(cheat),
            products: set("DATA_PRODUCTS").map(|path| Products::read(&path, cheat)).transpose()?,
            files: set("FOLDER_STATIC"),
            gateway: set("UPSTREAM_URL").map(|url| Gateway::to(&url, cheat)).transpose()?,
        })
    }

    pub(crate) fn answers_without_body(&self, head: &Head) -> bool {
        upload::is_echoed(self.cheat, head)
    }

    pub(crate) fn answer(&self, head: &Head, body: &[u8]) -> Response {
        let segments: Vec<&str> = head.path.split('/').skip(1).collect();
        let is_get = matches!(head.method.as_str(), "GET" | "HEAD");
        let found = match segments.as_slice() {
            ["upload"] if head.method == "POST" => Some(upload::answer(self.cheat, head, body)),
            ["upload"] => Some(Response::error(405, "method not allowed")),
            ["crud", "items"] => self.of_database(|pool| self.items.answer(pool, head, None, body)),
            ["crud", "items", id] => self.of_database(|pool| self.items.answer(pool, head, Some(id), body)),
            _ if !is_get => None,
            ["db"] => self.of_database(|pool| self.world.db(pool)),
            ["queries"] => self.of_database(|pool| self.world.queries(pool, head.parameter("queries"))),
            ["updates"] => self.of_database(|pool| self.world.updates(pool, head.parameter("queries"))),
            ["fortunes"] => self.of_database(|pool| self.world.fortunes(pool)),
            ["json", count] => self.products.as_ref().map(|products| products.json(head, count)),
            ["compress", count] => self.products.as_ref().map(|products| products.compressed(head, count)),
            ["static", name] => self.files.as_ref().and_then(|folder| file(folder, name)),
            ["gateway", id] if id.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.gateway.as_ref().map(|gateway| gateway.answer(id))
            }
            _ => None,
        };
        found.unwrap_or_else(|| Response::error(404, "not found"))
    }

    fn of_database(&self, work: impl FnOnce(&Pool) -> Result<Response, postgres::Error>) -> Option<Response> {
        let pool = self.pool.as_ref()?;
        Some(work(pool).unwrap_or_else(|error| {
            eprintln!("the database: {error}");
            Response::error(500, "the database does not answer")
        }))
    }
}

fn file(folder: &str, name: &str) -> Option<Response> {
    let in_name = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if name.is_empty() || name.starts_with('.') || !name.bytes().all(in_name) {
        return None;
    }
    let content = std::fs::read(std::path::Path::new(folder).join(name)).ok()?;
    let kind = match name.rsplit_once('.')?.1 {
        "css" => "text/css",
        "js" => "text/javascript",
        "html" => "text/html",
        "svg" => "image/svg+xml",
        "json" => "application/json",
        "woff2" => "font/woff2",
        "webp" => "image/webp",
        _ => "text/plain",
    };
    Some(Response::of(200, kind, content))
}
