//! Identical services with different noise levels: how often some pair is separated, at one test or at every
//! look, and the coverage of intervals relative to the first service.

use crate::models::{INDEPENDENT, Model, normal};
use crate::{percent, rng, scaled};
use rand_chacha::ChaCha8Rng;
use tare_stats::{Better, Contrast, Looks, Prior, ranking::rank};

const SIZES: [usize; 4] = [4, 6, 8, 12];
/// Standard deviation of the logarithm of a service's noise level.
const UNEQUAL: f64 = 0.5;

pub fn main(times: f64) {
    println!(
        "identical services: runs that separate some pair, in %, with {SIZES:?} blocks; at planned looks up to 12;"
    );
    println!("coverage of the 95% intervals to the first of them, in %");
    let models =
        INDEPENDENT.into_iter().chain([("one-sided", Model::OneSided), ("AR(1) 0.3", Model::Drift(0.3))]);
    for (name, model) in models {
        for services in [3, 6, 12, 30] {
            let count = scaled(36_000 / (services * services), times).max(100);
            let mut rng = rng();
            let separated =
                SIZES.map(|n| percent(count, || some_pair(&run(model, services, n, &mut rng), 0.05)));
            let planned = Looks::planned(&[4, 5, 6, 9, 12], 0.05).unwrap();
            let looked = percent(count, || looked(&planned, &run(model, services, 12, &mut rng)));
            let covered = SIZES.map(|n| covered(model, services, n, count, &mut rng));
            println!(
                "{name:10} {services:2} services ({count:4} runs): {separated:5.1?} {looked:5.1}  {covered:.1?}"
            );
        }
    }
    println!();
}

/// Figures of services, each with its own noise level.
fn run(model: Model, services: usize, blocks: usize, rng: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
    let one = |_| {
        let size = 0.04 * (UNEQUAL * normal(rng)).exp();
        model.blocks(blocks, rng).iter().map(|log| (size * log).exp()).collect()
    };
    (0..services).map(one).collect()
}

fn some_pair<V: AsRef<[f64]>>(values: &[V], alpha: f64) -> bool {
    rank(values, Better::Higher, alpha).unwrap().pairs.iter().any(|pair| pair.separated)
}

fn looked(looks: &Looks, values: &[Vec<f64>]) -> bool {
    looks.all().iter().any(|look| {
        let so_far: Vec<&[f64]> = values.iter().map(|values| &values[..look.n]).collect();
        some_pair(&so_far, look.spent)
    })
}

/// The percentage of all intervals that contain 0.
fn covered(model: Model, services: usize, blocks: usize, count: usize, rng: &mut ChaCha8Rng) -> f64 {
    let mut held = 0;
    for _ in 0..count {
        let values = run(model, services, blocks, rng);
        let contrast = |other: &Vec<f64>| {
            let diffs: Vec<f64> = other.iter().zip(&values[0]).map(|(a, b)| a.ln() - b.ln()).collect();
            Contrast::of_values(&diffs).unwrap()
        };
        let own: Vec<Contrast> = values[1..].iter().map(contrast).collect();
        let prior = Prior::of(&own);
        let holds = |one: &&Contrast| {
            one.moderated(prior.as_ref()).interval(0.95).unwrap().is_some_and(|found| found.holds(0.0))
        };
        held += own.iter().filter(holds).count();
    }
    100.0 * held as f64 / (count * (services - 1)) as f64
}
