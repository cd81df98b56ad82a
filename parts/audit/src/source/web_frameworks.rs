//! `data.json` and `data.min.json` of the-benchmarker/web-frameworks: a list of figures, each with its
//! framework, its number of connections and a label. Until August 2025 they came from wrk, with times in
//! microseconds even if the label says `ms`. Since then they come from oha, with latencies in seconds, and -1
//! for values that oha does not state.

use std::collections::BTreeMap;

use serde_json::Value;

use super::text::{at, text_at};
use crate::published::{
    AuditRow, Counts, Mislabelled, Published, PublishedLatency, PublishedLoad, Source, Statistic, Timing,
};

const FAILURES: &str = "http_errors";
/// Errors without an answer, which are not counted as requests.
const UNANSWERED: [&str; 3] = ["socket_connection_errors", "socket_read_errors", "socket_write_errors"];
/// The labels of wrk's and oha's quantiles. The first files of oha have the labels of wrk.
const QUANTILES: [([&str; 2], f64); 5] = [
    (["percentile_50", "percentile50"], 0.5),
    (["percentile_75", "percentile75"], 0.75),
    (["percentile_90", "percentile90"], 0.9),
    (["percentile_99", "percentile99"], 0.99),
    (["percentile_99.999", "percentile99999"], 0.99999),
];
/// The collector's value for what oha does not state.
const NOT_STATED: f64 = -1.0;
/// `percentile99: data.dig(:latencyPercentiles, :p95)`: since the first data of oha (3c20cebf7, 3 September
/// 2025).
const P95_AS_P99: Mislabelled = Mislabelled {
    called: 0.99,
    is: Statistic::Quantile(0.95),
    shown_by: ".tasks/collect.rake:67 at commit 6ea7019",
};

/// The figures of one framework at one number of connections.
type Figures<'a> = BTreeMap<&'a str, f64>;

/// The tool whose output was collected, and its units.
#[derive(Clone, Copy)]
struct Collected {
    latency_ns: f64,
    elapsed_s: f64,
    /// Whether each request uses a connection of its own.
    reconnects: bool,
    not_stated: Option<f64>,
    mislabelled: Option<Mislabelled>,
    timing: Timing,
}

const OF_WRK: Collected = Collected {
    latency_ns: 1e3,
    elapsed_s: 1e-6,
    reconnects: false,
    not_stated: None,
    mislabelled: None,
    timing: Timing::Corrected,
};
const OF_OHA: Collected = Collected {
    latency_ns: 1e9,
    elapsed_s: 1e-3,
    reconnects: true,
    not_stated: Some(NOT_STATED),
    mislabelled: Some(P95_AS_P99),
    timing: Timing::Measured,
};

impl Collected {
    /// wrk counts requests, and its counts are never negative.
    fn of(figures: &Figures) -> Collected {
        if figures.get("total_requests") == Some(&NOT_STATED) { OF_OHA } else { OF_WRK }
    }

    fn states(self, figure: f64) -> bool {
        self.not_stated != Some(figure)
    }

    /// The true probability of the quantile with this name.
    fn probability(self, called: f64) -> f64 {
        match self.mislabelled {
            Some(Mislabelled { called: label, is: Statistic::Quantile(is), .. }) if label == called => is,
            _ => called,
        }
    }
}

pub(super) fn read(_: &str, value: &Value) -> Option<Published> {
    let metrics = value.get("metrics")?.as_array()?;
    let mut groups: BTreeMap<(u64, u64), Figures> = BTreeMap::new();
    let mut unread = 0;
    for metric in metrics {
        match figure(metric) {
            Some((level, framework, label, figure)) => {
                let figures = groups.entry((level, framework)).or_default();
                figure.map(|figure| figures.insert(label, figure));
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

/// Level, framework, label and figure; the last may be null, if no request was answered.
fn figure(metric: &Value) -> Option<(u64, u64, &str, Option<f64>)> {
    let level = metric.get("level")?.as_u64()?;
    let figure = at(metric, "value");
    let is_read = figure.is_some() || metric.get("value")?.is_null();
    let framework = metric.get("framework_id")?.as_u64()?;
    is_read.then_some((level, framework, text_at(metric, "label")?, figure))
}

/// The names of frameworks. Equal names in two languages include the language: they are different servers.
fn names(value: &Value) -> BTreeMap<u64, String> {
    let frameworks = value.get("frameworks").and_then(Value::as_array).into_iter().flatten();
    let label =
        |framework: &Value| Some((framework.get("id")?.as_u64()?, text_at(framework, "label")?.to_owned()));
    let labels: BTreeMap<u64, String> = frameworks.clone().filter_map(label).collect();
    let language = |framework: &Value| {
        Some((framework.get("id")?.as_u64()?, text_at(framework, "language")?.to_owned()))
    };
    let languages: BTreeMap<u64, String> = frameworks.filter_map(language).collect();
    let name = |(id, label): (&u64, &String)| {
        let is_alone = labels.values().filter(|other| *other == label).count() == 1;
        let language = languages.get(id).filter(|_| !is_alone);
        (*id, language.map_or(label.clone(), |language| format!("{label} ({language})")))
    };
    labels.iter().map(name).collect()
}

/// The row of a framework; one that was not reached has zeros.
fn row(name: String, level: u64, figures: &Figures) -> Option<AuditRow> {
    let collected = Collected::of(figures);
    let is_stated = |figure: &f64| collected.states(*figure);
    let of = |label: &str| figures.get(label).copied().filter(is_stated);
    let per_second = of("total_requests_per_s").filter(|rate| *rate > 0.0)?;
    let refused = of(FAILURES).unwrap_or(0.0);
    let time = |label: &str| of(label).map(|time| time * collected.latency_ns);
    let quantile = |(labels, called): &([&str; 2], f64)| {
        let ns = labels.iter().find_map(|label| time(label))?;
        Some((collected.probability(*called), ns))
    };
    Some(AuditRow {
        name,
        test: format!("{level} connections"),
        load: PublishedLoad {
            slots: Some(level as f64),
            reconnects: collected.reconnects,
            ..PublishedLoad::default()
        },
        per_second: Some(per_second),
        counts: of("total_requests").map(|requests| Counts {
            succeeded: (requests - refused).max(0.0),
            refused,
            unanswered: UNANSWERED.iter().filter_map(|label| of(label)).sum(),
            ..Counts::default()
        }),
        elapsed_s: of("duration_ms").map(|elapsed| elapsed * collected.elapsed_s),
        latency: PublishedLatency {
            ns_min: time("minimum_latency"),
            ns_mean: time("average_latency"),
            ns_max: time("maximum_latency"),
            quantiles_ns: QUANTILES.iter().filter_map(quantile).collect(),
            step_ns: 0.0,
        },
        timing: collected.timing,
        mislabelled: collected.mislabelled,
        ..AuditRow::default()
    })
}
