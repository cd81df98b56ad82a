//! The rounds of stored published benchmarks: variation of the ratio of two services between rounds.

use std::path::Path;

use tare_analysis::sequential::{self, CellReport, PointReport};
use tare_bench::{folder, metric::Metric, plan::LoadSpec, sample::Sample};

/// Metrics that a single round may decide, with several rounds in stored runs.
pub const METRICS: [Metric; 8] = [
    Metric::Throughput,
    Metric::Cpu,
    Metric::Mean,
    Metric::P50,
    Metric::P99,
    Metric::Max,
    Metric::MaxOfP99,
    Metric::Rss,
];

/// A point with services measured in several rounds.
pub struct Repeated {
    point: PointReport,
}

/// The log ratio of two services in each common round, by round number.
type Ratios = Vec<(usize, f64)>;

/// Variation between rounds, and its degrees of freedom.
pub struct Spread {
    pub sd: f64,
    pub degrees: f64,
}

impl Repeated {
    /// The repeated points of a stored run.
    pub fn of(run: &str) -> Vec<Repeated> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../record").join(run);
        let stored = folder::read(&path).expect("a stored run can be read");
        let points = sequential::compute(&stored).points.into_iter();
        let is_repeated = |point: &PointReport| point.cells.iter().filter(|cell| cell.rounds > 1).count() > 1;
        points.filter(is_repeated).map(|point| Repeated { point }).collect()
    }

    pub fn load(&self) -> &LoadSpec {
        &self.point.point.load
    }

    /// Ratios of all pairs of services.
    pub fn ratios(&self, metric: Metric) -> Vec<Ratios> {
        let cells = &self.point.cells;
        let pairs = cells
            .iter()
            .enumerate()
            .flat_map(|(place, one)| cells[place + 1..].iter().map(move |other| (one, other)));
        pairs.map(|(one, other)| ratios(metric, one, other)).filter(|ratios| ratios.len() > 1).collect()
    }

    /// Degrees of freedom: (services - 1) x (rounds - 1), because pairs of one round are dependent.
    fn degrees(&self, without: Option<usize>) -> f64 {
        let rounds = |cell: &CellReport| {
            let own = cell.by_round.iter().filter(|round| Some(round.sample.round) != without);
            own.count().saturating_sub(1) as f64
        };
        let each: Vec<f64> = self.point.cells.iter().map(rounds).collect();
        each.iter().sum::<f64>() * (1.0 - 1.0 / each.len() as f64)
    }
}

fn ratios(metric: Metric, one: &CellReport, other: &CellReport) -> Ratios {
    let sound = |cell: &CellReport| -> Vec<(usize, f64)> {
        let sound = cell.by_round.iter().filter(|round| round.invalid.is_none());
        sound.filter_map(|round| Some((round.sample.round, value(metric, &round.sample)?.ln()))).collect()
    };
    let others = sound(other);
    let own = sound(one).into_iter();
    own.filter_map(|(round, log)| {
        let (_, other) = others.iter().find(|(number, _)| *number == round)?;
        Some((round, log - other))
    })
    .collect()
}

fn value(metric: Metric, sample: &Sample) -> Option<f64> {
    // The factors come from stored quantiles, even with few requests.
    let kept = |share| sample.load.latency.quantiles_ns.iter().find(move |(kept, _)| *kept == share);
    let latency = |share| kept(share).map(|(_, ns)| *ns as f64);
    match metric {
        Metric::Throughput => Some(sample.load.per_second()),
        Metric::Cpu => sample.cost()?.per_request(),
        Metric::Mean => Some(sample.load.latency.ns_mean),
        Metric::P50 => latency(0.5),
        Metric::P99 => latency(0.99),
        Metric::Max => latency(1.0),
        Metric::MaxOfP99 => Some(latency(1.0)? / latency(0.99)?),
        Metric::Rss => sample.host.process.as_ref()?.rss_bytes_peak.map(|bytes| bytes as f64),
        _ => None,
    }
    .filter(|value| *value > 0.0)
}

/// The spread of a metric over all points, optionally without one round.
pub fn spread(points: &[Repeated], metric: Metric, without: Option<usize>) -> Spread {
    let (mut squares, mut free) = (0.0, 0.0);
    for pair in points.iter().flat_map(|point| point.ratios(metric)) {
        let logs: Vec<f64> = kept(&pair, without).collect();
        let mean = mean(&logs);
        squares += logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>();
        free += logs.len().saturating_sub(1) as f64;
    }
    Spread { sd: (squares / free).sqrt(), degrees: points.iter().map(|point| point.degrees(without)).sum() }
}

fn kept(pair: &Ratios, without: Option<usize>) -> impl Iterator<Item = f64> {
    pair.iter().filter(move |(round, _)| Some(*round) != without).map(|(_, log)| *log)
}

fn mean(logs: &[f64]) -> f64 {
    logs.iter().sum::<f64>() / logs.len() as f64
}

impl Spread {
    /// The factor that contains 95% of normal log ratios, for the upper 95% limit of the spread, which is an
    /// estimate. The chi-squared quantile is Wilson and Hilferty's.
    pub fn factor(&self) -> f64 {
        let ninth = 2.0 / (9.0 * self.degrees);
        let least = self.degrees * (1.0 - ninth - 1.645 * ninth.sqrt()).powi(3);
        (1.96 * self.sd * (self.degrees / least).sqrt()).exp()
    }
}

/// The number of left-out rounds within a factor of the mean of the others, and of all rounds. The error of
/// that mean is subtracted. The factor may depend on the left-out round.
pub fn covered(points: &[Repeated], metric: Metric, factor: impl Fn(usize) -> f64) -> (usize, usize) {
    let mut all = (0, 0);
    for pair in points.iter().flat_map(|point| point.ratios(metric)) {
        for &(round, log) in &pair {
            let others: Vec<f64> = kept(&pair, Some(round)).collect();
            let off = (log - mean(&others)).abs() / (1.0 + 1.0 / others.len() as f64).sqrt();
            all = (all.0 + usize::from(off <= factor(round).ln()), all.1 + 1);
        }
    }
    all
}
