//! Replays of invented records.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::*;
use tare_bench::{
    fixture,
    folder::Header,
    sample::{HostUsage, LoadResult},
};
use tare_host::environment::Environment;

/// A run of rows "a" and "b" with 12 blocks of 8 slices; "b" has `times` the throughput of "a". Processes
/// differ by up to 4%, slices by up to 10%, deterministically.
fn kept(times: f64) -> StoredRun {
    let noise = |place: usize, reach: f64| reach * ((place * 7919 % 101) as f64 / 50.0 - 1.0);
    let mut records = Vec::new();
    for block in 0..12 {
        for round in 0..8 {
            for row in 0..2 {
                let process = noise(block * 2 + row + 3, 0.04);
                let slice = noise((block * 8 + round) * 2 + row, 0.1);
                let answered = 20_000.0 * times.powi(row as i32) * (process + slice).exp();
                let load = LoadResult {
                    window_ns: 100_000_000,
                    answered: answered as u64,
                    answered_in_window: answered as u64,
                    ..LoadResult::default()
                };
                let host = HostUsage { server_cpu_ns: 100_000_000, ..HostUsage::default() };
                let slice = Slice { block, round, row, load, host, ..Slice::default() };
                records.push(Record::Sample(Box::new(slice)));
            }
        }
    }
    let plan = fixture::at_points(fixture::plan(&["a", "b"]), |point| point.rounds = 8);
    let plan = fixture::in_blocks(plan, |blocks| (blocks.min, blocks.max) = (12, 12));
    let header = Header::new("", String::new(), plan, Environment::default());
    StoredRun { header, records, damage: Vec::new(), in_progress: false }
}

fn random(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

fn tally(runs: u64, make: impl Fn(&mut ChaCha8Rng) -> Vec<Vec<f64>>) -> (Tally, Tally) {
    let (mut looks, mut bets) = (Tally::default(), Tally::default());
    for seed in 0..runs {
        let verdict = evaluate(&make(&mut random(seed)), Metric::Throughput).unwrap();
        looks.add(verdict.looks);
        bets.add(verdict.bet);
    }
    (looks, bets)
}

#[test]
fn rows_that_are_one_are_seldom_separated() {
    let sample = Sample::of(&kept(1.0), &[]).unwrap();
    assert_eq!((sample.blocks(), sample.rounds(), sample.rows.len()), (12, 8, 2));
    for copies in [2, 4] {
        let split = |random: &mut _| sample.split(0, copies, 40, Metric::Throughput, random).unwrap();
        let (looks, bets) = tally(200, split);
        assert!(looks.share().0 <= 0.08 && bets.share().0 <= 0.08, "{copies}: {looks:?} {bets:?}");
    }
    let pair = |random: &mut _| sample.together(&[0, 1], true, 40, Metric::Throughput, random).unwrap();
    let (looks, bets) = tally(200, pair);
    assert!(looks.share().0 <= 0.08 && bets.share().0 <= 0.08, "{looks:?} {bets:?}");
}

#[test]
fn a_slowdown_is_found_the_sooner_the_greater_it_is() {
    let sample = Sample::of(&kept(1.0), &[]).unwrap();
    let slowed = |by: f64| {
        tally(100, |random| {
            let mut values = sample.split(0, 2, 40, Metric::Throughput, random).unwrap();
            inject(&mut values, Metric::Throughput, by);
            values
        })
    };
    let ((large, bets), (small, _)) = (slowed(0.2), slowed(0.05));
    assert_eq!((large.share().0, bets.share().0), (1.0, 1.0));
    assert!(large.blocks().unwrap().0 < small.blocks().unwrap().0, "{large:?} {small:?}");
}

#[test]
fn two_services_keep_their_difference() {
    let sample = Sample::of(&kept(0.7), &["a".to_owned(), "b".to_owned()]).unwrap();
    let values = sample.together(&[0, 1], false, 10, Metric::Throughput, &mut random(1)).unwrap();
    assert_eq!(evaluate(&values, Metric::Throughput).unwrap().looks, Some(10));
    assert!(values[1].iter().sum::<f64>() < values[0].iter().sum::<f64>());
    // CPU per request changes in the opposite direction.
    let values = sample.together(&[0, 1], false, 10, Metric::Cpu, &mut random(1)).unwrap();
    assert!(values[1].iter().sum::<f64>() > values[0].iter().sum::<f64>());
}

#[test]
fn the_same_seed_makes_the_same_run() {
    let sample = Sample::of(&kept(1.0), &[]).unwrap();
    let make = |seed| sample.split(0, 4, 20, Metric::Throughput, &mut random(seed));
    assert_eq!(make(1), make(1));
    assert_ne!(make(1), make(2));
}

#[test]
fn only_what_all_rows_have_counts() {
    let mut kept = kept(1.0);
    let cut = |record: &Record| match record {
        Record::Sample(slice) => slice.row == 0 || slice.block > 1 && (slice.block > 2 || slice.round < 5),
        _ => true,
    };
    kept.records.retain(cut);
    let load = LoadResult { offered_per_second: Some(1.0), ..LoadResult::default() };
    kept.records.push(Record::Sample(Box::new(Slice { row: 1, load, ..Slice::default() })));
    let sample = Sample::of(&kept, &[]).unwrap();
    assert_eq!((sample.blocks(), sample.rounds()), (10, 5));
    let unknown = Sample::of(&kept, &["c".to_owned()]).unwrap_err();
    assert_eq!(unknown.to_string(), "the run has no row \"c\"; `tare show` lists them");
    kept.records.clear();
    assert!(matches!(Sample::of(&kept, &["a".to_owned()]), Err(ReplayError::NoBlock(_))));
    assert!(matches!(Sample::of(&kept, &[]), Err(ReplayError::NoBlock(_))));
}

#[test]
fn too_many_copies_have_no_slices() {
    let sample = Sample::of(&kept(1.0), &[]).unwrap();
    assert_eq!(sample.split(0, 9, 5, Metric::Throughput, &mut random(1)), None);
}

#[test]
fn a_share_has_its_standard_error() {
    let mut tally = Tally::default();
    assert_eq!((tally.share(), tally.blocks()), ((0.0, 0.0), None));
    [Some(10), Some(20), None, Some(12)].into_iter().for_each(|found| tally.add(found));
    assert_eq!(tally.share(), (0.75, (0.75_f64 * 0.25 / 4.0).sqrt()));
    assert_eq!(tally.blocks().unwrap().0, 12.0);
}
