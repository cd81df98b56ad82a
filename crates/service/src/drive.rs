//! Loads a service: makes a generator for a contract and describes failures. Used for measurements and
//! endurance.

use std::{sync::Arc, time::Duration};

use tare_base::Route;
use tare_load::{
    Connections, ExchangePool, FailureSample, Failures, Generator, GeneratorError, GeneratorSettings,
    RunReport, TlsError,
};

use crate::client::Channel;
use tare_contract::Contract;
use tare_host::process;

pub const RESPONSE_TIMEOUT: Duration = Duration::from_secs(5);
/// Number of exchanges prepared for a load.
pub const EXCHANGES: usize = 512;
/// The same for a contract that draws rows: as many as one slice sends, so that few rows repeat in it.
pub const EXCHANGES_OF_ROWS: usize = 4096;

/// The exchanges of `contract` for a service with this `Host`, with placeholders filled.
pub fn pool(contract: &Contract, host: &str, seed: u64) -> Arc<ExchangePool> {
    let count = contract.exchanges_ahead(EXCHANGES, EXCHANGES_OF_ROWS);
    Arc::new(ExchangePool::new(contract.exchanges_for_load(seed, count, host)))
}

/// How a load connects to a service.
#[derive(Debug, Clone, Copy)]
pub struct LoadWay<'a> {
    /// The `Host` header of requests.
    pub host: &'a str,
    pub channel: &'a Channel,
    /// Concurrent requests on an HTTP/2 connection.
    pub streams: usize,
    /// Whether TLS sessions are resumed.
    pub resumes: bool,
}

/// Why a load cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    #[error(transparent)]
    Generator(#[from] GeneratorError),
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// A generator without open connections, on these CPUs (empty: any), in the service's protocol. Over TLS all
/// services get the same single cipher suite and group.
///
/// # Errors
/// The generator cannot be made: no threads, an unusable CPU or namespace, no driver, or no certificates.
pub fn generator_in(
    contract: &Contract,
    way: &LoadWay,
    route: impl Into<Route>,
    connections: Connections,
    cpus: &[usize],
    seed: u64,
) -> Result<Generator, DriveError> {
    let settings = GeneratorSettings {
        cpus: cpus.to_vec(),
        protocol: way.channel.protocol,
        streams: way.streams,
        tls: way.channel.client_of_load(way.resumes)?,
        ..GeneratorSettings::new(route.into(), connections, seed)
    };
    Ok(Generator::new(settings, pool(contract, way.host, seed))?)
}

/// A plain HTTP/1.1 generator without open connections, on these CPUs (empty: any).
///
/// # Errors
/// The generator cannot be made: no threads, an unusable CPU or namespace, or no driver.
pub fn generator(
    contract: &Contract,
    host: &str,
    route: impl Into<Route>,
    connections: Connections,
    cpus: &[usize],
    seed: u64,
) -> Result<Generator, GeneratorError> {
    let route = route.into();
    let pool = pool(contract, host, seed);
    let settings =
        GeneratorSettings { cpus: cpus.to_vec(), ..GeneratorSettings::new(route, connections, seed) };
    Generator::new(settings, pool)
}

pub fn describe(sample: &FailureSample) -> String {
    let place =
        if sample.exchange.is_empty() { String::new() } else { format!(" at \"{}\"", sample.exchange) };
    let reason = sample.reason.as_ref().map(|reason| format!(", {reason}")).unwrap_or_default();
    let got = sample.got.escape_ascii();
    format!("{}{place}{reason}: expected {}, got `{got}`", sample.failure.name(), sample.expected)
}

/// The message for a service without a correct answer during warm-up, with its answer.
pub fn no_right_answer(report: &RunReport) -> String {
    let instead = report.first_failure.as_ref().map_or("nothing came".to_owned(), describe);
    format!("no right answer while it was warmed up: {instead}")
}

/// Number of failures by kind: `2 reset, 1 status`.
pub fn kinds(failures: &Failures) -> String {
    let kinds: Vec<String> = failures.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    kinds.join(", ")
}

/// How the process ended, with the end of its stderr; absent while it runs.
pub fn death(process: &process::RunningService, when: &str) -> Option<String> {
    let exit = process.has_exited()?;
    let stderr = match process.stderr_tail(3) {
        tail if tail.is_empty() => String::new(),
        tail => format!("; its stderr ends: {}", tail.replace('\n', " / ")),
    };
    Some(format!("{exit} {when}{stderr}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_has_the_address_of_its_target_and_the_seed_fixes_it() {
        let text = "format = \"1.0\"\nname = \"a\"\ntitle = \"\"\n[[request]]\nname = \"x\"\nmethod = \"GET\"\n\
            path = \"/{{label}}\"\n[request.response]\nstatus = 200\n";
        let contract = Contract::parse(text, std::path::Path::new("a.toml")).unwrap();
        let pool = |seed| format!("{:?}", pool(&contract, "127.0.0.1:81", seed));
        assert_eq!(pool(1), pool(1));
        assert_ne!(pool(1), pool(2));
    }

    #[test]
    fn kinds_of_failures_are_counted() {
        let mut failures = Failures::default();
        assert_eq!(kinds(&failures), "");
        for kind in [tare_load::Failure::Reset, tare_load::Failure::Reset, tare_load::Failure::Status] {
            failures.add(kind);
        }
        assert_eq!(kinds(&failures), "2 reset, 1 status");
    }
}
