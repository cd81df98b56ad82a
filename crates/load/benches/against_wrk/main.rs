//! What a request costs the generator in CPU time, beside wrk, h2load, shb and a bare io_uring loop.
//!
//! `cargo bench -p tare-load --bench against_wrk -- [--rounds 9] [--seconds 2] [--connections 64,400]
//! [--body 12,102400] [--seed 1] [--json]`. Each tool is a process of its own on one CPU, the same server for all on
//! another; in every round each has one turn, in an order drawn anew. CPU time is what the kernel has charged to the
//! ended process, all of it; requests are those that the tool itself says were answered.

mod bare;
#[path = "../../tests/kit/mod.rs"]
mod kit;
mod table;
mod tools;

use std::error::Error;
use std::process::{Command, ExitCode};
use std::str::FromStr;

use kit::load::drivers;
use kit::process::{Server, cpus, pin, raise_descriptors, serve_in_process};
use table::Table;
use tare_load::schedule::SplitMix64;
use tare_load::{DriverKind, Protocol};
use tools::{Cell, Tool};

/// What is asked for.
struct Options {
    rounds: usize,
    seconds: u64,
    connections: Vec<usize>,
    bodies: Vec<usize>,
    seed: u64,
    json: bool,
}

fn main() -> ExitCode {
    // Cargo adds `--bench`.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match act(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("against_wrk: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The server, Tare and the floor are this program too, each as a process of its own.
fn act(words: &[String]) -> Result<(), Box<dyn Error>> {
    match words.first().map(String::as_str) {
        Some("server") => Ok(serve_in_process(words[1].parse()?, Protocol::Http1)?),
        Some("tare") => kit::closed::run(&words[1..]),
        Some("bare") => bare::run(&words[1..]),
        _ => compare(&Options::parse(words)?),
    }
}

impl Options {
    fn parse(words: &[String]) -> Result<Options, Box<dyn Error>> {
        let (connections, bodies) = (vec![64, 400], vec![12, 102_400]);
        let mut options = Options { rounds: 9, seconds: 2, connections, bodies, seed: 1, json: false };
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let mut value = || rest.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--rounds" => options.rounds = value()?.parse()?,
                "--seconds" => options.seconds = value()?.parse()?,
                "--connections" => options.connections = list(value()?)?,
                "--body" => options.bodies = list(value()?)?,
                "--seed" => options.seed = value()?.parse()?,
                "--json" => options.json = true,
                other => {
                    let known = "--rounds, --seconds, --connections, --body, --seed or --json";
                    return Err(format!("\"{other}\" is not known: give {known}").into());
                }
            }
        }
        if options.rounds == 0 || options.seconds == 0 {
            return Err("nothing to measure: give at least 1 round and 1 second".into());
        }
        Ok(options)
    }
}

fn list(words: &str) -> Result<Vec<usize>, <usize as FromStr>::Err> {
    words.split(',').map(str::parse).collect()
}

fn compare(options: &Options) -> Result<(), Box<dyn Error>> {
    let tools = tools::find(drivers().contains(&DriverKind::IoUring))?;
    raise_descriptors(options.connections.iter().max().map_or(0, |most| *most as u64 + 100))?;
    let cpus = cpus();
    let (server_cpu, tool_cpu) = (cpus[0], *cpus.get(1).unwrap_or(&cpus[0]));
    pin(&[server_cpu]);
    let servers = options.bodies.iter().map(|bytes| server(*bytes)).collect::<Result<Vec<_>, _>>()?;
    pin(&[tool_cpu]);
    let mut tables: Vec<Table> = Vec::new();
    for (server, &body_bytes) in servers.iter().zip(&options.bodies) {
        for &connections in &options.connections {
            let cell = Cell {
                target: server.target,
                connections,
                body_bytes,
                seconds: options.seconds,
                requests: 0,
            };
            let tools = tools.iter().map(Tool::name).collect();
            tables.push(Table { cell, tools, rounds: Vec::new() });
        }
    }
    let turns = options.rounds * tables.len() * tools.len();
    let note = if server_cpu == tool_cpu {
        "; one CPU: the server takes half of it, so requests/s are about half, and CPU time holds more cache misses"
    } else {
        ""
    };
    let minutes = (turns as u64 * options.seconds) as f64 / 60.0;
    eprintln!(
        "{turns} turns of {} s, {minutes:.0} minutes; server on CPU {server_cpu}, tools on CPU {tool_cpu}{note}",
        options.seconds
    );
    measure(options, &tools, &mut tables)?;
    if options.json {
        let tables: Vec<_> = tables.iter().map(Table::json).collect();
        let all = serde_json::json!({
            "machine": tools::machine(),
            "server_cpu": server_cpu,
            "tool_cpu": tool_cpu,
            "seed": options.seed,
            "tables": tables,
        });
        println!("{all:#}");
    } else {
        println!("{}: CPU time of the load generator for each request{note}", tools::machine());
        tables.iter().for_each(Table::print);
    }
    Ok(())
}

/// All rounds: every load, and every tool in random order, within each of them.
fn measure(options: &Options, tools: &[Tool], tables: &mut [Table]) -> Result<(), Box<dyn Error>> {
    let mut random = SplitMix64::new(options.seed);
    let wrk = tools.iter().find(|tool| matches!(tool, Tool::Wrk(_))).ok_or("no wrk")?;
    for table in tables.iter_mut() {
        // It is not recorded: it warms the server up.
        table.cell.requests = wrk.run(&table.cell)?.requests.max(table.cell.connections as u64);
    }
    for round in 0..options.rounds {
        for table in tables.iter_mut() {
            let mut order: Vec<usize> = (0..tools.len()).collect();
            for end in (1..order.len()).rev() {
                order.swap(end, (random.draw() % (end as u64 + 1)) as usize);
            }
            let mut readings = vec![None; tools.len()];
            for index in order {
                readings[index] = Some(tools[index].run(&table.cell)?);
            }
            table.rounds.push(readings.into_iter().flatten().collect());
        }
        eprintln!("round {} of {}", round + 1, options.rounds);
    }
    Ok(())
}

fn server(body_bytes: usize) -> std::io::Result<Server> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["server", &body_bytes.to_string()]);
    Server::start(command)
}
