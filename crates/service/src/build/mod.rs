//! Building services: requirements first, then the steps, cached by the content of the folder and of the toolchain.
//! Everything a build prints is kept in a log. Starts no service, except for the `[version]` command.

mod content;
mod cost;
mod many;
mod receipt;
mod requirement;
mod stamp;
mod steps;

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

pub use cost::Cost;
pub use many::{Many, build_many};
pub use requirement::{Missing, check as check_requirements};
pub use stamp::Stamp;

use crate::catalogue::Service;
use tare_host::process::Supervisor;

/// Where builds are recorded: `ROOT/.tare/builds/`.
#[derive(Debug, Clone)]
pub struct Builder {
    records: PathBuf,
}

/// What builds of one command have in common.
#[derive(Debug)]
pub struct Site<'a> {
    supervisor: &'a Supervisor,
    interrupt: &'a AtomicBool,
    network: cost::Network,
}

/// A service that is ready to be started.
#[derive(Debug, Clone, PartialEq)]
pub struct Built {
    /// The receipt: what the framework in the build says its version is.
    pub version: String,
    /// What the build cost when it was made.
    pub cost: Cost,
    /// True where nothing had changed since an earlier build.
    pub cached: bool,
    /// BLAKE3 of the folder's files and of what the toolchain says of itself.
    pub content: String,
}

/// Why a service cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A toolchain or a library is not on this machine.
    #[error("{0}")]
    Missing(Missing),
    /// A step ended with a failure.
    #[error("build step \"{step}\" failed ({status}): {last_line}; all of it: {}", log.display())]
    Step {
        /// The command.
        step: String,
        /// How it ended.
        status: String,
        /// The last line it printed.
        last_line: String,
        /// The whole output.
        log: PathBuf,
    },
    /// The build ran, but its receipt cannot be had.
    #[error("version command \"{command}\" {reason}")]
    Version {
        /// The command.
        command: String,
        /// What was wrong.
        reason: String,
    },
    /// The record of builds cannot be kept.
    #[error("{}: {source}", path.display())]
    Record {
        /// File or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The user wanted no more.
    #[error("interrupted")]
    Interrupted,
}

impl<'a> Site<'a> {
    /// Builds under `supervisor`, until somebody sets `interrupt`.
    pub fn new(supervisor: &'a Supervisor, interrupt: &'a AtomicBool) -> Site<'a> {
        Site { supervisor, interrupt, network: cost::Network::default() }
    }
}

impl Builder {
    /// Keeps its records below `root`.
    pub fn new(root: &Path) -> Builder {
        Builder { records: root.join(".tare").join("builds") }
    }

    /// The log of the last build of a service.
    pub fn log(&self, service: &Service) -> PathBuf {
        self.record(service, "log")
    }

    /// What the last good build of this service recorded, whether or not it is still current.
    pub fn last(&self, service: &Service) -> Option<Stamp> {
        stamp::read(&self.record(service, "json"))
    }

    /// Builds `service`, or finds that nothing has changed. `force` builds all the same.
    pub fn build(&self, service: &Service, site: &Site<'_>, force: bool) -> Result<Built, BuildError> {
        let toolchain = requirement::check(service).map_err(BuildError::Missing)?;
        let _lock = self.lock(service)?;
        let unreadable = |source| BuildError::Record { path: service.folder.clone(), source };
        let content =
            content::hash(&service.folder, service.build.is_empty(), &toolchain).map_err(unreadable)?;
        let earlier = self.last(service);
        if !force
            && let Some(stamp) = earlier.as_ref().filter(|stamp| stamp.content == content)
            && let Ok(version) = self.receipt(service, site)
        {
            return Ok(Built { version, cost: stamp.cost, cached: true, content });
        }
        let cost = steps::run(service, &self.log(service), site)?;
        let version = self.receipt(service, site)?;
        let cost = Stamp::cost_to_keep(earlier, cost);
        let stamp = Stamp { content: content.clone(), version: version.clone(), cost };
        let path = self.record(service, "json");
        stamp::write(&path, &stamp).map_err(|source| BuildError::Record { path, source })?;
        Ok(Built { version, cost, cached: false, content })
    }

    fn receipt(&self, service: &Service, site: &Site<'_>) -> Result<String, BuildError> {
        receipt::read(service, &self.record(service, "version"), site)
    }

    /// The file of a service whose name ends so.
    fn record(&self, service: &Service, extension: &str) -> PathBuf {
        self.records.join(format!("{}.{extension}", service.name))
    }

    /// Two commands that build one service at the same time would trip over each other's files.
    fn lock(&self, service: &Service) -> Result<File, BuildError> {
        let path = self.record(service, "lock");
        let take = || {
            fs::create_dir_all(&self.records)?;
            let file = File::create(&path)?;
            file.lock()?;
            Ok(file)
        };
        take().map_err(|source| BuildError::Record { path: path.clone(), source })
    }
}
