//! Tests whether several agents with a part of the rate each give the latencies of one agent at the full
//! rate. Pairs of runs are interleaved in random order against one server. Both runs of a pair share a seed,
//! so that they send the same arrivals.
//!
//! Two rules decide at 5%, and both are printed: Kolmogorov-Smirnov and Anderson-Darling between the mean
//! distributions of the two arms, by permuting the arms within pairs. Latencies of one run depend on each
//! other (a stall makes many of them slow). A test that treats each latency as an observation would find
//! differences between equal arms, so whole runs are permuted. The ordinary test of each pair is printed
//! beside it for information.
//!
//! The server and each agent need a CPU of their own (`--server-cpu`, `--agent-cpus`). On two CPUs, a server
//! that answers at once reveals that two agents share a CPU, by microseconds at the median. A server with a
//! queue (`--service-time`) shows whether requests arrive as one agent would send them, because a burst
//! delays all requests after it.
//!
//! This is no test: run it by hand on an otherwise idle machine. `cargo run --release -p tare-agents-compared
//! -- --help`

mod compare;
mod queue;
mod runs;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::ensure;
use clap::Parser;
use compare::{Arms, LEVEL, Run};
use runs::{Arm, Ground};
use tare_base::units::parse_duration;
use tare_load::schedule::SplitMix64;

/// Compare the latencies of several agents with those of one, over pairs of runs
#[derive(Debug, Parser)]
struct Args {
    /// The command that is measured
    #[arg(long, default_value = "target/release/tare")]
    tare: PathBuf,
    #[arg(long, default_value_t = 20)]
    pairs: usize,
    /// Agents of the arm that has several
    #[arg(long, default_value_t = 2)]
    agents: usize,
    /// Requests a second of all agents together
    #[arg(long, default_value_t = 2_000)]
    rate: u32,
    /// Connections of all agents together
    #[arg(long, default_value_t = 16)]
    connections: usize,
    /// Duration of each run
    #[arg(long, default_value = "5s", value_parser = parse_duration)]
    duration: std::time::Duration,
    /// One generator is `tare load` itself, and not one agent
    #[arg(long)]
    plain: bool,
    /// Load this server, and do not start the raw-socket server
    #[arg(long)]
    url: Option<String>,
    /// Load a server that handles one request after the other, each for a random time of this mean, and not the raw-socket server
    #[arg(long, value_parser = parse_duration, conflicts_with_all = ["url", "server_cpu"])]
    service_time: Option<std::time::Duration>,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Pin the server to this CPU. Where the kernel places server and generators decides more of a latency than their number does
    #[arg(long)]
    server_cpu: Option<usize>,
    /// Pin every agent to these CPUs
    #[arg(long)]
    agent_cpus: Option<String>,
    /// Further options of `tare load` for both arms, such as --spin 0
    #[arg(last = true)]
    more: Vec<String>,
}

fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    ensure!(args.agents >= 2 && args.pairs >= 2, "give at least 2 agents and 2 pairs");
    let mut random = SplitMix64::new(args.seed);
    let ground = Ground::new(&args)?;
    let mut arms = Arms::default();
    println!(
        "pair  first     one: n  p50 us  p99 us  {} agents: n  p50 us  p99 us      D  p of the pair",
        args.agents
    );
    for pair in 1..=args.pairs {
        // Below 2^53, like every seed of Tare.
        let (seed, one_first) = (random.draw() >> 11, random.draw() & 1 == 0);
        let several_first = (!one_first).then(|| ground.run(Arm::Several, seed)).transpose()?;
        let one = ground.run(Arm::One, seed)?;
        let several = several_first.map_or_else(|| ground.run(Arm::Several, seed), Ok)?;
        println!("{}", line(pair, one_first, &one, &several));
        arms.add(one, several);
    }
    let result = arms.compare(&mut random, compare::PERMUTATIONS);
    println!(
        "\nover {} pairs: D = {:.4}, p = {:.3} (Kolmogorov-Smirnov); A2 = {:.5}, p = {:.3} (Anderson-Darling)\n\
         the smallest D that would have been found: {:.4}",
        args.pairs, result.ks, result.ks_p, result.ad, result.ad_p, result.ks_critical
    );
    note_shared_cpus(args.agents);
    let differ = result.ks_p < LEVEL || result.ad_p < LEVEL;
    println!("{}", if differ { "the latencies differ at 5%" } else { "no difference at 5%" });
    Ok(if differ { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Warns that a difference may come from shared CPUs instead of the division of the load.
fn note_shared_cpus(agents: usize) {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    if cpus < agents + 1 {
        println!(
            "note: a server and {agents} agents share {cpus} CPUs: agents wait for each other there, and wake each other's CPU, which \
             one agent does not; a server that takes some time of its own (--service-time) shows less of that"
        );
    }
}

fn line(pair: usize, one_first: bool, one: &Run, several: &Run) -> String {
    let first = if one_first { "one" } else { "several" };
    let us = |run: &Run, q| run.quantile(q) as f64 / 1e3;
    let (d, p) = compare::pair(one, several);
    let valid = [(one, "one"), (several, "several")].into_iter().filter(|(run, _)| run.verdict != "valid");
    let doubts: Vec<String> = valid.map(|(run, name)| format!("{name}: {}", run.verdict)).collect();
    format!(
        "{pair:4}  {first:7}  {:7} {:7.1} {:7.1}  {:11} {:7.1} {:7.1}  {d:.4}  {p:.3}  {}",
        one.count(),
        us(one, 0.5),
        us(one, 0.99),
        several.count(),
        us(several, 0.5),
        us(several, 0.99),
        doubts.join("; ")
    )
}
