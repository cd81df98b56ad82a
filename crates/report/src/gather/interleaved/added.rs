//! The added cost of TLS and HTTP/2 per request, service by service.

use tare_analysis::{estimate::UnitEstimate, interleaved::AddedCost, loads::AtLoad};
use tare_base::units::several;
use tare_bench::folder::StoredRun;
use tare_load::Protocol;

use crate::{
    document::{Chart, Scale, Section, Shape, Unit},
    gather::{
        columns::Columns,
        words::{Headline, span, with_interval},
    },
};

const LEAD: &str = "What a protocol adds to the CPU time of a request: the difference between two rows of one service, over the \
                    blocks in which both were measured. Each interval has 95% for its own row: it is not widened for the number of \
                    rows. The raw socket has no framework: what is added to it is the cost of the protocol, and of the library that \
                    its server has for it.";

/// `None` for a run of one protocol.
pub(super) fn section(rows: Vec<AddedCost>, at: &AtLoad, has_others: bool) -> Option<Section> {
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

/// The protocols that may be in the headline of a run, each with the protocol it is compared with.
const ASKED: [(Protocol, Protocol, &str); 3] = [
    (Protocol::Http1, Protocol::Http1Tls, "TLS"),
    (Protocol::Http1, Protocol::H2c, "HTTP/2 instead of HTTP/1.1, both without TLS,"),
    (Protocol::Http1Tls, Protocol::H2, "HTTP/2 instead of HTTP/1.1, both over TLS,"),
];

/// `TLS adds from 1.7 µs (net-http) to 6.1 µs (vertx) to the CPU time of a request of 2 services, and 1.2 µs
/// (1.1 .. 1.3 µs) to that of raw-socket.` One sentence per protocol; `None` for a run of one protocol.
pub(super) fn answer(rows: &[AddedCost], first: &StoredRun) -> Option<Headline> {
    let is_each_fresh = first.header.plan.load().connection_use.requests == Some(1);
    let unit = if is_each_fresh { "request over a connection of its own" } else { "request" };
    let sentences: Vec<String> = ASKED
        .iter()
        .filter_map(|(base, protocol, words)| {
            let is_asked = |row: &&AddedCost| (row.base_protocol, row.protocol) == (*base, *protocol);
            let found: Vec<&AddedCost> = rows.iter().filter(is_asked).collect();
            Some(format!("{words} {}.", what_it_does(&found, unit)?))
        })
        .collect();
    (!sentences.is_empty()).then(|| Headline::of_sentences(sentences))
}

/// `adds 1.7 µs to the CPU time of a request of gin`, or `changes .. by -1.7 µs` if it is less for one of the
/// services; `None` without rows.
fn what_it_does(rows: &[&AddedCost], unit: &str) -> Option<String> {
    let (references, services): (Vec<&AddedCost>, Vec<&AddedCost>) =
        rows.iter().partition(|row| row.is_reference);
    let amount = |rows: &[&AddedCost]| match rows {
        [only] => Some(with_interval(&only.added_cpu_ns, Unit::Nanoseconds)),
        all => span(Unit::Nanoseconds, all.iter().map(|row| (row.service.as_str(), row.added_cpu_ns.value))),
    };
    let whose = |rows: &[&AddedCost]| match rows {
        [only] => only.service.clone(),
        all => several(all.len(), "service"),
    };
    let is_more = rows.iter().all(|row| row.added_cpu_ns.value >= 0.0);
    let sentence = |rows: &[&AddedCost], of_what: &str, verb: &str| {
        let (amount, whose) = (amount(rows)?, whose(rows));
        Some(match is_more {
            true => format!("{verb}{amount} to {of_what} of {whose}"),
            false => {
                let verb = if verb.is_empty() { "" } else { "changes " };
                let by = if rows.len() == 1 { "by" } else { "by amounts" };
                format!("{verb}{of_what} of {whose} {by} {amount}")
            }
        })
    };
    let time = format!("the CPU time of a {unit}");
    match (services.as_slice(), references.as_slice()) {
        ([], references) => sentence(references, &time, "adds "),
        (services, references) => {
            let behind =
                sentence(references, "that", "").map_or(String::new(), |more| format!(", and {more}"));
            Some(sentence(services, &time, "adds ")? + &behind)
        }
    }
}

fn columns<'a>() -> Columns<'a, AddedCost> {
    Columns::new()
        .text("label", "service", |added: &AddedCost| added.label.clone())
        .language(|added| added.language.clone())
        .text("base", "compared with", |added| added.base.clone())
        .text("question", "what is added", |added| question(added).to_owned())
        .estimate(Unit::Nanoseconds, "base_cpu_ns", "CPU per request without", |added| {
            Some(added.base_cpu_ns)
        })
        .help("CPU time of a request of the row that it is compared with")
        .estimate(Unit::Nanoseconds, "added_cpu_ns", "added", |added| Some(added.added_cpu_ns))
        .help("CPU time of a request that is added, with a 95% interval; below 0 if it is less")
        .estimate(Unit::Nanoseconds, "beyond_reference_ns", "beyond the reference", |added| {
            added.beyond_reference_ns
        })
        .help("what is added, minus what the same protocol adds to the reference, with a 95% interval")
        .count("blocks", "blocks", |added| added.added_cpu_ns.n)
        .help("blocks in which both were measured")
}

/// The quantity whose difference between two protocols is shown.
fn question(added: &AddedCost) -> &'static str {
    match (added.base_protocol, added.protocol) {
        (Protocol::Http1, Protocol::Http1Tls) => "TLS",
        (Protocol::Http1, Protocol::H2c) => "HTTP/2 instead of HTTP/1.1",
        (Protocol::Http1Tls, Protocol::H2) => "HTTP/2 instead of HTTP/1.1, both over TLS",
        _ => "TLS, and HTTP/2 instead of HTTP/1.1",
    }
}

fn alt(rows: &[AddedCost]) -> String {
    let value = |of: UnitEstimate| of.value;
    let named = rows.iter().map(|added| (added.label.as_str(), value(added.added_cpu_ns)));
    format!(
        "CPU time that a protocol adds to a request: {}.",
        span(Unit::Nanoseconds, named).unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use tare_analysis::interleaved::{added_costs, compute};
    use tare_bench::{fixture, plan::Plan};
    use tare_contract::protocol;

    use super::*;

    /// The answer of a run of 12 blocks with these rows, with CPU time inversely proportional to rate.
    fn answer_of(rows: &[(&str, f64)], change: impl FnOnce(Plan) -> Plan) -> Option<String> {
        let labels: Vec<&str> = rows.iter().map(|(label, _)| *label).collect();
        let mut plan = fixture::plan(&labels);
        for row in &mut plan.rows {
            let (service, protocol) = protocol::split(&row.label);
            (row.service, row.protocol) = (service.to_owned(), protocol.unwrap_or_default());
        }
        let header = tare_bench::folder::Header { plan: change(plan), ..fixture::compared() };
        let rates: Vec<f64> = rows.iter().map(|(_, rate)| *rate).collect();
        let records = (0..12).flat_map(|block| fixture::block(block, &rates)).collect();
        let kept = StoredRun { header, records, damage: Vec::new(), in_progress: true };
        let report = compute(&kept);
        answer(&added_costs(&kept, &report), &kept).map(|answer| answer.whole())
    }

    #[test]
    fn the_answer_is_what_protocols_add() {
        let rows = [
            ("one", 1.0),
            ("one+tls", 0.8),
            ("two", 1.0),
            ("two+tls", 0.5),
            ("two+h2", 1.0),
            ("one+h2", 2.0),
        ];
        insta::assert_snapshot!(answer_of(&rows, |plan| plan).unwrap());
        let one = [("one", 1.0), ("one+tls", 0.8)];
        let each_fresh = |plan| fixture::at_points(plan, |point| point.connection_use.requests = Some(1));
        insta::assert_snapshot!(answer_of(&one, each_fresh).unwrap());
        assert_eq!(answer_of(&[("one", 1.0), ("two", 0.8)], |plan| plan), None);
    }
}
