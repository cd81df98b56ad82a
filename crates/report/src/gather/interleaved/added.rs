//! What TLS and HTTP/2 add to the cost of a request, service by service.

use tare_analysis::{
    estimate::Estimate,
    interleaved::{AddedCost, added_costs},
    loads::AtLoad,
};
use tare_bench::folder::StoredRun;
use tare_load::Protocol;

use crate::{
    document::{Chart, Scale, Section, Shape, Unit},
    gather::{columns::Columns, words::span},
};

const LEAD: &str = "What a protocol adds to the CPU time of a request: the same service in two protocols, as the difference in the \
                    blocks in which both were measured. Each interval is of its row alone. A raw socket has no framework, so what \
                    it adds is the protocol itself, as far as the library below it goes.";

/// Absent in a run of one protocol.
pub(super) fn section(first: &StoredRun, at: &AtLoad, has_others: bool) -> Option<Section> {
    let rows = added_costs(first, &at.report);
    if rows.is_empty() {
        return None;
    }
    let alt = alt(&rows);
    let chart = Chart::new(Shape::Bars, "added_cpu_ns", "label", &alt)
        .scales(Scale::Linear, Scale::Names)
        .title("CPU time that the protocol adds to a request")
        .n("blocks");
    let table = columns().table("What protocols add", rows);
    let section = Section::new("protocols", "What TLS and HTTP/2 add", LEAD, table).chart(chart);
    Some(match has_others {
        true => section.note(format!("at {}", at.load.label())),
        false => section,
    })
}

fn columns<'a>() -> Columns<'a, AddedCost> {
    Columns::new()
        .text("label", "service", |added: &AddedCost| added.label.clone())
        .facet("language", "language", |added| added.language.clone())
        .text("base", "compared with", |added| added.base.clone())
        .text("question", "what is added", |added| question(added).to_owned())
        .estimate(Unit::Nanoseconds, "base_cpu_ns", "CPU per request before", |added| Some(added.base_cpu_ns))
        .help("CPU time of a request of the row that it is compared with")
        .estimate(Unit::Nanoseconds, "added_cpu_ns", "added", |added| Some(added.added_cpu_ns))
        .help("CPU time of a request that is added, with a 95% interval; below 0 if it is less")
        .estimate(Unit::Nanoseconds, "beyond_reference_ns", "beyond the raw socket", |added| {
            added.beyond_reference_ns
        })
        .help("what is added beyond what the same protocol adds to the raw socket, with a 95% interval")
        .count("blocks", "blocks", |added| added.added_cpu_ns.n)
        .help("blocks in which both were measured")
}

/// What the difference of two protocols is of.
fn question(added: &AddedCost) -> &'static str {
    match (added.base_protocol, added.protocol) {
        (Protocol::Http1, Protocol::Http1Tls) => "TLS",
        (Protocol::Http1, Protocol::H2c) => "HTTP/2 for HTTP/1.1",
        (Protocol::Http1Tls, Protocol::H2) => "HTTP/2 for HTTP/1.1, over TLS",
        _ => "TLS, and HTTP/2 for HTTP/1.1",
    }
}

fn alt(rows: &[AddedCost]) -> String {
    let value = |of: Estimate| of.value;
    let named = rows.iter().map(|added| (added.label.as_str(), value(added.added_cpu_ns)));
    format!(
        "CPU time that a protocol adds to a request: {}.",
        span(Unit::Nanoseconds, named).unwrap_or_default()
    )
}
