//! Checkouts with services built by a script, and their shared cache.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use tare_host::process::{Isolation, Supervisor};
use tare_service::{
    build::{BuildError, Builder, Built, Site, Store},
    catalogue::{Catalogue, Place, RawSocket, Service, Step, VersionCommand},
};

/// This program also has the subcommand `watchdog`.
const FAKE: &str = env!("CARGO_BIN_EXE_fake-service");

pub static NOT_INTERRUPTED: AtomicBool = AtomicBool::new(false);

pub struct Bench {
    pub supervisor: Supervisor,
    folder: tempfile::TempDir,
}

impl Bench {
    pub fn new() -> Bench {
        let supervisor = Supervisor::start(Path::new(FAKE), Isolation::detect()).unwrap();
        Bench { supervisor, folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn home(&self) -> PathBuf {
        self.path("home")
    }

    pub fn store(&self) -> Store {
        Store::new(&self.home())
    }

    /// A service of a checkout. Its script is a source file, as steps belong to the manifest; each executed
    /// line `note` adds a line to the bench's notes.
    pub fn service(&self, checkout: &str, name: &str, script: &str) -> Service {
        let root = self.path(checkout);
        let folder = root.join("services/fake").join(name);
        fs::create_dir_all(&folder).unwrap();
        let notes = self.path("notes").display().to_string();
        fs::write(folder.join("build.sh"), script.replace("note", &format!("echo built >> {notes}")))
            .unwrap();
        let catalogue = Catalogue::load(&root, &["hello"], RawSocket::default()).unwrap();
        let words = |text: &str| text.split(' ').map(str::to_owned).collect();
        Service {
            name: name.to_owned(),
            place: Place::new(folder.clone()),
            build_root: folder.clone(),
            folder,
            build: vec![Step { command: words("sh -e build.sh"), ..Step::default() }],
            version: VersionCommand { command: words("cat version") },
            ..catalogue.services[0].clone()
        }
    }

    /// Number of executed `note` lines.
    pub fn notes(&self) -> usize {
        fs::read_to_string(self.path("notes")).unwrap_or_default().lines().count()
    }

    pub fn builder(&self, checkout: &str) -> Builder {
        Builder::new(&self.path(checkout), self.store())
    }

    pub fn site(&self) -> Site<'_> {
        Site::new(&self.supervisor, &NOT_INTERRUPTED)
    }

    pub fn build(&self, checkout: &str, service: &Service) -> Result<Built, BuildError> {
        self.builder(checkout).build(service, &self.site(), false)
    }
}
