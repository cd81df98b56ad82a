//! A service as its `service.toml` describes it, version 1.0. What is right or wrong with one is the catalogue's.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use packageurl::PackageUrl;
use serde::{Deserialize, Deserializer, de::Error};
use tare_load::Protocol;

use crate::{
    apart::Apart,
    certificate::Certificates,
    protocol::{self, HttpVersion},
};

use super::{Place, RevisionOf, Running};

/// The version of the manifest format that this program reads.
pub(super) const FORMAT: &str = "1.0";

/// One server program, or one variant of it: what its manifest says, and where it lies.
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
    /// Equals the parent folder's name.
    pub language: String,
    pub framework: String,
    pub url: String,
    /// The framework as its registry knows it, where it is a package of one: `pkg:TYPE/NAMESPACE/NAME`, no version.
    #[serde(default, deserialize_with = "package")]
    pub package: Option<PackageUrl<'static>>,
    /// SPDX expression of the framework's licence.
    pub licence: String,
    pub contracts: Vec<String>,
    /// What the framework serves itself. None for a service without a manifest: it is asked in HTTP/1.1.
    #[serde(default = "plain_http")]
    pub protocols: Vec<HttpVersion>,
    /// Whether it serves HTTP/1.1 over TLS too, if it serves HTTP/1.1.
    #[serde(default)]
    pub tls: bool,
    /// Why protocols are missing.
    #[serde(default)]
    pub not_offered: Vec<NotOffered>,
    pub style: Style,
    /// Whether it is the built-in raw socket, or one with a fault, which can carry ballast.
    #[serde(skip)]
    pub is_built_in: bool,
    /// How to read the framework's version out of the build.
    pub version: Version,
    #[serde(default)]
    pub requires: Vec<Requirement>,
    /// Repositories of others that it is built from.
    #[serde(default, rename = "source")]
    pub sources: Vec<GitSource>,
    #[serde(default)]
    pub build: Vec<Step>,
    /// Whether these steps stand elsewhere than in its folder: then no file of it changes with them, and they count by themselves.
    #[serde(skip)]
    pub steps_elsewhere: bool,
    /// The folder that holds all it is built from: its own, or one above it, which the file has as a path such as `../..`.
    #[serde(default)]
    pub build_root: PathBuf,
    pub run: Run,
    /// What is not the framework's default.
    #[serde(default, rename = "setting")]
    pub settings: Vec<Setting>,
    /// Checks that the framework is known to fail.
    #[serde(default, rename = "excuse")]
    pub known_failures: Vec<KnownFailure>,
    /// What a published benchmark did wrong and this service repeats on purpose: it fails its contract, and is measured only
    /// where an experiment asks for it as it was published.
    pub mistake: Option<String>,
    /// Other rows from the same build; none once each is a service of its own.
    #[serde(default, rename = "variant")]
    pub variants: Vec<Variant>,
    /// The folder that holds its manifest and its sources.
    #[serde(skip)]
    pub folder: PathBuf,
    /// Where its commands run: its folder, until it was built.
    #[serde(skip)]
    pub place: Place,
    /// What runs was typed by the user, or is built in: no file of a repository says it.
    #[serde(skip)]
    pub typed: bool,
    /// The server that it is, if Tare does not start it.
    #[serde(skip)]
    pub running: Option<Running>,
    /// In which it is asked: a row of it has one.
    #[serde(skip)]
    pub protocol: Protocol,
    /// Which revision it is, if it is one.
    #[serde(skip)]
    pub revision: Option<RevisionOf>,
    /// What it keeps out of, if it is of a revision.
    #[serde(skip)]
    pub apart: Option<Arc<Apart>>,
    /// Of the run, if it is asked over TLS.
    #[serde(skip)]
    pub certificates: Option<Arc<Certificates>>,
}

/// What kind of weight a service is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, serde::Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Style {
    /// A raw server that sends one fixed response: the empty container.
    RawSocket,
    /// The language's own HTTP library.
    Platform,
    /// A framework with its defaults.
    #[default]
    Framework,
    /// A framework tuned beyond its defaults; the settings say how.
    FrameworkTuned,
    /// A service of the user that is known by its command alone.
    Own,
    /// A server that ran already.
    Running,
}

impl Style {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Version {
    /// Prints the version and nothing else.
    #[serde(deserialize_with = "command")]
    pub command: Vec<String>,
}

/// `[[requires]]`: something that must be on the machine.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Requirement {
    /// Ends with status 0 where the thing is present; its output is part of the build's content hash.
    #[serde(deserialize_with = "command")]
    pub command: Vec<String>,
    /// The packages of Debian 12 that bring it.
    #[serde(default)]
    pub debian: Vec<String>,
    /// The lowest version that will do: the first dotted number in the command's output is compared.
    pub at_least: Option<String>,
    /// What else to know, where the packages are not enough.
    pub hint: Option<String>,
}

/// `[[source]]`: a commit of a git repository, which lies in the service's copy before the first step of its build.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct GitSource {
    /// The URL of the repository, as its authors publish it. A mirror is the user's matter: `url.<mirror>.insteadOf`.
    pub git: String,
    /// The commit's full name: 40 hexadecimal digits.
    pub commit: String,
    /// The full name of its tree: what was fetched is used if it has this hash, and not otherwise.
    pub tree: String,
    /// A folder in the service's folder, where there is none. It may lie in that of an earlier source, as a submodule's does.
    pub into: PathBuf,
    /// Files of the service's folder, which `git apply` applies in `into`, in this order.
    #[serde(default)]
    pub patch: Vec<PathBuf>,
}

/// `[[build]]`: one step.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Program and arguments; runs in the service's folder. `{port}` in a word is the port.
    #[serde(deserialize_with = "command")]
    pub command: Vec<String>,
    /// It brings packages from a registry. Such steps run one at a time, so that what comes over the network is theirs.
    #[serde(default)]
    pub network: bool,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Run {
    /// Program and arguments; runs in the service's folder.
    #[serde(deserialize_with = "command")]
    pub command: Vec<String>,
    /// What follows the command under one contract: for contracts of which a program can serve but one at a time.
    #[serde(default)]
    pub arguments: BTreeMap<String, Vec<String>>,
    /// The only port that it listens on, if it does not take another: an adopted service whose source says it.
    #[serde(default)]
    pub port: Option<u16>,
    #[serde(deserialize_with = "tare_load::units::deserialize_duration")]
    pub ready_timeout: Duration,
    /// Variables beyond `PORT`, `THREADS`, `DELAY_MS`.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// False for a service that announces and closes each connection after one answer.
    #[serde(default = "yes")]
    pub keeps_connections: bool,
}

/// `[[setting]]`: something that is not the framework's default.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    pub what: String,
    pub why: String,
}

/// `[[excuse]]`: a check that the framework is known to fail. Its row is measured and gets a warning, instead of being left
/// out.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct KnownFailure {
    pub check: ToleratedCheck,
    /// What the framework does instead.
    pub why: String,
}

/// The checks of which a known failure is tolerated. They concern the use of connections and what no experiment asks for; a
/// wrong answer is never tolerated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToleratedCheck {
    /// Pipelined requests: no experiment sends them.
    Pipelined,
    /// Many requests on one connection: the load opens another.
    KeepAlive,
    /// `Connection: close`: no experiment sends it.
    ConnectionClose,
    /// Other forms of a request: every experiment sends the plain one.
    RequestForms,
    /// Paths that the contract does not know: no experiment asks for one.
    NotFound,
    /// The end on SIGTERM: an experiment reports it, and goes on.
    End,
    /// HTTP/1.1 on a port of HTTP/2 without TLS: no experiment asks for it.
    #[serde(rename = "h2c-only")]
    H2cOnly,
    /// Many more connections than `THREADS`: an experiment counts by itself what it leaves unanswered.
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
    /// Its row is called `SERVICE:NAME`.
    pub name: String,
    /// How it differs, in a few words.
    pub title: String,
    /// Replaces the command of `[run]`.
    #[serde(default, deserialize_with = "other_command")]
    pub command: Option<Vec<String>>,
    /// Adds to the variables of `[run]`.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Replaces that of `[run]`.
    pub keeps_connections: Option<bool>,
}

fn package<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PackageUrl<'static>>, D::Error> {
    package_url(deserializer).map(Some)
}

/// The crate's own serde form is a table; a person writes the URL.
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

/// What a manifest without the key `protocols` means.
fn plain_http() -> Vec<HttpVersion> {
    vec![HttpVersion::Http1]
}

fn yes() -> bool {
    true
}
