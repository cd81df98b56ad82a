//! Change points: false alarms, and the power to find shifts.

use crate::models::{INDEPENDENT, Model, family};
use crate::{percent, rng, scaled};
use tare_stats::change_points::{changes, changes_of_all};

pub fn main(times: f64) {
    let count = scaled(10_000, times);
    families(count / 2);
    steps(count / 5);
    alarms(count);
}

fn alarms(count: usize) {
    println!(
        "history without a change: share in which one is reported, in %, of {count}, n = 8, 12, 20, 40, 100"
    );
    let drifts = [("AR(1) 0.1", Model::Drift(0.1)), ("AR(1) 0.3", Model::Drift(0.3))];
    for (name, model) in INDEPENDENT.into_iter().chain(drifts) {
        let mut rng = rng();
        let alarms = [8, 12, 20, 40, 100]
            .map(|n| percent(count, || !changes(&model.blocks(n, &mut rng), 0.05).unwrap().is_empty()));
        println!("{name:10} {alarms:5.1?}");
    }
    println!();
}

/// Reports of several rows and metrics.
fn families(count: usize) {
    println!(
        "11 rows by 2 metrics without a change: share of reports with one, in %, 8, 12, 20 runs; by correlations"
    );
    for (metrics, rows) in [(0.0, 0.0), (-0.9, 0.0), (0.0, 0.5), (-0.9, 0.5)] {
        let mut rng = rng();
        let alarms = [8, 12, 20].map(|runs| {
            percent(count, || {
                let all = family(11, runs, metrics, rows, &mut rng);
                changes_of_all(&all, 0.05).unwrap().iter().any(|found| !found.is_empty())
            })
        });
        println!("metrics {metrics}, rows {rows}: {alarms:5.1?}");
    }
}

fn steps(count: usize) {
    println!(
        "one change of d sd: found alone and at most 3 off, at its very place, and told more than one, in %"
    );
    for (n, at) in [(8, 4), (12, 6), (12, 9), (20, 10), (40, 20), (80, 40), (40, 28), (40, 32)] {
        for shift in [0.75, 1.0, 1.5, 2.0, 3.0, 5.0] {
            let [found, exact, more] = found(n, at, shift, count);
            println!("n = {n:3}, from {at:2} on {shift:4} sd: {found:5.1} {exact:5.1} {more:5.1}");
        }
    }
}

fn found(n: usize, at: usize, shift: f64, count: usize) -> [f64; 3] {
    let (mut rng, mut exact, mut more) = (rng(), 0, 0);
    let found = percent(count, || {
        let mut history = Model::Normal.blocks(n, &mut rng);
        history[at..].iter_mut().for_each(|value| *value += shift);
        let found = changes(&history, 0.05).unwrap();
        more += usize::from(found.len() > 1);
        exact += usize::from(found.len() == 1 && found[0].at == at);
        found.len() == 1 && found[0].at.abs_diff(at) <= 3
    });
    let of_all = |found: usize| 100.0 * found as f64 / count as f64;
    [found, of_all(exact), of_all(more)]
}
