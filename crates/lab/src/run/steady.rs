//! Where the warm-up curve of a service becomes flat: pure, from the cost of a request in one window after the other.
//!
//! The cost is CPU time a request and not throughput: what else runs on the machine moves it less, and what warming up
//! changes (compiled code, filled caches) changes it as well.

use tare_stats::summary;

/// Windows of which the median stands for the level at that place.
const SPAN: usize = 5;
/// A level within this share of the final one is steady, if the windows do not spread more.
const TOLERANCE: f64 = 0.02;
/// It must have been steady for as long as it took to become so, and for so many windows.
const STEADY_WINDOWS_MIN: usize = 8;

/// The first window from which on the curve stays at the level of its end. None where it has not stayed there for as
/// long as it took to come there, so that the end may itself be on the way.
pub fn steady_from(costs: &[f64]) -> Option<usize> {
    let tail = &costs[costs.len() / 2..];
    // From one window to the next, since a slow rise must not pass for noise.
    let steps: Vec<f64> = tail.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    let (Ok(level), Ok(step)) = (summary::median(tail), summary::median(&steps)) else { return None };
    // Of normal data the median step is 0.954 standard deviations; 1.253 / sqrt(n) of one is that of a median. Three of
    // those are left to chance.
    let chance = 3.0 * 1.253 / 0.954 * step / (SPAN as f64).sqrt();
    let tolerance = chance.max(TOLERANCE * level);
    let is_off = |span: &[f64]| summary::median(span).is_ok_and(|median| (median - level).abs() > tolerance);
    let from = costs.windows(SPAN).rposition(is_off).map_or(0, |last_off| last_off + 1);
    (costs.len() >= from + from.max(STEADY_WINDOWS_MIN)).then_some(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A curve with noise of a few per mille, the same for ever.
    fn curve(length: usize, cost: impl Fn(f64) -> f64) -> Vec<f64> {
        (0..length).map(|i| cost(i as f64) * (1.0 + 0.004 * ((i * 7919 % 13) as f64 / 6.0 - 1.0))).collect()
    }

    #[test]
    fn a_flat_curve_is_steady_from_the_start() {
        assert_eq!(steady_from(&curve(8, |_| 5.0)), Some(0));
        assert_eq!(steady_from(&curve(7, |_| 5.0)), None, "too short to tell");
        assert_eq!(steady_from(&[]), None);
    }

    #[test]
    fn a_jit_is_steady_once_it_has_compiled() {
        let warming = |i: f64| 10.0 + 40.0 * (-i / 5.0).exp();
        // 40 exp(-i / 5) is 2% of 10 at i = 26.
        let from = steady_from(&curve(60, warming)).unwrap();
        assert!((20..=28).contains(&from), "{from}");
        assert_eq!(steady_from(&curve(30, warming)), None, "it has not been there for long");
        let step = |i: f64| if i < 12.0 { 30.0 } else { 10.0 };
        let from = steady_from(&curve(40, step)).unwrap();
        assert!((8..=12).contains(&from), "{from}");
    }

    #[test]
    fn what_never_settles_is_never_steady() {
        assert_eq!(steady_from(&curve(120, |i| 10.0 + i)), None);
        assert_eq!(steady_from(&curve(120, |i| if i % 60.0 < 30.0 { 10.0 } else { 13.0 })), None);
    }

    #[test]
    fn single_bad_windows_do_not_matter() {
        let mut costs = curve(40, |_| 10.0);
        costs[11] = 80.0;
        costs[30] = 50.0;
        assert_eq!(steady_from(&costs), Some(0));
    }
}
