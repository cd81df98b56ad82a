//! The text output of tools, and their JSON, with a module for each. A file may contain several runs of one
//! tool in sequence.

mod ab;
mod autocannon;
mod bombardier;
mod fortio;
mod h2load;
mod hey;
mod k6;
mod vegeta;
mod wrk;

use serde_json::Value;

use super::text::shown;
use crate::published::{AuditRow, CountedRequests, Published, Source, Timing};

/// A tool, and the parsers for its runs.
struct Tool {
    source: Source,
    /// How its latencies and its rate are computed.
    timing: Timing,
    /// The requests that its rate counts.
    counted: CountedRequests,
    /// Whether these lines are its output.
    printed: fn(&[&str]) -> bool,
    /// Whether a line is the first of a run.
    begins: fn(&str) -> bool,
    /// Parses the text of a run.
    run: fn(&[&str]) -> AuditRow,
    /// Parses its JSON, if it has any.
    json: fn(&Value) -> Option<AuditRow>,
}

/// If the outputs of two tools begin alike, the one with more specific marks comes first.
const TOOLS: [Tool; 11] = [
    autocannon::TOOL,
    wrk::WRK2,
    wrk::WRK,
    hey::OHA,
    hey::HEY,
    h2load::TOOL,
    ab::TOOL,
    bombardier::TOOL,
    vegeta::TOOL,
    fortio::TOOL,
    k6::TOOL,
];

impl Tool {
    fn row(&self, name: &str, row: AuditRow) -> AuditRow {
        let per_second = row.per_second.filter(|rate| rate.is_finite());
        AuditRow { name: name.to_owned(), timing: self.timing, counted: self.counted, per_second, ..row }
    }
}

pub(super) fn json(name: &str, value: &Value) -> Option<Published> {
    TOOLS.iter().find_map(|tool| {
        let rows = vec![tool.row(name, (tool.json)(value)?)];
        Some(Published { source: tool.source, rows, unread: 0 })
    })
}

/// For tools without JSON.
fn none(_: &Value) -> Option<AuditRow> {
    None
}

pub(super) fn text(name: &str, text: &str) -> Option<Published> {
    let text = shown(text);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let begins = (1..lines.len()).filter(|place| TOOLS.iter().any(|tool| (tool.begins)(lines[*place])));
    let bounds: Vec<usize> = [0].into_iter().chain(begins).chain([lines.len()]).collect();
    let runs = bounds.windows(2).map(|bounds| &lines[bounds[0]..bounds[1]]);
    let runs: Vec<(&Tool, &[&str])> =
        runs.filter_map(|run| Some((TOOLS.iter().find(|tool| (tool.printed)(run))?, run))).collect();
    let source = runs.first()?.0.source;
    // Figures of different tools are not comparable.
    let of_source = runs.iter().filter(|(tool, _)| tool.source == source);
    let rows = of_source.map(|(tool, run)| tool.row(name, (tool.run)(run)));
    let rows: Vec<AuditRow> = rows.filter(|row| row.per_second.is_some() || row.counts.is_some()).collect();
    Some(Published { source, unread: runs.len() - rows.len(), rows })
}

/// Whether any line begins with `start`.
fn has(lines: &[&str], start: &str) -> bool {
    lines.iter().any(|line| line.starts_with(start))
}

#[cfg(test)]
mod tests;
