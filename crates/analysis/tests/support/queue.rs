//! Searches in queues with a known capacity under an SLO, and the result of each start.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tare_bench::{
    experiment::Rate,
    record::{Block, Record},
    sample::{LoadResult, Sample},
    schedule::{StopRule, searches::Searches},
    slo::{FoundRate, Slo, SloPlan},
};

/// One server, Poisson arrivals and exponential service times, empty when a window begins.
#[derive(Clone, Copy)]
pub struct Queue {
    pub per_second: f64,
    pub limit_s: f64,
    pub window_s: f64,
}

/// The three queues of the methodology.
pub const QUEUES: [Queue; 3] = [
    Queue { per_second: 10_000.0, limit_s: 0.05, window_s: 5.0 },
    Queue { per_second: 10_000.0, limit_s: 0.01, window_s: 1.0 },
    Queue { per_second: 10_000.0, limit_s: 0.001, window_s: 0.5 },
];

/// Results of equal starts, and the closed-loop rate of each.
pub type Starts = Vec<(FoundRate, f64)>;

impl Queue {
    /// In the steady state, P(time in system > t) = exp(-(capacity - rate) t).
    pub fn truth(&self) -> f64 {
        self.per_second - 100_f64.ln() / self.limit_s
    }

    pub fn limit_ns(&self) -> u64 {
        (self.limit_s * 1e9) as u64
    }

    pub fn window_ns(&self) -> u64 {
        (self.window_s * 1e9) as u64
    }

    fn window(&self, rate: f64, random: &mut ChaCha8Rng) -> LoadResult {
        let mut exponential = |mean: f64| -(1.0 - random.random::<f64>()).ln() * mean;
        let (mut due, mut within, mut at, mut free) = (0, 0, 0.0, 0.0_f64);
        loop {
            at += exponential(1.0 / rate);
            if at > self.window_s {
                break;
            }
            free = free.max(at) + exponential(1.0 / self.per_second);
            due += 1;
            within += u64::from(free - at <= self.limit_s);
        }
        let offered_per_second = Some(rate);
        LoadResult {
            offered_per_second,
            sent: due,
            answered: due,
            within: vec![within],
            ..LoadResult::default()
        }
    }

    /// Searches with 14 windows each for p99, from a closed-loop rate that is a few per cent off.
    pub fn searches(&self, starts: usize, seed: u64) -> Starts {
        let slo = Slo::parse([format!("p99={}us", self.limit_s * 1e6).as_str()]).unwrap();
        let plan = SloPlan { slo, windows: 14, windows_expected: None, lag_ns_max: u64::MAX, at_least: None };
        let mut searches = Searches::new(&plan);
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        for block in 0..starts {
            searches.on_record(&Record::Block(Block { block, order: vec![0], ..Block::default() }));
            let sample = |load| Record::Sample(Box::new(Sample { block, load, ..Sample::default() }));
            let closed = (self.per_second * (0.97 + 0.06 * random.random::<f64>())) as u64;
            let loop_of_a_second =
                LoadResult { answered_in_window: closed, window_ns: 1_000_000_000, ..LoadResult::default() };
            searches.on_record(&sample(loop_of_a_second));
            while let Some(rate) = searches.rate(0, Rate::Searched, 0.0) {
                searches.on_record(&sample(self.window(rate, &mut random)));
            }
        }
        let found = |start: &tare_bench::schedule::searches::SearchStart| {
            Some((start.search.as_ref()?.found(), start.capacity_per_second()))
        };
        searches.of(0).filter_map(found).collect()
    }

    /// The errors of searches relative to the truth, sorted.
    pub fn errors(&self, starts: &Starts) -> Vec<f64> {
        let rates = starts.iter().filter_map(|(found, _)| found.per_second());
        let mut errors: Vec<f64> = rates.map(|rate| rate / self.truth() - 1.0).collect();
        errors.sort_by(f64::total_cmp);
        errors
    }

    /// Experiments with `n` of these starts and a standard deviation between processes. Returns the share of
    /// intervals that contain the capacity of the median process, and of those that lie above it.
    pub fn covered(&self, starts: &Starts, n: usize, process_sd: f64, experiments: usize) -> (f64, f64) {
        let mut random = ChaCha8Rng::seed_from_u64(n as u64);
        let (mut held, mut above) = (0, 0);
        for _ in 0..experiments {
            let drawn: Starts = (0..n).map(|_| drawn(starts, process_sd, &mut random)).collect();
            let (low, high) = self.interval(&drawn);
            let is_above = low.is_some_and(|low| low >= self.truth());
            above += usize::from(is_above);
            held += usize::from(!is_above && high.is_none_or(|high| high >= self.truth()));
        }
        (held as f64 / experiments as f64, above as f64 / experiments as f64)
    }

    fn interval(&self, drawn: &Starts) -> (Option<f64>, Option<f64>) {
        use tare_analysis::capacity::{bias, estimate};
        let shares = drawn.iter().map(|(found, closed)| (found, *closed));
        let share = estimate(shares, 0.0).unwrap().0.value;
        let bias = bias(self.limit_ns(), self.window_ns(), share);
        let (capacity, _) = estimate(drawn.iter().map(|(found, _)| (found, 1.0)), bias).unwrap();
        (capacity.low, capacity.high)
    }
}

/// One of the searches, as if its process were faster or slower.
fn drawn(starts: &Starts, process_sd: f64, random: &mut ChaCha8Rng) -> (FoundRate, f64) {
    let (found, closed) = starts[random.random_range(0..starts.len())];
    let (u, v) = (1.0 - random.random::<f64>(), random.random::<f64>());
    let factor = (process_sd * (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()).exp();
    let found = match found {
        FoundRate::Between { held, broke } => {
            FoundRate::Between { held: held * factor, broke: broke * factor }
        }
        FoundRate::AtLeast(held) => FoundRate::AtLeast(held * factor),
        FoundRate::Below(broke) => FoundRate::Below(broke * factor),
        FoundRate::Nothing => FoundRate::Nothing,
    };
    (found, closed * factor)
}
