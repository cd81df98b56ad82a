//! ab of the Apache HTTP server. Its times are whole milliseconds.

use super::{Tool, has, none};
use crate::{
    published::{AuditRow, CountedRequests, Counts, PublishedLatency, PublishedLoad, Source, Timing},
    source::text::{after, behind, number},
};

const MILLISECOND_NS: f64 = 1e6;

pub(super) const TOOL: Tool = Tool {
    source: Source::Ab,
    timing: Timing::Measured,
    counted: CountedRequests::Ended,
    printed: |lines| has(lines, "Concurrency Level:") && has(lines, "Complete requests:"),
    begins: |line| line.starts_with("Server Software:"),
    run,
    json: none,
};

fn run(lines: &[&str]) -> AuditRow {
    let first = |label: &str| {
        let word = after(lines, label).and_then(|rest| rest.split_whitespace().next());
        word.and_then(number)
    };
    let complete = first("Complete requests:");
    let kept_alive = first("Keep-Alive requests:").unwrap_or(0.0);
    let host = after(lines, "Server Hostname:").unwrap_or_default();
    let path = after(lines, "Document Path:").unwrap_or_default();
    // Minimum, mean, perhaps its deviation, median and maximum.
    let total: Vec<&str> =
        after(lines, "Total:").map(|rest| rest.split_whitespace().collect()).unwrap_or_default();
    let ms = |text: Option<&&str>| text.and_then(|text| number(text)).map(|ms| ms * MILLISECOND_NS);
    AuditRow {
        test: format!("{host}{path}"),
        load: PublishedLoad {
            slots: first("Concurrency Level:"),
            reconnects: complete.is_some_and(|complete| kept_alive < complete),
            ..PublishedLoad::default()
        },
        per_second: first("Requests per second:"),
        counts: complete.map(|complete| counts(complete, lines)),
        elapsed_s: first("Time taken for tests:"),
        latency: PublishedLatency {
            ns_min: ms(total.first()),
            ns_mean: ms(total.get(1)),
            ns_max: ms(total.last()),
            quantiles_ns: quantiles(lines),
            step_ns: MILLISECOND_NS,
        },
        ..AuditRow::default()
    }
}

/// Parses `99%   12`; the maximum is `100%   40 (longest request)`.
fn quantiles(lines: &[&str]) -> Vec<(f64, f64)> {
    let quantile = |line: &&str| {
        let (share, ms) = line.split_once('%')?;
        let share = number(share).filter(|share| *share > 0.0 && *share < 100.0)?;
        Some((share / 100.0, number(ms)? * MILLISECOND_NS))
    };
    lines.iter().filter_map(quantile).collect()
}

/// An error answer often has another length than the first one, and is then counted under both names.
fn counts(complete: f64, lines: &[&str]) -> Counts {
    let failed = after(lines, "Failed requests:").and_then(number).unwrap_or(0.0);
    let kinds = lines.iter().find(|line| line.starts_with("(Connect:")).copied().unwrap_or_default();
    let length = behind(kinds, "Length:").unwrap_or(0.0).min(failed);
    let refused = after(lines, "Non-2xx responses:").and_then(number).unwrap_or(0.0);
    let unlike = (length - refused).max(0.0);
    // Without its kinds, a failure only counts as one.
    let unanswered = failed - length;
    Counts {
        succeeded: (complete - refused - unlike - unanswered).max(0.0),
        refused,
        unlike,
        unanswered,
        broken_off: 0.0,
    }
}
