//! `cargo xtask chaos`: real measurements, each with a fault at a random instant. The checks afterwards must
//! hold after any fault: no process is left, every measured line still exists, the exit status reports what
//! happened, and the run can be shown and resumed.
//!
//! A trial depends only on the seed and its number, apart from other activity of the machine.

mod fault;
mod ground;
mod holds;
mod hostile;
mod measurement;
mod processes;
mod shim;
mod started;
mod trial;

use std::{
    collections::BTreeMap,
    path::PathBuf,
    process::ExitCode,
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use anyhow::Context;
use clap::Parser;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use ground::Ground;
use holds::Violation;
use hostile::Hostility;
use trial::Trial;

/// Run small measurements, inject a fault into each, and check what must hold whatever happens
#[derive(Debug, Parser)]
struct Args {
    /// No trial begins after this time
    #[arg(long, default_value_t = 1.0, value_name = "N")]
    minutes: f64,
    /// The first seed; each next one counts up [default: from the clock]
    #[arg(long)]
    seed: Option<u64>,
    /// Trials of one seed
    #[arg(long, default_value_t = 10, value_name = "N")]
    trials: usize,
    /// Only faults whose name begins so, such as `kill`
    #[arg(long, default_value = "", value_name = "NAME")]
    only: String,
    /// Only services that misbehave so, such as `escapes`
    #[arg(long = "with", value_name = "NAME")]
    misbehaviour: Option<String>,
    /// The program under test
    #[arg(long, value_name = "FILE", default_value = "target/release/tare")]
    tare: PathBuf,
    #[command(subcommand)]
    part: Option<Part>,
}

#[derive(Debug, clap::Subcommand)]
enum Part {
    /// A service that is attacked with: started by the trials, not by people
    #[command(hide = true)]
    Hostile { hostility: Hostility, port: u16 },
}

fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    if let Some(Part::Hostile { hostility, port }) = args.part {
        hostile::serve(hostility, port)?;
    }
    let began = Instant::now();
    let end = Duration::from_secs_f64(args.minutes * 60.0);
    let first = args.seed.unwrap_or_else(seed_of_the_clock);
    let tare = args.tare.canonicalize().with_context(|| args.tare.display().to_string())?;
    // The trial in progress ends, and leaves no processes or files.
    let interrupt = tare_host::signals::listen()?;
    let ground = Ground::prepare(&tare)?;
    ground.missing().iter().for_each(|missing| println!("left out: {missing}"));
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut violations = 0;
    let mut seed = first;
    'seeds: loop {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        for number in 0..args.trials {
            if began.elapsed() >= end || interrupt.load(Ordering::Relaxed) {
                break 'seeds;
            }
            let trial = Trial::draw(&ground, &args.only, args.misbehaviour.as_deref(), &mut random)?;
            match trial.run(&ground) {
                Ok(met) => *counts.entry(met).or_default() += 1,
                Err(Violation(what)) => {
                    violations += 1;
                    println!("VIOLATION: seed {seed}, trial {number}: {trial}: {what}");
                }
            }
        }
        println!("seed {seed}: {} trials, {violations} violations", counts.values().sum::<usize>());
        seed += 1;
    }
    for (met, count) in &counts {
        println!("{count:5}  {met}");
    }
    let all: usize = counts.values().sum();
    println!(
        "{all} trials, seeds {first} to {seed}, {:.0} s: {violations} violations",
        began.elapsed().as_secs_f64()
    );
    Ok(if violations == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn seed_of_the_clock() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(1, |now| now.as_secs())
}
