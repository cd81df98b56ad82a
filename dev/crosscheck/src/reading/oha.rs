//! The output of `oha --output-format json`: times in seconds, unrounded. oha includes requests in flight at
//! the end in its errors and its rate; here they count as neither answers nor failures.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Latency, Reading, complaints};

const AT_THE_END: &str = "aborted due to deadline";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Output {
    summary: Summary,
    #[serde(default)]
    latency_percentiles: BTreeMap<String, Option<f64>>,
    status_code_distribution: BTreeMap<String, u64>,
    #[serde(default)]
    error_distribution: BTreeMap<String, u64>,
}

/// A figure that cannot be computed is null.
#[derive(Debug, Deserialize)]
struct Summary {
    total: f64,
    average: Option<f64>,
    slowest: Option<f64>,
}

pub(super) fn read(text: &str) -> Result<Reading, &'static str> {
    let output: Output = serde_json::from_str(text).map_err(|_| "JSON of its load")?;
    let sum = |counts: &BTreeMap<String, u64>, is: &dyn Fn(&str) -> bool| {
        let counts = counts.iter().filter(|(name, _)| is(name));
        counts.fold(0_u64, |sum, (_, count)| sum.saturating_add(*count))
    };
    let is_right = |status: &str| status.starts_with('2') || status.starts_with('3');
    let answered = sum(&output.status_code_distribution, &is_right);
    let wrong = sum(&output.status_code_distribution, &|status| !is_right(status));
    let errors = sum(&output.error_distribution, &|error| error != AT_THE_END);
    let ns = |seconds: Option<f64>| Some(seconds.filter(|seconds| seconds.is_finite())? * 1e9);
    let percentile = |name| ns(output.latency_percentiles.get(name).copied().flatten());
    Ok(Reading {
        answered,
        failed: wrong.saturating_add(errors),
        complaints: complaints(&[("status", wrong), ("errors", errors)]),
        per_second: if output.summary.total > 0.0 { answered as f64 / output.summary.total } else { 0.0 },
        latency: Latency {
            mean_ns: ns(output.summary.average),
            max_ns: ns(output.summary.slowest),
            p50_ns: percentile("p50"),
            p99_ns: percentile("p99"),
            mean_step_ns: 0.0,
            percentile_step_ns: 0.0,
        },
        descriptors_lacking: 0,
    })
}

#[cfg(test)]
pub(super) const REAL: &str = include_str!("recorded/oha.json");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_output() {
        insta::assert_debug_snapshot!(read(REAL).unwrap());
    }

    #[test]
    fn one_that_was_refused() {
        let reading = read(include_str!("recorded/oha-refused.json")).unwrap();
        assert_eq!(reading.answered, 0);
        assert!(reading.failed > 0 && reading.complaints.ends_with(" errors"), "{}", reading.complaints);
    }

    #[test]
    fn wrong_statuses_are_no_answers() {
        let text = REAL.replace("\"200\":", "\"503\":");
        let (right, wrong) = (read(REAL).unwrap(), read(&text).unwrap());
        assert_eq!((wrong.answered, wrong.failed), (0, right.answered));
        assert_eq!(wrong.complaints, format!("{} status", right.answered));
    }
}
