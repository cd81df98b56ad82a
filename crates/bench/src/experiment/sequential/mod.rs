//! The file of a sequential experiment. Does not resolve services or numbers of CPUs.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};
use tare_base::spelling::suggestion;

use serde::{Deserialize, Serialize};

use super::{FORMAT, name_of};
use crate::figures::{FigureCheck, Figures};
use tare_base::document::{self, DocumentError};
use tare_base::units::Lasting;
use tare_contract::Contract;
use tare_host::link::LinkSpec;

mod mistake;

/// The part whose table was published; Tare adds the others.
pub const PUBLISHED: &str = "published";
/// The part that only `--sweep` runs: a matrix of threads and connections.
pub const SWEEP: &str = "sweep";

/// The shape of the published table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// Requests per second, and percent of the reference.
    Percent,
    /// Seconds by messages, handling time, environment and threads, with best and worst marked.
    Makespan,
    /// The session figures of httperf.
    Sessions,
    /// Requests, failures, times and percentiles, as in locust's two files.
    Percentiles,
    /// The output of `wrk --latency`.
    Latency,
}

/// A sequential experiment, as in its file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SequentialExperiment {
    #[serde(skip)]
    pub name: String,
    #[serde(skip)]
    pub path: PathBuf,
    #[serde(skip)]
    text: String,
    #[serde(rename = "format")]
    _format: String,
    pub title: String,
    pub(crate) question: String,
    /// Stem of the file in `figures/` with the published figures.
    pub figures: String,
    pub(crate) layout: Layout,
    /// The service that is 100%, if any.
    pub reference: Option<String>,
    /// In the order of the table.
    #[serde(rename = "row")]
    pub rows: Vec<RowEntry>,
    #[serde(default)]
    pub(crate) links: BTreeMap<String, LinkSpec>,
    #[serde(rename = "part")]
    pub(crate) parts: Vec<Part>,
    #[serde(default, rename = "check")]
    pub(crate) checks: Vec<FigureCheck>,
}

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RowEntry {
    /// A word for [`tare_service::catalogue::select`].
    pub service: String,
    /// Its name in the published table, if it is there.
    pub published: Option<String>,
    /// It is measured despite a failed contract, as it was published. Its row names the failure.
    #[serde(default)]
    pub as_published: bool,
    /// Its `THREADS` at every point, if it has its own number.
    pub threads: Option<usize>,
}

/// Cells of one kind: the product of all lists.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Part {
    pub name: String,
    pub contract: String,
    /// Names of the requests that make up the load; if empty, the contract decides.
    #[serde(default)]
    pub requests: Vec<String>,
    /// Measurements of each cell.
    pub rounds: usize,
    /// Runs with `--sweep` only.
    #[serde(default)]
    pub sweep: bool,
    /// Services of the rows that take part; default: all.
    #[serde(default)]
    pub services: Vec<String>,
    /// Warm-up load, in a closed loop over the same connections.
    #[serde(default)]
    pub warm_up: Option<Lasting>,
    pub load: LoadEntry,
    #[serde(default = "one_thread")]
    pub threads: OneOrMany<Threads>,
    #[serde(default = "no_delay")]
    pub delay_ms: OneOrMany<u64>,
    /// Names of `[links]`, or `local`.
    #[serde(default = "local")]
    pub link: OneOrMany<String>,
}

/// How requests arrive; lists make several points.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub(crate) enum LoadEntry {
    Closed {
        connections: OneOrMany<usize>,
        threads: OneOrMany<usize>,
        duration: Lasting,
        think: Option<(Lasting, Lasting)>,
    },
    Open {
        per_second: OneOrMany<f64>,
        connections: usize,
        threads: usize,
        duration: Lasting,
    },
    Sessions {
        connections: u64,
        calls: u64,
    },
    Batch {
        producers: usize,
        messages: OneOrMany<u64>,
    },
}

/// `THREADS` of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Threads {
    Number(usize),
    Word(Cpus),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Cpus {
    /// The number of CPUs of this machine.
    Cpus,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum OneOrMany<T> {
    One(T),
    Several(Vec<T>),
}

impl<T> OneOrMany<T> {
    pub(crate) fn as_slice(&self) -> &[T] {
        match self {
            OneOrMany::One(one) => std::slice::from_ref(one),
            OneOrMany::Several(several) => several,
        }
    }
}

fn one_thread() -> OneOrMany<Threads> {
    OneOrMany::One(Threads::Number(1))
}

fn no_delay() -> OneOrMany<u64> {
    OneOrMany::One(0)
}

fn local() -> OneOrMany<String> {
    OneOrMany::One(LOCAL.to_owned())
}

/// The environment without a slow link.
pub const LOCAL: &str = "local";

impl SequentialExperiment {
    /// Reads the file.
    ///
    /// # Errors
    /// If it cannot be read, or has a mistake; the error names the line.
    pub fn load(path: &Path) -> Result<SequentialExperiment, DocumentError> {
        let text = document::read(path)?;
        SequentialExperiment::parse(path, &text)
    }

    /// Reads it from its text; mistakes name `path`.
    ///
    /// # Errors
    /// If it has a mistake; the error names the line.
    pub fn parse(path: &Path, text: &str) -> Result<SequentialExperiment, DocumentError> {
        let file: SequentialExperiment = document::parse(path, text, FORMAT)?;
        if let Err((place, message)) = file.find_mistake() {
            return Err(DocumentError::at(path, text, &place, message));
        }
        Ok(SequentialExperiment { name: name_of(path), path: path.to_owned(), text: text.to_owned(), ..file })
    }

    /// Whether it has parts that only `--sweep` runs.
    pub fn has_sweep(&self) -> bool {
        self.parts.iter().any(|part| part.sweep)
    }

    /// Checks that its parts name existing contracts and requests.
    ///
    /// # Errors
    /// If one of them is unknown: its line and the nearest name.
    pub fn check_contracts(&self, contracts: &BTreeMap<String, Contract>) -> Result<(), DocumentError> {
        for part in &self.parts {
            let Some(contract) = contracts.get(&part.contract) else {
                let nearest = suggestion(&part.contract, contracts.keys().map(String::as_str));
                return Err(
                    self.mistake(&part.contract, &format!("unknown contract \"{}\"{nearest}", part.contract))
                );
            };
            let names: Vec<&str> = contract.requests.iter().map(|request| request.name.as_str()).collect();
            if let Some(name) = part.requests.iter().find(|name| !names.contains(&name.as_str())) {
                let nearest = suggestion(name, names);
                return Err(
                    self.mistake(name, &format!("\"{}\" has no request \"{name}\"{nearest}", part.contract))
                );
            }
        }
        Ok(())
    }

    /// Checks that its checks name claims in `figures`.
    ///
    /// # Errors
    /// If one of them is unknown: its line and the nearest name.
    pub fn check_claims(&self, figures: &Figures) -> Result<(), DocumentError> {
        let claims = || figures.claims.iter().map(|claim| claim.id.as_str());
        match self.checks.iter().find(|check| !claims().any(|id| id == check.claim)) {
            None => Ok(()),
            Some(FigureCheck { claim, .. }) => {
                let nearest = suggestion(claim, claims());
                let message = format!("figures/{}.toml has no claim \"{claim}\"{nearest}", self.figures);
                Err(self.mistake(claim, &message))
            }
        }
    }

    /// Whether any point uses a slow link.
    pub fn has_links(&self) -> bool {
        self.parts.iter().any(|part| part.link.as_slice().iter().any(|name| name != LOCAL))
    }

    /// An error that only name lookup finds, at the line where a string begins with `value`.
    pub fn mistake(&self, value: &str, message: &str) -> DocumentError {
        DocumentError::at(&self.path, &self.text, &format!("\"{value}"), message)
    }
}
