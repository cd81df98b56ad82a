//! `data.json` of the-benchmarker/web-frameworks: a list of figures, each with its framework, its number of connections and a
//! label. Times are in microseconds, also where the label says `ms`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::text::{at, text_at};
use crate::published::{Latency, Load, Published, Row, Source};

const MICROSECOND_NS: f64 = 1e3;
/// What had no answer is not among the requests.
const FAILURES: &str = "http_errors";
const QUANTILES: [(&str, f64); 5] = [
    ("percentile_50", 0.5),
    ("percentile_75", 0.75),
    ("percentile_90", 0.9),
    ("percentile_99", 0.99),
    ("percentile_99.999", 0.99999),
];

/// The figures of one framework at one number of connections.
type Figures<'a> = BTreeMap<&'a str, f64>;

pub(super) fn read(_: &str, value: &Value) -> Option<Published> {
    let metrics = value.get("metrics")?.as_array()?;
    let mut groups: BTreeMap<(u64, u64), Figures> = BTreeMap::new();
    let mut unread = 0;
    for metric in metrics {
        match figure(metric) {
            Some((level, framework, label, figure)) => {
                groups.entry((level, framework)).or_default().insert(label, figure);
            }
            None => unread += 1,
        }
    }
    let named = names(value);
    let rows = groups.iter().filter_map(|((level, framework), figures)| {
        let name = named.get(framework).cloned().unwrap_or_else(|| format!("framework {framework}"));
        row(name, *level, figures)
    });
    Some(Published { source: Source::WebFrameworks, rows: rows.collect(), unread })
}

fn figure(metric: &Value) -> Option<(u64, u64, &str, f64)> {
    let level = metric.get("level")?.as_u64()?;
    Some((level, metric.get("framework_id")?.as_u64()?, text_at(metric, "label")?, at(metric, "value")?))
}

fn names(value: &Value) -> BTreeMap<u64, String> {
    let frameworks = value.get("frameworks").and_then(Value::as_array);
    let name =
        |framework: &Value| Some((framework.get("id")?.as_u64()?, text_at(framework, "label")?.to_owned()));
    frameworks.into_iter().flatten().filter_map(name).collect()
}

/// A framework that was not reached has zeros.
fn row(name: String, level: u64, figures: &Figures) -> Option<Row> {
    let of = |label: &str| figures.get(label).copied();
    let per_second = of("total_requests_per_s").filter(|rate| *rate > 0.0)?;
    let time = |label: &str| of(label).map(|us| us * MICROSECOND_NS);
    let quantiles = QUANTILES.iter().filter_map(|(label, probability)| Some((*probability, time(label)?)));
    Some(Row {
        name,
        test: format!("{level} connections"),
        load: Load { slots: Some(level as f64), ..Load::default() },
        per_second: Some(per_second),
        requests: of("total_requests"),
        failed: of(FAILURES),
        elapsed_s: of("duration_ms").map(|us| us / 1e6),
        latency: Latency {
            ns_min: time("minimum_latency"),
            ns_mean: time("average_latency"),
            ns_max: time("maximum_latency"),
            quantiles_ns: quantiles.collect(),
        },
        ..Row::default()
    })
}
