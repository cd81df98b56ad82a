//! Looks at a run in progress: their overall error with estimated noise, and how soon they find a shift.

use crate::models::{INDEPENDENT, Model};
use crate::{percent, rng, scaled};
use tare_stats::Looks;

const PLANS: [[usize; 5]; 3] = [[12, 16, 20, 30, 40], [10, 15, 20, 30, 40], [4, 5, 6, 9, 12]];

/// The number of blocks after which the looks find a difference.
fn found_at(looks: &Looks, diffs: &[f64]) -> Option<usize> {
    let finds =
        |n: &usize| looks.estimate(&diffs[..*n]).unwrap().interval.is_some_and(|found| !found.holds(0.0));
    looks.all().iter().map(|look| look.n).find(finds)
}

fn power(looks: &Looks, shift: f64, count: usize) {
    let mut rng = rng();
    let mut run =
        || -> Vec<f64> { Model::Normal.blocks(40, &mut rng).iter().map(|value| value + shift).collect() };
    let found: Vec<Option<usize>> = (0..count).map(|_| found_at(looks, &run())).collect();
    let by = |n: usize| 100.0 * found.iter().flatten().filter(|at| **at <= n).count() as f64 / count as f64;
    let blocks: usize = found.iter().map(|at| at.unwrap_or(40)).sum();
    println!(
        "{shift:4} sd: {:.1}% by 30, {:.1}% by 40, {:.1} blocks",
        by(30),
        by(40),
        blocks as f64 / count as f64
    );
}

pub fn main(times: f64) {
    let count = scaled(20_000, times);
    println!("planned looks at 5%: runs of identical services that differ at some look, in %, of {count}");
    for plan in PLANS {
        let looks = Looks::planned(&plan, 0.05).unwrap();
        print!("{plan:?}");
        for (name, model) in INDEPENDENT {
            let mut rng = rng();
            let found = percent(count, || found_at(&looks, &model.blocks(plan[4], &mut rng)).is_some());
            print!("  {name} {found:.2}");
        }
        println!();
    }
    println!("how soon a shift is found, with {:?}", PLANS[0]);
    let looks = Looks::planned(&PLANS[0], 0.05).unwrap();
    for shift in [0.4, 0.5, 0.6, 0.75, 1.0, 1.5, 3.0] {
        power(&looks, shift, scaled(2000, times));
    }
    println!();
}
