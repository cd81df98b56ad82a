//! Spread of slices and starts in a stored run, by which the next run of the same experiment is divided.

use std::collections::BTreeMap;

use tare_bench::{folder::StoredRun, plan::Spread};
use tare_stats::log_ratios;

use super::blocks::{self, Block, Blocks};

/// Fewer blocks hardly show their variation.
const BLOCKS_MIN: usize = 4;

/// Spread of CPU time relative to the reference, averaged over rows; absent with too few blocks.
pub fn spread(stored: &StoredRun) -> Option<Spread> {
    let plan = &stored.header.plan;
    let blocks = blocks::of_rows(stored);
    let reference = &blocks[plan.rows.iter().position(|row| row.label == plan.reference())?];
    let others = plan.rows.iter().zip(&blocks).filter(|(row, _)| row.label != plan.reference());
    let found: Vec<Variances> = others.filter_map(|(_, blocks)| Variances::of(blocks, reference)).collect();
    let mean = |of: fn(&Variances) -> f64| found.iter().map(of).sum::<f64>() / found.len() as f64;
    (!found.is_empty()).then(|| Spread {
        slice: mean(|row| row.slice).sqrt(),
        // Negative chance values in some rows compensate positive ones in others.
        start: mean(|row| row.block - row.slice / row.slices).max(0.0).sqrt(),
        blocks: reference.len(),
    })
}

/// Variances of one row.
struct Variances {
    slice: f64,
    block: f64,
    /// Mean number of slices per block.
    slices: f64,
}

impl Variances {
    fn of(row: &Blocks, reference: &Blocks) -> Option<Variances> {
        let both: Vec<(&Block, &Block)> =
            row.iter().filter_map(|(number, block)| Some((block, reference.get(number)?))).collect();
        let costs =
            |(own, base): &(&Block, &Block)| Some((own.cpu_ns_per_request()?, base.cpu_ns_per_request()?));
        let of_blocks: Vec<(f64, f64)> = both.iter().filter_map(costs).collect();
        let (own, base): (Vec<f64>, Vec<f64>) = of_blocks.into_iter().unzip();
        let logs = log_ratios(&own, &base).ok().filter(|logs| logs.len() >= BLOCKS_MIN)?;
        let slices: Vec<Vec<f64>> = both.iter().map(|(own, base)| ratios(own, base)).collect();
        let within: Vec<f64> = slices.iter().filter_map(|ratios| variance(ratios)).collect();
        let count: usize = slices.iter().map(Vec::len).sum();
        Some(Variances {
            slice: within.iter().sum::<f64>() / within.len().max(1) as f64,
            block: variance(&logs)?,
            slices: count as f64 / slices.len() as f64,
        })
    }
}

/// Log ratios of the slices of each round, adjusted to average moments of their block.
fn ratios(own: &Block, base: &Block) -> Vec<f64> {
    let base: BTreeMap<usize, f64> = logs(base).collect();
    logs(own).filter_map(|(round, log)| Some(log - base.get(&round)?)).collect()
}

fn logs<'a>(block: &'a Block) -> impl Iterator<Item = (usize, f64)> + 'a {
    let slices = block.slices.iter().zip(&block.moments);
    slices.filter_map(|(slice, moment)| Some((slice.round, slice.cost()?.per_request()?.ln() - moment.cost)))
}

fn variance(values: &[f64]) -> Option<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (values.len() >= 2).then(|| squares / (values.len() - 1) as f64)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use tare_bench::{
        fixture::{self, compared},
        record::{Block, Record},
        sample::Sample,
    };

    use super::*;

    /// A random value with mean 0 and standard deviation 1.
    fn draw(random: &mut ChaCha8Rng) -> f64 {
        (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
    }

    /// Four rows with 16 slices per block; costs vary by 10% between slices and 4% between processes.
    fn stored(blocks: usize) -> StoredRun {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut header = compared();
        header.plan = fixture::at_points(fixture::plan(&["a", "b", "c", "d"]), |point| point.rounds = 16);
        let mut records = Vec::new();
        for block in 0..blocks {
            records.push(Record::Block(Block { block, order: (0..4).collect(), ..Block::default() }));
            let levels: Vec<f64> = (0..4).map(|_| 0.04 * draw(&mut random)).collect();
            for round in 0..16 {
                for (row, level) in levels.iter().enumerate() {
                    let answered = (10_000.0 * (level + 0.1 * draw(&mut random)).exp()) as u64;
                    records.push(Record::Sample(Box::new(Sample {
                        block,
                        round,
                        row,
                        ..fixture::slice(answered)
                    })));
                }
            }
        }
        StoredRun { header, records, damage: Vec::new(), in_progress: false }
    }

    /// A ratio has twice the variance of a row. With 200 blocks the deviation has an error of 5%.
    #[test]
    fn the_parts_of_the_variance_are_found() {
        let found = spread(&stored(200)).unwrap();
        let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.12;
        assert!(near(found.slice, 0.1 * 2_f64.sqrt()) && near(found.start, 0.04 * 2_f64.sqrt()), "{found:?}");
        assert_eq!(found.blocks, 200);
    }

    #[test]
    fn three_blocks_say_nothing() {
        assert_eq!(spread(&stored(3)), None);
    }
}
