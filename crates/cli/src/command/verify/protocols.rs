//! The protocols in which services are verified.

use tare_contract::protocol::{of_word, word};
use tare_load::Protocol;
use tare_service::catalogue::{self, Row};

/// A value of `--protocols`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AskedProtocol {
    /// All protocols that a service offers.
    All,
    One(Protocol),
}

pub(super) fn asked(text: &str) -> Result<AskedProtocol, String> {
    match (text, of_word(text)) {
        ("all", _) => Ok(AskedProtocol::All),
        (_, Some(protocol)) => Ok(AskedProtocol::One(protocol)),
        (_, None) => Err(format!("give {}, or all", Protocol::ALL.map(word).join(", "))),
    }
}

/// Replaces each row by one row per protocol; without `--protocols` the rows stay unchanged.
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
    // A protocol that the user names is kept even if it is not offered, and then reported.
    let is_asked = |row: &Row| named.contains(&row.service.protocol) || row.service.why_not_asked().is_none();
    catalogue::in_each(rows, &Protocol::ALL).into_iter().filter(is_asked).collect()
}
