//! One build of one service: in its own folder, or in the cache.

use std::{io, path::Path};

use super::{
    BuildCost, BuildError, Built, Entry, Site, Store,
    content::{Content, Sources},
    steps::{self, Steps},
    store::Reserved,
    version,
};
use crate::catalogue::{Place, Service};

pub(super) struct Job<'a> {
    pub service: &'a Service,
    pub site: &'a Site<'a>,
    pub toolchain: &'a str,
    pub store: &'a Store,
    pub log: &'a Path,
}

/// An existing build, or the reservation to make it.
enum Found {
    Built(Built),
    Nothing(Reserved),
}

impl Job<'_> {
    /// A service without build steps runs in its own folder. The folder is not hashed: it may be anything.
    pub(super) fn in_its_folder(&self, earlier: Option<&Entry>) -> Result<Built, BuildError> {
        let mut content = Content::of_toolchain(self.toolchain);
        if self.service.version.command.is_empty() {
            content.put_command(&self.words(), &self.service.folder);
        }
        let content = content.finish();
        let version = version::of(self.service, &content, self.site)?;
        let cached = earlier.is_some_and(|entry| entry.content == content);
        let place = self.service.place.clone();
        Ok(Built { version, cost: BuildCost::NONE, cached, content, files: None, place, sources: Vec::new() })
    }

    /// Identifies a service without build steps: its command, or the processes that already run.
    fn words(&self) -> Vec<String> {
        match &self.service.running {
            Some(running) => vec![self.service.id.clone(), running.server.identity()],
            None => self.service.run.command.clone(),
        }
    }

    pub(super) fn in_the_store(&self, force: bool) -> Result<Built, BuildError> {
        let unreadable = |source| BuildError::Record { path: self.service.build_root.clone(), source };
        let sources = sources(self.service).map_err(unreadable)?;
        let hashed = hash(self.service, self.toolchain, &sources).map_err(unreadable)?;
        let built = match self.find(&hashed.finish(), force)? {
            Found::Built(built) => built,
            Found::Nothing(reserved) => self.make(&sources, &hashed, &reserved)?,
        };
        // An entry of an older Tare lacks this hash.
        Ok(Built { files: Some(hashed.finish_without_toolchain()), ..built })
    }

    fn find(&self, content: &str, force: bool) -> Result<Found, BuildError> {
        let usable = |found: Option<_>| found.filter(|_| !force).and_then(|found| self.cached(found));
        if let Some(built) = usable(self.store.find(content)) {
            return Ok(Found::Built(built));
        }
        let reserved =
            self.store.reserve(content, self.site.interrupt).map_err(|error| self.no_store(error))?;
        // Another process may have built it while this one waited for the lock.
        match usable(reserved.find()) {
            Some(built) => Ok(Found::Built(built)),
            None => Ok(Found::Nothing(reserved)),
        }
    }

    /// Absent if it reports no version, such as after a system library was removed.
    fn cached(&self, (entry, place): (Entry, Place)) -> Option<Built> {
        let service = self.service.at(place.clone());
        let version = version::of(&service, &entry.content, self.site).ok()?;
        let Entry { content, files, cost, sources, .. } = entry;
        Some(Built { version, cost, cached: true, content, files, place, sources })
    }

    fn make(&self, sources: &Sources, hashed: &Content, reserved: &Reserved) -> Result<Built, BuildError> {
        let (content, files) = (hashed.finish(), Some(hashed.finish_without_toolchain()));
        let no_store = |error| self.no_store(error);
        let attempt = reserved.begin().map_err(no_store)?;
        let copy = sources.copy(&attempt).map_err(no_store)?;
        if hash(self.service, self.toolchain, &copy).map_err(no_store)?.finish() != content {
            return Err(BuildError::Changed { folder: self.service.build_root.clone() });
        }
        let folder = attempt.join(self.service.within_build_root());
        let service = self.service.at(Place::new(folder.clone()));
        steps::begin(self.log)?;
        let mut cost = BuildCost::NONE;
        let sources = self.store.sources().lay(&service, self.log, self.site, &mut cost)?;
        let Job { site, toolchain, store, log, .. } = self;
        Steps { service: &service, toolchain, shared: store.shared(), log, site }.run(&mut cost)?;
        if let Some(apart) = &service.apart {
            apart.check_links(&attempt)?;
        }
        cost.disk_bytes = copy.bytes_beyond().map_err(no_store)?;
        let version = version::of(&service, &content, self.site)?;
        let entry = Entry { content, files, version, cost, folder, sources };
        let place = reserved.finish(&entry).map_err(no_store)?;
        let Entry { content, files, version, sources, .. } = entry;
        Ok(Built { version, cost, cached: false, content, files, place, sources })
    }

    fn no_store(&self, source: io::Error) -> BuildError {
        match source.kind() {
            io::ErrorKind::Interrupted => BuildError::Interrupted,
            _ => BuildError::Store { path: self.store.folder().to_owned(), source },
        }
    }
}

/// The files that a service is built from.
pub(super) fn sources(service: &Service) -> io::Result<Sources> {
    let root = &service.build_root;
    // A work tree has a `.git`; a checked-out tree has none.
    let is_of_git = service.apart.is_some() && !root.join(".git").exists();
    if is_of_git { Sources::list_all(root) } else { Sources::list(root) }
}

/// The service's folder within its root is part of the hash: two services of one root are two builds.
pub(super) fn hash(service: &Service, toolchain: &str, sources: &Sources) -> io::Result<Content> {
    let mut content = Content::of_toolchain(toolchain);
    let within = service.within_build_root();
    if !within.as_os_str().is_empty() {
        content.put(b"/within").put(within.as_os_str().as_encoded_bytes());
    }
    if service.steps_elsewhere {
        content.put_steps(&service.build);
    }
    for source in &service.sources {
        content.put_source(source);
    }
    content.put_environment();
    sources.hash(&mut content)?;
    Ok(content)
}
