//! The memory cost of connections. Each case runs in a process of its own: other allocations would be counted
//! too, and freed memory would be available to the next case.

use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;

use crate::kit::alone::{alone, in_own_process};
use crate::kit::load::{TIMEOUT, drivers, generator_of, hello, run, seconds, skip};
use crate::kit::process::{Server, raise_descriptors, rss_bytes};
use crate::kit::scenarios::{Client, memory};
use crate::kit::tls::{options, speaking};
use tare_load::{
    DriverChoice, GeneratorSettings, Load, Protocol, RequestQuota, Schedule, Stop, TlsClient, TlsOptions,
    TlsTrust,
};

const CONNECTIONS: usize = 2_000;
/// The case of a process: driver, protocol, streams, connections, and the address of the server.
const CASE: &str = "TARE_MEMORY_CASE";
const MEASURED: &str = "bytes of a connection: ";

#[test]
fn a_connection_takes_at_most_4_kib() {
    in_own_process("memory::a_connection_takes_at_most_4_kib", plain_connections);
}

fn plain_connections() {
    if let Err(why) = raise_descriptors(CONNECTIONS as u64 + 100) {
        return skip("memory of 2,000 connections", &why);
    }
    let server = Server::example(12);
    for driver in drivers() {
        let memory = memory(&Client::with(driver), server.target, CONNECTIONS);
        let bytes = memory.bytes_per_connection(CONNECTIONS);
        println!("{}: {bytes:.0} bytes a connection, {memory:?}", driver.name());
        assert!(bytes <= 4096.0, "{bytes:.0} bytes a connection with {}: {memory:?}", driver.name());
    }
}

/// The bounds are 1.5 times the measured values.
#[test]
fn tls_and_streams_take_what_they_need() {
    let _alone = alone();
    let cases = [
        (Protocol::Http1Tls, 1, 1_000, 14_600),
        (Protocol::H2c, 1, 1_000, 4_700),
        (Protocol::H2c, 100, 100, 94_000),
        (Protocol::H2, 1, 1_000, 17_000),
        (Protocol::H2, 100, 100, 117_000),
    ];
    for (protocol, streams, connections, bytes_max) in cases {
        let server = Server::example_by(12, protocol);
        for driver in drivers() {
            let case =
                format!("{}|{}|{streams}|{connections}|{}", driver.name(), protocol.name(), server.target);
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["memory::one_case", "--exact", "--ignored", "--nocapture"]).env(CASE, &case);
            let output = String::from_utf8(command.output().unwrap().stdout).unwrap();
            let measured = output.lines().find_map(|line| line.split_once(MEASURED));
            let bytes: u64 = measured.unwrap_or_else(|| panic!("{case}: {output}")).1.parse().unwrap();
            println!("{case}: {bytes} bytes a connection");
            assert!(bytes <= bytes_max, "{case}: {bytes} bytes a connection, not {bytes_max}");
        }
    }
}

#[test]
#[ignore = "it is a part of the test above, which starts it"]
fn one_case() {
    let case = std::env::var(CASE).unwrap();
    let words: Vec<&str> = case.split('|').collect();
    let protocol = Protocol::ALL.into_iter().find(|protocol| protocol.name() == words[1]).unwrap();
    let [streams, connections] = [2, 3].map(|word: usize| words[word].parse().unwrap());
    raise_descriptors(connections as u64 + 100).unwrap();
    let bytes = bytes_per_connection(
        words[0].parse().unwrap(),
        protocol,
        streams,
        connections,
        words[4].parse().unwrap(),
    );
    println!("{MEASURED}{bytes}");
}

/// The memory after each slot has had an answer.
fn bytes_per_connection(
    driver: DriverChoice,
    protocol: Protocol,
    streams: usize,
    connections: usize,
    target: SocketAddr,
) -> u64 {
    let tls = TlsClient::new(TlsOptions { trust: TlsTrust::Anything, ..options(protocol) }).unwrap();
    let settings = GeneratorSettings {
        driver,
        tls: Some(Arc::new(tls)),
        ..speaking(protocol, target, connections, 1, streams)
    };
    let before = rss_bytes();
    let mut generator = generator_of(settings, hello());
    generator.open(connections, seconds(60)).unwrap();
    let idle = rss_bytes();
    let stop = Stop::count(RequestQuota::RequestsEach(2), seconds(60), TIMEOUT);
    let report = run(&mut generator, &Load::new(Schedule::SATURATE, stop, seconds(30)));
    assert_eq!(report.total.tally.answered, 2 * (connections * streams) as u64, "{:?}", report.first_failure);
    rss_bytes().max(idle).saturating_sub(before) / connections as u64
}
