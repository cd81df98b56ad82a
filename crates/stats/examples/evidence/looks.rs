//! The joint null distribution of the signed-rank statistic at several looks, by simulation: what overall error a set
//! of looks has, and which depths a spending function buys.
//!
//! No distribution of the noise is assumed; see `smaller_sums`.

use crate::models::{Model, smaller_sums};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tare_stats::{Looks, signed_rank::NullDistribution};

const PLAN: [usize; 5] = [10, 15, 20, 30, 40];
/// O'Brien and Fleming's critical |z| for that plan, had the statistic been normal.
const GIVEN_Z: [f64; 5] = [3.95, 3.20, 2.80, 2.29, 2.04];

type Path = [u16; PLAN.len()];

/// Paths that come anywhere near a rejection at some look, out of `count`.
fn near_paths(count: usize, seed: u64) -> Vec<Path> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let near: Vec<u16> =
        PLAN.iter().map(|&n| NullDistribution::signed_rank(n).depth(0.03).unwrap_or(0) as u16).collect();
    (0..count)
        .map(|_| smaller_sums(PLAN, &mut rng))
        .filter(|path| path.iter().zip(&near).any(|(smaller, near)| smaller < near))
        .collect()
}

/// Share of paths stopped at or before each look, where a look of depth k stops at min(W+, W-) < k.
fn stopped(paths: &[Path], count: usize, depths: &[usize]) -> Vec<f64> {
    let first = |path: &Path| (0..depths.len()).find(|&look| usize::from(path[look]) < depths[look]);
    let mut stops = vec![0_usize; depths.len()];
    for look in paths.iter().filter_map(first) {
        stops[look] += 1;
    }
    stops
        .iter()
        .scan(0, |sum, stop| {
            *sum += stop;
            Some(*sum as f64 / count as f64)
        })
        .collect()
}

/// The greatest depths whose error, look by look, stays within what `spent` allows up to there.
fn bought(paths: &[Path], count: usize, spent: impl Fn(f64) -> f64) -> Vec<usize> {
    let mut depths = Vec::new();
    for n in PLAN {
        depths.push(0);
        let allowed = spent(n as f64 / PLAN[PLAN.len() - 1] as f64);
        let last = depths.len() - 1;
        loop {
            depths[last] += 1;
            if stopped(paths, count, &depths)[last] > allowed {
                depths[last] -= 1;
                break;
            }
        }
    }
    depths
}

fn given() -> Vec<usize> {
    let depth = |(&n, z): (&usize, f64)| {
        let null = NullDistribution::signed_rank(n);
        // min(W+, W-) <= mean - z sd rejects.
        let sd = ((n * (n + 1) * (2 * n + 1)) as f64 / 24.0).sqrt();
        (null.max() as f64 / 2.0 - z * sd + 1.0).floor().max(0.0) as usize
    };
    PLAN.iter().zip(GIVEN_Z).map(depth).collect()
}

/// How soon and how often a shift is found: normal noise, in standard deviations of a block.
fn power(name: &str, depths: &[usize], times: f64) {
    let count = crate::scaled(2000, times);
    for shift in [0.4, 0.5, 0.6, 0.75, 1.0, 1.5, 3.0] {
        let mut rng = crate::rng();
        let (mut by_30, mut blocks, mut found) = (0, 0, 0);
        for _ in 0..count {
            let diffs: Vec<f64> =
                Model::Normal.blocks(40, &mut rng).iter().map(|value| value + shift).collect();
            let stops = |&(&n, &depth): &(&usize, &usize)| smaller_sum(&diffs[..n]) < depth;
            let at = PLAN.iter().zip(depths).find(stops).map(|(&n, _)| n);
            by_30 += usize::from(at.is_some_and(|at| at <= 30));
            found += usize::from(at.is_some());
            blocks += at.unwrap_or(40);
        }
        let percent = |part: usize| 100.0 * part as f64 / count as f64;
        let mean = blocks as f64 / count as f64;
        println!(
            "{name:16} {shift:4} sd: {:.1}% by 30, {:.1}% by 40, {mean:.1} blocks",
            percent(by_30),
            percent(found)
        );
    }
}

fn smaller_sum(diffs: &[f64]) -> usize {
    let mut sorted = diffs.to_vec();
    sorted.sort_unstable_by(|a, b| a.abs().total_cmp(&b.abs()));
    let plus: usize = sorted.iter().zip(1..).filter(|(value, _)| **value > 0.0).map(|(_, rank)| rank).sum();
    plus.min(diffs.len() * (diffs.len() + 1) / 2 - plus)
}

pub fn main(times: f64) {
    let count = crate::scaled(2_000_000, times);
    println!(
        "looks at {PLAN:?}: error up to each look, of {count} paths to choose by and {count} fresh ones"
    );
    let paths = near_paths(count, 1);
    let fresh = near_paths(count, 2);
    let show = |name: &str, depths: Vec<usize>| {
        let spent = [&paths, &fresh].map(|paths| stopped(paths, count, &depths));
        println!("{name:16} {depths:?} {:.5?} {:.5?}", spent[0], spent[1]);
    };
    show("standard", Looks::standard().all().iter().map(|look| look.depth).collect());
    show("z 3.95 to 2.04", given());
    for power in [1.0, 1.5, 2.0, 2.5, 3.0] {
        show(&format!("5% t^{power}"), bought(&paths, count, |t: f64| 0.05 * t.powf(power)));
    }
    let planned = Looks::planned(&PLAN, 0.05).unwrap();
    show("planned", planned.all().iter().map(|look| look.depth).collect());
    let standard: Vec<usize> = Looks::standard().all().iter().map(|look| look.depth).collect();
    power("standard", &standard, times);
    power("z 3.95 to 2.04", &given(), times);
    println!();
}
