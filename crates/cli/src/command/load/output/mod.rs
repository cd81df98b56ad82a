//! All output of `tare load`. The module gets a result and measures nothing.
//!
//! [`text`] is for people, [`wrk`] for scripts that parse wrk, [`json`] for programs; [`recorder`] prints and
//! writes during the load.

mod histogram;
pub(crate) mod json;
mod recorder;
pub(crate) mod text;
mod wrk;

#[cfg(test)]
pub(crate) mod tests;

use serde_json::Value;
use tare_analysis::figures;

pub(crate) use recorder::{Recorded, Recorder};

use super::{LoadResult, args::LoadFormat, finding::LoadFinding};
use crate::output::{paint, print as put, print_json};

/// The printed quantiles, with their names for programs and for people.
const QUANTILES: [(&str, &str, f64); 9] = [
    ("p50", "50%", 0.5),
    ("p75", "75%", 0.75),
    ("p90", "90%", 0.9),
    ("p95", "95%", 0.95),
    ("p99", "99%", 0.99),
    ("p99_9", "99.9%", 0.999),
    ("p99_99", "99.99%", 0.9999),
    ("p99_999", "99.999%", 0.99999),
    ("max", "100%", 1.0),
];

/// What several generators add to each form of the result.
#[derive(Debug, Clone)]
pub(crate) struct FromAgents {
    /// Lines of text below the rates.
    pub lines: String,
    /// A table of text, with its head: a row for each generator.
    pub table: Vec<Vec<String>>,
    /// The same rows for programs.
    pub rows: Vec<Value>,
    pub alignment: Option<Value>,
    pub service_cpu: Option<Value>,
}

/// Prints the result; `latency` adds percentiles to the formats that do not always have them.
pub(crate) fn print(result: &LoadResult<'_>, format: LoadFormat, latency: bool) -> anyhow::Result<()> {
    match format {
        LoadFormat::Text => put(&text::text(result, latency)),
        LoadFormat::Wrk => {
            put(&wrk::wrk(result, latency))?;
            if !result.findings.is_empty() {
                tare_host::message!("{}", verdict(result));
            }
            Ok(())
        }
        LoadFormat::Json => print_json(&json::document(result)),
        LoadFormat::Ndjson => put(&(format!("{}\n", json::document(result)))),
    }
}

/// `verdict: valid`, or the names of the findings.
fn verdict(result: &LoadResult<'_>) -> String {
    let code = if result.findings.is_empty() { "32" } else { "31" };
    format!("verdict: {}", paint(code, &verdict_words(result)))
}

/// The verdict, the same in every format: `valid`, or `failing, late`.
fn verdict_words(result: &LoadResult<'_>) -> String {
    let names: Vec<&str> = result.findings.iter().map(LoadFinding::name).collect();
    if names.is_empty() { "valid".to_owned() } else { names.join(", ") }
}

/// Text without characters that move the cursor, colour or reorder: some of it comes from the server.
pub(crate) fn printable(text: &str) -> String {
    let is_hostile = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let shown = |c: char| if is_hostile(c) { c.escape_unicode().to_string() } else { c.to_string() };
    text.chars().map(shown).collect()
}
