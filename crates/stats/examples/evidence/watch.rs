//! The e-process: false alarms of one who looks after every block, how soon a difference is found, and the width.

use crate::models::{INDEPENDENT, Model};
use crate::{percent, rng, scaled};
use tare_stats::sequential::{Decision, Looks};
use tare_stats::{eprocess, interval};

pub fn main(times: f64) {
    let count = scaled(4000, times);
    println!(
        "e-process: runs of 200 blocks without a difference that ever reach 20, in %, of {count} (at most 5)"
    );
    let drifts = [0.05, 0.1, 0.2, 0.3].map(|rho| (format!("AR(1) {rho}"), Model::Drift(rho)));
    let models = INDEPENDENT.map(|(name, model)| (name.to_owned(), model)).into_iter().chain(drifts);
    for (name, model) in models {
        let mut rng = rng();
        let alarms = percent(count, || alarm(&model.blocks(200, &mut rng)).is_some());
        println!("{name:10} {alarms:6.2}");
    }
    println!(
        "blocks until a shift is found (median of those found) and share found within 40 and 200, normal noise"
    );
    for shift in [0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0] {
        found(shift, count / 4);
    }
    widths(count / 4);
    println!();
}

fn alarm(blocks: &[f64]) -> Option<usize> {
    eprocess::separated_at(blocks, 0.05).unwrap()
}

fn found(shift: f64, count: usize) {
    let mut rng = rng();
    let runs: Vec<Vec<f64>> = (0..count)
        .map(|_| Model::Normal.blocks(200, &mut rng).iter().map(|value| value + shift).collect())
        .collect();
    let looks = Looks::standard();
    let at_look = |run: &Vec<f64>| match looks.decide(&run[..40]).unwrap().decision {
        Decision::Separated { at, .. } => Some(at),
        _ => None,
    };
    let tell = |name: &str, found: Vec<Option<usize>>| {
        let mut blocks: Vec<usize> = found.into_iter().flatten().collect();
        blocks.sort_unstable();
        let within = |n: usize| 100.0 * blocks.iter().filter(|&&at| at <= n).count() as f64 / count as f64;
        let median = blocks.get(blocks.len() / 2);
        print!(
            "  {name} {median:?}: {:.0}% by 30, {:.0}% by 40, {:.0}% by 200;",
            within(30),
            within(40),
            within(200)
        );
    };
    print!("{shift:5} sd");
    tell("e-process", runs.iter().map(|run| alarm(run)).collect());
    tell("looks", runs.iter().map(at_look).collect());
    println!();
}

fn widths(count: usize) {
    println!("width against that of the interval for one look, median");
    for n in [10, 20, 40, 100] {
        let mut rng = rng();
        let mut ratios: Vec<f64> = (0..count / 10)
            .filter_map(|_| {
                let blocks = Model::Normal.blocks(n, &mut rng);
                let (wide, once) = (
                    eprocess::watch(&blocks, 0.05).unwrap().estimate.interval?,
                    interval(&blocks, 0.95).unwrap().interval?,
                );
                Some((wide.high - wide.low) / (once.high - once.low))
            })
            .collect();
        ratios.sort_unstable_by(f64::total_cmp);
        println!(
            "n = {n:3}: {:.2} ({} of {})",
            ratios.get(ratios.len() / 2).unwrap_or(&f64::NAN),
            ratios.len(),
            count / 10
        );
    }
}
