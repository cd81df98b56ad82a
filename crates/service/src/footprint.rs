//! Properties of a service besides speed: licence, dependencies, amount of code, size to ship, build cost
//! and, if measured, start-up time and idle memory. An unknown figure is `None`.
//!
//! Here is what a run stores. The part `import` reads it of a service.

use std::collections::BTreeMap;

use jiff::{Timestamp, civil::Date};
use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    build::{BuildCost, Laid},
    catalogue::package_url,
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
    pub build: Option<BuildCost>,
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
    #[must_use]
    pub fn and(self, more: usize) -> Dependencies {
        let [direct, total] = [self.direct, self.total].map(|count| count.map(|count| count + more));
        Dependencies { direct, total }
    }
}

/// Lines that are neither blank nor comments, in files that git tracks or would track. Documentation is
/// comment, but a one-line documentation string counts as code.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Code {
    pub lines: usize,
    pub languages: BTreeMap<String, usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Licence {
    pub spdx: String,
    pub source: FootprintSource,
    /// The licence as the package states it.
    pub stated: Option<String>,
    /// How package and manifest disagree.
    pub contradiction: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FootprintSource {
    /// `license` of the crate.
    Cargo,
    /// `license` of `package.json`.
    Npm,
    /// The metadata of the distribution.
    Pypi,
    /// `licenses` of the POM, or of its parents.
    Maven,
    /// `License` of all files in Debian's copyright file.
    Debian,
    /// The licence file of the source that the manifest names.
    Git,
    /// The manifest of the service: the package has no machine-readable licence.
    Manifest,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all(deserialize = "kebab-case"))]
pub struct Release {
    /// A package URL without a version, as in the manifest.
    #[serde(deserialize_with = "package")]
    pub package: String,
    /// The version that the service used at that time.
    pub used: String,
    /// The newest version at that time.
    pub newest: String,
    /// Its release date, if the registry reports it. The key has a hyphen here, an underscore in run folders.
    #[serde(alias = "newest_date")]
    pub newest_date: Option<Date>,
    /// When the registry was queried.
    pub asked: Date,
}

/// Figures that require a start of the service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    pub at: Timestamp,
    /// Number of starts; the figures are their medians.
    pub starts: usize,
    /// Time from exec to the first right answer.
    pub start_up_ns: u64,
    /// Resident memory of all its processes, one second after that answer.
    pub rss_bytes: u64,
}

/// Normalises a package URL, so that it can be compared as text.
fn package<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    package_url(deserializer).map(|package| package.to_string())
}
