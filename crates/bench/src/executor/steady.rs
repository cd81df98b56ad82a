//! Finds where the warm-up curve of a service becomes flat, from the cost per request in windows. Pure.
//!
//! The cost is CPU time per request, not throughput. Other programs on the machine affect it less, and
//! warming up (compiled code, filled caches) changes it too.
//!
//! Other programs only add to the cost, by up to half and for seconds at a time. So the decision uses the
//! *floor* of the curve, which a warm-up lowers and neighbours do not change. Two floors are equal within the
//! noise of the curve, up to a limit; otherwise pilots of quick services would last four times as long. Noise
//! is estimated from differences of neighbouring windows, because a warming JVM has a large total spread.
//!
//! A service that alternates above its floor is warm; the alternation shows in the spread of its slices.

use tare_stats::{EstimateError, summary};

use crate::record::Pilot;

/// The floor of windows is this quantile.
const FLOOR: f64 = 0.2;
/// Two floors are equal within this share or the noise, which is capped at the second value.
const TOLERANCE: f64 = 0.05;
const TOLERANCE_MAX: f64 = 0.1;
/// The reference cost is the median of its windows within this distance.
const BESIDE_WINDOWS: usize = 2;
/// Ratio of a normal distribution's standard deviation to the median of its absolute values.
const OF_NORMAL: f64 = 1.4826;
/// The steady part must be as long as the part before it, and at least this many windows.
const STEADY_WINDOWS_MIN: usize = Pilot::WINDOWS_MIN;
/// A service whose first window costs this multiple of its floor compiles code. Such a service may rest on
/// plateaus (code of the first compiler, until the second one runs).
const COMPILES_FROM: f64 = 2.0;
/// A later floor below this share of the earlier one, and far below the first window, is not noise.
const FALLS_BELOW: f64 = 0.8;
const FALLS_FROM: f64 = 4.0;
/// A compiling service must be steady for this multiple of the time and this many windows, if time allows.
const PLATEAU_TIMES: usize = 3;
const PLATEAU_WINDOWS_MIN: usize = 30;
/// If others took more than three quarters of this many windows, they will take the next ones too.
const HOPELESS_WINDOWS: usize = 24;

/// A window of a pilot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PilotWindow {
    /// CPU time per request.
    cost: f64,
    /// The same of the reference, shortly after.
    beside: Option<f64>,
    /// Others took the CPUs, so the window is left out.
    pub is_taken: bool,
}

impl PilotWindow {
    pub(super) fn of(answered: u64, cpu_ns: u64, is_taken: bool) -> PilotWindow {
        PilotWindow { cost: cpu_ns as f64 / answered.max(1) as f64, beside: None, is_taken }
    }

    pub(super) fn set_beside(&mut self, answered: u64, cpu_ns: u64) {
        self.beside = (answered > 0 && cpu_ns > 0).then(|| cpu_ns as f64 / answered as f64);
    }
}

/// Whether the pilot has time left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    /// A flat curve may be a plateau.
    Left,
    /// A flat curve counts as steady.
    Over,
}

/// The number of windows after which a service is steady, from the undisturbed windows.
pub(super) fn steady_after(windows: &[PilotWindow], patience: Patience) -> Option<usize> {
    let (places, costs) = sound_costs(windows);
    steady_from(&costs, patience).map(|from| places[from])
}

/// Whether a compiling service still warms up: the floor of its second half is much lower.
pub(super) fn still_falls(windows: &[PilotWindow]) -> bool {
    let (_, costs) = sound_costs(windows);
    let (first, second) = costs.split_at(costs.len() / 2);
    match (floor(first), floor(second)) {
        (Ok(first), Ok(second)) => costs[0] >= FALLS_FROM * second && second < FALLS_BELOW * first,
        _ => false,
    }
}

/// Places and costs of the undisturbed windows.
fn sound_costs(windows: &[PilotWindow]) -> (Vec<usize>, Vec<f64>) {
    let mut sound: Vec<usize> = (0..windows.len()).filter(|place| !windows[*place].is_taken).collect();
    if is_hopeless(windows, sound.len()) {
        sound = (0..windows.len()).collect();
    }
    let costs = sound.iter().map(|place| relative_cost(windows, *place)).collect();
    (sound, costs)
}

/// On a constantly disturbed machine all windows count. Common influences cancel in the relative cost, and
/// waiting for quiet would use up the run.
fn is_hopeless(windows: &[PilotWindow], sound: usize) -> bool {
    windows.len() >= HOPELESS_WINDOWS && 4 * sound < windows.len()
}

/// Cost relative to the reference, by the median of neighbouring windows, since a single one is short. If
/// these are missing, the median of all windows applies: absolute costs would not be comparable.
fn relative_cost(windows: &[PilotWindow], place: usize) -> f64 {
    let near = place.saturating_sub(BESIDE_WINDOWS)..(place + BESIDE_WINDOWS + 1).min(windows.len());
    let of = |windows: &[PilotWindow]| {
        let beside: Vec<f64> = windows.iter().filter_map(|window| window.beside).collect();
        summary::median(&beside)
    };
    windows[place].cost / of(&windows[near]).or_else(|_| of(windows)).unwrap_or(1.0)
}

/// The first window as cheap as the floor of the curve's end. Absent if the steady part is shorter than the
/// part before it, or if its floor still moves.
fn steady_from(costs: &[f64], patience: Patience) -> Option<usize> {
    let end = &costs[costs.len() / 2..];
    let level = floor(end).ok()?;
    let tolerance = noise(end).clamp(TOLERANCE, TOLERANCE_MAX);
    let from = costs.iter().position(|cost| *cost <= level * (1.0 + tolerance))?;
    let steady = &costs[from..];
    let compiles = patience == Patience::Left && costs[0] >= COMPILES_FROM * level;
    let enough = match compiles {
        true => (PLATEAU_TIMES * from).max(PLATEAU_WINDOWS_MIN),
        false => from.max(STEADY_WINDOWS_MIN),
    };
    if level <= 0.0 || steady.len() < enough {
        return None;
    }
    let (first, second) = steady.split_at(steady.len() / 2);
    let moved = floor(second).ok()? / floor(first).ok()? - 1.0;
    (moved.abs() <= tolerance).then_some(from)
}

/// Standard deviation of windows as a share, from differences of neighbours. Trends have no influence (von
/// Neumann 1941), and single outliers have little, because it uses the median.
fn noise(costs: &[f64]) -> f64 {
    let steps: Vec<f64> = costs.windows(2).map(|pair| (pair[1] / pair[0] - 1.0).abs()).collect();
    summary::median(&steps).map_or(0.0, |median| OF_NORMAL * median / std::f64::consts::SQRT_2)
}

fn floor(costs: &[f64]) -> Result<f64, EstimateError> {
    summary::quantile(costs, FLOOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Evaluates as at the end of a pilot.
    fn rests_from(costs: &[f64]) -> Option<usize> {
        steady_from(costs, Patience::Over)
    }

    fn rested_after(windows: &[PilotWindow]) -> Option<usize> {
        steady_after(windows, Patience::Over)
    }

    /// A curve with constant noise of a few per mille.
    fn curve(length: usize, cost: impl Fn(f64) -> f64) -> Vec<f64> {
        (0..length).map(|i| cost(i as f64) * (1.0 + 0.004 * ((i * 7919 % 13) as f64 / 6.0 - 1.0))).collect()
    }

    #[test]
    fn a_flat_curve_is_steady_from_the_start() {
        assert_eq!(rests_from(&curve(12, |_| 5.0)), Some(0));
        assert_eq!(rests_from(&curve(11, |_| 5.0)), None, "too short to tell");
        assert_eq!(rests_from(&[]), None);
        assert_eq!(rests_from(&[0.0; 40]), None, "no CPU time was seen");
    }

    #[test]
    fn a_jit_is_steady_once_it_has_compiled() {
        let warming = |i: f64| 10.0 + 40.0 * (-i / 5.0).exp();
        // 40 exp(-i / 5) is 5% of 10 at i = 22.
        let from = rests_from(&curve(60, warming)).unwrap();
        assert!((20..=23).contains(&from), "{from}");
        assert_eq!(rests_from(&curve(30, warming)), None, "it has not been there for long");
        let step = |i: f64| if i < 12.0 { 30.0 } else { 10.0 };
        let from = rests_from(&curve(40, step)).unwrap();
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

    /// The same on another day, cut off during a slow part of the decrease.
    const SPRING_BOOT_FALLING: [f64; 23] = [
        1659.2, 1017.0, 643.8, 573.6, 415.5, 167.9, 198.4, 135.2, 143.0, 139.5, 119.8, 115.2, 133.7, 110.7,
        117.3, 119.9, 118.2, 103.7, 90.9, 100.2, 90.6, 79.8, 69.8,
    ];

    /// Cost relative to the reference, in windows of 0.15 s: Go's `net/http` on a shared machine.
    #[expect(clippy::approx_constant, reason = "measured")]
    const NET_HTTP: [f64; 100] = [
        3.96, 2.63, 2.57, 2.68, 2.98, 2.38, 2.78, 2.36, 2.59, 2.32, 2.67, 2.25, 2.19, 2.44, 2.74, 2.66, 2.05,
        1.65, 1.70, 1.92, 1.97, 2.02, 2.11, 2.02, 2.34, 1.96, 1.89, 3.14, 2.32, 2.48, 2.64, 2.30, 2.99, 2.35,
        2.21, 2.29, 2.31, 2.47, 2.28, 2.00, 2.54, 2.40, 2.25, 2.60, 2.60, 2.34, 2.25, 2.64, 2.64, 2.71, 2.80,
        2.14, 2.44, 2.58, 2.32, 2.24, 2.18, 2.19, 2.19, 2.56, 2.87, 2.53, 2.56, 2.20, 2.25, 2.51, 2.55, 2.53,
        2.63, 2.51, 2.65, 2.62, 2.59, 2.60, 2.60, 2.52, 2.63, 2.67, 2.59, 2.21, 2.11, 2.13, 2.09, 2.44, 2.30,
        2.22, 2.27, 2.17, 2.40, 2.80, 2.38, 2.23, 2.06, 2.25, 1.95, 1.95, 2.02, 1.96, 1.94, 1.85,
    ];

    #[test]
    fn a_service_that_compiles_still_falls_until_it_is_warm() {
        let falls = |costs: &[f64]| {
            let windows: Vec<_> =
                costs.iter().map(|cost| PilotWindow { cost: *cost, beside: None, is_taken: false }).collect();
            still_falls(&windows)
        };
        assert!((6..56).all(|end| falls(&SPRING_BOOT[..end])));
        assert!((6..23).all(|end| falls(&SPRING_BOOT_FALLING[..end])));
        assert!(!falls(&SPRING_BOOT[36..]) && !falls(&[&[60.0], &SPRING_BOOT[40..]].concat()), "it is warm");
        assert!((3..100).all(|end| !falls(&NET_HTTP[..end])), "it compiles nothing");
        assert!(!falls(&[]) && !falls(&[5.0]));
    }

    #[test]
    fn noise_makes_a_pilot_little_longer() {
        let first = (1..=100).find_map(|windows| Some((windows, rests_from(&NET_HTTP[..windows])?)));
        let (windows, from) = first.unwrap();
        assert!(windows <= 17 && from <= 5, "{windows} windows, steady from {from}");
        assert!((0.02..0.12).contains(&noise(&NET_HTTP)));
    }

    /// Cost relative to the reference, in windows of 0.1 s: Spring Boot rests at five times its final cost.
    const SPRING_BOOT_PLATEAU: [f64; 26] = [
        405.6, 243.1, 263.7, 178.8, 117.6, 92.0, 116.9, 131.5, 91.9, 83.9, 62.4, 50.9, 33.3, 26.4, 22.2,
        37.2, 36.0, 26.8, 28.8, 26.4, 30.1, 30.5, 30.4, 30.6, 27.5, 25.1,
    ];

    /// The same for Vert.x, up to its final cost.
    const VERTX: [f64; 95] = [
        213.0, 65.3, 52.5, 43.4, 51.4, 25.7, 15.2, 15.8, 17.3, 11.6, 11.0, 9.1, 8.9, 8.4, 8.8, 7.1, 6.9, 7.7,
        7.8, 6.7, 6.8, 6.9, 5.5, 5.5, 5.9, 6.2, 5.4, 7.4, 4.8, 4.1, 4.2, 4.1, 4.1, 3.7, 3.7, 3.6, 3.1, 4.0,
        4.2, 3.3, 2.9, 3.4, 3.1, 2.1, 2.0, 1.6, 1.4, 1.2, 1.5, 1.5, 1.8, 1.7, 1.3, 1.3, 1.5, 1.3, 1.4, 1.2,
        1.5, 1.3, 1.3, 1.5, 1.9, 1.2, 1.4, 1.4, 1.3, 1.3, 1.6, 1.3, 1.3, 1.4, 1.4, 1.3, 1.3, 1.2, 1.3, 1.3,
        1.3, 1.3, 1.2, 1.8, 1.3, 1.4, 1.3, 1.2, 1.2, 1.3, 1.3, 1.7, 1.3, 1.4, 1.3, 1.1, 1.3,
    ];

    #[test]
    fn a_plateau_of_a_runtime_that_compiles_is_not_its_end() {
        let is_steady = |costs: &[f64]| steady_from(costs, Patience::Left).is_some();
        assert!(rests_from(&SPRING_BOOT_PLATEAU).is_some(), "it rests");
        assert!((1..=SPRING_BOOT_PLATEAU.len()).all(|n| !is_steady(&SPRING_BOOT_PLATEAU[..n])));
        assert!((1..=VERTX.len()).all(|n| !is_steady(&VERTX[..n])), "it could be on one");
        let from = rests_from(&VERTX).unwrap();
        assert!((44..=50).contains(&from), "but has no more time: {from}");
    }

    #[test]
    fn what_is_warm_at_once_needs_no_patience() {
        let flat = curve(12, |_| 5.0);
        assert_eq!(steady_from(&flat, Patience::Left), Some(0));
    }

    #[test]
    fn a_trend_is_no_noise() {
        let falling = curve(40, |i| 100.0 - i);
        assert!(noise(&falling) < 0.02, "{}", noise(&falling));
        assert_eq!(noise(&[1.0]), 0.0);
    }

    #[test]
    fn what_falls_at_its_end_is_not_steady() {
        assert!((1..=SPRING_BOOT_FALLING.len()).all(|n| rests_from(&SPRING_BOOT_FALLING[..n]).is_none()));
    }

    #[test]
    fn a_real_jvm_is_steady_when_it_no_longer_becomes_cheaper() {
        let first = (1..=80).find_map(|windows| Some((windows, rests_from(&SPRING_BOOT[..windows])?)));
        let (windows, from) = first.unwrap();
        // The cost fell to a fortieth in 9.5 s, by 5 to 50% a second: 33 µs there, 32 at the end.
        assert_eq!((from, windows), (38, 76));
    }

    #[test]
    fn what_never_settles_is_never_steady() {
        assert_eq!(rests_from(&curve(120, |i| 10.0 + i)), None);
        assert_eq!(rests_from(&curve(120, |i| 1000.0 - 8.0 * i)), None);
        assert_eq!(rests_from(&curve(120, |i| 1000.0 / (1.0 + i))), None);
    }

    #[test]
    fn single_bad_windows_do_not_matter() {
        let mut costs = curve(40, |_| 10.0);
        costs[11] = 80.0;
        costs[30] = 50.0;
        assert_eq!(rests_from(&costs), Some(0));
    }

    /// aiohttp for 12 s, beside other tenants of the machine. Its undisturbed cost is 23 µs.
    const DISTURBED: [f64; 48] = [
        24.2, 24.6, 23.2, 23.2, 23.6, 24.5, 23.0, 24.2, 32.4, 37.8, 32.7, 35.8, 29.7, 23.2, 24.3, 26.6, 27.8,
        29.8, 33.1, 25.4, 43.1, 41.9, 41.7, 40.9, 39.9, 29.5, 24.9, 33.5, 27.2, 28.7, 24.5, 25.5, 33.2, 27.0,
        33.2, 32.6, 35.7, 35.9, 35.0, 31.3, 33.7, 38.4, 28.8, 28.7, 28.2, 23.7, 23.7, 25.4,
    ];

    #[test]
    fn neighbours_do_not_make_a_service_cold() {
        let found = |windows| rests_from(&DISTURBED[..windows]);
        assert_eq!((found(11), found(12)), (None, Some(0)));
        assert!((13..=48).filter_map(found).all(|from| from <= 3));
    }

    fn windows(
        costs: &[f64],
        beside: impl Fn(usize) -> f64,
        is_taken: impl Fn(usize) -> bool,
    ) -> Vec<PilotWindow> {
        let window = |(place, cost): (usize, &f64)| PilotWindow {
            cost: cost * beside(place),
            beside: Some(4.0 * beside(place)),
            is_taken: is_taken(place),
        };
        costs.iter().enumerate().map(window).collect()
    }

    /// A neighbour on the same core doubles all costs, during the warm-up or from then on.
    #[test]
    fn what_makes_the_reference_dearer_too_cancels() {
        let costs = curve(40, |i| if i < 8.0 { 20.0 } else { 10.0 });
        let neighbours: [fn(usize) -> f64; 3] = [
            |_| 1.0,
            |place| if place < 20 { 2.0 } else { 1.0 },
            |place| {
                if place < 20 { 1.0 } else { 1.7 }
            },
        ];
        for neighbour in neighbours {
            assert_eq!(rested_after(&windows(&costs, neighbour, |_| false)), Some(8));
        }
        let alone = costs
            .iter()
            .enumerate()
            .map(|(place, cost)| PilotWindow::of(1, (cost * neighbours[2](place)) as u64, false));
        assert_eq!(rested_after(&alone.collect::<Vec<_>>()), None, "it looks as if it had become dearer");
    }

    #[test]
    fn a_reference_that_is_lost_on_the_way_does_not_change_the_scale() {
        let mut found = windows(&curve(40, |_| 10.0), |_| 1.0, |_| false);
        found[15..].iter_mut().for_each(|window| window.beside = None);
        assert_eq!(rested_after(&found), Some(0));
    }

    #[test]
    fn windows_that_others_took_do_not_count() {
        let mut costs = curve(40, |_| 10.0);
        costs[..18].iter_mut().for_each(|cost| *cost *= 0.5);
        assert_eq!(rested_after(&windows(&costs, |_| 1.0, |place| place < 18)), Some(18));
        assert_eq!(rested_after(&windows(&costs, |_| 1.0, |_| true)), None);
        let few = windows(&costs, |_| 1.0, |place| place % 4 > 0);
        assert_eq!(rested_after(&few), None, "ten windows are too few");
    }

    #[test]
    fn a_machine_that_is_never_left_alone_is_measured_by_the_reference() {
        let costs = curve(40, |i| if i < 8.0 { 20.0 } else { 10.0 });
        let disturbed = |place: usize| if place % 7 < 4 { 2.0 } else { 1.5 };
        let found = windows(&costs, disturbed, |_| true);
        assert_eq!((rested_after(&found[..23]), rested_after(&found)), (None, Some(8)));
        let alone: Vec<PilotWindow> =
            found.iter().map(|window| PilotWindow { beside: None, ..*window }).collect();
        let from = rested_after(&alone).unwrap();
        assert!((8..=12).contains(&from), "{from}: of the reference itself, by the floor");
    }

    #[test]
    fn a_machine_that_does_something_else_for_seconds_does_not_matter() {
        let disturbed = |i: f64| if (14.0..26.0).contains(&i) { 15.0 } else { 10.0 };
        assert_eq!(rests_from(&curve(40, disturbed)), Some(0));
    }
}
