//! What a ratio of throughputs implies about capacities. A service with idle CPUs has a rate below its
//! capacity, so a ratio with it is only a bound.

use serde::{Deserialize, Serialize};

use crate::{estimate::UnitEstimate, findings::RowIssue};

/// Relation between the ratio of capacities and the ratio of rates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum RatioBound {
    /// Both were saturated, as far as known: the ratio is exact.
    #[default]
    Exact,
    /// The service was not saturated.
    AtLeast,
    /// The reference was not saturated.
    AtMost,
}

impl RatioBound {
    /// Each is the busy share if that service was not saturated, else `None`. There is no bound if neither was.
    pub(super) fn of(own: Option<f64>, base: Option<f64>) -> Option<RatioBound> {
        match (own, base) {
            (None, None) => Some(RatioBound::Exact),
            (Some(_), None) => Some(RatioBound::AtLeast),
            (None, Some(_)) => Some(RatioBound::AtMost),
            (Some(_), Some(_)) => None,
        }
    }

    /// The sign before a figure.
    pub fn sign(self) -> &'static str {
        match self {
            RatioBound::Exact => "",
            RatioBound::AtLeast => "≥ ",
            RatioBound::AtMost => "≤ ",
        }
    }

    /// The relation in a sentence.
    pub fn words(self) -> &'static str {
        match self {
            RatioBound::Exact => "",
            RatioBound::AtLeast => "at least ",
            RatioBound::AtMost => "at most ",
        }
    }
}

/// What a ratio to the reference implies.
#[derive(Debug, Default)]
pub(super) struct Bounded {
    /// Absent if neither service was saturated.
    pub ratio: Option<UnitEstimate>,
    pub bound: RatioBound,
    /// The ratio extrapolated to saturation by the busy shares; absent if both were saturated.
    pub if_busy: Option<f64>,
    pub issue: Option<RowIssue>,
}

/// `own` and `of_reference` are the busy shares of the services that were not saturated, else `None`. `busy` is the row's busy share in
/// any case.
pub(super) fn classify(
    ratio: Option<UnitEstimate>,
    [own, of_reference]: [Option<f64>; 2],
    busy: Option<f64>,
) -> Bounded {
    let Some(found) = ratio else { return Bounded::default() };
    let Some(bound) = RatioBound::of(own, of_reference) else {
        let issue = own.zip(of_reference).map(|(server_share, reference_share)| RowIssue::NeitherSaturated {
            server_share,
            reference_share,
        });
        return Bounded { issue, ..Bounded::default() };
    };
    let shares = own.or(busy).zip(of_reference.or(Some(1.0))).filter(|_| bound != RatioBound::Exact);
    let if_busy = shares.map(|(own, reference)| found.value / own * reference);
    Bounded { ratio, bound, if_busy, issue: None }
}

/// Busy share of the service's CPUs, if it is too small for a capacity.
pub(super) fn unsaturated<'a>(issues: impl IntoIterator<Item = &'a RowIssue>) -> Option<f64> {
    issues.into_iter().find_map(|issue| match issue {
        RowIssue::NotServerBound { server_share } => Some(*server_share),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{RowReport, compute, tests::kept_with};
    use super::*;
    use tare_bench::record::Record;

    /// The row `half`, with these busy shares of the two services.
    fn half(shares: [f64; 2]) -> RowReport {
        let mut kept = kept_with(&[("raw-socket", 1.0), ("half", 0.5)], 6);
        for record in &mut kept.records {
            if let Record::Sample(slice) = record {
                slice.host.server_cpu_ns = (slice.load.elapsed_ns as f64 * shares[slice.row]) as u64;
                slice.host.generator_cpu_ns = slice.load.elapsed_ns / 2;
            }
        }
        compute(&kept).rows.into_iter().find(|row| row.label == "half").unwrap()
    }

    #[test]
    fn a_ratio_is_a_figure_where_both_were_saturated() {
        let both = half([0.99, 0.97]);
        assert_eq!((both.throughput_bound, both.ratio_if_busy), (RatioBound::Exact, None));
    }

    #[test]
    fn it_is_a_bound_where_one_was_not_with_its_size() {
        let service = half([0.99, 0.6]);
        assert_eq!(service.throughput_bound, RatioBound::AtLeast);
        let if_busy = service.ratio_if_busy.unwrap();
        let ratio = service.ratio.unwrap().value;
        assert!((if_busy / (ratio / 0.6) - 1.0).abs() < 1e-3, "{if_busy}");
        let reference = half([0.8, 0.99]);
        assert_eq!(reference.throughput_bound, RatioBound::AtMost);
        let if_busy = reference.ratio_if_busy.unwrap();
        let ratio = reference.ratio.unwrap().value;
        assert!((if_busy / (ratio * 0.8 / 0.99) - 1.0).abs() < 1e-3, "{if_busy}");
    }

    #[test]
    fn two_rates_of_services_that_had_time_to_spare_have_no_ratio() {
        let neither = half([0.8, 0.6]);
        assert_eq!((neither.ratio, neither.ratio_if_busy), (None, None));
        assert!(neither.findings.iter().any(|finding| finding.code() == "neither-saturated"), "{neither:?}");
        assert!(neither.requests_per_second.is_some() && neither.cpu_ratio.is_some());
    }
}
