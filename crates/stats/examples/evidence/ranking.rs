//! Eight services: how often some identical pair is separated, asked once or at every look.

use crate::models::{INDEPENDENT, Model};
use crate::{percent, rng, scaled};
use rand_chacha::ChaCha8Rng;
use tare_stats::sequential::Looks;
use tare_stats::{Better, ranking::rank};

const SERVICES: usize = 8;

pub fn main(times: f64) {
    let count = scaled(4000, times);
    println!("ranking of {SERVICES} identical services: runs that separate some pair, in %, of {count}");
    let sizes = [12, 20, 40];
    println!("{:10} once at {sizes:?}; at all standard looks; at planned looks", "");
    for (name, model) in INDEPENDENT {
        let mut rng = rng();
        let once = sizes.map(|n| percent(count, || some_pair(&run(model, n, &mut rng), 0.05)));
        let looked = percent(count, || looked(&Looks::standard(), &run(model, 40, &mut rng)));
        let planned = Looks::planned(&[10, 15, 20, 30, 40], 0.05).unwrap();
        let planned = percent(count, || self::looked(&planned, &run(model, 40, &mut rng)));
        println!("{name:10} {once:.2?} {looked:.2} {planned:.2}");
    }
    println!();
}

/// Figures of services with noise of their own each.
fn run(model: Model, blocks: usize, rng: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
    let logs = (0..SERVICES).map(|_| model.blocks(blocks, rng));
    logs.map(|logs| logs.iter().map(|log| (0.01 * log).exp()).collect()).collect()
}

fn some_pair<V: AsRef<[f64]>>(values: &[V], alpha: f64) -> bool {
    rank(values, Better::Higher, alpha).unwrap().pairs.iter().any(|pair| pair.separated)
}

fn looked(looks: &Looks, values: &[Vec<f64>]) -> bool {
    looks.all().iter().any(|look| {
        let so_far: Vec<&[f64]> = values.iter().map(|values| &values[..look.n]).collect();
        look.level() > 0.0 && some_pair(&so_far, look.level())
    })
}
