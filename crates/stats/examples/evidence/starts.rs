//! Coverage of the two-level interval.

use crate::models::normal;
use crate::{percent, rng, scaled};
use tare_stats::contrast;

pub fn main(times: f64) {
    let count = scaled(10_000, times);
    println!(
        "two levels: coverage of the 95% interval in %, of {count}; 8 slices a start; sd of starts against slices'"
    );
    for starts in [2, 3, 4, 5] {
        let covered = [0.0, 0.3, 1.0, 3.0].map(|sd| {
            let mut rng = rng();
            percent(count, || {
                let values: Vec<Vec<f64>> = (0..starts)
                    .map(|_| {
                        let start = sd * normal(&mut rng);
                        (0..8).map(|_| start + normal(&mut rng)).collect()
                    })
                    .collect();
                contrast::interval_of_starts(&values, 0.95).unwrap().interval.unwrap().holds(0.0)
            })
        });
        println!("{starts} starts, 0 / 0.3 / 1 / 3: {covered:.1?}");
    }
    println!();
}
