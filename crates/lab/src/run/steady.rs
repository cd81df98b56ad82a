//! Where the warm-up curve of a service becomes flat: pure, from the cost of a request in one window after the other.
//!
//! The cost is CPU time a request and not throughput: what else runs on the machine moves it less, and what warming up
//! changes (compiled code, filled caches) changes it as well.
//!
//! The tolerance is a share of the level and does not grow with the noise: a JVM that is warming up is the noisiest of all,
//! and would be called steady for it. What the noise of a shared machine takes is allowed for by time: some spans may be off.

use tare_stats::summary;

/// Windows of which the median stands for the level at that place.
const SPAN: usize = 4;
/// A span within this share of the final level is steady.
const TOLERANCE: f64 = 0.05;
/// At least so many of the spans from there on must be: more than half, so that what goes to and fro between two levels is
/// never steady; not all, since the machine does something else now and then.
const STEADY_SHARE: f64 = 0.6;
/// It must have been steady for as long as it took to become so, and for so many windows.
const STEADY_WINDOWS_MIN: usize = 12;

/// The first window from which on the curve stays at the level of its end. None where it has not stayed there for as
/// long as it took to come there, so that the end may itself be on the way.
pub fn steady_from(costs: &[f64]) -> Option<usize> {
    let spans: Vec<f64> = costs.windows(SPAN).filter_map(|span| summary::median(span).ok()).collect();
    let level = summary::median(&spans[spans.len() / 2..]).ok()?;
    let mut steady = 0;
    let mut from = None;
    for (left, span) in (1..).zip(spans.iter().rev()) {
        let is_steady = (span / level - 1.0).abs() <= TOLERANCE;
        steady += usize::from(is_steady);
        if is_steady && steady as f64 >= STEADY_SHARE * left as f64 {
            from = Some(spans.len() - left);
        }
    }
    from.filter(|from| costs.len() >= from + from.max(&STEADY_WINDOWS_MIN))
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
        assert_eq!(steady_from(&curve(12, |_| 5.0)), Some(0));
        assert_eq!(steady_from(&curve(11, |_| 5.0)), None, "too short to tell");
        assert_eq!(steady_from(&[]), None);
        assert_eq!(steady_from(&[0.0; 40]), None, "no CPU time was seen");
    }

    #[test]
    fn a_jit_is_steady_once_it_has_compiled() {
        let warming = |i: f64| 10.0 + 40.0 * (-i / 5.0).exp();
        // 40 exp(-i / 5) is 5% of 10 at i = 22; the median of a span is that of its middle.
        let from = steady_from(&curve(60, warming)).unwrap();
        assert!((18..=22).contains(&from), "{from}");
        assert_eq!(steady_from(&curve(30, warming)), None, "it has not been there for long");
        let step = |i: f64| if i < 12.0 { 30.0 } else { 10.0 };
        let from = steady_from(&curve(40, step)).unwrap();
        assert!((8..=12).contains(&from), "{from}");
    }

    /// CPU µs per request in windows of 0.25 s: Spring Boot on a fresh JVM and one CPU of a shared machine.
    const SPRING_BOOT: [f64; 80] = [
        1639.7, 963.4, 564.4, 705.7, 349.0, 161.0, 162.9, 131.3, 138.1, 118.5, 152.2, 171.8, 133.2, 109.0,
        102.3, 146.0, 102.6, 98.4, 86.6, 86.1, 100.2, 102.1, 74.8, 73.0, 83.7, 68.3, 65.1, 57.3, 60.2, 53.8,
        58.1, 68.0, 53.3, 47.7, 46.5, 45.1, 39.8, 35.5, 30.7, 34.3, 32.5, 32.6, 33.7, 35.1, 33.7, 32.5, 32.7,
        32.6, 33.5, 33.8, 33.9, 34.0, 34.0, 31.4, 30.0, 30.8, 31.6, 31.7, 31.5, 32.3, 31.0, 32.6, 35.8, 33.8,
        32.0, 31.4, 32.2, 31.7, 32.4, 32.6, 33.3, 32.3, 33.7, 32.8, 32.2, 31.0, 30.5, 33.5, 33.3, 32.2,
    ];

    #[test]
    fn a_real_jvm_is_steady_when_it_no_longer_becomes_cheaper() {
        let first = (1..=80).find_map(|windows| Some((windows, steady_from(&SPRING_BOOT[..windows])?)));
        let (windows, from) = first.unwrap();
        // It fell to a fortieth in 9 s, in steps of 5 to 50% a second; there it was 34 µs, and 33 at the end.
        assert!((36..=38).contains(&from) && windows >= 2 * from, "{windows} {from}");
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

    #[test]
    fn a_machine_that_does_something_else_for_seconds_does_not_matter() {
        let disturbed = |i: f64| if (14.0..26.0).contains(&i) { 15.0 } else { 10.0 };
        assert_eq!(steady_from(&curve(40, disturbed)), Some(0));
    }
}
