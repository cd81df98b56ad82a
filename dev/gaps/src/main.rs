//! Measures whether freezing a service between its slices changes its cost per request.

mod regime;
mod table;

use std::{
    env,
    ffi::OsString,
    io,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::Context;
use clap::Parser;
use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use tare_host::{
    cpus::{self, Pinning},
    process::{Isolation, Supervisor, sweep, watchdog},
    signals,
};
use tare_service::{
    build::Site,
    catalogue::Row,
    workspace::{self, Root, Workspace},
};

use regime::{Regime, Trial};
use table::Costs;

/// Measure what a request costs a service that is frozen between slices of load, left idle, or loaded without a pause
///
/// A runtime that compiles beside the load does so in the pauses, if it may run in them. Every regime has a fresh process and
/// the same time under load, of which the second half counts. Regimes follow each other in random order, in several rounds.
/// The result is the ratio of the costs of one round, with an interval of 95% over the rounds.
#[derive(Debug, Parser)]
#[command(name = "tare-gaps")]
struct Args {
    /// Services to measure
    #[arg(required = true)]
    services: Vec<String>,
    /// The contract that they serve
    #[arg(long, default_value = "hello")]
    contract: String,
    /// Rounds: how often each regime is measured
    #[arg(long, default_value_t = 4)]
    rounds: usize,
    /// Slices of load of each process
    #[arg(long, default_value_t = 100)]
    slices: usize,
    /// Milliseconds of load in each slice
    #[arg(long, default_value_t = 100)]
    slice_ms: u64,
    /// Milliseconds between two slices
    #[arg(long, default_value_t = 300)]
    gap_ms: u64,
    /// Seed of the order of regimes
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> ExitCode {
    if env::args_os().nth(1) == Some(OsString::from(watchdog::SUBCOMMAND)) {
        watchdog::main(io::stdin(), io::stdout());
        return ExitCode::SUCCESS;
    }
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> anyhow::Result<()> {
    let interrupt = signals::listen()?;
    let root = Root::find(None)?;
    let mut workspace = Workspace::open(&root, &env::current_exe()?, &workspace::home(None, &root.folder))?;
    workspace.adopt(args.services.iter().map(String::as_str))?;
    let isolation = Isolation::detect();
    sweep(&isolation);
    let supervisor = Supervisor::start(&env::current_exe()?, isolation)?;
    println!("{}", table::HEAD);
    for row in workspace.rows(args.services.iter().map(String::as_str))? {
        let costs = measure(args, &workspace, &row, &supervisor, &interrupt);
        if interrupt.load(Ordering::Relaxed) {
            break;
        }
        match costs {
            Ok(costs) => println!("{}", costs.line(&row.label)),
            Err(error) => println!("{}: {error:#}", row.label),
        }
    }
    Ok(())
}

/// All rounds of one service.
fn measure(
    args: &Args,
    workspace: &Workspace,
    row: &Row,
    supervisor: &Supervisor,
    interrupt: &Arc<AtomicBool>,
) -> anyhow::Result<Costs> {
    let built = workspace.builder().build(&row.service, &Site::new(supervisor, interrupt), false)?;
    let folder = tempfile::tempdir().context("a folder for the output of the service")?;
    let trial = Trial {
        service: &row.service.at(built.place),
        contract: workspace.contract(&args.contract)?,
        pinning: &Pinning::choose(&cpus::available(), 1, 1),
        slices: args.slices,
        slice: Duration::from_millis(args.slice_ms),
        gap: Duration::from_millis(args.gap_ms),
        folder: folder.path(),
        supervisor,
        interrupt,
    };
    let mut random = ChaCha8Rng::seed_from_u64(args.seed);
    let mut costs = Costs::default();
    for round in 0..args.rounds {
        let mut order = Regime::ALL;
        order.shuffle(&mut random);
        for regime in order {
            eprintln!("{}: round {} of {}: {regime}", row.label, round + 1, args.rounds);
            costs.add(regime, trial.cost_ns(regime)?);
        }
    }
    Ok(costs)
}
