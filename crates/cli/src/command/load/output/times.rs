//! A distribution of times as programs read it.

use serde::Serialize;
use tare_load::{Histogram, Measures, Quantile};

/// Name and fraction of each quantile that is printed.
pub const QUANTILES: [(&str, f64); 9] = [
    ("p50", 0.5),
    ("p75", 0.75),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p99_9", 0.999),
    ("p99_99", 0.9999),
    ("p99_999", 0.99999),
    ("max", 1.0),
];

/// A distribution of times. Values are right to 3 digits.
#[derive(Debug, Serialize)]
pub struct Times {
    count: u64,
    ns_min: Option<u64>,
    ns_mean: Option<u64>,
    ns_stdev: Option<u64>,
    ns_p50: u64,
    ns_p75: u64,
    ns_p90: u64,
    ns_p95: u64,
    ns_p99: u64,
    ns_p99_9: u64,
    ns_p99_99: u64,
    ns_p99_999: u64,
    ns_max: u64,
    /// Names of the quantiles that are lower bounds.
    at_least: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hdr_v2_base64: Option<String>,
}

impl Times {
    /// Of a histogram; `None` where nothing was timed.
    pub fn of(histogram: &Histogram) -> Option<Times> {
        let quantile = |q| Quantile { ns: histogram.quantile_ns(q), at_least: false };
        (histogram.count() > 0).then(|| Times::new(histogram, quantile))
    }

    /// Of all latencies. Count, mean and deviation are of those that were answered; the quantiles know of the others too.
    pub fn of_latency(measures: &Measures) -> Option<Times> {
        let some = measures.latency.count() + measures.unanswered.count() > 0;
        some.then(|| Times::new(&measures.latency, |q| measures.quantile(q)))
    }

    /// The same with the histogram itself.
    pub fn with(self, histogram: &Histogram) -> Times {
        Times { hdr_v2_base64: Some(histogram.to_base64()), ..self }
    }

    fn new(histogram: &Histogram, quantile: impl Fn(f64) -> Quantile) -> Times {
        let quantiles = QUANTILES.map(|(_, q)| quantile(q));
        let bounds = QUANTILES.iter().zip(&quantiles).filter(|(_, quantile)| quantile.at_least);
        let some = |value: f64| (histogram.count() > 0).then_some(value.round() as u64);
        let [ns_p50, ns_p75, ns_p90, ns_p95, ns_p99, ns_p99_9, ns_p99_99, ns_p99_999, ns_max] =
            quantiles.map(|quantile| quantile.ns);
        Times {
            count: histogram.count(),
            ns_min: some(histogram.min_ns() as f64),
            ns_mean: some(histogram.mean_ns()),
            ns_stdev: some(histogram.stdev_ns()),
            ns_p50,
            ns_p75,
            ns_p90,
            ns_p95,
            ns_p99,
            ns_p99_9,
            ns_p99_99,
            ns_p99_999,
            ns_max,
            at_least: bounds.map(|((name, _), _)| *name).collect(),
            hdr_v2_base64: None,
        }
    }
}
