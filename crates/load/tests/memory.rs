//! What connections cost in memory. A process of its own, because everything else in it would be counted too.

mod kit;

use kit::load::{drivers, skip};
use kit::process::{Server, raise_descriptors};
use kit::scenarios::{Client, memory};

#[test]
fn a_connection_takes_at_most_4_kib() {
    const CONNECTIONS: usize = 2_000;
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
