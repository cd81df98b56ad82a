//! The gate of a comparison: two metrics, a delta of 3%, looks after 12, 16, 20, 30 and 40 blocks. Prints how
//! often each verdict occurs, by true regression and block spread.

use crate::models::normal;
use crate::scaled;
use rand_chacha::ChaCha8Rng;
use tare_stats::{
    Better, Looks, RatioEstimate,
    equivalence::{Verdict, gate},
};

const DELTA: f64 = 0.03;
const LOOKS: [usize; 5] = [12, 16, 20, 30, 40];
/// Correlations between throughput and CPU per request: a block that is better in one is better in the other.
const CORRELATIONS: [f64; 2] = [0.0, -0.9];

/// Log ratios of both metrics, with the same regression.
fn blocks(regression: f64, sd: f64, correlation: f64, rng: &mut ChaCha8Rng) -> [Vec<f64>; 2] {
    let own = (1.0 - correlation * correlation).sqrt();
    let pairs = (0..LOOKS[4]).map(|_| {
        let (one, other) = (normal(rng), normal(rng));
        let throughput = (1.0 - regression).ln() + sd * one;
        (throughput, (1.0 + regression).ln() + sd * (correlation * one + own * other))
    });
    let (throughput, cpu) = pairs.unzip();
    [throughput, cpu]
}

/// The verdict of the first look that passes or fails, else of the last. One failing metric fails.
fn decide(metrics: &[Vec<f64>; 2], looks: &Looks) -> (Verdict, usize) {
    let at = |blocks: usize| {
        let verdicts: Vec<Verdict> = metrics
            .iter()
            .zip([Better::Higher, Better::Lower])
            .map(|(logs, better)| {
                let estimate = RatioEstimate::from(looks.estimate(&logs[..blocks]).unwrap());
                gate(&estimate, DELTA, better).unwrap().verdict
            })
            .collect();
        let gravest = [Verdict::Fail, Verdict::Worse, Verdict::Inconclusive, Verdict::Pass];
        gravest.into_iter().find(|verdict| verdicts.contains(verdict)).unwrap()
    };
    let mut looked = LOOKS.map(|blocks| (at(blocks), blocks)).into_iter();
    looked.find(|(verdict, _)| matches!(verdict, Verdict::Pass | Verdict::Fail)).unwrap_or((at(40), 40))
}

pub fn main(times: f64) {
    let count = scaled(4000, times);
    let looks = Looks::planned(&LOOKS, 0.025).unwrap();
    println!(
        "the gate at {DELTA}, two metrics, {count} comparisons: % FAIL (within 30 blocks), WORSE, PASS, mean blocks"
    );
    for sd in [0.01, 0.02, 0.04, 0.08, 0.10] {
        for correlation in CORRELATIONS {
            for regression in [0.0, 0.01, 0.02, 0.029, 0.03, 0.045, 0.06] {
                let mut rng = crate::rng();
                let found: Vec<(Verdict, usize)> = (0..count)
                    .map(|_| decide(&blocks(regression, sd, correlation, &mut rng), &looks))
                    .collect();
                let share = |of: &dyn Fn(&(Verdict, usize)) -> bool| {
                    100.0 * found.iter().filter(|one| of(one)).count() as f64 / count as f64
                };
                println!(
                    "sd {sd:4}, rho {correlation:4}, {regression:5}: {:5.1} ({:5.1}) {:5.1} {:5.1}  {:.1}",
                    share(&|one| one.0 == Verdict::Fail),
                    share(&|one| one.0 == Verdict::Fail && one.1 <= 30),
                    share(&|one| one.0 == Verdict::Worse),
                    share(&|one| one.0 == Verdict::Pass),
                    found.iter().map(|one| one.1 as f64).sum::<f64>() / count as f64
                );
            }
        }
    }
    println!();
}
