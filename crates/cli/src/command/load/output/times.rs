//! A distribution of times as programs read it; values are right to 3 digits.

use serde_json::{Value, json};
use tare_load::{Histogram, Measures, Quantile};

use super::QUANTILES;

/// A histogram, and itself encoded; `None` if nothing was timed.
pub(super) fn times_with_histogram(histogram: &Histogram) -> Option<Value> {
    let quantile = |q| Quantile { ns: histogram.quantile_ns(q), at_least: false };
    (histogram.count() > 0).then(|| times(histogram, true, quantile))
}

/// All latencies. Count, mean and deviation are of the answered requests; the quantiles count the others too.
pub(super) fn latency(measures: &Measures, with_histogram: bool) -> Option<Value> {
    let is_known = measures.latency.count() + measures.unanswered.count() > 0;
    is_known.then(|| times(&measures.latency, with_histogram, |q| measures.quantile(q)))
}

fn times(histogram: &Histogram, with_histogram: bool, quantile: impl Fn(f64) -> Quantile) -> Value {
    let some = |value: f64| (histogram.count() > 0).then_some(value.round() as u64);
    let mut times = json!({
        "count": histogram.count(),
        "ns_min": some(histogram.min_ns() as f64),
        "ns_mean": some(histogram.mean_ns()),
        "ns_stdev": some(histogram.stdev_ns()),
    });
    let mut at_least = Vec::new();
    for (name, _, q) in QUANTILES {
        let quantile = quantile(q);
        times[format!("ns_{name}")] = quantile.ns.into();
        at_least.extend(quantile.at_least.then_some(name));
    }
    // The names of the quantiles that are lower bounds.
    times["at_least"] = at_least.into();
    if with_histogram {
        times["hdr_v2_base64"] = histogram.to_base64().into();
    }
    times
}
