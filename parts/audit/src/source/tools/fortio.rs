//! fortio: its text, and the JSON of `-json` and `-a`. Its quantiles are interpolated between the bounds of its histogram.

use serde_json::Value;

use super::{Tool, has};
use crate::{
    published::{AuditRow, CountedRequests, Counts, PublishedLatency, PublishedLoad, Source, Timing},
    source::text::{after, at, before, behind, number, text_at, time_ns},
};

pub(super) const TOOL: Tool = Tool {
    source: Source::Fortio,
    timing: Timing::Measured,
    counted: CountedRequests::Ended,
    printed: |lines| has(lines, "Fortio ") || has(lines, "Aggregated Function Time : "),
    begins: |line| line.starts_with("Fortio ") && line.contains(" running at "),
    run,
    json,
};

fn run(lines: &[&str]) -> AuditRow {
    let begins = lines.iter().find(|line| line.contains(" qps with ")).copied().unwrap_or_default();
    let ended = after(lines, "Ended after ").unwrap_or_default();
    let done = after(lines, "All done ").unwrap_or_default();
    let function = after(lines, "Aggregated Function Time : ").unwrap_or_default();
    let s = |name: &str| behind(function, name).map(|s| s * 1e9);
    let codes = lines.iter().filter_map(|line| line.strip_prefix("Code ")?.split_once(':'));
    let codes =
        codes.filter_map(|(code, count)| Some((code.trim(), number(count.split_whitespace().next()?)?)));
    let first = lines.iter().find(|line| line.starts_with("Fortio ")).copied().unwrap_or_default();
    let per_second = ended.split("qps=").nth(1).and_then(number).or_else(|| before(done, "qps"));
    AuditRow {
        test: first.rsplit_once(": ").map_or_else(String::new, |(_, url)| url.trim().to_owned()),
        load: load(before(begins, "thread(s)"), begins.contains(" max qps ")),
        per_second,
        counts: counts(codes),
        elapsed_s: ended.split(" : ").next().and_then(time_ns).map(|ns| ns / 1e9),
        latency: PublishedLatency {
            ns_min: s("min"),
            ns_mean: s("avg"),
            ns_max: s("max"),
            quantiles_ns: quantiles(lines),
            step_ns: 0.0,
        },
        ..AuditRow::default()
    }
}

/// A thread sends one request at a time, and sleeps if the rate is limited.
fn load(threads: Option<f64>, is_at_most: bool) -> PublishedLoad {
    PublishedLoad { slots: threads, paced: !is_at_most, ..PublishedLoad::default() }
}

/// Parses `# target 99% 0.00512678` for all calls; the quantiles of errors only follow later.
fn quantiles(lines: &[&str]) -> Vec<(f64, f64)> {
    let begin = lines.iter().position(|line| line.starts_with("Aggregated Function Time"));
    let lines = &lines[begin.map_or(0, |place| place + 1)..];
    let end = lines.iter().position(|line| line.starts_with("Error cases") || line.contains(" : count "));
    let quantile = |line: &&str| {
        let (share, s) = line.strip_prefix("# target ")?.split_once('%')?;
        Some((number(share)? / 100.0, number(s)? * 1e9))
    };
    lines[..end.unwrap_or(lines.len())].iter().filter_map(quantile).collect()
}

/// A request without an answer has a code below 100, or a text.
fn counts<'a>(codes: impl Iterator<Item = (&'a str, f64)>) -> Option<Counts> {
    let mut counts = Counts::default();
    for (code, count) in codes {
        match number(code) {
            Some(code) if (100.0..400.0).contains(&code) => counts.succeeded += count,
            Some(code) if code >= 400.0 => counts.refused += count,
            None if matches!(code, "OK" | "SERVING") => counts.succeeded += count,
            _ => counts.unanswered += count,
        }
    }
    (counts.judged() > 0.0).then_some(counts)
}

fn json(value: &Value) -> Option<AuditRow> {
    let histogram = value.get("DurationHistogram")?;
    let seconds = |key: &str| at(histogram, key).map(|s| s * 1e9);
    let percentiles = histogram.get("Percentiles").and_then(Value::as_array).into_iter().flatten();
    let quantile = |found: &Value| Some((at(found, "Percentile")? / 100.0, at(found, "Value")? * 1e9));
    let codes = value.get("RetCodes").and_then(Value::as_object).into_iter().flatten();
    Some(AuditRow {
        test: text_at(value, "URL").or_else(|| text_at(value, "Destination")).unwrap_or_default().to_owned(),
        load: load(at(value, "NumThreads"), text_at(value, "RequestedQPS") == Some("max")),
        per_second: at(value, "ActualQPS"),
        counts: counts(codes.filter_map(|(code, count)| Some((code.as_str(), count.as_f64()?)))),
        elapsed_s: at(value, "ActualDuration").map(|ns| ns / 1e9),
        latency: PublishedLatency {
            ns_min: seconds("Min"),
            ns_mean: seconds("Avg"),
            ns_max: seconds("Max"),
            quantiles_ns: percentiles.filter_map(quantile).collect(),
            step_ns: 0.0,
        },
        ..AuditRow::default()
    })
}
