//! What other programs wrote down of a service.

use tare_service::{
    document::decoded,
    record::{Material, RecordError, Wish, har as recording, openapi as document, record},
};

/// It is read or refused, and what was read makes a contract or nothing.
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

/// A HAR file.
pub(crate) fn har(input: &[u8]) {
    recorded(input, recording::read);
}
