//! Building services: requirements first, then the steps, in a copy that is cached by the content of the folder and of
//! the toolchain. What a manifest names as its source is laid into the copy first. Everything a build prints is kept in a
//! log. Starts no service, except for the `[version]` command.

mod content;
mod cost;
mod entry;
mod error;
mod job;
mod many;
mod missing;
mod outlook;
mod requirement;
mod source;
mod source_error;
mod steps;
mod store;
mod version;

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

pub use cost::Cost;
pub use entry::Entry;
pub use error::BuildError;
pub use many::{Many, build_many};
pub use missing::Missing;
pub use outlook::{Outlook, WhyBuild};
pub use requirement::check as check_requirements;
pub use source::{Laid, LicenceFile};
pub use source_error::SourceError;
pub use store::{Pruned, Store};

use tare_host::process::Supervisor;

use crate::{
    catalogue::{Place, Service},
    lock::{self, Lock},
};
use job::Job;

/// Builds into the cache, and records for a repository what it built: `ROOT/.tare/builds/`.
#[derive(Debug, Clone)]
pub struct Builder {
    records: PathBuf,
    store: Store,
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
    pub version: String,
    pub cost: Cost,
    /// True if nothing had changed since an earlier build.
    pub cached: bool,
    /// BLAKE3 of the folder's files and of the toolchain's versions.
    pub content: String,
    /// The same without the toolchain; absent if nothing is built.
    pub files: Option<String>,
    /// Where it runs; it is not removed as long as this value lives.
    pub place: Place,
    /// What its manifest names as its source, and the licences that came with it.
    pub sources: Vec<Laid>,
}

/// Copies the files of a folder that git does not ignore, links and modes included.
///
/// # Errors
/// A file cannot be read or written.
pub(crate) fn copy_sources(from: &Path, to: &Path) -> io::Result<()> {
    content::Sources::list(from)?.copy(to).map(drop)
}

impl<'a> Site<'a> {
    /// Builds under `supervisor` until `interrupt` is set.
    pub fn new(supervisor: &'a Supervisor, interrupt: &'a AtomicBool) -> Site<'a> {
        Site { supervisor, interrupt, network: cost::Network::default() }
    }
}

impl Builder {
    /// Keeps its records below `own`, and builds in `store`.
    pub fn new(own: &Path, store: Store) -> Builder {
        Builder { records: own.join("builds"), store }
    }

    /// The log of the last build of a service.
    pub fn log(&self, service: &Service) -> PathBuf {
        self.record(service, "log")
    }

    /// What this checkout recorded of the last good build of a service, whether or not it is still current; absent if
    /// the build itself has been removed since.
    pub fn last(&self, service: &Service) -> Option<Entry> {
        Entry::read(&self.record(service, "json")).filter(|entry| entry.folder.is_dir())
    }

    /// What a build of `service` would do, as far as records tell.
    pub fn outlook(&self, service: &Service) -> Outlook {
        Outlook::of(service, Entry::read(&self.record(service, "json")), &self.store)
    }

    /// Builds `service`, or finds that nothing has changed. `force` builds all the same.
    ///
    /// # Errors
    /// When a requirement is not met, a step fails, the build reports no version, or nothing can be written.
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

    /// The file of a service whose name ends so.
    fn record(&self, service: &Service, extension: &str) -> PathBuf {
        self.records.join(format!("{}.{extension}", service.name))
    }

    /// Two commands that build one service at the same time would trip over each other's records.
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
