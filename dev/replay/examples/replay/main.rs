//! Resamples the slices of a stored run, to measure how often the statistics err on this machine's noise.
//!
//! ```text
//! cargo run --release -p tare-replay --example replay -- RUN [--runs 1000] [--seed 1] [--inject 2%] [--rows A,B]
//! ```
//! Every row is split into 2, 4 and 8 equal rows, and two and all rows of one service are compared. The
//! output is the share of runs of up to 40 blocks in which some pair is (wrongly) separated, by the planned
//! looks and by the e-process. Then every row is split in two, and two rows of one service are taken, one of
//! them slower by `--inject`. The output is the share of runs that find the difference, and their median
//! number of blocks.

mod words;

use std::{path::Path, process::ExitCode};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tare_bench::{folder, metric::Metric};
use tare_replay::{Sample, Tally, evaluate, inject};
use words::Words;

/// The blocks of a run: those of the last look.
const BLOCKS: usize = 40;

fn main() -> ExitCode {
    match Words::read(std::env::args().skip(1)).and_then(|words| replay(&words)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn replay(words: &Words) -> Result<(), String> {
    let kept = folder::read(Path::new(&words.run)).map_err(|error| error.to_string())?;
    let sample = Sample::of(&kept, &words.rows).map_err(|error| error.to_string())?;
    let service = |label: &String| {
        kept.header.plan.rows.iter().find(|row| row.label == *label).map(|row| row.service.clone())
    };
    let services: Vec<_> = sample.rows.iter().map(service).collect();
    println!(
        "{}: {} blocks of {} slices; {} runs of up to {BLOCKS} blocks for each line, seed {}",
        words.run,
        sample.blocks(),
        sample.rounds(),
        words.runs,
        words.seed
    );
    for metric in [Metric::Throughput, Metric::Cpu] {
        println!(
            "\n{:<36}{:>18}{:>14}{:>18}{:>14}",
            metric.name(),
            "planned looks",
            "blocks",
            "e-process",
            "blocks"
        );
        for (row, label) in sample.rows.iter().enumerate() {
            for copies in [2, 4, 8].into_iter().filter(|copies| *copies <= sample.rounds()) {
                let split = |random: &mut ChaCha8Rng| sample.split(row, copies, BLOCKS, metric, random);
                line(words, &format!("{label}, split in {copies}"), metric, split);
            }
            let same = |other: &usize| services[row] == services[*other];
            let names: Vec<usize> = (row..sample.rows.len()).filter(same).collect();
            let is_first = !(0..row).any(|other| same(&other));
            if is_first && names.len() > 1 {
                together(words, &sample, &names, metric);
            }
            let slowed = |random: &mut ChaCha8Rng| {
                let mut values = sample.split(row, 2, BLOCKS, metric, random)?;
                inject(&mut values, metric, words.inject);
                Some(values)
            };
            line(words, &format!("{label}, {}% slower", words.inject * 100.0), metric, slowed);
        }
    }
    Ok(())
}

/// Several names of one service, each with its own processes: two, two with one of them slower, and all.
fn together(words: &Words, sample: &Sample, names: &[usize], metric: Metric) {
    let label = &sample.rows[names[0]];
    let pair = |random: &mut ChaCha8Rng| sample.together(&names[..2], true, BLOCKS, metric, random);
    line(words, &format!("{label}, 2 names"), metric, pair);
    let slowed = |random: &mut ChaCha8Rng| {
        let mut values = pair(random)?;
        inject(&mut values, metric, words.inject);
        Some(values)
    };
    line(words, &format!("{label}, 2 names, {}% slower", words.inject * 100.0), metric, slowed);
    if names.len() > 2 {
        let all = |random: &mut ChaCha8Rng| sample.together(names, true, BLOCKS, metric, random);
        line(words, &format!("{label}, {} names", names.len()), metric, all);
    }
}

fn line(words: &Words, name: &str, metric: Metric, make: impl Fn(&mut ChaCha8Rng) -> Option<Vec<Vec<f64>>>) {
    let (mut looks, mut bets) = (Tally::default(), Tally::default());
    for run in 0..words.runs {
        let mut random = ChaCha8Rng::seed_from_u64(words.seed);
        random.set_stream(run);
        let verdict = make(&mut random).and_then(|values| evaluate(&values, metric).ok());
        let Some(verdict) = verdict else {
            println!("{name:<36}has slices without an answer, or too few slices");
            return;
        };
        looks.add(verdict.looks);
        bets.add(verdict.bet);
    }
    let share = |tally: &Tally| {
        let (share, error) = tally.share();
        format!("{:.1}% ± {:.1}", share * 100.0, error * 100.0)
    };
    let blocks = |tally: &Tally| {
        tally.blocks().map_or("-".to_owned(), |(blocks, error)| format!("{blocks:.0} ± {error:.1}"))
    };
    println!(
        "{name:<36}{:>18}{:>14}{:>18}{:>14}",
        share(&looks),
        blocks(&looks),
        share(&bets),
        blocks(&bets)
    );
}
