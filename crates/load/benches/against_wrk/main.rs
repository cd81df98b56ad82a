//! What a request costs the generator in CPU time: Tare beside wrk, h2load, shb and a bare io_uring loop.
//!
//! Each tool is a process of its own on one CPU; all use the same server on another CPU. In every round each
//! tool runs once, in a new random order. CPU time is what the kernel charged to the ended process, including
//! handshakes. Requests are those that the tool itself reports as answered. Only Tare compares all bytes.
//!
//! | command, after `cargo bench -p tare-load --bench against_wrk -- ` | what |
//! |---|---|
//! | (nothing) | HTTP/1.1 from our own server; all figures relative to wrk |
//! | `--protocol tls` | HTTP/1.1 over TLS from nginx (`apt-get install nginx-light`); wrk and h2load use OpenSSL |
//! | `--protocol tls --body 1048576 --connections 64 --polling` | large bodies: throughput too |
//! | `--protocol h2c --body 12` | HTTP/2 of nghttpd (`apt-get install nghttp2-server`), with 1, 8, 32 and 100 streams; related to h2load |
//! | `--protocol h2 --body 12` | the same over TLS |
//! | `--protocol h2 --server nginx --body 12,102400` | the same from nginx |
//!
//! `[--protocol http1|tls|h2c|h2] [--server own|nginx|nghttpd] [--rounds 9] [--seconds 2] [--connections
//! 64,400] [--streams 1,8,32,100] [--body 12,102400] [--polling] [--seed 1] [--json]`. With `--polling` Tare
//! is also measured while it does not sleep: the server need not wake it, so more goes through. nginx and
//! nghttpd have one thread, a certificate of P-256 and one suite, TLS_AES_128_GCM_SHA256 of TLS 1.3. When
//! this program ends, all its child processes end too.

mod bare;
#[path = "../../tests/kit/mod.rs"]
mod kit;
mod leash;
mod options;
mod outputs;
mod run;
mod servers;
mod table;
mod tools;

use std::error::Error;
use std::process::ExitCode;

use kit::load::drivers;
use kit::process::{cpus, pin, raise_descriptors, serve_in_process};
use options::Options;
use run::run;
use servers::Running;
use table::Table;
use tare_load::schedule::SplitMix64;
use tare_load::{DriverKind, Protocol};
use tools::{Cell, Tool};

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

/// The server, Tare and the load generator of the lower bound are also this program, each as its own process.
fn act(words: &[String]) -> Result<(), Box<dyn Error>> {
    match words.first().map(String::as_str) {
        Some("server") => Ok(serve_in_process(words[1].parse()?, Protocol::Http1)?),
        Some("tare") => kit::closed::run(&words[1..]),
        Some("bare") => bare::run(&words[1..]),
        _ => compare(&Options::parse(words)?),
    }
}

fn compare(options: &Options) -> Result<(), Box<dyn Error>> {
    let tools = tools::find(options.protocol, drivers().contains(&DriverKind::IoUring), options.polling)?;
    raise_descriptors(options.connections.iter().max().map_or(0, |most| *most as u64 + 100))?;
    let cpus = cpus();
    let (server_cpu, tool_cpu) = (cpus[0], *cpus.get(1).unwrap_or(&cpus[0]));
    pin(&[server_cpu]);
    let start = |bytes: &usize| options.serving.start(options.protocol, *bytes);
    let servers = options.bodies.iter().map(start).collect::<Result<Vec<_>, _>>()?;
    pin(&[tool_cpu]);
    let mut tables = tables(options, &servers, &tools);
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
            "machine": table::machine(),
            "server_cpu": server_cpu,
            "tool_cpu": tool_cpu,
            "seed": options.seed,
            "tables": tables,
        });
        println!("{all:#}");
    } else {
        println!("{}: CPU time of the load generator for each request{note}", table::machine());
        tables.iter().for_each(Table::print);
    }
    Ok(())
}

/// The tables of all loads. Each body size has a server of its own.
fn tables(options: &Options, servers: &[Running], tools: &[Tool]) -> Vec<Table> {
    let mut tables = Vec::new();
    for (server, &body_bytes) in servers.iter().zip(&options.bodies) {
        for &connections in &options.connections {
            for &streams in &options.streams {
                let Options { protocol, seconds, .. } = *options;
                let target = server.target;
                let cell = Cell { target, protocol, connections, streams, body_bytes, seconds, requests: 0 };
                let tools = tools.iter().map(Tool::name).collect();
                tables.push(Table { cell, server: options.serving.name(), tools, rounds: Vec::new() });
            }
        }
    }
    tables
}

/// Runs all rounds. Within each round it runs every load, and for each load every tool in random order.
fn measure(options: &Options, tools: &[Tool], tables: &mut [Table]) -> Result<(), Box<dyn Error>> {
    let mut random = SplitMix64::new(options.seed);
    let pilot = tools.iter().find(|tool| tool.is_timed()).ok_or("no tool that ends after a time")?;
    for table in tables.iter_mut() {
        // This run is not recorded: it warms the server up.
        let least = (table.cell.connections * table.cell.streams) as u64;
        table.cell.requests = run(pilot, &table.cell)?.requests.max(least);
    }
    for round in 0..options.rounds {
        for table in tables.iter_mut() {
            let mut order: Vec<usize> = (0..tools.len()).collect();
            for end in (1..order.len()).rev() {
                order.swap(end, (random.draw() % (end as u64 + 1)) as usize);
            }
            let mut readings = vec![None; tools.len()];
            for index in order {
                readings[index] = Some(run(&tools[index], &table.cell)?);
            }
            table.rounds.push(readings.into_iter().flatten().collect());
        }
        eprintln!("round {} of {}", round + 1, options.rounds);
    }
    Ok(())
}
