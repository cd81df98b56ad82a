//! From a service of the catalogue to a running process that answers: used to verify and to measure alike.

use std::{
    fs, io,
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    time::Duration,
};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::probe::{self, Readiness};
use crate::{catalogue, contract::Contract, knobs::Knobs};
use tare_host::process::{self, Launch, StartError, Supervisor};

/// How long one question whether it is ready may take, beyond its `DELAY_MS`.
const PATIENCE: Duration = Duration::from_secs(1);

/// How many ports are tried that turn out to be taken.
const PORT_ATTEMPTS: u32 = 8;

/// The variable that makes the environment of each start another length.
const PADDING: &str = "TARE_PADDING";
/// The most of it: the kernel puts the stack below the environment, and a page is as far as that matters for where
/// things lie within a page and in the sets of a cache.
const PADDING_BYTES_MAX: usize = 4096;

/// A service that is ready.
#[derive(Debug)]
pub struct Ready {
    /// Its processes.
    pub process: process::Service,
    /// Where it listens.
    pub address: SocketAddr,
    /// From `exec` to the answer that made it ready.
    pub start_up: Duration,
}

/// Why a service is not running.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// It could not be started at all.
    #[error(transparent)]
    Start(#[from] process::StartError),
    /// It was started and did not answer.
    #[error(transparent)]
    Unready(#[from] process::Unready),
    /// There is no place for its output.
    #[error("{folder}: {source}")]
    Output {
        /// The folder.
        folder: String,
        /// What the system said.
        source: io::Error,
    },
}

/// What every launch of a run has in common.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    /// Whose first request tells that the service is ready.
    pub contract: &'a Contract,
    /// What the service is told.
    pub knobs: &'a Knobs,
    /// Where it may run; empty for anywhere.
    pub cpus: &'a [usize],
    /// Fills the placeholders of the request that is asked first, and draws the length of the environment.
    pub seed: u64,
    /// When it counts as ready.
    pub readiness: Readiness,
    /// A port that the user chose, instead of any free one.
    pub port: Option<u16>,
}

/// Starts `service` and waits until it answers; its output goes to `folder/stem.stdout` and `.stderr`.
pub fn launch(
    service: &catalogue::Service,
    settings: &Settings,
    supervisor: &Supervisor,
    folder: &Path,
    stem: &str,
) -> Result<Ready, LaunchError> {
    let output = |source| LaunchError::Output { folder: folder.display().to_string(), source };
    fs::create_dir_all(folder).map_err(output)?;
    let mut attempts = 0;
    let (process, port) = loop {
        let port = settings.port.unwrap_or_else(process::free_port);
        match start(service, settings, supervisor, folder, stem, port) {
            // Another Tare looks for ports too, and each listens on one for an instant to see that it is free.
            Err(StartError::PortInUse { .. }) if settings.port.is_none() && attempts < PORT_ATTEMPTS => {
                attempts += 1;
            }
            started => break (started?, port),
        }
    };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut random = ChaCha8Rng::seed_from_u64(settings.seed);
    // Not what verify is going to ask: a service that caches would have the right answer to it.
    random.set_stream(1);
    let patience = PATIENCE + Duration::from_millis(settings.knobs.delay_ms);
    let start_up = process.wait_ready(service.ready_timeout, || {
        let request = settings.contract.loaded().next();
        request.is_none_or(|request| {
            let exchange = settings.contract.exchange(request, &address.to_string(), &mut random);
            probe::ready(address, &exchange, settings.readiness, patience)
        })
    })?;
    Ok(Ready { process, address, start_up })
}

/// Starts `service` on a port.
fn start(
    service: &catalogue::Service,
    settings: &Settings,
    supervisor: &Supervisor,
    folder: &Path,
    stem: &str,
    port: u16,
) -> Result<process::Service, StartError> {
    let mut env: Vec<(String, String)> = service.env.clone().into_iter().collect();
    env.push(("PORT".to_owned(), port.to_string()));
    env.push(("THREADS".to_owned(), settings.knobs.threads.to_string()));
    env.push(("DELAY_MS".to_owned(), settings.knobs.delay_ms.to_string()));
    env.push((PADDING.to_owned(), padding(settings.seed)));
    let launch = Launch {
        name: service.id.clone(),
        command: service.command_for(&settings.contract.name),
        dir: service.place.to_path_buf(),
        env,
        cpus: settings.cpus.to_vec(),
        port: Some(port),
        stdout: folder.join(format!("{stem}.stdout")),
        stderr: folder.join(format!("{stem}.stderr")),
        append: false,
    };
    process::Service::start(&launch, supervisor)
}

/// Where a stack begins depends on the length of the environment, and with it how fast a program runs. One length for all
/// starts would favour one service in all of them; with another for each it is noise between blocks.
fn padding(seed: u64) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(2);
    "x".repeat(random.random_range(0..PADDING_BYTES_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_start_has_an_environment_of_its_own_length() {
        let lengths: Vec<usize> = (0..200).map(|seed| padding(seed).len()).collect();
        assert!(lengths.iter().all(|length| *length < PADDING_BYTES_MAX));
        let mean = lengths.iter().sum::<usize>() as f64 / 200.0;
        // The mean of 200 uniform draws has a standard deviation of 84.
        assert!((mean - 2048.0).abs() < 300.0, "{mean}");
        assert_eq!(padding(7), padding(7), "the seed fixes it");
    }
}
