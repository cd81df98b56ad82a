//! What is read of others: [`adopt`] makes a service of an entry of another benchmark, [`footprint`] reads what a service
//! is besides fast, and [`record`] makes a contract of an OpenAPI document, a HAR file or the answers of a server.
#![warn(clippy::disallowed_macros, clippy::missing_errors_doc, unreachable_pub)]

pub mod adopt;
pub mod footprint;
pub mod record;

use record::{Material, published};
use tare_service::workspace::Readers;

/// What the core reads with this part.
pub const READERS: Readers = Readers {
    footprints: footprint::read_all,
    document: |text| Material::read(text).map(Material::reads).map_err(|error| error.to_string()),
    published: published::of_service,
};
