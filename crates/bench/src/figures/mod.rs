//! `figures/NAME.toml`: figures and claims of a published benchmark, and the checks of each claim.

mod check;

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};

use tare_base::document::{self, DocumentError};

pub use check::{FigureCheck, Quantifier, Where};

/// The version of the format that this program reads.
pub const FORMAT: &str = "1.0";

/// A published benchmark. Fields are empty if the benchmark lacks them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Figures {
    pub format: String,
    pub title: String,
    pub question: String,
    pub load: String,
    pub machine: String,
    pub note: Option<String>,
    pub unit: String,
    pub request: Option<String>,
    pub response: Option<String>,
    pub reference: Option<String>,
    #[serde(default)]
    pub versions: BTreeMap<String, String>,
    /// Services that it names without figures.
    #[serde(default)]
    pub unmeasured: Vec<String>,
    /// The order of the values of [`PublishedRow::at`].
    #[serde(default)]
    pub percentiles: Vec<f64>,
    /// The order of the values of [`ProducerLine::seconds`].
    #[serde(default)]
    pub services: Vec<String>,
    /// Its claims about the figures, point by point.
    #[serde(default, rename = "claim")]
    pub claims: Vec<Claim>,
    #[serde(default, rename = "row")]
    pub rows: Vec<PublishedRow>,
    /// A line of a table whose columns are services.
    #[serde(default, rename = "cell")]
    pub cells: Vec<ProducerLine>,
    /// Its statements about services beside figures.
    #[serde(default, rename = "aspect")]
    pub aspects: Vec<Aspect>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Identifies the claim in checks.
    pub id: String,
    pub text: String,
}

/// A line of a table of services: times in milliseconds, counts over the whole run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedRow {
    pub service: String,
    pub version: Option<String>,
    pub value: Option<f64>,
    pub percent: Option<f64>,
    pub requests: Option<u64>,
    pub failures: Option<u64>,
    pub avg: Option<f64>,
    pub min: Option<f64>,
    pub max: Option<f64>,
    pub median: Option<f64>,
    pub rps: Option<f64>,
    /// Milliseconds at each percentile.
    #[serde(default)]
    pub at: Vec<f64>,
    pub latency_ms: Option<WrkLatency>,
    pub connections: Option<u64>,
    pub replies: Option<u64>,
    pub connections_reset: Option<u64>,
    pub replies_per_connection: Option<f64>,
    pub test_seconds: Option<f64>,
    pub connection_time_ms: Option<ConnectionTime>,
    pub note: Option<String>,
}

/// The output of `wrk --latency`, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrkLatency {
    pub avg: f64,
    pub stdev: f64,
    pub max: f64,
    /// The share of values within one standard deviation of the mean.
    pub within_one_stdev_percent: f64,
    pub p50: f64,
    pub p75: f64,
    pub p90: f64,
    pub p99: f64,
}

/// httperf's connection times, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConnectionTime {
    pub min: f64,
    pub avg: f64,
    pub max: f64,
    pub median: f64,
    pub stddev: f64,
}

/// A line of a table whose columns are services.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProducerLine {
    /// Messages of each producer.
    pub n: u64,
    pub t_ms: u64,
    /// `local` or the name of a link.
    pub environment: String,
    pub threads: usize,
    /// In the order of [`Figures::services`].
    pub seconds: Vec<Seconds>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Seconds {
    Took(f64),
    /// `x`: the service never finished.
    Never(String),
}

/// Statements about a service beside figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Aspect {
    pub service: String,
    pub licence: String,
    /// An opinion, out of 5.
    pub ease_of_including: u8,
    /// An opinion, out of 5.
    pub ease_of_using: u8,
}

impl Figures {
    /// Reads the file.
    ///
    /// # Errors
    /// If it cannot be read, or has a mistake; the error names the line.
    pub fn load(path: &Path) -> Result<Figures, DocumentError> {
        document::parse(path, &document::read(path)?, FORMAT)
    }
    pub fn row(&self, service: &str) -> Option<&PublishedRow> {
        self.rows.iter().find(|row| row.service == service)
    }
    /// The makespan of a service in the line that `is_line` selects; absent if it has none.
    pub fn seconds(&self, service: &str, is_line: impl Fn(&ProducerLine) -> bool) -> Option<&Seconds> {
        let place = self.services.iter().position(|name| name == service)?;
        self.cells.iter().find(|cell| is_line(cell))?.seconds.get(place)
    }
}
