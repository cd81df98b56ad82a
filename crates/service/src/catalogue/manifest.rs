//! A service as described by its `service.toml`, version 1.0. The catalogue validates it.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use packageurl::PackageUrl;
use serde::{Deserialize, Deserializer, de::Error};
use tare_load::Protocol;

use crate::{apart::Apart, certificate::Certificates};
use tare_contract::protocol::{self, HttpVersion};

use super::{Place, RevisionOf, Running};

/// The version of the manifest format that this program reads.
pub(super) const FORMAT: &str = "1.0";

/// One server program, or a variant of it: its manifest and its location.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Service {
    pub format: String,
    /// `NAME` or `NAME:VARIANT`, unique.
    #[serde(skip)]
    pub id: String,
    /// The folder's name: variants of one service share it, and share its build.
    pub name: String,
    /// How a variant differs from the service.
    #[serde(skip)]
    pub title: Option<String>,
    /// The name of the parent folder.
    pub language: String,
    pub framework: String,
    pub url: String,
    /// The framework's package URL, if it is in a registry: `pkg:TYPE/NAMESPACE/NAME`, without version.
    #[serde(default, deserialize_with = "package")]
    pub package: Option<PackageUrl<'static>>,
    /// SPDX expression of the framework's licence.
    pub licence: String,
    pub contracts: Vec<String>,
    /// HTTP versions of the framework itself. Empty without a manifest: requests are HTTP/1.1.
    #[serde(default = "plain_http")]
    pub protocols: Vec<HttpVersion>,
    /// Whether HTTP/1.1, if it is served, is served over TLS too.
    #[serde(default)]
    pub tls: bool,
    /// Why protocols are missing.
    #[serde(default)]
    pub not_offered: Vec<NotOffered>,
    pub style: Style,
    /// Whether it is the built-in raw socket, or one with a fault, which can carry ballast.
    #[serde(skip)]
    pub is_built_in: bool,
    /// How to read the framework's version from the build.
    pub version: VersionCommand,
    #[serde(default)]
    pub requires: Vec<Requirement>,
    /// External repositories that it is built from.
    #[serde(default, rename = "source")]
    pub sources: Vec<GitSource>,
    #[serde(default)]
    pub build: Vec<Step>,
    /// Whether the build steps are defined outside its folder, so that they must be hashed separately.
    #[serde(skip)]
    pub steps_elsewhere: bool,
    /// The folder with everything it is built from: its own, or a parent, written as a path such as `../..`.
    #[serde(default)]
    pub build_root: PathBuf,
    pub run: Run,
    /// Deviations from the framework's defaults.
    #[serde(default, rename = "setting")]
    pub settings: Vec<Setting>,
    /// Checks that the framework is known to fail.
    #[serde(default, rename = "excuse")]
    pub known_failures: Vec<KnownFailure>,
    /// A mistake of a published benchmark that this service repeats on purpose. It fails its contract, and is
    /// measured only by experiments that reproduce that benchmark.
    pub mistake: Option<String>,
    /// Other rows from the same build; empty once each is a service of its own.
    #[serde(default, rename = "variant")]
    pub variants: Vec<Variant>,
    /// The folder with its manifest and its sources.
    #[serde(skip)]
    pub folder: PathBuf,
    /// Where its commands run: its own folder before a build, the build's folder after it.
    #[serde(skip)]
    pub place: Place,
    /// Whether the user typed its command, or it is built in: no file of a repository defines it.
    #[serde(skip)]
    pub typed: bool,
    /// The running server, if Tare did not start it.
    #[serde(skip)]
    pub running: Option<Running>,
    /// The protocol of the requests to it; each row has one.
    #[serde(skip)]
    pub protocol: Protocol,
    /// The revision, if it is a service at one.
    #[serde(skip)]
    pub revision: Option<RevisionOf>,
    /// The folders that it must not use, if it is at a revision.
    #[serde(skip)]
    pub apart: Option<Arc<Apart>>,
    /// The run's certificates, if requests use TLS.
    #[serde(skip)]
    pub certificates: Option<Arc<Certificates>>,
}

/// Category of a service.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, serde::Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Style {
    /// A raw server that sends one fixed response: the baseline cost.
    RawSocket,
    /// The language's own HTTP library.
    Platform,
    /// A framework with its defaults.
    #[default]
    Framework,
    /// A framework tuned beyond its defaults; the settings say how.
    FrameworkTuned,
    /// A service of the user, given by its command alone.
    Own,
    /// A server that already runs.
    Running,
}

impl Style {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VersionCommand {
    /// Prints only the version.
    #[serde(deserialize_with = "command")]
    pub command: Vec<String>,
}

/// `[[requires]]`: a program or library that must be installed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Requirement {
    /// Ends with status 0 if it is installed. The output is part of the build's content hash.
    #[serde(deserialize_with = "command")]
    pub command: Vec<String>,
    /// The packages of Debian 12 that provide it.
    #[serde(default)]
    pub debian: Vec<String>,
    /// The lowest acceptable version, compared with the first dotted number in the command's output.
    pub at_least: Option<String>,
    /// Further advice if the packages are not enough.
    pub hint: Option<String>,
}

/// `[[source]]`: a commit of a git repository, which is copied in before the first build step.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct GitSource {
    /// The repository's published URL. Users set mirrors by `url.<mirror>.insteadOf`.
    pub git: String,
    /// The commit's full name: 40 hexadecimal digits.
    pub commit: String,
    /// Full hash of the commit's tree. A fetched commit with another tree is not used.
    pub tree: String,
    /// A new folder in the service's folder. It may lie inside an earlier source's folder, like a submodule.
    pub into: PathBuf,
    /// Patch files of the service's folder, applied in `into` by `git apply`, in this order.
    #[serde(default)]
    pub patch: Vec<PathBuf>,
}

/// `[[build]]`: one step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Program and arguments; runs in the service's folder. `{port}` in a word is the port.
    #[serde(deserialize_with = "command")]
    pub command: Vec<String>,
    /// Whether it downloads packages. Such steps run one at a time, so that received bytes can be counted.
    #[serde(default)]
    pub network: bool,
    /// What it has in common with the steps of other services of its repository.
    #[serde(default)]
    pub shares: Option<StepShares>,
}

/// What the build steps of several services share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepShares {
    /// Crates of registries, which Cargo compiles once. The step must leave its target folder to Tare.
    Cargo,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Run {
    /// Program and arguments; runs in the service's folder.
    #[serde(deserialize_with = "command")]
    pub command: Vec<String>,
    /// Additional arguments under one contract, for programs that can serve only one contract at a time.
    #[serde(default)]
    pub arguments: BTreeMap<String, Vec<String>>,
    /// The only port that it can listen on: for an adopted service with the port in its source.
    #[serde(default)]
    pub port: Option<u16>,
    #[serde(deserialize_with = "tare_base::units::deserialize_duration")]
    pub ready_timeout: Duration,
    /// Variables beyond `PORT`, `THREADS`, `DELAY_MS`.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// False for a service that announces `Connection: close` and closes after each answer.
    #[serde(default = "yes")]
    pub keeps_connections: bool,
}

/// `[[setting]]`: a deviation from the framework's defaults.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    pub what: String,
    pub why: String,
    /// What it makes of each request to a database, where that is not one question and one answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
}

/// `[[excuse]]`: a check that the framework is known to fail. Its row gets a warning instead of being left
/// out.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct KnownFailure {
    pub check: ToleratedCheck,
    /// What the framework does instead.
    pub why: String,
}

/// The checks that may be known failures. They concern the use of connections and requests that no experiment
/// sends; a wrong answer is never tolerated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToleratedCheck {
    /// Pipelined requests: no experiment sends them.
    Pipelined,
    /// Many requests on one connection: the load reconnects.
    KeepAlive,
    /// `Connection: close`: no experiment sends it.
    ConnectionClose,
    /// Other forms of a request: experiments send the plain one.
    RequestForms,
    /// Paths outside the contract: no experiment requests one.
    NotFound,
    /// The end on SIGTERM: an experiment reports it and continues.
    End,
    /// HTTP/1.1 on an h2c port: no experiment sends it.
    #[serde(rename = "h2c-only")]
    H2cOnly,
    /// Many more connections than `THREADS`: experiments count unanswered requests themselves.
    Crowd,
}

/// `[[not-offered]]`: why a protocol is missing.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotOffered {
    #[serde(with = "protocol::as_word")]
    pub protocol: Protocol,
    pub why: String,
}

/// `[[variant]]`: another row from the same folder and the same build.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Variant {
    /// The row's name is `SERVICE:NAME`.
    pub name: String,
    /// How it differs, in a few words.
    pub title: String,
    /// Replaces the command of `[run]`.
    #[serde(default, deserialize_with = "other_command")]
    pub command: Option<Vec<String>>,
    /// Adds to the variables of `[run]`.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Replaces the value of `[run]`.
    pub keeps_connections: Option<bool>,
}

fn package<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PackageUrl<'static>>, D::Error> {
    package_url(deserializer).map(Some)
}

/// The crate's own serde form is a table; manifests contain the URL.
pub(crate) fn package_url<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<PackageUrl<'static>, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(|error| D::Error::custom(format!("\"{text}\" is no package URL: {error}")))
}

fn command<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let command = Vec::deserialize(deserializer)?;
    if command.is_empty() {
        Err(D::Error::custom("a command needs at least the program"))
    } else {
        Ok(command)
    }
}

fn other_command<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    command(deserializer).map(Some)
}

/// The default of a manifest without the key `protocols`.
fn plain_http() -> Vec<HttpVersion> {
    vec![HttpVersion::Http1]
}

fn yes() -> bool {
    true
}
