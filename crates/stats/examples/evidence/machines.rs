//! How often the intervals over machines hold the truth.

use super::{models::normal, percent, rng, scaled};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use tare_stats::{
    Contrast,
    meta::{MachineResult, Pooled, pool},
};

const MACHINES: [usize; 5] = [2, 3, 5, 9, 20];
const TAUS: [f64; 5] = [0.0, 0.5, 1.0, 2.0, 4.0];

pub fn main(times: f64) {
    println!(
        "machines: coverage of the interval over machines, and of another machine; tau in mean standard errors"
    );
    for tau in TAUS {
        let cell = |count: &usize| one(*count, tau, scaled(10_000, times));
        println!("//! | {tau} | {} |", MACHINES.iter().map(cell).collect::<Vec<_>>().join(" | "));
    }
}

fn one(count: usize, tau: f64, simulations: usize) -> String {
    let mut rng = rng();
    let mean = percent(simulations, || {
        pool(&findings(count, tau, &mut rng), 0.95).is_ok_and(|found| found.mean().interval.holds(0.0))
    });
    if count < 3 {
        return format!("{mean:.1}%");
    }
    let other = percent(simulations, || match pool(&findings(count, tau, &mut rng), 0.95) {
        Ok(Pooled::Many(found)) => found.prediction.holds(tau * normal(&mut rng)),
        _ => false,
    });
    format!("{mean:.1}%, {other:.1}%")
}

fn findings(count: usize, tau: f64, rng: &mut ChaCha8Rng) -> Vec<MachineResult> {
    let machine = |_| {
        let noise = 0.5 + rng.random::<f64>();
        let truth = tau * normal(rng);
        let blocks: Vec<f64> = (0..8).map(|_| truth + noise * 8.0_f64.sqrt() * normal(rng)).collect();
        let contrast = Contrast::of_values(&blocks).expect("eight values are a sample");
        MachineResult { estimate: contrast.point, error: contrast.error(), freedom: Some(contrast.freedom()) }
    };
    (0..count).map(machine).collect()
}
