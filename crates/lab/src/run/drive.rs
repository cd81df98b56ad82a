//! How a service is loaded: a generator for a contract, and its failures in words. Whoever loads a service, to measure it
//! or to see what it endures, does so by this.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use tare_load::{
    Connections, DriverChoice, ExchangePool, Failures, Generator, GeneratorError, Sample, Settings,
};

use crate::{contract::Contract, process};

/// A request that takes longer has failed.
pub const RESPONSE_TIMEOUT: Duration = Duration::from_secs(5);
/// Different exchanges in one pool.
const EXCHANGES: usize = 512;

/// The load of `contract` for the service at `target`, its holes filled.
pub fn pool(contract: &Contract, target: SocketAddr, seed: u64) -> Arc<ExchangePool> {
    Arc::new(ExchangePool::new(contract.exchanges_for_load(seed, EXCHANGES, &target.to_string())))
}

/// A generator without open connections, on these CPUs; none for any.
pub fn generator(
    contract: &Contract,
    target: SocketAddr,
    connections: Connections,
    cpus: &[usize],
    seed: u64,
) -> Result<Generator, GeneratorError> {
    let settings =
        Settings { route: target.into(), connections, cpus: cpus.to_vec(), driver: DriverChoice::Auto, seed };
    Generator::new(settings, pool(contract, target, seed))
}

/// A failure of a load in one line.
pub fn describe(sample: &Sample) -> String {
    let place =
        if sample.exchange.is_empty() { String::new() } else { format!(" at \"{}\"", sample.exchange) };
    let got = sample.got.escape_ascii();
    format!("{}{place}: expected {}, got `{got}`", sample.failure.name(), sample.expected)
}

/// How many failed of each kind, as `2 reset, 1 status`.
pub fn kinds(failures: &Failures) -> String {
    let kinds: Vec<String> = failures.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    kinds.join(", ")
}

/// How the process ended and what it said last, if it has ended.
pub fn death(process: &process::Service, when: &str) -> Option<String> {
    let exit = process.has_exited()?;
    let stderr = match process.stderr_tail(3) {
        tail if tail.is_empty() => String::new(),
        tail => format!("; its stderr ends: {}", tail.replace('\n', " / ")),
    };
    Some(format!("{exit} {when}{stderr}"))
}
