//! The cost of a protocol: the same service with and without it, as a difference of CPU time per request in
//! common blocks. A ratio would depend on the cost of the service: TLS is a large part of a cheap one.

use tare_bench::{folder::StoredRun, plan::PlannedRow};
use tare_load::Protocol;
use tare_stats::{Contrast, DEFAULT_CONFIDENCE, two_level};

use super::{
    Report,
    blocks::Block,
    row::{TableRow, measured},
};
use crate::estimate::UnitEstimate;

/// Additional cost of one row over another of the same service.
#[derive(Debug, Clone, PartialEq)]
pub struct AddedCost {
    pub service: String,
    /// Whether the service is the reference of the run.
    pub is_reference: bool,
    /// Label of the row with the protocol.
    pub label: String,
    pub language: String,
    pub protocol: Protocol,
    /// Label of the base row.
    pub base: String,
    pub base_protocol: Protocol,
    /// CPU time per request of the base row.
    pub base_cpu_ns: UnitEstimate,
    /// Additional CPU time per request; negative if it is less.
    pub added_cpu_ns: UnitEstimate,
    /// Additional cost beyond that of the reference, which has no framework. Absent for the reference itself,
    /// or if it was not measured in both protocols.
    pub beyond_reference_ns: Option<UnitEstimate>,
}

/// Every meaningful pair of protocols of each service, in the order of the table.
pub fn added_costs(stored: &StoredRun, report: &Report) -> Vec<AddedCost> {
    let rows = measured(stored, report.rows.iter().filter(|row| row.cpu_ns_per_request.is_some()));
    let looks = stored.header.plan.until.planned();
    let estimate = |differences: &Differences| differences.estimate(looks.as_ref());
    let reference = rows.iter().find(|row| row.row.label == report.reference);
    let mut found = Vec::new();
    for one in &rows {
        for base in rows.iter().filter(|base| is_base(base.planned, one.planned)) {
            let added = Differences::of([one, base], |[one, base]| one - base);
            let Some(added_cpu_ns) = estimate(&added) else { continue };
            let Some(base_cpu_ns) = base.row.cpu_ns_per_request else { continue };
            found.push(AddedCost {
                service: one.planned.service.clone(),
                is_reference: reference.is_some_and(|it| it.planned.service == one.planned.service),
                label: one.row.label.clone(),
                language: one.row.language.clone(),
                protocol: one.planned.protocol,
                base: base.row.label.clone(),
                base_protocol: base.planned.protocol,
                base_cpu_ns,
                added_cpu_ns,
                beyond_reference_ns: of_reference(&rows, one, base, reference).and_then(|[with, without]| {
                    let four = [one, base, with, without];
                    estimate(&Differences::of(four, |[one, base, with, without]| {
                        (one - base) - (with - without)
                    }))
                }),
            });
        }
    }
    found
}

/// The reference's rows in the same two protocols; absent for the reference itself.
fn of_reference<'a, 'b>(
    rows: &'b [TableRow<'a>],
    one: &TableRow,
    base: &TableRow,
    reference: Option<&TableRow>,
) -> Option<[&'b TableRow<'a>; 2]> {
    let reference = reference?;
    if reference.planned.service == one.planned.service {
        return None;
    }
    let of = |protocol| {
        let is_it = |row: &&TableRow| {
            row.planned.service == reference.planned.service && row.planned.protocol == protocol
        };
        rows.iter().find(is_it)
    };
    Some([of(one.planned.protocol)?, of(base.planned.protocol)?])
}

/// Whether a row of the same service is a base: plain HTTP/1.1, and for h2 also HTTP/1.1 over TLS.
fn is_base(base: &PlannedRow, one: &PlannedRow) -> bool {
    let is_asked = match base.protocol {
        Protocol::Http1 => one.protocol != Protocol::Http1,
        Protocol::Http1Tls => one.protocol == Protocol::H2,
        Protocol::H2 | Protocol::H2c => false,
    };
    is_asked && base.service == one.service
}

/// One value per common block, and the starts that they belong to.
struct Differences {
    values: Vec<f64>,
    starts: Option<Vec<Vec<f64>>>,
}

impl Differences {
    fn of<const N: usize>(rows: [&TableRow; N], value: impl Fn([f64; N]) -> f64) -> Differences {
        let of_block = |number: &usize| {
            let blocks: Vec<&Block> = rows.iter().map(|row| row.blocks.get(number)).collect::<Option<_>>()?;
            let costs: Vec<f64> =
                blocks.iter().map(|block| block.cpu_ns_per_request()).collect::<Option<_>>()?;
            Some((value(costs.try_into().ok()?), (blocks[0].process, blocks[1].process)))
        };
        let (values, processes): (Vec<f64>, Vec<(usize, usize)>) =
            rows[0].blocks.keys().filter_map(of_block).unzip();
        // Blocks of one process are dependent, so the row with fewer processes decides.
        let (one, other): (Vec<usize>, Vec<usize>) = processes.into_iter().unzip();
        let starts = two_level::by_start(&values, &one, &other).ok();
        Differences { values, starts }
    }

    fn estimate(&self, looks: Option<&tare_stats::Looks>) -> Option<UnitEstimate> {
        let found = match looks {
            Some(looks) => looks.estimate(&self.values).ok()?,
            None => Contrast::of(self.starts.as_ref()?).ok()?.estimate(DEFAULT_CONFIDENCE).ok()?,
        };
        Some(UnitEstimate::plain(&found))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{compute, tests::kept_with};
    use super::*;

    /// The result for rows with these labels and throughputs. CPU time per request is the inverse.
    fn found(rows: &[(&str, f64)], blocks: usize) -> Vec<AddedCost> {
        let mut stored = kept_with(rows, blocks);
        for row in &mut stored.header.plan.rows {
            let (service, protocol) = tare_contract::protocol::split(&row.label);
            (row.service, row.protocol) = (service.to_owned(), protocol.unwrap_or_default());
        }
        let report = compute(&stored);
        added_costs(&stored, &report)
    }

    #[test]
    fn what_is_added_is_a_difference_of_the_same_service() {
        let rows =
            [("raw-socket", 1.0), ("raw-socket+tls", 0.8), ("one", 0.5), ("one+tls", 0.4), ("other", 0.5)];
        let found = found(&rows, 8);
        let labels: Vec<[&str; 2]> =
            found.iter().map(|added| [added.label.as_str(), added.base.as_str()]).collect();
        assert_eq!(labels, [["raw-socket+tls", "raw-socket"], ["one+tls", "one"]]);
        for added in &found {
            let (low, high) = added.added_cpu_ns.interval().unwrap();
            let expected = added.base_cpu_ns.value * 0.25;
            assert!(low < expected && expected < high, "{added:?}");
        }
        assert_eq!(found[0].beyond_reference_ns, None);
        // Twice the cost has twice the difference: half of it is beyond the reference's.
        let (low, high) = found[1].beyond_reference_ns.unwrap().interval().unwrap();
        let expected = found[1].base_cpu_ns.value * 0.125;
        assert!(low < expected && expected < high && low > 0.0, "{found:?}");
    }

    #[test]
    fn h2_is_compared_with_http_1_with_tls_and_without() {
        let rows = [("raw-socket", 1.0), ("one", 0.5), ("one+tls", 0.4), ("one+h2", 0.8), ("one+h2c", 0.9)];
        let found = found(&rows, 8);
        let labels: Vec<[&str; 2]> =
            found.iter().map(|added| [added.label.as_str(), added.base.as_str()]).collect();
        assert_eq!(labels.len(), 4, "{labels:?}");
        for pair in [["one+tls", "one"], ["one+h2", "one"], ["one+h2", "one+tls"], ["one+h2c", "one"]] {
            assert!(labels.contains(&pair), "{labels:?}");
        }
        let h2 = found.iter().find(|added| added.label == "one+h2").unwrap();
        assert!(h2.added_cpu_ns.high.unwrap() < 0.0, "it is less: {h2:?}");
        assert_eq!(h2.beyond_reference_ns, None, "the reference has no h2");
    }

    #[test]
    fn a_run_of_one_protocol_has_none() {
        assert_eq!(found(&[("raw-socket", 1.0), ("one", 0.5)], 8), []);
    }
}
