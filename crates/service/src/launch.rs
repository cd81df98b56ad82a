//! Starts a service of the catalogue, or attaches to a running one, and waits until it answers. Used to
//! verify and measure.

use std::{
    collections::VecDeque,
    fs, io,
    net::{Ipv4Addr, SocketAddr, TcpStream},
    path::{Path, PathBuf},
    time::Duration,
};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::probe::{self, Readiness};
use crate::{
    apart::ApartError,
    backing::{Backing, BackingError, BackingGround},
    catalogue::{self, Style},
    client::{AskError, Trusts},
    settings::ServiceSettings,
};
use tare_base::Endpoint;
use tare_contract::{BackingNeeds, Contract, DataTable, Request, protocol};
use tare_host::process::{
    self, FreezeError, Launch, Probed, Sandbox, StartError, StartFailure, Supervisor, Unready,
};
use tare_load::Protocol;

/// Time limit of a readiness probe with its whole answer, in addition to `DELAY_MS`.
const PATIENCE: Duration = Duration::from_secs(2);

/// Time limit of a connection to another address, after the service has answered at 127.0.0.1.
const REACHED_WITHIN: Duration = Duration::from_secs(2);

/// Further ports to try if one is in use.
const PORT_ATTEMPTS: u32 = 8;

/// The variable that makes a service listen on all addresses instead of 127.0.0.1.
pub fn everywhere() -> (String, String) {
    ("SERVE_ON".to_owned(), Ipv4Addr::UNSPECIFIED.to_string())
}

/// The variable that gives the environment of each start a different length.
const PADDING: &str = "TARE_PADDING";
/// Longest padding. The environment lies above the stack, so its length shifts the stack; beyond one page the
/// position within a page and a cache's sets repeats.
const PADDING_BYTES_MAX: usize = 4096;

#[derive(Debug)]
pub struct Ready {
    pub process: process::RunningService,
    pub address: Endpoint,
    /// The `Host` header of requests.
    pub host: String,
    /// Its backing services.
    pub backing: Backing,
    /// Time from `exec` to the answer that made it ready; absent for an attached server.
    pub start_up: Option<Duration>,
}

#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    #[error(transparent)]
    Start(#[from] process::StartError),
    #[error(transparent)]
    Unready(#[from] process::Unready),
    #[error(
        "the contract \"{contract}\" sends the variable {variable}, which is not set, or holds a control character: set it, \
         such as by {variable}=... tare ..."
    )]
    Variable { contract: String, variable: String },
    #[error("{service}: {source}")]
    Apart { service: String, source: ApartError },
    #[error("{0}")]
    Protocol(String),
    #[error("{service} is asked over TLS, and no certificate was made for it")]
    NoCertificate { service: String },
    #[error("{folder}: {source}")]
    Output { folder: String, source: io::Error },
    #[error(transparent)]
    Backing(#[from] BackingError),
    #[error(
        "it is asked at {address}, where it does not listen ({source}): with --serve-on a service must listen on the address in \
         SERVE_ON, or on all addresses"
    )]
    Unreached { address: SocketAddr, source: io::Error },
}

impl LaunchError {
    /// Whether the service is at fault. If not, any other service would have failed to start too.
    pub fn is_of_service(&self) -> bool {
        match self {
            LaunchError::Start(error) => error.why.is_of_service(),
            LaunchError::Unready(_) | LaunchError::Unreached { .. } | LaunchError::Apart { .. } => true,
            LaunchError::Variable { .. }
            | LaunchError::Protocol(_)
            | LaunchError::NoCertificate { .. }
            | LaunchError::Backing(_)
            | LaunchError::Output { .. } => false,
        }
    }
}

/// Settings shared by all launches of a run.
#[derive(Debug, Clone, Copy)]
pub struct LaunchSettings<'a> {
    /// The contract; its first request is the readiness probe.
    pub contract: &'a Contract,
    pub service_settings: &'a ServiceSettings,
    /// CPUs of the service; empty: any.
    pub cpus: &'a [usize],
    /// Seed of the probe's placeholders and of the environment's length.
    pub seed: u64,
    pub readiness: Readiness,
    /// The port chosen by the user; absent: any free port.
    pub port: Option<u16>,
    /// The local address of requests. If it is not 127.0.0.1, the service must listen on all addresses.
    pub serve_on: Ipv4Addr,
    /// Hidden parts of the machine. The built-in reference reads its contract, so it sees all folders.
    pub sandbox: &'a Sandbox,
}

/// Starts or attaches to `service`, and waits until it answers. Output: `folder/stem.stdout`, `.stderr`.
///
/// # Errors
/// It cannot be started, has been replaced, is not ready in time, or its output folder cannot be made.
pub fn launch(
    service: &catalogue::Service,
    settings: &LaunchSettings,
    supervisor: &Supervisor,
    folder: &Path,
    stem: &str,
) -> Result<Ready, LaunchError> {
    if let Some(variable) = settings.contract.missing_variable() {
        let (contract, variable) = (settings.contract.name.clone(), variable.to_owned());
        return Err(LaunchError::Variable { contract, variable });
    }
    if let Some(reason) = settings.contract.why_not_in(service.protocol) {
        return Err(LaunchError::Protocol(reason));
    }
    if service.protocol.is_tls() && service.channel().trusts == Trusts::Nothing {
        return Err(LaunchError::NoCertificate { service: service.word() });
    }
    let output = |source| LaunchError::Output { folder: folder.display().to_string(), source };
    fs::create_dir_all(folder).map_err(output)?;
    let backing = backing(service, settings, supervisor, folder, stem)?;
    let (process, address, host) = match &service.running {
        Some(running) => {
            let process = process::RunningService::attach(&running.server, supervisor.notices());
            (process, running.server.address().clone(), running.host.clone())
        }
        None => {
            let (process, port) = start_on_a_port(service, settings, &backing, supervisor, folder, stem)?;
            let address = Endpoint::from(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
            let host = address.to_string();
            (process, address, host)
        }
    };
    let mut random = ChaCha8Rng::seed_from_u64(settings.seed);
    // Values that differ from verify's: a caching service must not have those answers already.
    random.set_stream(1);
    let channel = service.channel();
    let patience = PATIENCE + Duration::from_millis(settings.service_settings.delay_ms);
    let mut requests: VecDeque<&Request> =
        settings.contract.loaded().filter(|request| settings.contract.is_asked_alone(request)).collect();
    let mut exchange = |request: &Request| settings.contract.exchange(request, &host, &mut random);
    let waited = process.wait_ready(service.run.ready_timeout, || match requests.front().copied() {
        Some(request) => {
            let (asked, runs_already) = (exchange(request), process.is_attached());
            probe::ready(&address, &channel, &asked, settings.readiness, patience, runs_already)
        }
        None => Probed::Ready,
    })?;
    if settings.readiness == Readiness::AnswersRightly {
        requests.pop_front();
    }
    // A placeholder varies between requests, and `verify` looks for caches that store such answers.
    requests.retain(|request| !request.has_placeholders());
    // Database statements are compared with the load's requests, so extra requests would disturb the count.
    if settings.contract.backing == BackingNeeds::default() {
        has_started(&process, service.run.ready_timeout, &mut requests, |request| {
            probe::started(&address, &channel, &exchange(request), patience)
        })?;
    }
    // An attached server stays as it was found; only a started service has a port from Tare.
    let local = match address {
        Endpoint::Tcp(local) if !process.is_attached() => local,
        address => return Ok(Ready { process, address, host, backing, start_up: None }),
    };
    if let Some(apart) = &service.apart {
        let given = variables(service, settings, &backing, local.port()).0;
        // Files that Tare provides are in the run's folder.
        let lent = given.iter().skip(service.environment().0.len()).map(|(_, value)| PathBuf::from(value));
        let own = [service.tree(), &service.build_root, folder].map(Path::to_owned);
        let own: Vec<PathBuf> = own.into_iter().chain(lent.filter(|path| path.is_absolute())).collect();
        let proved = apart.prove(&process.in_use(), &own, &given);
        proved.map_err(|source| LaunchError::Apart { service: service.id.clone(), source })?;
    }
    let address = Endpoint::from(reached_at(settings.serve_on, local)?);
    let host = address.to_string();
    Ok(Ready { process, address, host, backing, start_up: Some(waited) })
}

/// Waits until no request gets an answer of a starting service: some services start in parts.
fn has_started(
    process: &process::RunningService,
    timeout: Duration,
    requests: &mut VecDeque<&Request>,
    mut ask: impl FnMut(&Request) -> Result<Probed, AskError>,
) -> Result<(), Unready> {
    if requests.is_empty() {
        return Ok(());
    }
    let waited = process.wait_ready(timeout, || {
        while let Some(request) = requests.front().copied() {
            match ask(request) {
                Ok(Probed::Ready) => drop(requests.pop_front()),
                Ok(starting) => return starting,
                // The real request will report this error.
                Err(_) => break,
            }
        }
        Probed::Ready
    });
    waited.map(drop)
}

/// The address of requests to a service that answers at `local` on 127.0.0.1.
fn reached_at(serve_on: Ipv4Addr, local: SocketAddr) -> Result<SocketAddr, LaunchError> {
    let address = SocketAddr::from((serve_on, local.port()));
    if address != local {
        TcpStream::connect_timeout(&address, REACHED_WITHIN)
            .map_err(|source| LaunchError::Unreached { address, source })?;
    }
    Ok(address)
}

/// Starts the backing services. An attached server already has its own.
fn backing(
    service: &catalogue::Service,
    settings: &LaunchSettings,
    supervisor: &Supervisor,
    folder: &Path,
    stem: &str,
) -> Result<Backing, BackingError> {
    if service.running.is_some() {
        return Ok(Backing::default());
    }
    let LaunchSettings { contract, seed, service_settings, .. } = *settings;
    let cpus = match service_settings.backing_cpus.as_slice() {
        [] => settings.cpus,
        own => own,
    };
    let connections = service_settings.database_connections;
    Backing::start(contract, &BackingGround { supervisor, folder, stem, cpus, connections, seed })
}

impl Ready {
    /// Freezes the service, then its backing services.
    ///
    /// # Errors
    /// The kernel refuses, or a process still runs after two seconds.
    pub fn freeze(&self) -> Result<(), FreezeError> {
        self.process.freeze()?;
        self.backing.freeze()
    }

    /// Thaws the backing services, then the service.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn thaw(&self) -> Result<(), FreezeError> {
        self.backing.thaw()?;
        self.process.thaw()
    }
}

/// Starts it on the user's port or on a free one.
fn start_on_a_port(
    service: &catalogue::Service,
    settings: &LaunchSettings,
    backing: &Backing,
    supervisor: &Supervisor,
    folder: &Path,
    stem: &str,
) -> Result<(process::RunningService, u16), StartError> {
    let mut attempts = 0;
    let fixed = settings.port.or(service.run.port);
    loop {
        let port = fixed.unwrap_or_else(process::free_port);
        match start(service, settings, backing, supervisor, folder, stem, port) {
            // Another Tare may have bound the port for an instant to test whether it is free.
            Err(StartError { why: StartFailure::PortInUse { .. }, .. })
                if fixed.is_none() && attempts < PORT_ATTEMPTS =>
            {
                attempts += 1;
            }
            started => return Ok((started?, port)),
        }
    }
}

fn start(
    service: &catalogue::Service,
    settings: &LaunchSettings,
    backing: &Backing,
    supervisor: &Supervisor,
    folder: &Path,
    stem: &str,
    port: u16,
) -> Result<process::RunningService, StartError> {
    let (env, unset) = variables(service, settings, backing, port);
    let launch = Launch {
        name: service.id.clone(),
        command: service.command_for(&settings.contract.name, port),
        dir: service.place.to_path_buf(),
        env,
        unset,
        cpus: settings.cpus.to_vec(),
        port: Some(port),
        stdout: folder.join(format!("{stem}.stdout")),
        stderr: folder.join(format!("{stem}.stderr")),
        append: false,
        sandbox: sandbox(service, settings.sandbox),
    };
    process::RunningService::start(&launch, supervisor)
}

/// Variables to set and variables to remove.
fn variables(
    service: &catalogue::Service,
    settings: &LaunchSettings,
    backing: &Backing,
    port: u16,
) -> (Vec<(String, String)>, Vec<String>) {
    let (mut env, unset) = service.environment();
    env.push(("PORT".to_owned(), port.to_string()));
    env.push(("THREADS".to_owned(), settings.service_settings.threads.to_string()));
    env.push(("DELAY_MS".to_owned(), settings.service_settings.delay_ms.to_string()));
    env.extend((settings.serve_on != Ipv4Addr::LOCALHOST).then(everywhere));
    env.extend(of_protocol(service));
    env.extend(settings.contract.given_tables().filter_map(DataTable::variable));
    env.extend(backing.variables());
    env.push((PADDING.to_owned(), padding(settings.seed)));
    (env, unset)
}

/// The variables for the protocol; none for plain HTTP/1.1.
fn of_protocol(service: &catalogue::Service) -> Vec<(String, String)> {
    let word = match service.protocol {
        Protocol::Http1 => return Vec::new(),
        Protocol::Http1Tls => protocol::word(Protocol::Http1),
        protocol => protocol::word(protocol),
    };
    let path = |path: PathBuf| path.display().to_string();
    let files = service.certificates.iter().filter(|_| service.protocol.is_tls());
    let files = files.flat_map(|files| {
        [("TLS_CERT", path(files.certificate_path())), ("TLS_KEY", path(files.key_path()))]
    });
    let all = [("PROTOCOL", word.to_owned())].into_iter().chain(files);
    all.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The run's sandbox, except that the service can see its own folder.
fn sandbox(service: &catalogue::Service, wanted: &Sandbox) -> Sandbox {
    let mut own = wanted.clone();
    own.hidden.retain(|path| service.style != Style::RawSocket && !service.place.starts_with(path));
    own.shown.retain(|path| own.hidden.iter().any(|hidden| path.starts_with(hidden)));
    own
}

/// The length of the environment determines where the stack begins, which affects speed. A fixed length would
/// favour one service in all starts; a random length becomes noise between blocks.
fn padding(seed: u64) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(2);
    "x".repeat(random.random_range(0..PADDING_BYTES_MAX))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::certificate::Certificates;

    #[test]
    fn what_a_port_is_asked_in_is_said_where_it_is_not_plain() {
        let folder = tempfile::tempdir().unwrap();
        let certificates = Some(Arc::new(Certificates::make(folder.path()).unwrap()));
        let names = |protocol: Protocol| {
            let service =
                catalogue::Service { protocol, certificates: certificates.clone(), ..Default::default() };
            let all = of_protocol(&service);
            let path = folder.path().display().to_string();
            let all = all.iter().map(|(name, value)| format!("{name}={}", value.replace(&path, "RUN")));
            all.collect::<Vec<_>>().join(" ")
        };
        let files = "TLS_CERT=RUN/cert.pem TLS_KEY=RUN/key.pem";
        assert_eq!(names(Protocol::Http1), "", "plain HTTP/1.1 is as it was");
        assert_eq!(names(Protocol::Http1Tls), format!("PROTOCOL=http/1.1 {files}"));
        assert_eq!(names(Protocol::H2), format!("PROTOCOL=h2 {files}"));
        assert_eq!(names(Protocol::H2c), "PROTOCOL=h2c");
    }

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
