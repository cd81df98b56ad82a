//! Searches in virtual time, against servers with an analytically known capacity.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{
    FoundRate, Search,
    search::{CEILING, FLOOR, WindowOutcome},
};

/// A queue with one server, Poisson arrivals and exponential service times, empty when a window begins.
#[derive(Debug, Clone, Copy)]
struct Queue {
    per_second: f64,
    window_s: f64,
    limit_s: f64,
    /// Duration of a stall in each window of a second, at a random instant.
    stall_s: f64,
}

impl Queue {
    fn window(&self, rate: f64, random: &mut ChaCha8Rng) -> WindowOutcome {
        let mut exponential = |mean: f64| -(1.0 - random.random::<f64>()).ln() * mean;
        let (mut due, mut late, mut at, mut free) = (0, 0, 0.0, 0.0_f64);
        let mut stall_at = exponential(0.5);
        loop {
            at += exponential(1.0 / rate);
            if at > self.window_s {
                return WindowOutcome::Counted { due, bad: vec![late] };
            }
            if self.stall_s > 0.0 && at > stall_at {
                free = free.max(stall_at) + self.stall_s;
                stall_at = f64::INFINITY;
            }
            free = free.max(at) + exponential(1.0 / self.per_second);
            due += 1;
            late += u64::from(free - at > self.limit_s);
        }
    }

    /// In the steady state, P(time in system > t) = exp(-(capacity - rate) t).
    fn truth(&self) -> f64 {
        self.per_second - 100_f64.ln() / self.limit_s
    }
}

const QUEUE: Queue = Queue { per_second: 10_000.0, window_s: 1.0, limit_s: 0.01, stall_s: 0.0 };

/// A search of 14 windows for p99, from a closed-loop capacity that is a few per cent off.
fn search(queue: Queue, random: &mut ChaCha8Rng) -> Search {
    let closed = queue.per_second * (0.97 + 0.06 * random.random::<f64>());
    let mut search = Search::new(closed, vec![0.01], 14);
    while let Some(rate) = search.next_rate() {
        let outcome = queue.window(rate, random);
        search.add(rate, outcome);
    }
    search
}

fn errors(queue: Queue, searches: u64) -> Vec<f64> {
    let error = |seed| {
        let found = search(queue, &mut ChaCha8Rng::seed_from_u64(seed)).found();
        found.per_second().unwrap() / queue.truth() - 1.0
    };
    let mut errors: Vec<f64> = (0..searches).map(error).collect();
    errors.sort_by(f64::total_cmp);
    errors
}

/// A search finds slightly more than the steady-state capacity, because each window begins with an empty
/// queue. The bias grows as windows get shorter relative to the limit.
#[test]
fn the_capacity_of_a_queue_is_found() {
    let found = errors(QUEUE, 40);
    let mean = found.iter().sum::<f64>() / 40.0;
    assert!((0.005..0.025).contains(&mean), "{mean} on average: {found:?}");
    assert!(found[2] > -0.02 && found[37] < 0.05, "nine in ten: {found:?}");
}

/// If the share of late requests rises slowly with the rate, a search is as uncertain as its windows.
#[test]
fn a_shallow_curve_is_found_on_average() {
    let found = errors(Queue { limit_s: 0.001, window_s: 0.25, ..QUEUE }, 60);
    let mean = found.iter().sum::<f64>() / 60.0;
    assert!(mean.abs() < 0.05, "{mean} on average: {found:?}");
    assert!(found[3] > -0.25 && found[56] < 0.25, "nine in ten: {found:?}");
}

/// One request in twenty arrives during a stall: no rate is low enough.
#[test]
fn a_service_that_stands_still_now_and_then_holds_nothing() {
    for seed in 0..10 {
        let found = search(Queue { stall_s: 0.1, ..QUEUE }, &mut ChaCha8Rng::seed_from_u64(seed)).found();
        assert!(found.per_second().is_some_and(|rate| rate < 0.2 * QUEUE.per_second), "{found:?}");
    }
}

/// Drives a search with deterministic outcomes.
fn run(windows: usize, mut outcome: impl FnMut(f64) -> WindowOutcome) -> (Search, Vec<f64>) {
    let mut search = Search::new(1_000.0, vec![0.01], windows);
    let mut rates = Vec::new();
    while let Some(rate) = search.next_rate() {
        rates.push(rate);
        search.add(rate, outcome(rate));
        assert!(rates.len() < 100);
    }
    (search, rates)
}

fn share(bad: u64) -> WindowOutcome {
    WindowOutcome::Counted { due: 1_000, bad: vec![bad] }
}

#[test]
fn a_sharp_knee_is_cornered() {
    let (search, rates) = run(14, |rate| share(if rate > 812.0 { 500 } else { 2 }));
    let FoundRate::Between { held, broke } = search.found() else { panic!("{:?}", search.found()) };
    assert!(held <= 812.0 && broke > 812.0 && broke / held < 1.02, "{held} {broke}");
    assert_eq!(rates[..4], [700.0, 840.0, 766.81, 802.57]);
    assert_eq!(search.counted(), 14);
}

#[test]
fn a_window_that_was_good_by_luck_is_outweighed() {
    let mut windows = 0;
    let (search, _) = run(14, |rate| {
        windows += 1;
        share(if rate > 600.0 && windows > 1 { 300 } else { 0 })
    });
    assert!((580.0..640.0).contains(&search.found().per_second().unwrap()), "{:?}", search.found());
}

#[test]
fn a_search_ends_early_where_there_is_no_knee() {
    let (search, rates) = run(14, |_| share(0));
    assert_eq!(search.found(), FoundRate::AtLeast(CEILING * 1_000.0));
    assert_eq!(rates, [700.0, 840.0, 1_008.0, 1_100.0, 1_100.0]);
    let (search, rates) = run(14, |_| share(1_000));
    assert_eq!(search.found(), FoundRate::Below(FLOOR * 1_000.0));
    assert_eq!(rates.len(), 9, "{rates:?}");
}

#[test]
fn a_generator_that_is_late_bounds_the_search() {
    let (search, rates) = run(14, |rate| if rate > 900.0 { WindowOutcome::Discarded } else { share(0) });
    let FoundRate::AtLeast(held) = search.found() else { panic!("{:?}", search.found()) };
    assert!((880.0..=900.0).contains(&held) && search.is_generator_bound(), "{rates:?}");
    let (search, rates) = run(6, |_| WindowOutcome::Discarded);
    assert_eq!(
        (search.found(), search.counted(), search.discarded()),
        (FoundRate::Nothing, 0, 6),
        "{rates:?}"
    );
}

#[test]
fn all_terms_have_to_hold() {
    let mut search = Search::new(1_000.0, vec![0.01, 0.001], 12);
    while let Some(rate) = search.next_rate() {
        let (late, wrong) = (if rate > 900.0 { 500 } else { 0 }, if rate > 500.0 { 5 } else { 0 });
        search.add(rate, WindowOutcome::Counted { due: 1_000, bad: vec![late, wrong] });
    }
    assert!((495.0..505.0).contains(&search.found().per_second().unwrap()), "{:?}", search.found());
}

#[test]
fn a_journal_gives_rates_back_to_the_last_digit() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let mut search = Search::new(61_234.567_891, vec![0.01], 14);
    while let Some(rate) = search.next_rate() {
        let text = serde_json::to_string(&rate).unwrap();
        assert_eq!(serde_json::from_str::<f64>(&text).unwrap(), rate);
        let bad = random.random_range(0..20);
        search.add(rate, WindowOutcome::Counted { due: 1_000, bad: vec![bad] });
    }
}
