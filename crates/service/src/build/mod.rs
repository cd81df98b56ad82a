//! Builds services: checks requirements, then runs the steps in a copy, cached by a hash of the folder and
//! the toolchain. Sources named in the manifest are copied in first. All output goes to a log. Starts no
//! service, except for the `[version]` command.

mod answers;
mod content;
mod cost;
mod entry;
mod error;
mod job;
mod many;
mod missing;
mod outlook;
mod requirement;
mod shared;
mod source;
mod source_error;
mod steps;
mod store;
mod turns;
mod version;

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

pub use cost::{BuildCost, SharedCost};
pub use entry::Entry;
pub use error::BuildError;
pub use many::{BuildOptions, build_many};
pub use missing::Missing;
pub use outlook::{Outlook, WhyBuild};
pub use requirement::check as check_requirements;
pub use source::{Laid, LicenceFile};
pub use source_error::SourceError;
pub use store::Store;

use tare_host::process::Supervisor;

use crate::{
    catalogue::{Place, Service},
    lock::{self, Lock},
};
use job::Job;

/// Builds into the cache, and keeps a repository's records of builds in `ROOT/.tare/builds/`.
#[derive(Debug, Clone)]
pub struct Builder {
    records: PathBuf,
    store: Store,
}

/// The context shared by all builds of one command.
#[derive(Debug)]
pub struct Site<'a> {
    supervisor: &'a Supervisor,
    interrupt: &'a AtomicBool,
    network: cost::Network,
    turns: turns::Turns,
    answers: answers::Answers,
    is_unshared: bool,
}

/// A service that is ready to start.
#[derive(Debug, Clone, PartialEq)]
pub struct Built {
    pub version: String,
    pub cost: BuildCost,
    /// Whether an earlier build was reused.
    pub cached: bool,
    /// BLAKE3 of the folder's files and the toolchain's versions.
    pub content: String,
    /// The hash without the toolchain; absent if there are no build steps.
    pub files: Option<String>,
    /// The folder in which it runs. It is not removed while this value exists.
    pub place: Place,
    /// The sources named in its manifest, with their licences.
    pub sources: Vec<Laid>,
}

/// Copies the files of a folder that git does not ignore, including links and modes.
///
/// # Errors
/// A file cannot be read or written.
pub(crate) fn copy_sources(from: &Path, to: &Path) -> io::Result<()> {
    content::Sources::list(from)?.copy(to).map(drop)
}

impl<'a> Site<'a> {
    /// Builds under `supervisor` until `interrupt` is set.
    pub fn new(supervisor: &'a Supervisor, interrupt: &'a AtomicBool) -> Site<'a> {
        let (network, turns, answers) = Default::default();
        Site { supervisor, interrupt, network, turns, answers, is_unshared: false }
    }

    /// Compiles all for each service, as on a machine where it is the only one.
    #[must_use]
    pub fn unshared(self, is_unshared: bool) -> Site<'a> {
        Site { is_unshared, ..self }
    }
}

impl Builder {
    /// Keeps records below `own`, and builds in `store`.
    pub fn new(own: &Path, store: Store) -> Builder {
        Builder { records: own.join("builds"), store }
    }

    /// The log of the last build of a service.
    pub fn log(&self, service: &Service) -> PathBuf {
        self.record(service, "log")
    }

    /// The record of this checkout's last successful build, even if it is outdated; absent if the build was
    /// removed.
    pub fn last(&self, service: &Service) -> Option<Entry> {
        Entry::read(&self.record(service, "json")).filter(|entry| entry.folder.is_dir())
    }

    /// Predicts from records what a build of `service` would do.
    pub fn outlook(&self, service: &Service) -> Outlook {
        Outlook::of(service, Entry::read(&self.record(service, "json")), &self.store)
    }

    /// Builds `service`, or reuses an existing build. `force` always builds.
    ///
    /// # Errors
    /// A requirement is not met, a step fails, the build reports no version, or a file cannot be written.
    pub fn build(&self, service: &Service, site: &Site<'_>, force: bool) -> Result<Built, BuildError> {
        let toolchain = requirement::check(service, site)?;
        let _lock = self.lock(service, site)?;
        let job = Job { service, site, toolchain: &toolchain, store: &self.store, log: &self.log(service) };
        let built = match service.build.is_empty() {
            true => job.in_its_folder(self.last(service).as_ref())?,
            false => job.in_the_store(force)?,
        };
        let path = self.record(service, "json");
        let written = Entry::of(&built).write(&path);
        written.map_err(|source| BuildError::Record { path, source })?;
        Ok(built)
    }

    /// The service's record with this extension.
    fn record(&self, service: &Service, extension: &str) -> PathBuf {
        self.records.join(format!("{}.{extension}", service.name))
    }

    /// Keeps two commands from writing the records of one service at the same time.
    fn lock(&self, service: &Service, site: &Site<'_>) -> Result<Lock, BuildError> {
        let path = self.record(service, "lock");
        let take = || {
            fs::create_dir_all(&self.records)?;
            let lock = Lock::open(&path)?;
            lock::wait(site.interrupt, || lock.try_alone())?;
            Ok(lock)
        };
        take().map_err(|source: io::Error| match source.kind() {
            io::ErrorKind::Interrupted => BuildError::Interrupted,
            _ => BuildError::Record { path: path.clone(), source },
        })
    }
}
