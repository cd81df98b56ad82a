//! Which protocols services are asked in.

use tare_load::Protocol;
use tare_service::{
    catalogue::{self, Row},
    protocol::{of_word, word},
};

/// A word of `--protocols`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AskedProtocol {
    /// Each that a service offers.
    All,
    One(Protocol),
}

/// The protocol of a word.
pub(super) fn asked(text: &str) -> Result<AskedProtocol, String> {
    match (text, of_word(text)) {
        ("all", _) => Ok(AskedProtocol::All),
        (_, Some(protocol)) => Ok(AskedProtocol::One(protocol)),
        (_, None) => Err(format!("give {}, or all", Protocol::ALL.map(word).join(", "))),
    }
}

/// A row for each protocol in place of each row; without a word all stay what they are.
pub(super) fn in_each(rows: Vec<Row>, asked: &[AskedProtocol]) -> Vec<Row> {
    if asked.is_empty() {
        return rows;
    }
    let named: Vec<Protocol> = asked
        .iter()
        .filter_map(|asked| match asked {
            AskedProtocol::All => None,
            AskedProtocol::One(protocol) => Some(*protocol),
        })
        .collect();
    if !asked.contains(&AskedProtocol::All) {
        return catalogue::in_each(rows, &named);
    }
    // What is asked for by its word is missed if it is not offered.
    let is_asked = |row: &Row| named.contains(&row.service.protocol) || row.service.why_not_asked().is_none();
    catalogue::in_each(rows, &Protocol::ALL).into_iter().filter(is_asked).collect()
}
