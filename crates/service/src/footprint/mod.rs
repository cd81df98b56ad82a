//! Properties of a service besides speed: licence, dependencies, amount of code, size to ship, build cost
//! and, if measured, start-up time and idle memory.
//!
//! An unknown figure is `None`. Nothing is built here, and only [`measure`] starts a service.

mod kept;
pub mod measure;
mod releases;

mod ask;
mod cargo;
mod code;
mod deb;
mod golang;
mod licence;
mod linked;
mod maven;
mod npm;
mod nuget;
mod pypi;
mod size;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use code::Code;
pub use kept::{Kept, Measured};
pub use licence::{Licence, Source};
pub use releases::{Release, Releases};

use crate::{
    build::{Cost, Entry, Laid},
    catalogue::{Place, RAW_SOCKET, Service},
};

/// All known properties of a service besides its speed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Footprint {
    pub licence: Licence,
    pub dependencies: Dependencies,
    /// The code that a user writes; absent for the built-in reference, which has no such source.
    pub code: Option<Code>,
    /// The size of what must be on the target machine besides the language's own runtime (interpreter, JVM,
    /// libc). In bytes of file content, not of disk blocks; absent if it is not built.
    ///
    /// - Programs of machine code: the executable, and the shared libraries that it links beyond those of the C and C++
    ///   runtimes. Go links its runtime into the executable, and then it counts.
    /// - Node: `node_modules` (for Bun and Deno it holds the runtime, which is the framework) and the service's sources.
    /// - Python: the files of the pinned distributions, without bytecode, and the sources. Not pip and setuptools, which
    ///   every virtual environment has.
    /// - JVM: the jar and the libraries beside it, or all that the class path names.
    /// - .NET: the folder that is published.
    pub artefact_bytes: Option<u64>,
    /// Cost of the last successful build; absent if there was none, or there are no build steps.
    pub build: Option<Cost>,
    /// The sources named by its manifest, as in the last successful build.
    #[serde(default)]
    pub sources: Vec<Laid>,
    /// The newest known release of the framework.
    pub release: Option<Release>,
    pub measured: Option<Measured>,
}

/// Number of packages besides the service itself, by the ecosystem's own measure. Ecosystems differ in the
/// size of packages, so the numbers are not comparable across them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependencies {
    /// Packages that the service requires directly.
    pub direct: Option<usize>,
    /// All packages in the build for this machine; absent if it is not built.
    pub total: Option<usize>,
}

impl Dependencies {
    /// Adds this number of direct dependencies.
    fn and(self, more: usize) -> Dependencies {
        let [direct, total] = [self.direct, self.total].map(|count| count.map(|count| count + more));
        Dependencies { direct, total }
    }
}

/// The findings of one ecosystem's reader.
#[derive(Debug, Default, PartialEq)]
struct Package {
    licence: Option<String>,
    dependencies: Dependencies,
    artefact_bytes: Option<u64>,
}

impl Footprint {
    /// Reads all that is visible without a start of the service. `last` is its last successful build.
    pub fn read(service: &Service, last: Option<&Entry>, releases: &Releases, kept: &Kept) -> Footprint {
        let place = last.map_or_else(|| service.place.clone(), |entry| Place::new(entry.folder.clone()));
        let service = &service.at(place);
        let (found, source, code) = match service.id.as_str() {
            // It is part of this executable and has no folder.
            RAW_SOCKET => (Package::default(), Source::Manifest, None),
            _ => {
                let (found, source) = look(service, last);
                (found, source, Some(Code::of(&service.folder)))
            }
        };
        let built = last.filter(|_| !service.build.is_empty());
        Footprint {
            licence: Licence::of(&service.licence, found.licence.as_deref(), source),
            dependencies: found.dependencies,
            code,
            artefact_bytes: found.artefact_bytes,
            build: built.map(|entry| entry.cost),
            sources: built.map(|entry| entry.sources.clone()).unwrap_or_default(),
            release: service.package.as_ref().and_then(|package| releases.of(package)).cloned(),
            measured: last.and_then(|entry| kept.get(service, &entry.content)),
        }
    }
}

/// Files in the folder show the ecosystem; the framework's package may come from elsewhere.
fn look(service: &Service, last: Option<&Entry>) -> (Package, Source) {
    let has = |file: &str| service.folder.join(file).is_file();
    match () {
        () if has("Cargo.toml") => (cargo::read(service), Source::Cargo),
        () if has("package.json") => (npm::read(service), Source::Npm),
        () if has("requirements.txt") => (pypi::read(service), Source::Pypi),
        // Packages of Go and .NET have the licence as text, if at all.
        () if has("go.mod") => (golang::read(service), Source::Manifest),
        () if has("pom.xml") => {
            (maven::read(service, last.map(|entry| entry.version.as_str())), Source::Maven)
        }
        () if nuget::project(&service.folder).is_some() => (nuget::read(service), Source::Manifest),
        // The first source is the framework.
        () if !service.sources.is_empty() => {
            let first = last.and_then(|entry| entry.sources.first()).and_then(|laid| laid.licence.clone());
            let of_debian = deb::read(service);
            let dependencies = of_debian.dependencies.and(service.sources.len());
            let licence = first.and_then(|file| file.spdx);
            (Package { licence, dependencies, ..of_debian }, Source::Git)
        }
        // Packages of Debian, or none.
        () => (deb::read(service), Source::Debian),
    }
}

/// The service's executable, if it is part of the service and built.
fn executable(service: &Service) -> Option<PathBuf> {
    let program = service.run.command.first().filter(|word| word.contains('/'))?;
    Some(service.place.join(program)).filter(|path| path.is_file())
}

/// Bytes of an executable and of the libraries to ship with it.
fn executable_bytes(service: &Service) -> Option<u64> {
    let program = executable(service)?;
    let libraries: u64 = linked::libraries(&program).iter().map(|path| size::of(path)).sum();
    Some(size::of(&program) + libraries)
}

#[cfg(test)]
mod tests;
