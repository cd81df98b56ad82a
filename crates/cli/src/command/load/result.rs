//! The seam between the running of a load and what is said about it.

use tare_load::{Doubt, Limits, Load, RunReport, Settings};

/// A finished load and everything an output wants to say about it.
#[derive(Debug)]
pub struct LoadResult<'a> {
    /// The URL as the user gave it.
    pub url: &'a str,
    /// What was asked: "GET /", or "contract rest (7 requests)".
    pub what: String,
    /// What responses were compared with.
    pub check: String,
    /// What the generator was made of.
    pub settings: &'a Settings,
    /// What it was asked to do.
    pub load: &'a Load,
    /// Remarks, each one sentence: why this driver, what was not reached.
    pub notes: Vec<String>,
    /// What happened.
    pub report: &'a RunReport,
    /// Reasons not to trust it.
    pub doubts: Vec<Doubt>,
    /// What the doubts were judged by.
    pub limits: Limits,
    /// The time of day at its start, for files only.
    pub started_at: jiff::Timestamp,
    /// Answers a second, interval by interval.
    pub rates_per_s: Vec<f64>,
    /// The command line that repeats it, with its seed.
    pub command: String,
}
