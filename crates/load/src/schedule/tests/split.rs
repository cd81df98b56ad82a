//! Generators that share a load: their combined arrivals are those of one generator, to the nanosecond.

use proptest::prelude::*;

use super::anderson_darling::{CRITICAL_1_PERCENT, a_squared};
use super::profile;
use crate::schedule::{ArrivalProcess, ArrivalSource, Arrivals};
use crate::split::Split;

/// The first instants of one worker.
fn instants(arrivals: &Arrivals, split: Split, worker: (usize, usize), seed: u64, count: usize) -> Vec<u64> {
    let mut source = ArrivalSource::new(arrivals, split, worker, seed);
    let next = || {
        let due_ns = source.due_ns();
        source.advance(arrivals);
        due_ns
    };
    std::iter::repeat_with(next).take(count).collect()
}

/// The first `count` instants of each generator, where `threads` has the number of threads of each, sorted.
/// It includes only the instants up to which all generators have reached.
fn together(arrivals: &Arrivals, threads: &[usize], seed: u64, count: usize) -> Vec<u64> {
    let of = threads.len();
    let each = |(index, workers): (usize, &usize)| {
        let workers = *workers;
        (0..workers).map(move |worker| (Split { index, of }, (worker, workers))).collect::<Vec<_>>()
    };
    let parts = threads.iter().enumerate().flat_map(each);
    let lists: Vec<Vec<u64>> =
        parts.map(|(split, worker)| instants(arrivals, split, worker, seed, count)).collect();
    let reached = lists.iter().map(|list| list[count - 1]).min().unwrap();
    let mut all: Vec<u64> = lists.concat().into_iter().filter(|due_ns| *due_ns <= reached).collect();
    all.sort_unstable();
    all
}

fn single(arrivals: &Arrivals, seed: u64, count: usize) -> Vec<u64> {
    instants(arrivals, Split::WHOLE, (0, 1), seed, count)
}

fn process() -> impl Strategy<Value = ArrivalProcess> {
    prop_oneof![Just(ArrivalProcess::Poisson), Just(ArrivalProcess::Constant)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Generators may have different numbers of threads.
    #[test]
    fn all_generators_together_send_what_one_sends(
        seed in any::<u64>(),
        process in process(),
        threads in prop::collection::vec(1..5_usize, 2..7),
        rate in prop::sample::select(vec!["1k", "37", "100k", "0..5k/2s", "5k..100/3s", "2k:100ms,0:50ms,9k:1s,300"]),
    ) {
        let arrivals = Arrivals { profile: profile(rate), process };
        let union = together(&arrivals, &threads, seed, 100);
        prop_assert!(union.len() >= 100, "{} instants", union.len());
        prop_assert_eq!(&union, &single(&arrivals, seed, union.len()));
    }
}

/// The combined arrivals of n generators have no burst that one generator would not send: they are the same.
#[test]
fn the_most_arrivals_in_any_millisecond_are_those_of_one_generator() {
    let arrivals = Arrivals { profile: profile("20k"), process: ArrivalProcess::Poisson };
    let most = |instants: &[u64]| {
        let ends =
            instants.iter().map(|from_ns| instants.partition_point(|at_ns| *at_ns < from_ns + 1_000_000));
        ends.enumerate().map(|(from, end)| end - from).max().unwrap()
    };
    for seed in 0..5 {
        let union = together(&arrivals, &[1, 1, 2], seed, 10_000);
        let single = single(&arrivals, seed, union.len());
        assert_eq!(most(&union), most(&single));
        // 20 are expected in a millisecond; independent even streams in step would send three at one instant.
        assert!((30..70).contains(&most(&union)), "{}", most(&union));
    }
}

/// The test above implies it, but the union's intervals are checked directly too, at 1%.
#[test]
fn intervals_of_all_generators_together_are_exponential() {
    let arrivals = Arrivals { profile: profile("1k"), process: ArrivalProcess::Poisson };
    let passed = (0..100).filter(|seed| {
        let union = together(&arrivals, &[1, 2, 1], *seed, 2_600);
        let instants = std::iter::once(&0).chain(&union).zip(&union);
        let intervals = instants.map(|(from_ns, to_ns)| (to_ns - from_ns) as f64 / 1e6);
        a_squared(intervals.take(10_000).collect()) <= CRITICAL_1_PERCENT
    });
    let passed = passed.count();
    assert!(passed >= 98, "{passed} of 100");
}

/// Every nth arrival of a Poisson process is no Poisson process: its intervals are Erlang. That is correct,
/// and the reason to test the union.
#[test]
fn one_generator_alone_is_more_even_than_poisson() {
    let arrivals = Arrivals { profile: profile("1k"), process: ArrivalProcess::Poisson };
    let half = instants(&arrivals, Split { index: 0, of: 2 }, (0, 1), 3, 10_001);
    let intervals: Vec<f64> = half.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 2e6).collect();
    let mean = intervals.iter().sum::<f64>() / intervals.len() as f64;
    let variance = intervals.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / intervals.len() as f64;
    // The variance is 1/2 for an Erlang distribution of two phases with mean 1, and 1 for an exponential one.
    assert!((mean - 1.0).abs() < 0.03 && (variance - 0.5).abs() < 0.04, "{mean} {variance}");
    assert!(a_squared(intervals) > CRITICAL_1_PERCENT);
}

#[test]
#[should_panic(expected = "generators are counted from 0")]
fn an_index_beyond_the_number_is_refused() {
    let arrivals = Arrivals { profile: profile("1k"), process: ArrivalProcess::Poisson };
    let _ = ArrivalSource::new(&arrivals, Split { index: 2, of: 2 }, (0, 1), 1);
}
