//! The file of a sequential experiment. Resolves no service and no number of CPUs.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};
use tare_host::spelling::suggestion;

use serde::{Deserialize, Serialize};

use super::{FORMAT, name_of};
use crate::figures::{Check, Figures};
use tare_host::link::LinkSpec;
use tare_load::units::Lasting;
use tare_service::{
    contract::Contract,
    document::{self, DocumentError},
};

mod mistake;

/// The part whose table was published; others are ours.
pub const PUBLISHED: &str = "published";
/// The part that is only done where `--sweep` asks for it: a matrix of threads and connections.
pub const SWEEP: &str = "sweep";

/// The shape of the published table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// Requests a second, and percent of the reference.
    Percent,
    /// Seconds for each number of messages, handling time, environment and number of threads; the best and the worst are marked.
    Makespan,
    /// What httperf prints of its sessions.
    Sessions,
    /// Requests, failures, times and their percentiles, as locust's two files have them.
    Percentiles,
    /// What `wrk --latency` prints.
    Latency,
}

/// A sequential experiment, as the file says it.
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
    /// The stem of the file in `figures/` that holds what was published.
    pub figures: String,
    pub(crate) layout: Layout,
    /// The service that is 100%, if there is one.
    pub reference: Option<String>,
    /// In the order of the table.
    #[serde(rename = "row")]
    pub rows: Vec<RowEntry>,
    #[serde(default)]
    pub(crate) links: BTreeMap<String, LinkSpec>,
    #[serde(rename = "part")]
    pub(crate) parts: Vec<Part>,
    #[serde(default, rename = "check")]
    pub(crate) checks: Vec<Check>,
}

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RowEntry {
    /// A word for [`tare_service::catalogue::select`].
    pub service: String,
    /// What the published table calls it, where it has it.
    pub published: Option<String>,
    /// It is measured even where it fails its contract, because it was published so: its row says what is wrong with it.
    #[serde(default)]
    pub as_published: bool,
    /// Its `THREADS` at every point, if that differs from the others'.
    pub threads: Option<usize>,
}

/// Cells of one kind: the product of all that is a list.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Part {
    pub name: String,
    pub contract: String,
    /// The requests of it that are the load; without names, those that the contract says.
    #[serde(default)]
    pub requests: Vec<String>,
    /// How often each cell is measured.
    pub rounds: usize,
    /// Only where it is asked for, by `--sweep`.
    #[serde(default)]
    pub sweep: bool,
    /// Services of the rows that take part; without names, all.
    #[serde(default)]
    pub services: Vec<String>,
    /// Load before the measured one, in a closed loop over the same connections.
    #[serde(default)]
    pub warm_up: Option<Lasting>,
    pub load: LoadEntry,
    #[serde(default = "one_thread")]
    pub threads: Many<Threads>,
    #[serde(default = "no_delay")]
    pub delay_ms: Many<u64>,
    /// Names of `[links]`, or `local`.
    #[serde(default = "local")]
    pub link: Many<String>,
}

/// How requests arrive, with lists where there are several points.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub(crate) enum LoadEntry {
    Closed {
        connections: Many<usize>,
        threads: Many<usize>,
        duration: Lasting,
        think: Option<(Lasting, Lasting)>,
    },
    Open {
        per_second: Many<f64>,
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
        messages: Many<u64>,
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
    /// As many as this machine has CPUs.
    Cpus,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum Many<T> {
    One(T),
    Several(Vec<T>),
}

impl<T> Many<T> {
    pub(crate) fn as_slice(&self) -> &[T] {
        match self {
            Many::One(one) => std::slice::from_ref(one),
            Many::Several(several) => several,
        }
    }
}

fn one_thread() -> Many<Threads> {
    Many::One(Threads::Number(1))
}

fn no_delay() -> Many<u64> {
    Many::One(0)
}

fn local() -> Many<String> {
    Many::One(LOCAL.to_owned())
}

/// The environment without a slow link.
pub const LOCAL: &str = "local";

impl SequentialExperiment {
    /// Reads the file.
    ///
    /// # Errors
    /// If it cannot be read, or has a mistake, whose line is named.
    pub fn load(path: &Path) -> Result<SequentialExperiment, DocumentError> {
        let text = document::read(path)?;
        SequentialExperiment::parse(path, &text)
    }

    /// Reads it from its text; mistakes name `path`.
    ///
    /// # Errors
    /// If it has a mistake, whose line is named.
    pub fn parse(path: &Path, text: &str) -> Result<SequentialExperiment, DocumentError> {
        let file: SequentialExperiment = document::parse(path, text, FORMAT)?;
        if let Err((place, message)) = file.find_mistake() {
            return Err(DocumentError::at(path, text, &place, message));
        }
        Ok(SequentialExperiment { name: name_of(path), path: path.to_owned(), text: text.to_owned(), ..file })
    }

    /// Whether it has parts that are only done where they are asked for by `--sweep`.
    pub fn has_sweep(&self) -> bool {
        self.parts.iter().any(|part| part.sweep)
    }

    /// Proves that its parts name contracts and requests that there are.
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

    /// Proves that its checks ask for claims that `figures` has.
    ///
    /// # Errors
    /// If one of them is unknown: its line and the nearest name.
    pub fn check_claims(&self, figures: &Figures) -> Result<(), DocumentError> {
        let claims = || figures.claims.iter().map(|claim| claim.id.as_str());
        match self.checks.iter().find(|check| !claims().any(|id| id == check.claim)) {
            None => Ok(()),
            Some(Check { claim, .. }) => {
                let nearest = suggestion(claim, claims());
                let message = format!("figures/{}.toml has no claim \"{claim}\"{nearest}", self.figures);
                Err(self.mistake(claim, &message))
            }
        }
    }

    /// Whether any of its points is over a slow link.
    pub fn has_links(&self) -> bool {
        self.parts.iter().any(|part| part.link.as_slice().iter().any(|name| name != LOCAL))
    }

    /// A mistake that only shows when names are looked up, at the line where a string begins with `value`.
    pub fn mistake(&self, value: &str, message: &str) -> DocumentError {
        DocumentError::at(&self.path, &self.text, &format!("\"{value}"), message)
    }
}
