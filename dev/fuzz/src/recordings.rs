//! Descriptions of a service by other programs.

use tare_base::document::decoded;
use tare_import::record::{Material, RecordError, Wish, har as recording, openapi as document, record};

/// The input is parsed or refused, and parsed input makes a contract or nothing.
fn recorded(input: &[u8], read: fn(&str) -> Result<Material, RecordError>) {
    let Ok(text) = decoded(input) else { return };
    let wish = Wish { name: "fuzzed", writes: true, server: None };
    if let Ok(material) = read(&text) {
        let _ = record(material, &wish);
    }
}

/// An OpenAPI document, in YAML or JSON.
pub(crate) fn openapi(input: &[u8]) {
    recorded(input, document::read);
}

pub(crate) fn har(input: &[u8]) {
    recorded(input, recording::read);
}
