//! A service with another release of a package than the locked one. Build steps set the release with the
//! ecosystem's own tool in the build's copy. The service's folder stays unchanged, and other packages as far
//! as possible. Starts and builds nothing itself.

mod cargo;
mod golang;
mod npm;
mod pypi;

use std::{fmt, fs, path::PathBuf};

use packageurl::PackageUrl;

use crate::catalogue::{Service, Step};

/// Separates a service's id from its release.
const MARK: &str = "+release:";

#[derive(Debug, thiserror::Error)]
pub enum ReleaseError {
    #[error(
        "\"{0}\" is not a release: write VERSION, PACKAGE@VERSION or a package URL, such as 2.16.0, koa@2.16.0 or pkg:npm/koa@2.16.0"
    )]
    Word(String),
    #[error(
        "\"{word}\": {service} does not say which package it is of: write PACKAGE@VERSION, such as express@4.21.2"
    )]
    NoPackage { word: String, service: String },
    #[error(
        "{}: it is not clear whose package {package} is: write a package URL, such as pkg:npm/{package}@1.0.0",
        folder.display()
    )]
    Unclear { folder: PathBuf, package: String },
    #[error("releases of \"{0}\" packages cannot be set: only those of cargo, golang, npm and pypi")]
    Ecosystem(String),
    #[error("{}: not there: it is where {tool} sets the release of a package", path.display())]
    NoFile { path: PathBuf, tool: &'static str },
    #[error("{}: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: String },
    #[error(
        "{}: npm does not keep it, and only npm sets the release of a package: replace it by a package-lock.json",
        .0.display()
    )]
    OtherLock(PathBuf),
    #[error("{service} has no build step{needed}: give it one as `build` in tare.toml, or in a service.toml")]
    NoBuild { service: String, needed: &'static str },
}

/// Ecosystems whose tools can set a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
enum Ecosystem {
    Cargo,
    Golang,
    Npm,
    Pypi,
}

impl Ecosystem {
    /// The ecosystem of the package `name`, by the service's files; absent if none or several match.
    fn of_files(service: &Service, name: &str) -> Option<Ecosystem> {
        let text = |file: &str| fs::read_to_string(service.folder.join(file)).ok();
        let found = [
            (Ecosystem::Cargo, text(cargo::FILE)),
            (Ecosystem::Golang, text(golang::FILE)),
            (Ecosystem::Npm, text(npm::FILE)),
            (Ecosystem::Pypi, pypi::is_of(service).then(|| text(pypi::FILE).unwrap_or_default())),
        ];
        let all = found.iter().filter_map(|(of, text)| Some((*of, text.as_ref()?)));
        let naming = all.clone().filter(|(_, text)| text.contains(name));
        only(all.map(|(of, _)| of)).or_else(|| only(naming.map(|(of, _)| of)))
    }

    /// The build steps of `service` with `version` of the package `name`.
    fn build(self, service: &Service, name: &str, version: &str) -> Result<Vec<Step>, ReleaseError> {
        match self {
            Ecosystem::Cargo => cargo::build(service, name, version),
            Ecosystem::Golang => golang::build(service, name, version),
            Ecosystem::Npm => npm::build(service, name, version),
            Ecosystem::Pypi => pypi::build(service, name, version),
        }
    }
}

/// An exact release of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinnedRelease {
    ecosystem: Ecosystem,
    /// The tool's spelling: `@koa/router`, `github.com/go-chi/chi/v5`. Unlike a package URL it keeps case.
    name: String,
    version: String,
}

impl PinnedRelease {
    /// Parses `word`: `VERSION` of the service's package, `PACKAGE@VERSION`, or a package URL with version.
    ///
    /// # Errors
    /// The word has no such form, its package is unclear, or the ecosystem cannot set a release.
    pub fn of_word(service: &Service, word: &str) -> Result<PinnedRelease, ReleaseError> {
        if let Some(url) = word.strip_prefix("pkg:") {
            return PinnedRelease::of_url(url).ok_or_else(|| ReleaseError::Word(word.to_owned()))?;
        }
        let (name, version) = match word.rsplit_once('@') {
            Some((name, version)) => (Some(name.to_owned()), version),
            None => (None, word),
        };
        let is_name = |name: &String| !name.is_empty() && !name.starts_with('-');
        if !is_version(version) || !name.as_ref().is_none_or(is_name) {
            return Err(ReleaseError::Word(word.to_owned()));
        }
        let (ecosystem, name) = match (name, &service.package) {
            (None, None) => {
                return Err(ReleaseError::NoPackage { word: word.to_owned(), service: service.id.clone() });
            }
            (name, Some(own)) => (ecosystem(own.ty())?, name.unwrap_or_else(|| full_name(own))),
            (Some(name), None) => match Ecosystem::of_files(service, &name) {
                Some(ecosystem) => (ecosystem, name),
                None => return Err(ReleaseError::Unclear { folder: service.folder.clone(), package: name }),
            },
        };
        Ok(PinnedRelease { ecosystem, name, version: version.to_owned() })
    }

    /// Parses `TYPE/NAME@VERSION`, a package URL without its prefix; absent if it has another form.
    fn of_url(url: &str) -> Option<Result<PinnedRelease, ReleaseError>> {
        let (ty, rest) = url.split_once('/')?;
        let (name, version) = rest.rsplit_once('@')?;
        let name = name.replace("%40", "@");
        let of = |ecosystem| PinnedRelease { ecosystem, name: name.clone(), version: version.to_owned() };
        (!name.is_empty() && is_version(version)).then(|| ecosystem(ty).map(of))
    }
}

/// Written as `npm/koa@2.16.0`.
impl fmt::Display for PinnedRelease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ecosystem: &str = self.ecosystem.into();
        write!(f, "{ecosystem}/{}@{}", self.name, self.version)
    }
}

fn only<T>(mut all: impl Iterator<Item = T>) -> Option<T> {
    all.next().filter(|_| all.next().is_none())
}

fn ecosystem(ty: &str) -> Result<Ecosystem, ReleaseError> {
    ty.parse().map_err(|_| ReleaseError::Ecosystem(ty.to_owned()))
}

/// Whether a version is exact: a range or a tag may mean another release tomorrow.
fn is_version(text: &str) -> bool {
    let number = text.strip_prefix('v').unwrap_or(text);
    number.starts_with(|c: char| c.is_ascii_digit())
        && number.chars().all(|c| c.is_ascii_alphanumeric() || ".-+_!".contains(c))
}

/// The name of a package in its tool's spelling.
fn full_name(package: &PackageUrl<'_>) -> String {
    match package.namespace() {
        Some(namespace) => format!("{}/{}", namespace.replace("%40", "@"), package.name()),
        None => package.name().to_owned(),
    }
}

/// `service` with `release`, as a separate service; [`split`] parses its id.
///
/// # Errors
/// The service lacks something that is needed to set a release.
pub fn set(service: &Service, release: &PinnedRelease) -> Result<Service, ReleaseError> {
    let PinnedRelease { ecosystem, name, version } = release;
    let hash = blake3::hash(release.to_string().as_bytes()).to_hex();
    let title = service.title.as_ref().map(|title| format!(", {title}")).unwrap_or_default();
    Ok(Service {
        id: format!("{}{MARK}{release}", service.id),
        // The name under which records are stored.
        name: format!("{}+{}", service.name, &hash[..8]),
        title: Some(format!("release {name} {version}{title}")),
        build: ecosystem.build(service, name, version)?,
        steps_elsewhere: true,
        ..service.clone()
    })
}

/// The base id of a service, and its release if it has one.
pub fn split(id: &str) -> (&str, Option<PinnedRelease>) {
    let parts = id.rsplit_once(MARK);
    let found = parts.and_then(|(id, release)| Some((id, PinnedRelease::of_url(release)?.ok()?)));
    found.map_or((id, None), |(id, release)| (id, Some(release)))
}

/// A step that downloads packages from a registry.
fn from_registry(words: &[&str]) -> Step {
    Step { command: words.iter().map(ToString::to_string).collect(), network: true, ..Step::default() }
}

/// The file of the service in which `tool` sets a release.
fn needs(service: &Service, file: &str, tool: &'static str) -> Result<PathBuf, ReleaseError> {
    let path = service.folder.join(file);
    if path.is_file() { Ok(path) } else { Err(ReleaseError::NoFile { path, tool }) }
}

fn no_build(service: &Service, needed: &'static str) -> ReleaseError {
    ReleaseError::NoBuild { service: service.id.clone(), needed }
}

#[cfg(test)]
mod tests;
