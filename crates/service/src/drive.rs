//! How a service is loaded: a generator for a contract, and its failures in words. Whoever loads a service, to measure it
//! or to see what it endures, does so by this.

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc, time::Duration};

use tare_load::{
    Connections, DriverChoice, ExchangePool, Failures, Generator, GeneratorError, Route, RunReport, Sample,
    Settings,
};

use crate::contract::Contract;
use tare_host::process;

/// A request that takes longer has failed.
pub const RESPONSE_TIMEOUT: Duration = Duration::from_secs(5);
/// Different exchanges in one pool.
const EXCHANGES: usize = 512;

/// The load of `contract` for the service at `target`, its placeholders filled.
pub fn pool(contract: &Contract, target: SocketAddr, seed: u64) -> Arc<ExchangePool> {
    of_host(contract, &target.to_string(), seed)
}

fn of_host(contract: &Contract, host: &str, seed: u64) -> Arc<ExchangePool> {
    Arc::new(ExchangePool::new(contract.exchanges_for_load(seed, EXCHANGES, host)))
}

/// A generator without open connections, on these CPUs; none for any.
pub fn generator(
    contract: &Contract,
    route: impl Into<Route>,
    connections: Connections,
    cpus: &[usize],
    seed: u64,
) -> Result<Generator, GeneratorError> {
    let route = route.into();
    let pool = of_host(contract, &route.target.to_string(), seed);
    let settings = Settings { route, connections, cpus: cpus.to_vec(), driver: DriverChoice::Auto, seed };
    Generator::new(settings, pool)
}

/// A failure of a load in one line.
pub fn describe(sample: &Sample) -> String {
    let place =
        if sample.exchange.is_empty() { String::new() } else { format!(" at \"{}\"", sample.exchange) };
    let got = sample.got.escape_ascii();
    format!("{}{place}: expected {}, got `{got}`", sample.failure.name(), sample.expected)
}

/// That a service did not answer rightly under its first load, and what came instead.
pub fn no_right_answer(report: &RunReport) -> String {
    let instead = report.first_failure.as_ref().map_or("nothing came".to_owned(), describe);
    format!("no right answer while it was warmed up: {instead}")
}

/// How many failed of each kind, by its name in files.
pub fn by_name(failures: &Failures) -> BTreeMap<String, u64> {
    failures.iter().map(|(class, count)| (class.name().to_owned(), count)).collect()
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
