//! Parses the output of tools. Each parser is a pure function of foreign text, which may contain anything.

mod h2load;
mod httperf;
mod locust;
mod oha;
mod wrk;

use tare_load::Protocol;

use super::Tool;

/// A tool's report of one load.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reading {
    /// Answers that it considers correct.
    pub answered: u64,
    /// Requests, or connections, without a correct answer.
    pub failed: u64,
    /// The failures, in the tool's words; empty if there were none.
    pub complaints: String,
    /// Correct answers per second of the tool's own time.
    pub per_second: f64,
    pub latency: Latency,
    /// Connections for which httperf had no file descriptor.
    pub descriptors_lacking: u64,
}

/// Printed latencies, in nanoseconds; each tool omits some.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct Latency {
    pub mean_ns: Option<f64>,
    pub p50_ns: Option<f64>,
    /// The 99th percentile.
    pub p99_ns: Option<f64>,
    pub max_ns: Option<f64>,
    pub mean_step_ns: f64,
    pub percentile_step_ns: f64,
}

/// Why an output is unusable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error("{tool} printed no {what}; it said: {said:?}")]
    Lacks { tool: Tool, what: &'static str, said: String },
    #[error("{tool} got no right answer: {complaints}")]
    Nothing { tool: Tool, complaints: String },
    #[error("{tool} spoke {spoken}, and not {wanted}")]
    Other { tool: Tool, wanted: Protocol, spoken: String },
}

/// The same as [`read`] for a load over `protocol`: h2load uses the server's choice, and names it.
///
/// # Errors
/// The errors of [`read`], or the tool used another protocol.
pub fn read_in(tool: Tool, protocol: Protocol, text: &str) -> Result<Reading, ReadError> {
    let wanted = if protocol.is_http2() { protocol } else { Protocol::Http1 };
    match behind(text, "Application protocol: ").filter(|spoken| *spoken != wanted.name()) {
        Some(spoken) => Err(ReadError::Other { tool, wanted: protocol, spoken: spoken.to_owned() }),
        None => read(tool, text),
    }
}

/// Parses the stdout of `tool`.
///
/// # Errors
/// The text lacks a figure that every output of the tool has, or has no correct answer.
pub fn read(tool: Tool, text: &str) -> Result<Reading, ReadError> {
    let read = match tool {
        Tool::Wrk => wrk::read(text),
        Tool::H2load => h2load::read(text),
        Tool::Oha => oha::read(text),
        Tool::Httperf => httperf::read(text),
        Tool::Locust => locust::read(text),
    };
    match read {
        Err(what) => Err(ReadError::Lacks { tool, what, said: end(text) }),
        Ok(reading) if reading.answered == 0 || !is_rate(reading.per_second) => {
            Err(ReadError::Nothing { tool, complaints: reading.complaints })
        }
        Ok(reading) => Ok(reading),
    }
}

/// Whether the value is a valid divisor.
fn is_rate(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

/// The last line, shortened.
fn end(text: &str) -> String {
    let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    line.trim().chars().take(120).collect()
}

/// The text after `label` on the first line that begins with it, ignoring indentation.
fn behind<'t>(text: &'t str, label: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.trim_start().strip_prefix(label))
}

/// The number directly before `word`.
fn before(text: &str, word: &str) -> Option<f64> {
    let (left, _) = text.split_once(word)?;
    number(left.rsplit([' ', ',', '(', '=']).next()?)
}

/// The number directly after `word`.
fn after(text: &str, word: &str) -> Option<f64> {
    let (_, right) = text.split_once(word)?;
    number(right.split_whitespace().next()?)
}

/// A number that is finite and not negative.
fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0)
}

/// A time such as `19us`, `3.34ms`, `1.17s`, `2.00m`, in nanoseconds.
fn time(text: &str) -> Option<f64> {
    let text = text.trim();
    let unit = text.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let factor = match unit {
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" => 60e9,
        "h" => 3600e9,
        _ => return None,
    };
    number(&text[..text.len() - unit.len()]).map(|value| value * factor)
}

/// The failure classes that occurred, as `3 read, 1 timeout`.
fn complaints(classes: &[(&str, u64)]) -> String {
    let some = classes.iter().filter(|(_, count)| *count > 0);
    some.map(|(class, count)| format!("{count} {class}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
