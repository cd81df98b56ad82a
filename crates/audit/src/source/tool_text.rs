//! What tools print for people: wrk, wrk2, oha (and hey, whose output it has), h2load, bombardier and vegeta. A file may have the
//! output of several runs, one after the other.

use super::text::{number, rate, time_ns};
use crate::published::{Latency, Load, Published, Row, Source};

/// A tool, the line that its output begins with, and how a run of it is read.
struct Tool {
    source: Source,
    begins: fn(&str) -> bool,
    read: fn(&[&str]) -> Row,
}

const TOOLS: [Tool; 5] = [
    Tool {
        source: Source::Wrk,
        begins: |line| line.starts_with("Running ") && line.contains(" test @ "),
        read: wrk,
    },
    Tool { source: Source::Oha, begins: |line| line == "Summary:", read: oha },
    Tool { source: Source::H2load, begins: |line| line == "starting benchmark...", read: h2load },
    Tool { source: Source::Bombardier, begins: |line| line.starts_with("Bombarding "), read: bombardier },
    Tool {
        source: Source::Vegeta,
        begins: |line| line.starts_with("Requests") && line.contains("[total, rate"),
        read: vegeta,
    },
];

pub(super) fn read(name: &str, text: &str) -> Option<Published> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let tool = TOOLS.iter().find(|tool| lines.iter().any(|line| (tool.begins)(line)))?;
    let begins: Vec<usize> = (0..lines.len()).filter(|place| (tool.begins)(lines[*place])).collect();
    let ends = begins.iter().skip(1).copied().chain([lines.len()]);
    let runs: Vec<Row> =
        begins.iter().zip(ends).map(|(begin, end)| (tool.read)(&lines[*begin..end])).collect();
    let count = runs.len();
    let rows = runs.into_iter().filter(|row| row.per_second.is_some());
    let rows: Vec<Row> = rows.map(|row| Row { name: name.to_owned(), ..row }).collect();
    let is_open = lines.iter().any(|line| line.contains("HdrHistogram"));
    let source = if tool.source == Source::Wrk && is_open { Source::Wrk2 } else { tool.source };
    Some(Published { source, unread: count - rows.len(), rows })
}

/// What follows `label` on its line.
fn after<'a>(lines: &[&'a str], label: &str) -> Option<&'a str> {
    lines.iter().find_map(|line| line.strip_prefix(label)).map(str::trim)
}

/// The words of the line that begins with `label`, those of the label left out.
fn words<'a>(lines: &[&'a str], label: &str) -> Vec<&'a str> {
    after(lines, label).map(|rest| rest.split_whitespace().collect()).unwrap_or_default()
}

/// The number before a word: `12 threads and 400 connections` has 400 `connections`.
fn before(line: &str, word: &str) -> Option<f64> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let place = words.iter().position(|found| found.trim_end_matches([',', ';']) == word)?;
    number(words.get(place.checked_sub(1)?)?)
}

/// Lines such as `99%    5.80ms` and `99.00% in 0.0053 secs`.
fn quantiles(lines: &[&str]) -> Vec<(f64, f64)> {
    let quantile = |line: &&str| {
        let (share, time) = line.split_once('%')?;
        // hey prints the sign twice.
        let time = time.trim_start_matches('%').trim().trim_start_matches("in ");
        Some((number(share)? / 100.0, time_ns(time)?))
    };
    lines.iter().filter_map(quantile).collect()
}

fn wrk(lines: &[&str]) -> Row {
    // wrk2 counts latency from the instant at which a request was due, so that more than its connections may wait.
    let is_open = lines.iter().any(|line| line.contains("HdrHistogram"));
    let connections = lines.iter().find_map(|line| before(line, "connections"));
    let latency = words(lines, "Latency ");
    let of = |place: usize| latency.get(place).and_then(|text| time_ns(text));
    let total = lines.iter().find(|line| line.contains(" requests in "));
    let elapsed = total.and_then(|line| line.split(" requests in ").nth(1)?.split(',').next());
    let failed = after(lines, "Non-2xx or 3xx responses:").and_then(number);
    Row {
        test: lines[0].split(" test @ ").nth(1).unwrap_or_default().to_owned(),
        load: Load { slots: connections.filter(|_| !is_open), ..Load::default() },
        per_second: after(lines, "Requests/sec:").and_then(number),
        requests: total.and_then(|line| number(line.split_whitespace().next()?)),
        failed: Some(failed.unwrap_or(0.0)),
        elapsed_s: elapsed.and_then(time_ns).map(|ns| ns / 1e9),
        latency: Latency { ns_mean: of(0), ns_max: of(2), quantiles_ns: quantiles(lines), ns_min: None },
        ..Row::default()
    }
}

/// The number of connections is not in it.
fn oha(lines: &[&str]) -> Row {
    let time = |label: &str| after(lines, label).and_then(time_ns);
    let statuses: Vec<(char, f64)> = lines.iter().filter_map(|line| status(line)).collect();
    let sum = |which: fn(char) -> bool| {
        statuses.iter().filter(|(class, _)| which(*class)).map(|(_, count)| count).sum()
    };
    Row {
        per_second: after(lines, "Requests/sec:").and_then(number),
        requests: (!statuses.is_empty()).then(|| sum(|_| true)),
        failed: (!statuses.is_empty()).then(|| sum(|class| matches!(class, '4' | '5'))),
        elapsed_s: time("Total:").map(|ns| ns / 1e9),
        latency: Latency {
            ns_min: time("Fastest:"),
            ns_mean: time("Average:"),
            ns_max: time("Slowest:"),
            quantiles_ns: quantiles(lines),
        },
        ..Row::default()
    }
}

/// `[200] 480000 responses`: the class of the status, and the count.
fn status(line: &str) -> Option<(char, f64)> {
    let (status, rest) = line.strip_prefix('[')?.split_once(']')?;
    let count = rest.trim().strip_suffix("responses")?;
    status.parse::<u16>().ok()?;
    Some((status.chars().next()?, number(count)?))
}

/// How many streams a connection had is not in it.
fn h2load(lines: &[&str]) -> Row {
    let finished = after(lines, "finished in ").unwrap_or_default();
    let counts = after(lines, "requests: ").unwrap_or_default();
    let statuses = after(lines, "status codes: ").unwrap_or_default();
    let time = words(lines, "time for request:");
    let of = |place: usize| time.get(place).and_then(|text| time_ns(text));
    let failed = ["3xx", "4xx", "5xx"].iter().filter_map(|class| before(statuses, class)).sum::<f64>();
    Row {
        test: "h2load".to_owned(),
        per_second: before(finished, "req/s"),
        requests: before(counts, "done"),
        failed: Some(failed),
        elapsed_s: finished.split(',').next().and_then(time_ns).map(|ns| ns / 1e9),
        latency: Latency { ns_min: of(0), ns_max: of(1), ns_mean: of(2), quantiles_ns: Vec::new() },
        ..Row::default()
    }
}

fn bombardier(lines: &[&str]) -> Row {
    let latency = words(lines, "Latency ");
    let of = |place: usize| latency.get(place).and_then(|text| time_ns(text));
    let codes = lines.iter().find(|line| line.starts_with("1xx - "));
    let code = |class: &str| {
        let found = codes.and_then(|line| line.split(',').find_map(|part| part.trim().strip_prefix(class)));
        found.and_then(|count| number(count.trim().trim_start_matches("- "))).unwrap_or(0.0)
    };
    let requests: f64 = ["1xx", "2xx", "3xx", "4xx", "5xx"].into_iter().map(code).sum();
    let connections =
        lines[0].split(" using ").nth(1).and_then(|rest| number(rest.split_whitespace().next()?));
    let target = lines[0].strip_prefix("Bombarding ").and_then(|rest| rest.split_whitespace().next());
    Row {
        test: target.unwrap_or_default().to_owned(),
        load: Load { slots: connections, ..Load::default() },
        per_second: words(lines, "Reqs/sec").first().and_then(|text| rate(text)),
        requests: codes.map(|_| requests),
        failed: codes.map(|_| code("4xx") + code("5xx")),
        latency: Latency { ns_mean: of(0), ns_max: of(2), quantiles_ns: quantiles(lines), ns_min: None },
        ..Row::default()
    }
}

fn vegeta(lines: &[&str]) -> Row {
    let listed = |label: &str| -> Vec<&str> {
        let line = lines.iter().find(|line| line.starts_with(label));
        let values = line.and_then(|line| line.split(']').nth(1));
        values.map(|values| values.split(',').map(str::trim).collect()).unwrap_or_default()
    };
    let (counts, times, latencies) = (listed("Requests"), listed("Duration"), listed("Latencies"));
    let names = lines.iter().find_map(|line| line.strip_prefix("Latencies")?.split(['[', ']']).nth(1));
    let named: Vec<(&str, f64)> = names
        .into_iter()
        .flat_map(|names| names.split(',').map(str::trim))
        .zip(latencies)
        .filter_map(|(name, text)| Some((name, time_ns(text)?)))
        .collect();
    let of = |name: &str| named.iter().find(|(found, _)| *found == name).map(|(_, ns)| *ns);
    let requests = counts.first().and_then(|text| number(text));
    let success = listed("Success").first().and_then(|text| number(text)).map(|percent| percent / 100.0);
    Row {
        test: "vegeta".to_owned(),
        per_second: counts.get(2).or(counts.get(1)).and_then(|text| number(text)),
        requests,
        failed: requests.zip(success).map(|(requests, success)| requests * (1.0 - success)),
        elapsed_s: times.first().and_then(|text| time_ns(text)).map(|ns| ns / 1e9),
        latency: Latency {
            ns_min: of("min"),
            ns_mean: of("mean"),
            ns_max: of("max"),
            quantiles_ns: named.iter().filter_map(|(name, ns)| Some((number(name)? / 100.0, *ns))).collect(),
        },
        ..Row::default()
    }
}
