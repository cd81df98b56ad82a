//! What a ratio of throughputs says of the capacities of two services. The rate of a service whose CPUs were not busy is not what it
//! can do, so the ratio to it, or of it, is an inequality.

use super::{RowReport, blocks::Blocks};
use crate::findings::RowIssue;

/// How the ratio of two capacities lies to that of two rates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Bound {
    /// Both were saturated, or nothing else is known: the ratio is a figure.
    #[default]
    Exact,
    /// The service was not saturated.
    AtLeast,
    /// The reference was not saturated.
    AtMost,
}

impl Bound {
    /// The sign before a figure.
    pub fn sign(self) -> &'static str {
        match self {
            Bound::Exact => "",
            Bound::AtLeast => "≥ ",
            Bound::AtMost => "≤ ",
        }
    }

    /// In a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Bound::Exact => "",
            Bound::AtLeast => "at least ",
            Bound::AtMost => "at most ",
        }
    }
}

/// Classifies the ratio of each row. Where neither of two was saturated their rates say nothing of their capacities: there is none.
pub(super) fn classify(rows: &mut [(RowReport, Blocks)], reference: &str) {
    let of_reference = rows.iter().find(|(row, _)| row.label == reference).map(|(row, _)| unsaturated(row));
    let of_reference = of_reference.flatten();
    for (row, _) in rows.iter_mut().filter(|(row, _)| row.label != reference && row.ratio.is_some()) {
        let own = unsaturated(row);
        row.throughput_bound = match (own, of_reference) {
            (None, None) => continue,
            (Some(_), None) => Bound::AtLeast,
            (None, Some(_)) => Bound::AtMost,
            (Some(server_share), Some(reference_share)) => {
                row.ratio = None;
                row.add([RowIssue::NeitherSaturated { server_share, reference_share }]);
                continue;
            }
        };
        let shares = own.or(row.server_cpu_share).zip(of_reference.or(Some(1.0)));
        row.ratio_if_busy = row.ratio.zip(shares).map(|(ratio, (own, reference))| ratio.value / own * reference);
    }
}

/// The share of the time in which its CPUs were busy with it, if that was too little for a capacity.
fn unsaturated(row: &RowReport) -> Option<f64> {
    row.findings.iter().find_map(|finding| match finding.row_issue() {
        Some(RowIssue::NotServerBound { server_share }) => Some(*server_share),
        _ => None,
    })
}
