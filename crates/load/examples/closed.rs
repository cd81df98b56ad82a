//! Prints what a closed loop gets from `GET /` and what it costs the generator:
//! `cargo run --release --example closed -- ADDRESS CONNECTIONS SECONDS [THREADS] [PATH]`.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tare_load::{
    Connections, Exchange, ExchangePool, Expected, ExpectedBody, Generator, Load, Schedule, Stop,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |index: usize, default: &str| words.get(index).cloned().unwrap_or(default.to_owned());
    let target = word(0, "127.0.0.1:8080").parse()?;
    let connections = Connections { total: word(1, "64").parse()?, threads: word(3, "1").parse()? };
    let window = Duration::from_secs_f64(word(2, "5").parse()?);
    let path = word(4, "/");
    let body = if path == "/" { ExpectedBody::Exact(b"Hello world!".to_vec()) } else { ExpectedBody::Any };
    let hello = Exchange {
        request: format!("GET {path} HTTP/1.1\r\nHost: {target}\r\n\r\n").into_bytes(),
        is_head: false,
        expected: Expected { status: 200, body },
        name: path,
    };
    let pool = Arc::new(ExchangePool::new(vec![hello]));
    let mut generator = Generator::new(target, connections, vec![], pool, 1)?;
    generator.open(Duration::from_secs(5))?;
    let load = Load {
        schedule: Schedule::SATURATE,
        stop: Stop::After { window, drain: Duration::from_secs(1) },
        response_timeout: Duration::from_secs(2),
    };
    let report = generator.run(&load, &AtomicBool::new(false));
    report.tally.reconcile()?;
    let (tally, latency) = (&report.tally, &report.latency);
    println!("requests/s     {:.0}", tally.answered_in_window as f64 * 1e9 / report.window_ns as f64);
    println!("cpu ns/request {:.0}", report.generator_cpu_ns as f64 / tally.answered.max(1) as f64);
    println!(
        "p50 p99 max us {} {} {}",
        latency.quantile_ns(0.5) / 1_000,
        latency.quantile_ns(0.99) / 1_000,
        latency.max_ns() / 1_000
    );
    println!("{tally:?}");
    if let Some(sample) = report.first_failure {
        println!("first failure: {sample:?}: {}", sample.got.escape_ascii());
    }
    Ok(())
}
