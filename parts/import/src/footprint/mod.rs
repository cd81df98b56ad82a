//! Reads the [`Footprint`] of services. Nothing is built here, and only [`measure`] starts a service.

pub mod measure;

mod ask;
mod cargo;
mod code;
mod deb;
mod golang;
mod kept;
mod licence;
mod linked;
mod maven;
mod npm;
mod nuget;
mod pypi;
mod releases;
mod size;

use std::path::PathBuf;

use tare_base::document::DocumentError;
use tare_host::threads;
use tare_service::{
    build::Entry,
    catalogue::{Place, RAW_SOCKET, Service},
    footprint::{Dependencies, Footprint, FootprintSource},
    workspace::Workspace,
};

pub use kept::Kept;
use releases::Releases;

/// Services that are read at a time: each waits for programs such as cargo.
const AT_ONCE: usize = 4;

/// The findings of one ecosystem's reader.
#[derive(Debug, Default, PartialEq)]
struct Package {
    licence: Option<String>,
    dependencies: Dependencies,
    artefact_bytes: Option<u64>,
}

/// Reads what is known of `services` without starting them, in their order.
///
/// # Errors
/// `services/releases.toml` cannot be read, or is wrong.
pub fn read_all(workspace: &Workspace, services: &[&Service]) -> Result<Vec<Footprint>, DocumentError> {
    let releases = Releases::load(&workspace.root)?;
    let (kept, builder) = (Kept::of(workspace), workspace.builder());
    Ok(threads::map(AT_ONCE, services, |service| {
        read(service, builder.last(service).as_ref(), &releases, &kept)
    }))
}

/// Reads all that is visible without a start of the service. `last` is its last successful build.
fn read(service: &Service, last: Option<&Entry>, releases: &Releases, kept: &Kept) -> Footprint {
    let place = last.map_or_else(|| service.place.clone(), |entry| Place::new(entry.folder.clone()));
    let service = &service.at(place);
    let (found, source, code) = match service.id.as_str() {
        // It is part of this executable and has no folder.
        RAW_SOCKET => (Package::default(), FootprintSource::Manifest, None),
        _ => {
            let (found, source) = look(service, last);
            (found, source, Some(code::counted(&service.folder)))
        }
    };
    let built = last.filter(|_| !service.build.is_empty());
    Footprint {
        licence: licence::compared(&service.licence, found.licence.as_deref(), source),
        dependencies: found.dependencies,
        code,
        artefact_bytes: found.artefact_bytes,
        build: built.map(|entry| entry.cost),
        sources: built.map(|entry| entry.sources.clone()).unwrap_or_default(),
        release: service.package.as_ref().and_then(|package| releases.of(package)).cloned(),
        measured: last.and_then(|entry| kept.get(service, &entry.content)),
    }
}

/// Files in the folder show the ecosystem; the framework's package may come from elsewhere.
fn look(service: &Service, last: Option<&Entry>) -> (Package, FootprintSource) {
    let has = |file: &str| service.folder.join(file).is_file();
    match () {
        () if has("Cargo.toml") => (cargo::read(service), FootprintSource::Cargo),
        () if has("package.json") => (npm::read(service), FootprintSource::Npm),
        () if has("requirements.txt") => (pypi::read(service), FootprintSource::Pypi),
        // Packages of Go and .NET have the licence as text, if at all.
        () if has("go.mod") => (golang::read(service), FootprintSource::Manifest),
        () if has("pom.xml") => {
            (maven::read(service, last.map(|entry| entry.version.as_str())), FootprintSource::Maven)
        }
        () if nuget::project(&service.folder).is_some() => (nuget::read(service), FootprintSource::Manifest),
        // The first source is the framework.
        () if !service.sources.is_empty() => {
            let first = last.and_then(|entry| entry.sources.first()).and_then(|laid| laid.licence.clone());
            let of_debian = deb::read(service);
            let dependencies = of_debian.dependencies.and(service.sources.len());
            let licence = first.and_then(|file| file.spdx);
            (Package { licence, dependencies, ..of_debian }, FootprintSource::Git)
        }
        // Packages of Debian, or none.
        () => (deb::read(service), FootprintSource::Debian),
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
