//! Published results of others.

use tare_audit::{audit as audited, document::document, read};
use tare_report::write::{json, text};

/// Results are parsed or refused, and parsed results give a document in which every figure is finite.
pub(crate) fn audit(input: &[u8]) {
    let Ok(published) = read("fuzzed-64", input) else { return };
    assert!(published.rows.iter().filter_map(|row| row.per_second).all(f64::is_finite));
    let document = document(&published, &audited(&published), &["fuzzed".to_owned()]);
    let _ = text::whole(&document, text::TextLook::default());
    assert!(serde_json::from_str::<serde_json::Value>(&json::json(&document)).is_ok());
}
