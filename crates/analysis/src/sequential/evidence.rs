//! The strength of a comparison, and the published value of the same figure.

use tare_bench::{
    experiment::PUBLISHED,
    figures::{self, Seconds},
    metric::Metric,
    plan::{PlannedRow, Point, messages_published},
};

use super::{CellReport, SequentialReport};
use crate::verdict::Verdict;

/// Why the evidence of a comparison is weak, the most severe first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Weakness {
    /// The load was at its own ceiling, so the result describes the load.
    LoadBound,
    /// A single round does not show the variation between rounds.
    OneRound,
}

/// A verdict, and the weakness common to all of its evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Judgement {
    pub verdict: Verdict,
    /// Also absent if nothing is decided.
    pub weak: Option<Weakness>,
}

/// The outcome of a claim, from its direction and size.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, strum::IntoStaticStr, strum::EnumString,
)]
#[strum(serialize_all = "kebab-case")]
pub enum ClaimOutcome {
    Holds,
    /// The order is as claimed, but by another factor.
    OtherSize,
    DoesNotHold,
    Inconclusive,
}

impl ClaimOutcome {
    /// `is_of_size`: everything refuted depends on the machine.
    pub(super) fn of(stated: Verdict, direction: Option<Verdict>, is_of_size: bool) -> ClaimOutcome {
        match (stated, direction) {
            (Verdict::Pass, _) => ClaimOutcome::Holds,
            (Verdict::Fail, Some(Verdict::Pass)) => ClaimOutcome::OtherSize,
            (Verdict::Fail, None) if is_of_size => ClaimOutcome::OtherSize,
            (Verdict::Fail, _) => ClaimOutcome::DoesNotHold,
            _ => ClaimOutcome::Inconclusive,
        }
    }
}

impl Weakness {
    pub fn name(self) -> &'static str {
        match self {
            Weakness::LoadBound => "load-bound",
            Weakness::OneRound => "one round",
        }
    }
}

impl Judgement {
    /// Combines the evidence with this verdict: weak only if all of it is weak.
    pub(super) fn of(
        verdict: Verdict,
        evidence: impl Iterator<Item = (Verdict, Option<Weakness>)>,
    ) -> Judgement {
        let decided = verdict != Verdict::Inconclusive;
        let deciding = evidence.filter(|(own, _)| *own == verdict && decided);
        let weak = deciding
            .map(|(_, weak)| weak)
            .reduce(|one, other| one.zip(other).map(|(one, other)| one.min(other)));
        Judgement { verdict, weak: weak.flatten() }
    }
}

/// The weakness of a figure from these cells.
pub(super) fn weakness<'a>(
    cells: impl IntoIterator<Item = &'a CellReport>,
    rounds: usize,
    is_exact: bool,
) -> Option<Weakness> {
    if cells.into_iter().any(|cell| cell.load_bound.is_some()) {
        return Some(Weakness::LoadBound);
    }
    (rounds <= 1 && !is_exact).then_some(Weakness::OneRound)
}

impl SequentialReport {
    /// The published value of a row at a point, in the unit of checks of this metric.
    pub(super) fn published_figure(&self, metric: Metric, point: &Point, row: &PlannedRow) -> Option<f64> {
        if point.is_batch() {
            let is_asked = metric == Metric::MsPerMessage;
            let Seconds::Took(seconds) = self.published_seconds(point, row).filter(|_| is_asked)? else {
                return None;
            };
            return Some(seconds * 1e3 / messages_published(point)? as f64);
        }
        let name = row.published.as_deref().filter(|_| point.part == PUBLISHED)?;
        let printed = self.published.row(name)?;
        match metric {
            Metric::Throughput => printed.value.or(printed.rps),
            Metric::RepliesPerConnection => printed.replies_per_connection,
            Metric::ConnectionStdevOfMean => printed.connection_time_ms.map(|time| time.stddev / time.avg),
            Metric::Mean => printed.latency_ms.map(|of| of.avg).or(printed.avg),
            Metric::P50 => printed.latency_ms.map(|of| of.p50).or(printed.median),
            Metric::P99 => self.published_p99(printed),
            Metric::Max => longest(printed),
            Metric::MaxOfP99 => Some(longest(printed)? / self.published_p99(printed)?),
            Metric::MsPerMessage | Metric::Cpu | Metric::CpuWithDatabase | Metric::Rss => None,
        }
    }

    fn published_p99(&self, printed: &figures::PublishedRow) -> Option<f64> {
        let listed = self.published.percentiles.iter().position(|percent| *percent == 99.0);
        printed.latency_ms.map(|of| of.p99).or(printed.at.get(listed?).copied())
    }
}

fn longest(printed: &figures::PublishedRow) -> Option<f64> {
    printed.latency_ms.map(|of| of.max).or(printed.max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ahead_by_another_factor_is_of_another_size() {
        use Verdict::{Fail, Inconclusive, Pass};
        let of = |stated, direction| ClaimOutcome::of(stated, direction, false);
        assert_eq!(of(Pass, Some(Inconclusive)), ClaimOutcome::Holds);
        assert_eq!(of(Fail, Some(Pass)), ClaimOutcome::OtherSize);
        assert_eq!(
            [of(Fail, Some(Fail)), of(Fail, Some(Inconclusive)), of(Fail, None)],
            [ClaimOutcome::DoesNotHold; 3]
        );
        assert_eq!(ClaimOutcome::of(Fail, None, true), ClaimOutcome::OtherSize);
        assert_eq!(ClaimOutcome::of(Fail, Some(Inconclusive), true), ClaimOutcome::DoesNotHold);
        assert_eq!(of(Inconclusive, Some(Pass)), ClaimOutcome::Inconclusive);
    }

    #[test]
    fn a_verdict_is_weak_if_all_that_decided_it_is() {
        use Weakness::{LoadBound, OneRound};
        let of = |evidence: &[(Verdict, Option<Weakness>)]| {
            Judgement::of(Verdict::Fail, evidence.iter().copied()).weak
        };
        let fail = |weak| (Verdict::Fail, weak);
        assert_eq!(
            of(&[fail(Some(OneRound)), (Verdict::Pass, None)]),
            Some(OneRound),
            "what holds refutes nothing"
        );
        assert_eq!(of(&[fail(Some(OneRound)), fail(None)]), None);
        assert_eq!(of(&[fail(Some(OneRound)), fail(Some(LoadBound))]), Some(LoadBound));
        let open =
            Judgement::of(Verdict::Inconclusive, [(Verdict::Inconclusive, Some(OneRound))].into_iter());
        assert_eq!(open.weak, None, "nothing rests on it");
    }
}
