//! The output of `locust --json`. Its times are rounded: to 1 ms below 100 ms, to two digits above.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Latency, Reading, complaints};

const STEP_NS: f64 = 1e6;

/// The data on requests of one name.
#[derive(Debug, Deserialize)]
struct Entry {
    start_time: f64,
    last_request_timestamp: Option<f64>,
    num_requests: u64,
    num_failures: u64,
    total_response_time: f64,
    max_response_time: f64,
    response_times: BTreeMap<String, u64>,
}

pub(super) fn read(text: &str) -> Result<Reading, &'static str> {
    // Other output precedes the JSON.
    let json = text.find("\n[").map_or(text, |at| &text[at..]);
    let entries: Vec<Entry> = serde_json::from_str(json).map_err(|_| "JSON of its requests")?;
    let entry = entries.first().ok_or("request in its JSON")?;
    let seconds = entry.last_request_timestamp.unwrap_or(entry.start_time) - entry.start_time;
    let answered = entry.num_requests.saturating_sub(entry.num_failures);
    let times = times(&entry.response_times);
    let mean_ms = entry.total_response_time / entry.num_requests.max(1) as f64;
    Ok(Reading {
        answered,
        failed: entry.num_failures,
        complaints: complaints(&[("failures", entry.num_failures)]),
        per_second: if seconds > 0.0 { answered as f64 / seconds } else { 0.0 },
        latency: Latency {
            mean_ns: Some(mean_ms * 1e6),
            max_ns: Some(entry.max_response_time * 1e6),
            p50_ns: quantile(&times, 0.5),
            p99_ns: quantile(&times, 0.99),
            mean_step_ns: 0.0,
            percentile_step_ns: STEP_NS,
        },
        descriptors_lacking: 0,
    })
}

/// Times in nanoseconds, sorted, with their counts.
fn times(counted: &BTreeMap<String, u64>) -> Vec<(f64, u64)> {
    let time = |(ms, count): (&String, &u64)| Some((super::number(ms)? * 1e6, *count));
    let mut times: Vec<(f64, u64)> = counted.iter().filter_map(time).collect();
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    times
}

fn quantile(times: &[(f64, u64)], share: f64) -> Option<f64> {
    let all: f64 = times.iter().map(|(_, count)| *count as f64).sum();
    let mut so_far = 0.0;
    times.iter().find_map(|(time, count)| {
        so_far += *count as f64;
        (so_far >= all * share).then_some(*time)
    })
}

#[cfg(test)]
pub(super) const REAL: &str = include_str!("recorded/locust.json");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_output() {
        insta::assert_debug_snapshot!(read(REAL).unwrap());
    }

    #[test]
    fn one_that_was_refused() {
        let reading = read(include_str!("recorded/locust-refused.json")).unwrap();
        assert_eq!((reading.answered, reading.complaints.as_str()), (0, "72 failures"));
    }
}
