//! The interval of a capacity over fresh starts, including their common bias. A search brackets the capacity
//! and is biased upwards, and more starts do not reduce the bias.

use tare_bench::slo::FoundRate;
use tare_stats::{DEFAULT_CONFIDENCE, Warning};

use crate::estimate::UnitEstimate;

/// Bound on the bias, in units of limit / window relative to the closed loop. Windows begin with an empty
/// queue, and a few lucky windows let a rate hold. In queues of known capacity both together overstate it by
/// less: `cargo run --release -p tare-analysis --example verdicts -- capacity`.
const BIAS_LIMITS: f64 = 2.0;

/// Log value of an absent bound. Finite, because means are computed from it.
const BEYOND: f64 = 1e9;

/// One search in the unit of the estimate: the highest rate that held, the figure, the lowest that failed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bracket {
    held: f64,
    value: f64,
    broke: f64,
}

impl Bracket {
    /// A bracket divided by `per`. The ends are 0 and infinity without a rate that held or failed.
    fn of(found: &FoundRate, per: f64) -> Option<Bracket> {
        let (held, broke) = match *found {
            FoundRate::Between { held, broke } => (held, broke),
            FoundRate::AtLeast(held) => (held, f64::INFINITY),
            FoundRate::Below(broke) => (0.0, broke),
            FoundRate::Nothing => return None,
        };
        Some(Bracket { held: held / per, value: found.per_second()? / per, broke: broke / per })
    }
}

/// Largest share by which searches overstate a capacity, if they found `of_closed` of the closed loop.
pub fn bias(limit_ns: u64, window_ns: u64, of_closed: f64) -> f64 {
    BIAS_LIMITS * limit_ns as f64 / (window_ns as f64 * of_closed)
}

/// The estimate over starts, each divided by its own `per` (1 for plain rates). The lower end comes from the
/// rates that held, minus the bias; the upper end comes from the rates that failed. An end is absent if some
/// start has none, and all is absent without starts.
pub fn estimate<'a>(
    found: impl IntoIterator<Item = (&'a FoundRate, f64)>,
    bias: f64,
) -> Option<(UnitEstimate, Vec<Warning>)> {
    let brackets: Vec<Bracket> =
        found.into_iter().filter_map(|(found, per)| Bracket::of(found, per)).collect();
    let of = |end: fn(&Bracket) -> f64| {
        let ends = brackets.iter().map(|bracket| end(bracket).ln().clamp(-BEYOND, BEYOND));
        tare_stats::interval(&ends.collect::<Vec<f64>>(), DEFAULT_CONFIDENCE).ok()
    };
    let bound = |end: f64| (end.abs() < BEYOND / 1e6).then(|| end.exp());
    let (held, middle, broke) = (of(|one| one.held)?, of(|one| one.value)?, of(|one| one.broke)?);
    let estimate = UnitEstimate {
        low: held.interval.and_then(|ends| bound(ends.low)).map(|low| low * (1.0 - bias).max(0.0)),
        high: broke.interval.and_then(|ends| bound(ends.high)),
        ..UnitEstimate::exp(&middle)
    };
    Some((estimate, middle.warnings))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BETWEEN: FoundRate = FoundRate::Between { held: 1000.0, broke: 1020.0 };

    fn interval(found: &[FoundRate]) -> (Option<f64>, Option<f64>) {
        let (estimate, _) = estimate(found.iter().map(|found| (found, 1.0)), 0.01).unwrap();
        let round = |end: Option<f64>| end.map(|end| end.round());
        (round(estimate.low), round(estimate.high))
    }

    #[test]
    fn starts_that_agree_leave_their_bracket_and_the_bias() {
        assert_eq!(interval(&[BETWEEN; 20]), (Some(990.0), Some(1020.0)));
        assert_eq!(interval(&[BETWEEN; 3]), (Some(990.0), Some(1020.0)));
        assert_eq!(interval(&[BETWEEN]), (None, None));
    }

    #[test]
    fn a_start_that_found_a_bound_alone_is_no_figure() {
        let with = |starts: usize, one: FoundRate| interval(&[vec![BETWEEN; starts - 1], vec![one]].concat());
        assert_eq!(with(6, FoundRate::AtLeast(1000.0)), (Some(990.0), None));
        assert_eq!(with(6, FoundRate::Below(1020.0)), (None, Some(1020.0)));
        assert_eq!(with(20, FoundRate::AtLeast(1000.0)), (Some(990.0), None));
        assert_eq!(with(3, FoundRate::AtLeast(1000.0)), (Some(990.0), None));
        assert_eq!(interval(&[FoundRate::AtLeast(1000.0); 20]), (Some(990.0), None));
        assert_eq!(estimate([(&FoundRate::Nothing, 1.0)], 0.0), None);
    }

    #[test]
    fn longer_windows_have_less_bias() {
        assert_eq!(bias(10, 1000, 1.0), 0.02);
        assert_eq!(bias(10, 10_000, 0.5), 0.004);
    }
}
