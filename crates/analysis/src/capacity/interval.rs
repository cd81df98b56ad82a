//! The interval of a capacity: over fresh starts, with what all of them have in common. A search brackets the capacity and is
//! biased upwards; more starts take neither away.

use tare_bench::slo::Found;
use tare_stats::{DEFAULT_CONFIDENCE, Warning};

use crate::estimate::Estimate;

/// A window begins with an empty queue, and a few windows that had luck let a rate hold. In queues whose capacity is known
/// both together overstate it by at most this many times limit / window, as a share of the closed loop: `cargo run --release
/// -p tare-analysis --example verdicts -- capacity`.
const BIAS_LIMITS: f64 = 2.0;

/// The logarithm of what is beyond every rate: no bound. Finite, since means are taken of it.
const BEYOND: f64 = 1e9;

/// What one search says, in the unit of the estimate: the highest rate that held, the figure, the lowest that did not.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bracket {
    held: f64,
    value: f64,
    broke: f64,
}

impl Bracket {
    /// Relative to `per`. What held nothing has no lower end, and what held all that was tried no upper one.
    fn of(found: &Found, per: f64) -> Option<Bracket> {
        let (held, broke) = match *found {
            Found::Between { held, broke } => (held, broke),
            Found::AtLeast(held) => (held, f64::INFINITY),
            Found::Below(broke) => (0.0, broke),
            Found::Nothing => return None,
        };
        Some(Bracket { held: held / per, value: found.per_second()? / per, broke: broke / per })
    }
}

/// The share by which searches overstate a capacity at most, given what they found as a share of the closed loop.
pub fn bias(limit_ns: u64, window_ns: u64, of_closed: f64) -> f64 {
    BIAS_LIMITS * limit_ns as f64 / (window_ns as f64 * of_closed)
}

/// Of all starts, each relative to its own `per` (1 for rates as they are). The lower end is that of the rates that held, less
/// the bias; the upper end is that of the rates that did not. An end is absent where some start has none, and the whole where there
/// is no start.
pub fn estimate<'a>(
    found: impl IntoIterator<Item = (&'a Found, f64)>,
    bias: f64,
) -> Option<(Estimate, Vec<Warning>)> {
    let brackets: Vec<Bracket> =
        found.into_iter().filter_map(|(found, per)| Bracket::of(found, per)).collect();
    let of = |end: fn(&Bracket) -> f64| {
        let ends = brackets.iter().map(|bracket| end(bracket).ln().clamp(-BEYOND, BEYOND));
        tare_stats::interval(&ends.collect::<Vec<f64>>(), DEFAULT_CONFIDENCE).ok()
    };
    let bound = |end: f64| (end.abs() < BEYOND / 1e6).then(|| end.exp());
    let (held, middle, broke) = (of(|one| one.held)?, of(|one| one.value)?, of(|one| one.broke)?);
    let estimate = Estimate {
        low: held.interval.and_then(|ends| bound(ends.low)).map(|low| low * (1.0 - bias).max(0.0)),
        high: broke.interval.and_then(|ends| bound(ends.high)),
        ..Estimate::exp(&middle)
    };
    Some((estimate, middle.warnings))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BETWEEN: Found = Found::Between { held: 1000.0, broke: 1020.0 };

    fn interval(found: &[Found]) -> (Option<f64>, Option<f64>) {
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
        let with = |starts: usize, one: Found| interval(&[vec![BETWEEN; starts - 1], vec![one]].concat());
        assert_eq!(with(6, Found::AtLeast(1000.0)), (Some(990.0), None));
        assert_eq!(with(6, Found::Below(1020.0)), (None, Some(1020.0)));
        assert_eq!(with(20, Found::AtLeast(1000.0)), (Some(990.0), None));
        assert_eq!(with(3, Found::AtLeast(1000.0)), (Some(990.0), None));
        assert_eq!(interval(&[Found::AtLeast(1000.0); 20]), (Some(990.0), None));
        assert_eq!(estimate([(&Found::Nothing, 1.0)], 0.0), None);
    }

    #[test]
    fn longer_windows_have_less_bias() {
        assert_eq!(bias(10, 1000, 1.0), 0.02);
        assert_eq!(bias(10, 10_000, 0.5), 0.004);
    }
}
