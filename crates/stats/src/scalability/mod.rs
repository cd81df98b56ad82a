//! Throughput by number of threads: Gunther's universal scalability law, with intervals and its lack of fit.
//!
//! `X(n) = lambda n / (1 + sigma (n - 1) + kappa n (n - 1))` (N. J. Gunther, "A simple capacity model of massively parallel
//! transaction systems", CMG 1993; *Guerrilla Capacity Planning*, Springer 2007). `lambda` is the throughput of one thread,
//! `sigma` the queued share of the work (contention), `kappa` the cost of agreement per pair of threads
//! (coherence).
//!
//! # The fit
//! A point is the geometric mean of its blocks. Squared residuals are weighted by 1 / variance, so that
//! points with ten times the throughput and scatter count the same. The variance of a point is its scatter
//! after removing the common effect of each block. It is averaged with the mean over all points, because few
//! blocks estimate it poorly. `sigma` and `kappa` are not below 0: there is no negative queue.
//!
//! # The intervals
//! By the delta method over blocks: each block's first-order effect on the parameters is one value, and
//! Student's t gives the interval of their mean ([`crate::Contrast`]). This includes common effects of a
//! block. A bootstrap over six blocks would cover only 85 to 90% at 95%, and needs randomness. Intervals come
//! from the fit without bounds and are clipped at 0 afterwards, because an estimate at its bound would seem
//! exact. They reflect the noise of blocks, not a wrong law: see [`Misfit`].
//!
//! Coverage of the intervals of 95% in simulations of 2,000 runs each, five points up to 16 threads, 3% noise of each figure and 10%
//! of each block: `tests/methods/scalability.rs` states and checks it.

mod fit;
mod law;

pub use fit::Weighted;
pub use law::Law;

use fit::Free;

use crate::{
    contrast::{Contrast, LEAST_STARTS},
    error::{EstimateError, SeriesId, check_confidence},
    estimate::{Estimate, Interval},
    fisher,
    ratio::logarithms,
    student,
};

/// Fewest points for the fit: the law passes through any three points, which cannot show a misfit.
pub const LEAST_POINTS: usize = 4;

/// Smaller variances of logarithms are rounding, not measured noise.
const VARIANCE_MIN: f64 = 1e-20;

/// Reasons for a missing fit.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ScalabilityError {
    #[error(
        "numbers of threads with figures: {found}; the law goes through any three, so that it takes {needed}"
    )]
    TooFewPoints { found: usize, needed: usize },
    #[error("point {index} (counted from 0) has '{n}' threads: give each number once, 1 or more")]
    Threads { index: usize, n: f64 },
    #[error("the weight of point {index} (counted from 0) is '{weight}': it must be finite and above 0")]
    Weight { index: usize, weight: f64 },
    #[error("no law lies near these points")]
    NoFit,
    #[error(transparent)]
    Sample(#[from] EstimateError),
}

/// A law with intervals for its parameters, and its lack of fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Scalability {
    /// The nearest law.
    pub law: Law,
    /// Throughput of one thread.
    pub lambda: Estimate,
    /// Contention.
    pub sigma: Estimate,
    /// Coherence.
    pub kappa: Estimate,
    /// The number of threads beyond which throughput falls.
    pub peak: Peak,
    /// The distance of the points from the law.
    pub misfit: Misfit,
}

/// The highest point of the curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Peak {
    /// Within the measured range.
    At {
        /// Number of threads.
        n: f64,
        /// Lower end of its interval; `None` with too few blocks.
        low: Option<f64>,
        /// Upper end; `None` with too few blocks, or if the blocks do not prove that there is a peak.
        high: Option<f64>,
    },
    /// Not within the measured range. It may lie beyond it, or not exist.
    NotMeasured {
        /// It lies above this number of threads with the requested confidence; `None` if that is unknown.
        above: Option<f64>,
    },
}

/// The distance of the points from the law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Misfit {
    /// Number of threads of the most distant point, relative to its scatter.
    pub n: f64,
    /// Its distance as a share of the law; negative if it lies below.
    pub share: f64,
    /// Its distance in standard errors; `None` for blocks without scatter, or a single block.
    pub standard_errors: Option<f64>,
    /// P-value of the F test for lack of fit: how often points that follow the law are as distant, given the
    /// scatter of blocks. `None` in the same cases.
    pub p: Option<f64>,
}

/// The nearest law to some points. `sigma` and `kappa` are not below 0.
///
/// # Errors
/// Fewer than [`LEAST_POINTS`] points, a number of threads that is below 1 or repeated, or a value or weight
/// that is not finite and positive.
pub fn fit(points: &[Weighted]) -> Result<Law, ScalabilityError> {
    check_threads(&points.iter().map(|point| point.n).collect::<Vec<f64>>())?;
    for (index, Weighted { value, weight, .. }) in points.iter().enumerate() {
        logarithms(&[*value], SeriesId::Service(index))?;
        if !(weight.is_finite() && *weight > 0.0) {
            return Err(ScalabilityError::Weight { index, weight: *weight });
        }
    }
    fit::bounded(points).map(|(law, _)| law).ok_or(ScalabilityError::NoFit)
}

/// The law over `threads`, from `values[point][block]`: throughput of the same blocks in order.
///
/// # Errors
/// Fewer than [`LEAST_POINTS`] points, a number of threads that is below 1 or repeated, points with different
/// numbers of blocks, a value that is not finite and positive, or a confidence that is not between 0 and 1.
pub fn scalability<V: AsRef<[f64]>>(
    threads: &[f64],
    values: &[V],
    confidence: f64,
) -> Result<Scalability, ScalabilityError> {
    check_threads(threads)?;
    check_confidence(confidence)?;
    let logs = Logs::of(threads, values)?;
    let points = logs.points(threads);
    let (law, free) = fit::bounded(&points).ok_or(ScalabilityError::NoFit)?;
    let unbound = fit::fitted(&points, Free::ALL).unwrap_or(law);
    let changes = logs.changes(&points, &unbound).ok_or(ScalabilityError::NoFit)?;
    let estimate = |place: usize, least: f64| {
        let values: Vec<f64> =
            changes.iter().map(|change| unbound.parameters()[place] + change[place]).collect();
        let found = Contrast::of_values(&values)?.estimate(confidence)?;
        Ok::<Estimate, EstimateError>(around(law.parameters()[place], found, least))
    };
    Ok(Scalability {
        lambda: estimate(0, f64::MIN_POSITIVE)?,
        sigma: estimate(1, 0.0)?,
        kappa: estimate(2, 0.0)?,
        peak: peak(&law, &unbound, &changes, threads, confidence),
        misfit: misfit(&points, &law, free, &logs),
        law,
    })
}

/// The bounded estimate, with the interval clipped to the bound.
fn around(point: f64, found: Estimate, least: f64) -> Estimate {
    let interval = found.interval.map(|interval| Interval {
        low: interval.low.max(least).min(point),
        high: interval.high.max(point),
        ..interval
    });
    Estimate { point, interval, ..found }
}

fn check_threads(threads: &[f64]) -> Result<(), ScalabilityError> {
    if threads.len() < LEAST_POINTS {
        return Err(ScalabilityError::TooFewPoints { found: threads.len(), needed: LEAST_POINTS });
    }
    for (index, &n) in threads.iter().enumerate() {
        if !n.is_finite() || n < 1.0 || threads[..index].contains(&n) {
            return Err(ScalabilityError::Threads { index, n });
        }
    }
    Ok(())
}

/// Logarithms of the values of some points, block by block.
struct Logs {
    of: Vec<Vec<f64>>,
    means: Vec<f64>,
    blocks: usize,
    /// Variance of the mean of each point.
    variances: Vec<f64>,
    /// Whether the blocks determine the variances.
    have_noise: bool,
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

impl Logs {
    fn of<V: AsRef<[f64]>>(threads: &[f64], values: &[V]) -> Result<Logs, EstimateError> {
        if values.len() != threads.len() {
            return Err(EstimateError::TooFewSeries { found: values.len(), needed: threads.len() });
        }
        let expected = values[0].as_ref().len();
        let mut logs = Vec::new();
        for (index, point) in values.iter().enumerate() {
            let found = point.as_ref().len();
            if found != expected {
                return Err(EstimateError::BlocksDiffer { index, found, expected });
            }
            logs.push(logarithms(point.as_ref(), SeriesId::Service(index))?);
        }
        if expected == 0 {
            return Err(EstimateError::Empty);
        }
        let means: Vec<f64> = logs.iter().map(|point| mean(point)).collect();
        let mut found = Logs { of: logs, means, blocks: expected, variances: Vec::new(), have_noise: false };
        found.set_variances();
        Ok(found)
    }

    /// The common effect of a block on all of its points is not scatter of a point.
    fn set_variances(&mut self) {
        let (points, all) = (self.of.len(), mean(&self.means));
        let of_block: Vec<f64> = (0..self.blocks)
            .map(|block| mean(&self.of.iter().map(|point| point[block]).collect::<Vec<f64>>()) - all)
            .collect();
        let freedom = ((points - 1) * (self.blocks - 1)) as f64 / points as f64;
        let own = |(point, middle): (&Vec<f64>, &f64)| {
            let rest = point.iter().zip(&of_block).map(|(log, block)| (log - middle - block).powi(2));
            rest.sum::<f64>() / freedom
        };
        let own: Vec<f64> = self.of.iter().zip(&self.means).map(own).collect();
        let common = mean(&own);
        self.have_noise = self.blocks >= LEAST_STARTS && common > VARIANCE_MIN;
        self.variances = match self.have_noise {
            true => own.iter().map(|own| f64::midpoint(*own, common) / self.blocks as f64).collect(),
            false => vec![1.0; points],
        };
    }

    fn points(&self, threads: &[f64]) -> Vec<Weighted> {
        let of = |((n, log), variance): ((&f64, &f64), &f64)| {
            let value = log.exp();
            Weighted { n: *n, value, weight: 1.0 / (value * value * variance) }
        };
        threads.iter().zip(&self.means).zip(&self.variances).map(of).collect()
    }

    /// First-order effect of each block on the parameters.
    fn changes(&self, points: &[Weighted], law: &Law) -> Option<Vec<[f64; 3]>> {
        let influence = fit::influence(points, law)?;
        let of = |block: usize| {
            let mut change = [0.0; 3];
            for (place, point) in points.iter().enumerate() {
                let off = point.value * (self.of[place][block] - self.means[place]);
                change.iter_mut().zip(influence[place]).for_each(|(sum, slope)| *sum += slope * off);
            }
            change
        };
        Some((0..self.blocks).map(of).collect())
    }
}

/// The peak with an interval after Fieller. The peak is beyond N while `1 - sigma - kappa N^2` is above 0.
/// That is linear in the parameters, so the interval holds all N for which 0 is not excluded (E. C. Fieller,
/// "Some problems in interval estimation", Journal of the Royal Statistical Society B 16 (1954)).
fn peak(law: &Law, unbound: &Law, changes: &[[f64; 3]], threads: &[f64], confidence: f64) -> Peak {
    let most = threads.iter().copied().fold(1.0, f64::max);
    let (low, high) = match changes.len() {
        0..LEAST_STARTS => (None, None),
        blocks => fieller(unbound, changes, student::two_sided_quantile(confidence, blocks - 1)),
    };
    match law.peak().filter(|n| *n <= most) {
        Some(n) => Peak::At { n, low: low.map(|low| low.min(n)), high: high.map(|high| high.max(n)) },
        None => Peak::NotMeasured { above: low.map(|low| low.min(most)) },
    }
}

fn fieller(law: &Law, changes: &[[f64; 3]], t: f64) -> (Option<f64>, Option<f64>) {
    let blocks = changes.len() as f64;
    let covariance = |one: usize, other: usize| {
        let products = changes.iter().map(|change| change[one] * change[other]);
        products.sum::<f64>() / (blocks * (blocks - 1.0))
    };
    let (above, below) = (1.0 - law.sigma, law.kappa);
    // (above - r below)^2 <= t^2 variance(above - r below), with r = n^2.
    let a = below * below - t * t * covariance(2, 2);
    let b = above * below + t * t * covariance(1, 2);
    let c = above * above - t * t * covariance(1, 1);
    let root = (b * b - a * c).max(0.0).sqrt();
    let threads = |square: f64| square.max(1.0).sqrt();
    if a > 0.0 && below > 0.0 {
        (Some(threads((b - root) / a)), Some(threads((b + root) / a)))
    } else if a > 0.0 {
        // `kappa` is significantly below 0: there is no peak.
        (Some(f64::INFINITY), None)
    } else if c > 0.0 && a < 0.0 {
        // `kappa` may be 0, and the peak arbitrarily far away. This form of the root is stable for a small a.
        (Some(threads(c / (b + root))), None)
    } else {
        (None, None)
    }
}

fn misfit(points: &[Weighted], law: &Law, free: Free, logs: &Logs) -> Misfit {
    let residual = |point: &Weighted| (point.value - law.at(point.n)) * point.weight.sqrt();
    let worst = points.iter().max_by(|a, b| residual(a).abs().total_cmp(&residual(b).abs()));
    let Some(worst) = worst else { return Misfit { n: 1.0, share: 0.0, standard_errors: None, p: None } };
    let above = points.len() - free.count();
    let below = (points.len() - 1) * (logs.blocks - 1);
    let f = fit::squares(points, law) / above as f64;
    Misfit {
        n: worst.n,
        share: worst.value / law.at(worst.n) - 1.0,
        standard_errors: logs.have_noise.then(|| residual(worst)),
        p: logs.have_noise.then(|| fisher::upper_tail(f, above as f64, below as f64)),
    }
}

#[cfg(test)]
mod tests;
