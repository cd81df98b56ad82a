//! Coverage of the 95% interval under noise models, and where autocorrelation breaks it.

use crate::models::{INDEPENDENT, Model};
use crate::{percent, rng, scaled};
use tare_stats::{Warning, interval};

const SIZES: [usize; 6] = [4, 6, 8, 12, 20, 40];

pub fn main(times: f64) {
    let count = scaled(10_000, times);
    println!(
        "coverage of the 95% interval in %, {count} simulated runs each (standard error 0.2); in brackets how many"
    );
    println!("runs have a warning of drift or resemblance");
    print!("{:13}", "n");
    SIZES.iter().for_each(|n| print!("{n:>15}"));
    println!();
    for (name, model) in INDEPENDENT.into_iter().chain([("one-sided", Model::OneSided)]) {
        row(name, model, count);
    }
    for rho in [0.5, 0.95, 0.999] {
        row(&format!("machine {rho}"), Model::Machine(rho), count);
    }
    for rho in [0.05, 0.1, 0.2, 0.3, 0.5] {
        row(&format!("AR(1) {rho}"), Model::Drift(rho), count);
    }
    println!();
}

fn row(name: &str, model: Model, count: usize) {
    let mut rng = rng();
    print!("{name:13}");
    for n in SIZES {
        let mut warned = 0;
        let covered = percent(count, || {
            let found = interval(&model.blocks(n, &mut rng), 0.95).unwrap();
            let serial = |w: &Warning| matches!(w, Warning::Drift { .. } | Warning::Autocorrelated { .. });
            warned += usize::from(found.warnings.iter().any(serial));
            found.interval.unwrap().holds(0.0)
        });
        print!("{covered:>8.1} ({:4.1})", 100.0 * warned as f64 / count as f64);
    }
    println!();
}
