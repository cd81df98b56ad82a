//! The verdict of the statistics on a resampled run, and its frequency over many.

use tare_stats::{EstimateError, Looks, log_ratios, ranking, summary};

use tare_bench::metric::Metric;

use crate::eprocess;

/// The error probability of both methods, over all pairs of a run together.
const ALPHA: f64 = 0.05;
/// The numbers of blocks at the planned looks.
const LOOKS: [usize; 5] = [10, 15, 20, 30, 40];

/// The number of blocks after which some pair of rows was first separated; `None` if none was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// By the planned looks: the standard ones for two rows; for more, Holm's method at each look.
    pub looks: Option<usize>,
    /// By the e-process after every block; with more than two rows each pair has its share of the 5%.
    pub bet: Option<usize>,
}

/// Evaluates a run, given as `[row][block]`.
///
/// # Errors
/// A value is not finite and positive, or rows have different numbers of blocks.
pub fn evaluate(values: &[Vec<f64>], metric: Metric) -> Result<Verdict, EstimateError> {
    let pairs: Vec<(usize, usize)> =
        (0..values.len()).flat_map(|a| (a + 1..values.len()).map(move |b| (a, b))).collect();
    let diffs: Result<Vec<Vec<f64>>, _> =
        pairs.iter().map(|(a, b)| log_ratios(&values[*a], &values[*b])).collect();
    let diffs = diffs?;
    let looks = match &diffs[..] {
        [only] => at_standard_looks(only)?,
        _ => at_planned_looks(values, metric)?,
    };
    let mut bet: Option<usize> = None;
    for diffs in &diffs {
        let found = eprocess::separated_at(diffs, ALPHA / pairs.len() as f64);
        bet = bet.into_iter().chain(found).min();
    }
    Ok(Verdict { looks, bet })
}

fn at_standard_looks(diffs: &[f64]) -> Result<Option<usize>, EstimateError> {
    let looks = Looks::planned(&LOOKS, ALPHA)?;
    for look in looks.all().iter().filter(|look| look.n <= diffs.len()) {
        let found = looks.estimate(&diffs[..look.n])?.interval;
        if found.is_some_and(|interval| !interval.holds(0.0)) {
            return Ok(Some(look.n));
        }
    }
    Ok(None)
}

fn at_planned_looks(values: &[Vec<f64>], metric: Metric) -> Result<Option<usize>, EstimateError> {
    for look in Looks::planned(&LOOKS, ALPHA)?.all() {
        let so_far: Vec<&[f64]> = values.iter().filter_map(|values| values.get(..look.n)).collect();
        if so_far.len() < values.len() {
            continue;
        }
        let ranking = ranking::rank(&so_far, metric.better(), look.spent)?;
        if ranking.pairs.iter().any(|pair| pair.separated) {
            return Ok(Some(look.n));
        }
    }
    Ok(None)
}

/// The verdicts on many runs by one method.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    /// For each run, the number of blocks after which a pair was separated, if one was.
    found: Vec<Option<usize>>,
}

impl Tally {
    pub fn add(&mut self, found: Option<usize>) {
        self.found.push(found);
    }

    /// The share of runs in which some pair was separated, and its standard error.
    pub fn share(&self) -> (f64, f64) {
        let all = self.found.len().max(1) as f64;
        let share = self.found.iter().flatten().count() as f64 / all;
        (share, (share * (1.0 - share) / all).sqrt())
    }

    /// The median number of blocks in those runs, and its standard error (as for a normal sample).
    pub fn blocks(&self) -> Option<(f64, f64)> {
        let blocks: Vec<f64> = self.found.iter().flatten().map(|blocks| *blocks as f64).collect();
        let median = summary::median(&blocks).ok()?;
        let sd = 1.4826 * summary::mad(&blocks).ok()?;
        Some((median, 1.2533 * sd / (blocks.len() as f64).sqrt()))
    }
}
