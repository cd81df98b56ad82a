//! A closed loop as a program: the example `closed`, and what the benchmark `against_wrk` measures.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tare_load::{
    ExpectedBody, Generator, GeneratorSettings, Load, Protocol, RunReport, Schedule, Stop, TlsClient,
    TlsOffer, TlsOptions, TlsTrust, TlsVersion, Waiting,
};

use super::fixed::body;
use super::load::{exchange, pool, settings};

/// Runs with the arguments ADDRESS CONNECTIONS SECONDS [DRIVER] [BODY_BYTES] [THREADS] [PROTOCOL] [STREAMS]
/// [WAITING], and prints the results. The body is compared with that of the example `server`, or not at all
/// if BODY_BYTES is `any`. The protocol is `http1`, `tls`, `h2` or `h2c`; any certificate is accepted.
/// WAITING is `sleep` or `poll`.
pub fn run(words: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    print(report(words)?);
    Ok(())
}

pub fn report(words: &[String]) -> Result<RunReport, Box<dyn std::error::Error>> {
    let word = |index: usize, default: &'static str| words.get(index).map_or(default, String::as_str);
    let expected = match word(4, "12") {
        "any" => ExpectedBody::Any,
        bytes => ExpectedBody::Exact(body(bytes.parse()?)),
    };
    let target: SocketAddr = word(0, "127.0.0.1:8080").parse()?;
    let protocol = protocol_of(word(6, "http1"))?;
    let options = TlsOptions {
        trust: TlsTrust::Anything,
        server_name: "localhost".to_owned(),
        alpn: protocol.alpn(),
        resume: false,
        offer: TlsOffer::Usual,
        version: TlsVersion::Tls13,
        certificate: None,
    };
    let settings = GeneratorSettings {
        driver: word(3, "auto").parse()?,
        protocol,
        streams: word(7, "1").parse()?,
        tls: protocol.is_tls().then(|| TlsClient::new(options)).transpose()?.map(Arc::new),
        ..settings(target, word(1, "64").parse()?, word(5, "1").parse()?)
    };
    let connections = settings.connections.total;
    let mut generator = Generator::new(settings, pool(exchange(expected)))?;
    generator.open(connections, Duration::from_secs(5))?;
    let stop = Stop::after(Duration::from_secs_f64(word(2, "5").parse()?), Duration::from_secs(1));
    let waiting = waiting_of(word(8, "sleep"))?;
    let load = Load { waiting, ..Load::new(Schedule::SATURATE, stop, Duration::from_secs(2)) };
    let report = generator.run(&load, &Default::default())?;
    report.total.tally.reconcile()?;
    Ok(report)
}

fn print(report: RunReport) {
    let (tally, latency) = (&report.total.tally, &report.total.latency);
    println!("driver         {}", report.driver);
    println!("requests       {}", tally.answered);
    println!("failed         {}", tally.failed.total() + tally.in_flight);
    println!("requests/s     {:.0}", report.answers_per_s());
    println!("cpu ns/request {:.0}", report.generator_cpu_ns_per_answer());
    let quantile_us = |q: f64| latency.quantile_ns(q) / 1_000;
    println!("p50 p99 max us {} {} {}", quantile_us(0.5), quantile_us(0.99), latency.max_ns() / 1_000);
    println!("{tally:?}");
    if let Some(handshakes) = report.handshakes {
        println!("{handshakes:?}");
    }
    if let Some(sample) = report.first_failure {
        println!("first failure: {sample:?}: {}", sample.got.escape_ascii());
    }
}

fn waiting_of(word: &str) -> Result<Waiting, String> {
    match word {
        "sleep" => Ok(Waiting::Sleep),
        "poll" => Ok(Waiting::Poll),
        _ => Err(format!("there is no way to wait called {word}: give sleep or poll")),
    }
}

pub fn protocol_of(word: &str) -> Result<Protocol, String> {
    let found = Protocol::ALL.into_iter().find(|protocol| word_of(*protocol) == word);
    found.ok_or_else(|| format!("there is no protocol {word}: give http1, tls, h2c or h2"))
}

pub fn word_of(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Http1 => "http1",
        Protocol::Http1Tls => "tls",
        Protocol::H2 => "h2",
        Protocol::H2c => "h2c",
    }
}
