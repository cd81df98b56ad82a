//! The results of TLS handshakes, service by service.

use std::collections::BTreeSet;

use tare_analysis::interleaved::{RowHandshakes, handshakes};
use tare_bench::folder::StoredRun;
use tare_load::Negotiated;

use crate::{document::Section, gather::columns::Columns};

const LEAD: &str = "What the generator and each service agreed on, read from every handshake of the run, warm-ups included. Services \
                    that agreed on different suites or groups differ by more than the framework.";

/// A result of handshakes with one service, with their number.
struct Agreed {
    label: String,
    negotiated: Negotiated,
    handshakes: u64,
    full: u64,
    resumed: u64,
}

/// `None` for a run without TLS.
pub(super) fn section(stored: &StoredRun) -> Option<Section> {
    let rows: Vec<Agreed> = handshakes(stored).into_iter().flat_map(agreed).collect();
    if rows.is_empty() {
        return None;
    }
    let kinds = |row: &Agreed| {
        (row.negotiated.version.clone(), row.negotiated.suite.clone(), row.negotiated.group.clone())
    };
    let different = rows.iter().map(kinds).collect::<BTreeSet<_>>().len();
    let columns = Columns::new()
        .text("label", "service", |row: &Agreed| row.label.clone())
        .text("version", "version", |row| row.negotiated.version.clone())
        .text("suite", "cipher suite", |row| row.negotiated.suite.clone())
        .text("group", "group", |row| row.negotiated.group.clone())
        .text("alpn", "ALPN", |row| row.negotiated.alpn.clone())
        .count("handshakes", "handshakes", |row| row.handshakes as usize)
        .count("full", "full handshakes", |row| row.full as usize)
        .help("of the service, whatever they agreed on: with certificate and signature")
        .count("resumed", "resumed handshakes", |row| row.resumed as usize)
        .help("of the service, whatever they agreed on: they continue an earlier session, without certificate and signature");
    let section = Section::new("handshakes", "TLS handshakes", LEAD, columns.table("TLS handshakes", rows));
    Some(match different {
        1 => section.note("all services agreed on the same version, suite and group"),
        _ => section.note(format!(
            "services agreed on {different} different combinations of version, suite and group: what differs between them is not the \
             framework alone"
        )),
    })
}

fn agreed(row: RowHandshakes) -> Vec<Agreed> {
    let RowHandshakes { label, handshakes } = row;
    let (full, resumed) = (handshakes.full, handshakes.resumed);
    let each = handshakes.negotiated.into_iter();
    each.map(|(negotiated, handshakes)| Agreed {
        label: label.clone(),
        negotiated,
        handshakes,
        full,
        resumed,
    })
    .collect()
}
