//! Instants by table, and properties of every profile. There is no clock: 10^9 arrivals take no time.

mod anderson_darling;
mod split;

use std::time::Duration;

use proptest::prelude::*;

use super::parse::SpecError;
use super::{ArrivalProcess, ArrivalSource, Arrivals, ProfileError, RateProfile};
use crate::split::Split;

const S: u64 = 1_000_000_000;

fn profile(text: &str) -> RateProfile {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

/// Up to `most` instants of one worker before `end_ns`.
fn due_before(arrivals: &Arrivals, worker: usize, workers: usize, end_ns: u64, most: usize) -> Vec<u64> {
    let mut source = ArrivalSource::new(arrivals, Split::WHOLE, (worker, workers), 7);
    let next = || {
        let due_ns = source.due_ns();
        source.advance(arrivals);
        due_ns
    };
    std::iter::repeat_with(next).take_while(|&due_ns| due_ns < end_ns).take(most).collect()
}

#[test]
fn rates_and_arrivals_by_table() {
    let table = [
        ("1k", 0, 1000.0, 0.0),
        ("1k", 10 * S, 1000.0, 10_000.0),
        ("0..1k/10s", 0, 0.0, 0.0),
        ("0..1k/10s", 5 * S, 500.0, 1250.0),
        ("0..1k/10s", 10 * S, 1000.0, 5000.0),
        ("0..1k/10s", 20 * S, 1000.0, 15_000.0),
        ("1k..0/10s", 5 * S, 500.0, 3750.0),
        ("1k..0/10s", 20 * S, 0.0, 5000.0),
        ("1k:10s,0:5s,2k", 10 * S - 1, 1000.0, 9_999.999_999),
        ("1k:10s,0:5s,2k", 10 * S, 0.0, 10_000.0),
        ("1k:10s,0:5s,2k", 15 * S, 2000.0, 10_000.0),
        ("1k:10s,0:5s,2k", 16 * S, 2000.0, 12_000.0),
    ];
    for (text, at_ns, rate_per_s, arrivals) in table {
        let profile = profile(text);
        assert!((profile.rate_per_s(at_ns) - rate_per_s).abs() < 1e-9, "{text} at {at_ns}");
        assert!((profile.arrivals_before(at_ns) - arrivals).abs() < 1e-6, "{text} at {at_ns}");
    }
    assert_eq!(profile("1k..20k/30s").rate_per_s_max(), 20_000.0);
    assert_eq!(profile("20k..1k/30s").rate_per_s_max(), 20_000.0);
    assert_eq!(profile("1k:1s,7k:1s,2k").rate_per_s_max(), 7000.0);
}

#[test]
fn instants_by_table() {
    let table = [
        ("1k", 0.0, Some(0)),
        ("1k", 0.5, Some(500_000)),
        ("1k", -1.0, Some(0)),
        ("1k", f64::NAN, Some(0)),
        ("1k", f64::INFINITY, None),
        ("3", 1.0, Some(333_333_333)),
        // A ramp from 0 reaches half of its arrivals at the square root of a half of its time.
        ("0..1k/10s", 2500.0, Some(7_071_067_811)),
        ("0..1k/10s", 15_000.0, Some(20 * S)),
        ("1k..0/10s", 3750.0, Some(5 * S)),
        // A pause is skipped, at either end of it and at the start of the run.
        ("1k:10s,0:5s,2k", 9_999.5, Some(9_999_500_000)),
        ("1k:10s,0:5s,2k", 10_000.0, Some(15 * S)),
        ("1k:10s,0:5s,2k", 10_001.0, Some(15 * S + 500_000)),
        ("0:5s,1k", 0.0, Some(5 * S)),
        ("0:5s,1k", f64::NAN, Some(5 * S)),
        // No arrival follows.
        ("1k..0/10s", 5000.0, None),
        ("1k:10s,0", 9_999.0, Some(9_999 * S / 1000)),
        ("1k:10s,0", 10_000.0, None),
        // One arrival in 1000 years is never.
        ("0.00000000003", 1.0, None),
    ];
    for (text, arrivals, instant_ns) in table {
        assert_eq!(profile(text).instant_ns(arrivals), instant_ns, "{text} at {arrivals}");
    }
}

/// Floats lose their digits on long and flat ramps.
#[test]
fn ramps_keep_their_digits() {
    let flat = profile("1000000..1000000.001/1h");
    let instant_ns = flat.instant_ns(1.8e9).expect("it never ends");
    // Solved with 50 digits; the textbook formula for the root is off by half a millisecond.
    assert!(instant_ns.abs_diff(1_799_999_999_550) <= 1, "{instant_ns}");
    // Computed naively, the rate shortly before the end is negative.
    let lasts = Duration::from_secs(95 * 365 * 86_400);
    let down = RateProfile::ramp(3.0, 0.0, lasts).expect("ramp");
    assert!(down.rate_per_s(lasts.as_nanos() as u64 - 1) >= 0.0);
}

#[test]
fn constant_arrivals_by_table() {
    let due = |text: &str, worker, workers| {
        let arrivals = Arrivals { profile: profile(text), process: ArrivalProcess::Constant };
        due_before(&arrivals, worker, workers, u64::MAX, 3)
    };
    assert_eq!(due("1k", 0, 1), [500_000, 1_500_000, 2_500_000]);
    assert_eq!(due("1k", 0, 4), [500_000, 4_500_000, 8_500_000]);
    assert_eq!(due("1k", 3, 4), [3_500_000, 7_500_000, 11_500_000]);
    // Two arrivals, a pause, and one more arrival before the rate is 0 for good.
    assert_eq!(due("2:1s,0:1s,1:1s,0", 0, 1), [S / 4, 3 * S / 4, 2 * S + S / 2]);
    assert_eq!(due("2:1s,0:1s,1:1s,0", 1, 2), [3 * S / 4]);
    assert!(due("2:1s,0", 2, 3).is_empty());
    // The second arrival lies on the edge of the pause and moves to its end.
    assert_eq!(due("1.5:1s,0:1s,1", 0, 1), [S / 3, 2 * S, 3 * S]);
}

/// After the last arrival a source stays exhausted, however often it advances.
#[test]
fn an_exhausted_source_stays_exhausted() {
    for process in [ArrivalProcess::Constant, ArrivalProcess::Poisson] {
        let arrivals = Arrivals { profile: profile("5..0/2s"), process };
        let mut source = ArrivalSource::new(&arrivals, Split::WHOLE, (0, 1), 3);
        for _ in 0..100 {
            source.advance(&arrivals);
        }
        assert_eq!(source.due_ns(), u64::MAX, "{process:?}");
    }
}

#[test]
fn a_billion_arrivals_do_not_drift() {
    for rate in [1_u64, 3, 7, 999, 20_000, 333_333, 1_000_003] {
        let arrivals = Arrivals {
            profile: RateProfile::constant(rate as f64).expect("rate"),
            process: ArrivalProcess::Constant,
        };
        for arrival in [0, 1, 999_999_937, 999_999_999, 1_000_000_000_usize] {
            // The first arrival of worker k of k + 1 is arrival k.
            let due_ns = ArrivalSource::new(&arrivals, Split::WHOLE, (arrival, arrival + 1), 0).due_ns();
            let exact_ns = (2 * arrival as u128 + 1) * u128::from(S) / (2 * u128::from(rate));
            assert!(u128::from(due_ns).abs_diff(exact_ns) < 1000, "{rate}/s, {arrival}: {due_ns} {exact_ns}");
        }
    }
}

#[test]
fn the_poisson_sum_loses_nothing() {
    let arrivals = Arrivals { profile: profile("1k"), process: ArrivalProcess::Poisson };
    let mut source = ArrivalSource::new(&arrivals, Split::WHOLE, (5, 8), 9);
    let mut random = super::SplitMix64::stream(9, 5);
    // Kahan summation: the error of an addition is carried into the next.
    let (mut sum, mut carry) = (0.0_f64, 0.0_f64);
    for _ in 0..1_000_000 {
        let term = -random.unit_open().ln() - carry;
        let next = sum + term;
        (carry, sum) = ((next - sum) - term, next);
        assert!((sum * 8e6 - source.due_ns() as f64).abs() < 1000.0);
        source.advance(&arrivals);
    }
}

#[test]
fn poisson_starts_after_an_interval_and_every_worker_has_its_own() {
    let arrivals = Arrivals { profile: profile("1k"), process: ArrivalProcess::Poisson };
    let mut first: Vec<u64> =
        (0..64).map(|worker| ArrivalSource::new(&arrivals, Split::WHOLE, (worker, 64), 1).due_ns()).collect();
    // The earliest of 64 arrivals at 1000/64 per second each is exponential again, with mean 1 ms.
    assert!(first.iter().all(|&due_ns| due_ns > 0));
    first.sort_unstable();
    first.dedup();
    assert_eq!(first.len(), 64);
    let (a, b) = (
        ArrivalSource::new(&arrivals, Split::WHOLE, (0, 1), 1).due_ns(),
        ArrivalSource::new(&arrivals, Split::WHOLE, (0, 1), 2).due_ns(),
    );
    assert_ne!(a, b, "seeds");
}

#[test]
#[should_panic(expected = "worker 2 of 2")]
fn workers_are_counted_from_0() {
    let _ = ArrivalSource::new(
        &Arrivals { profile: profile("1"), process: ArrivalProcess::Constant },
        Split::WHOLE,
        (2, 2),
        0,
    );
}

#[test]
fn a_source_is_small() {
    assert!(size_of::<ArrivalSource>() <= 80, "{}", size_of::<ArrivalSource>());
}

#[test]
fn profiles_that_are_none() {
    let s = Duration::from_secs(1);
    assert!(matches!(RateProfile::constant(f64::NAN), Err(ProfileError::NotFinite(_))));
    assert_eq!(RateProfile::constant(f64::INFINITY), Err(ProfileError::NotFinite(f64::INFINITY)));
    assert_eq!(RateProfile::constant(-1.0), Err(ProfileError::Negative(-1.0)));
    assert_eq!(RateProfile::constant(2e9), Err(ProfileError::TooHigh(2e9)));
    assert_eq!(RateProfile::constant(-0.0), Err(ProfileError::ZeroEverywhere));
    assert_eq!(RateProfile::ramp(0.0, 0.0, s), Err(ProfileError::ZeroEverywhere));
    assert_eq!(RateProfile::ramp(1.0, 2.0, Duration::ZERO), Err(ProfileError::ZeroDuration));
    assert_eq!(RateProfile::ramp(1.0, 2.0, Duration::MAX), Err(ProfileError::TooLong));
    assert_eq!(RateProfile::steps(&[]), Err(ProfileError::NoSteps));
    assert_eq!(RateProfile::steps(&[(0.0, s), (0.0, s)]), Err(ProfileError::ZeroEverywhere));
    assert_eq!(RateProfile::steps(&[(1.0, Duration::ZERO), (2.0, s)]), Err(ProfileError::ZeroDuration));
    assert_eq!(
        RateProfile::steps(&[(1.0, s), (f64::NEG_INFINITY, s)]),
        Err(ProfileError::NotFinite(f64::NEG_INFINITY))
    );
    let half = Duration::from_nanos(u64::MAX / 2 + 1);
    assert_eq!(RateProfile::steps(&[(1.0, half), (2.0, half), (3.0, s)]), Err(ProfileError::TooLong));
}

#[test]
fn profiles_by_table() {
    let s = Duration::from_secs;
    let table = [
        ("20k", "20k", RateProfile::constant(20_000.0)),
        ("1.5M", "1.5M", RateProfile::constant(1_500_000.0)),
        ("500", "500", RateProfile::constant(500.0)),
        ("1234", "1234", RateProfile::constant(1234.0)),
        ("1k..20k/30s", "1k..20k/30s", RateProfile::ramp(1000.0, 20_000.0, s(30))),
        (" 1k .. 20k / 90", "1k..20k/90s", RateProfile::ramp(1000.0, 20_000.0, s(90))),
        ("20k..0/1500ms", "20k..0/1500ms", RateProfile::ramp(20_000.0, 0.0, Duration::from_millis(1500))),
        ("1k..1k/30s", "1k", RateProfile::constant(1000.0)),
        (
            "1k:10s,5k:10s,20k",
            "1k:10s,5k:10s,20k",
            RateProfile::steps(&[(1000.0, s(10)), (5000.0, s(10)), (20_000.0, s(1))]),
        ),
        (
            "1k:60, 5k:1h, 20k:10s",
            "1k:1m,5k:1h,20k",
            RateProfile::steps(&[(1e3, s(60)), (5e3, s(3600)), (2e4, s(0))]),
        ),
        ("1k:10s,1k:10s,2k", "1k:20s,2k", RateProfile::steps(&[(1e3, s(20)), (2e3, s(1))])),
        ("1k:10s", "1k", RateProfile::constant(1000.0)),
        ("5000/s", "5k", RateProfile::constant(5000.0)),
        ("1k/s..20k/s/1m30s", "1k..20k/90s", RateProfile::ramp(1000.0, 20_000.0, s(90))),
        ("1k/s:1m30s,2k/s", "1k:90s,2k", RateProfile::steps(&[(1e3, s(90)), (2e3, s(1))])),
    ];
    for (text, shown, expected) in table {
        assert_eq!(profile(text), expected.expect(text), "{text}");
        assert_eq!(profile(text).to_string(), shown);
    }
}

#[test]
fn what_is_no_profile_says_what_is() {
    let table = [
        (
            "",
            r#""" is not a rate: give requests per second with an optional k, M, G or T, like 500, 20k, 1.5M or 5000/s"#,
        ),
        (
            "-5",
            r#""-5" is not a rate: give requests per second with an optional k, M, G or T, like 500, 20k, 1.5M or 5000/s"#,
        ),
        ("1k..2k", r#"the ramp "1k..2k" has no duration: give one after a slash, like 1k..20k/30s"#),
        ("1k..2k/s", r#"the ramp "1k..2k/s" has no duration: give one after a slash, like 1k..20k/30s"#),
        (
            "1k,2k",
            r#"the step "1k" has no duration: only the last one lasts for ever, like 20k in 1k:10s,5k:10s,20k"#,
        ),
        (
            "1k:x,2k",
            concat!(
                r#""x" is not a duration: give a number with ns, us, ms, s, m or h (seconds without one), "#,
                "like 500ms, 1m30s or 90, up to 584 years"
            ),
        ),
        ("1k:0s", "a ramp or step lasts no time: give it a duration above 0"),
        ("1k..2k/0", "a ramp or step lasts no time: give it a duration above 0"),
        ("0", "the rate is zero everywhere: give at least one rate above 0"),
        ("2G", "the rate 2000000000 is above one request per nanosecond: give at most 1G per second"),
    ];
    for (text, message) in table {
        assert_eq!(text.parse::<RateProfile>().map_err(|error| error.to_string()), Err(message.to_owned()));
    }
    for text in [
        "1k,",
        ",1k",
        "1k:10s,,2k",
        "1k..2k/3s/4s",
        "1k..2k..3k/1s",
        "1...2/3",
        "1k:1s:2s,3k",
        "1k/2s",
        "1k..2k/1s,3k",
    ] {
        assert!(text.parse::<RateProfile>().is_err(), "{text}");
    }
    assert!(matches!("0:1s,0".parse::<RateProfile>(), Err(SpecError::Profile(ProfileError::ZeroEverywhere))));
}

fn rates() -> impl Strategy<Value = f64> {
    prop_oneof![
        1 => Just(0.0),
        2 => (1..2_000_000_u32).prop_map(f64::from),
        2 => 0.001..1e6,
        1 => (1..100_u32).prop_map(|k| f64::from(k) * 1000.0),
    ]
}

fn durations() -> impl Strategy<Value = Duration> {
    prop_oneof![
        (1..100_000_000_000_u64).prop_map(Duration::from_nanos),
        (1..100_000_u64).prop_map(Duration::from_millis),
        (1..100_u64).prop_map(Duration::from_secs),
    ]
}

fn profiles() -> impl Strategy<Value = RateProfile> {
    let steps = prop::collection::vec((rates(), durations()), 1..6);
    prop_oneof![
        rates().prop_map(RateProfile::constant),
        (rates(), rates(), durations()).prop_map(|(from, to, over)| RateProfile::ramp(from, to, over)),
        steps.prop_map(|steps| RateProfile::steps(&steps)),
    ]
    .prop_filter_map("zero everywhere", Result::ok)
}

fn processes() -> impl Strategy<Value = ArrivalProcess> {
    prop_oneof![Just(ArrivalProcess::Constant), Just(ArrivalProcess::Poisson)]
}

/// The error in arrivals of rounding an instant down to a nanosecond, plus that of the sums.
fn tolerance(profile: &RateProfile, arrivals: f64) -> f64 {
    profile.rate_per_s_max() * 2e-9 + arrivals * 1e-12 + 1e-9
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_inverse_inverts(profile in profiles(), part in 0.0..1.5_f64) {
        let arrivals = part * profile.arrivals_before(400 * S);
        if let Some(instant_ns) = profile.instant_ns(arrivals) {
            let back = profile.arrivals_before(instant_ns);
            prop_assert!((back - arrivals).abs() <= tolerance(&profile, arrivals), "{arrivals} {instant_ns} {back}");
        } else {
            prop_assert!(profile.rate_per_s(u64::MAX) < 1e-6);
        }
    }

    #[test]
    fn no_arrival_is_due_in_a_pause(profile in profiles(), part in 0.0..1.0_f64) {
        if let Some(instant_ns) = profile.instant_ns(part * profile.arrivals_before(400 * S)) {
            // Rounded down, an instant may be the nanosecond before the first one with a rate.
            let nearby = [instant_ns, instant_ns.saturating_sub(1), instant_ns + 1];
            prop_assert!(nearby.iter().any(|&at_ns| profile.rate_per_s(at_ns) > 0.0), "{instant_ns}");
        }
    }

    #[test]
    fn the_integral_and_its_inverse_are_monotone(profile in profiles(), a in 0..400 * S, b in 0..400 * S) {
        let (low, high) = (profile.arrivals_before(a.min(b)), profile.arrivals_before(a.max(b)));
        prop_assert!(low <= high + tolerance(&profile, high));
        if let (Some(first), Some(second)) = (profile.instant_ns(low.min(high)), profile.instant_ns(high)) {
            prop_assert!(first <= second + 1);
        }
        prop_assert!(profile.rate_per_s(a) <= profile.rate_per_s_max() && profile.rate_per_s(a) >= 0.0);
    }

    #[test]
    fn a_clone_regenerates_the_same_arrivals(
        profile in profiles(), process in processes(), worker in 0..4_usize, skip in 0..200_usize, seed: u64,
    ) {
        let arrivals = Arrivals { profile, process };
        let mut source = ArrivalSource::new(&arrivals, Split::WHOLE, (worker, 4), seed);
        (0..skip).for_each(|_| source.advance(&arrivals));
        let mut earlier = source.clone();
        let mut last_ns = 0;
        let first: Vec<u64> = (0..200).map(|_| { source.advance(&arrivals); source.due_ns() }).collect();
        for due_ns in first {
            earlier.advance(&arrivals);
            prop_assert_eq!(earlier.due_ns(), due_ns);
            prop_assert!(due_ns >= last_ns, "time falls back");
            last_ns = due_ns;
        }
    }

    #[test]
    fn workers_together_are_evenly_spaced(rate_per_s in 0.1..2e6_f64, workers in 1..40_usize) {
        let arrivals =
            Arrivals { profile: RateProfile::constant(rate_per_s).expect("rate"), process: ArrivalProcess::Constant };
        let mut union: Vec<u64> =
            (0..workers).flat_map(|worker| due_before(&arrivals, worker, workers, u64::MAX, 50)).collect();
        union.sort_unstable();
        let gap_ns = 1e9 / rate_per_s;
        for (k, &due_ns) in union.iter().enumerate() {
            let exact_ns = (k as f64 + 0.5) * gap_ns;
            prop_assert!((due_ns as f64 - exact_ns).abs() <= 1.0 + exact_ns * 1e-15, "{k}: {due_ns} {exact_ns}");
        }
    }

    #[test]
    fn constant_arrivals_before_an_instant_are_the_integral(
        profile in profiles(), workers in 1..5_usize, part in 0.0..1.0_f64,
    ) {
        // About 2000 arrivals, wherever they lie.
        let expected = part * profile.arrivals_before(400 * S).min(2000.0);
        let end_ns = profile.instant_ns(expected).unwrap_or(400 * S);
        let arrivals = Arrivals { profile, process: ArrivalProcess::Constant };
        let count: usize =
            (0..workers).map(|worker| due_before(&arrivals, worker, workers, end_ns, usize::MAX).len()).sum();
        let expected = arrivals.profile.arrivals_before(end_ns);
        prop_assert!((count as f64 - expected).abs() <= 1.0, "{count} {expected}");
    }

    #[test]
    fn poisson_arrivals_before_an_instant_are_near_the_integral(profile in profiles(), workers in 1..5_usize) {
        let expected = profile.arrivals_before(400 * S).min(2000.0);
        let end_ns = profile.instant_ns(expected).unwrap_or(400 * S);
        let arrivals = Arrivals { profile, process: ArrivalProcess::Poisson };
        let count: usize =
            (0..workers).map(|worker| due_before(&arrivals, worker, workers, end_ns, usize::MAX).len()).sum();
        let expected = arrivals.profile.arrivals_before(end_ns);
        // Six standard deviations, plus a margin for the skew of a small count.
        prop_assert!((count as f64 - expected).abs() <= 6.0 * expected.sqrt() + 6.0, "{count} {expected}");
    }

    #[test]
    fn a_profile_reads_back(profile in profiles()) {
        prop_assert_eq!(profile.to_string().parse::<RateProfile>(), Ok(profile));
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        let _ = text.parse::<RateProfile>();
    }

    #[test]
    fn text_that_is_almost_a_profile_is_read_or_refused(text in "[0-9kKmMgGtThsun.,:/ é-]{0,40}") {
        if let Ok(profile) = text.parse::<RateProfile>() {
            prop_assert_eq!(profile.to_string().parse::<RateProfile>(), Ok(profile));
        }
    }
}
