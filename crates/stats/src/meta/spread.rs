//! Variation between machines beyond their standard errors.

use super::MachineResult;
use crate::{chi_squared, fisher};

/// Whether and how much machines differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Heterogeneity {
    /// Number of machines.
    pub machines: usize,
    /// Cochran's Q: squared distances from the weighted mean, divided by the squared standard errors. About
    /// `machines - 1` if machines do not differ.
    pub q: f64,
    /// The probability of at least this Q for equal machines. By Welch's test for estimated errors.
    pub p: f64,
    /// Variance of the true values of machines (Paule and Mandel).
    pub tau_squared: f64,
    /// Both ends of its interval (Q-profile).
    pub tau_squared_interval: [f64; 2],
    /// The share of the variance between machines: tau squared over it plus a typical squared error.
    pub i_squared: f64,
    /// Both ends of its interval.
    pub i_squared_interval: [f64; 2],
}

impl Heterogeneity {
    /// Standard deviation of the true values of machines.
    #[must_use]
    pub fn tau(&self) -> f64 {
        self.tau_squared.sqrt()
    }

    /// The heterogeneity of two or more machines, in canonical order.
    pub(super) fn of(sorted: &[MachineResult], confidence: f64) -> Heterogeneity {
        let freedom = sorted.len() - 1;
        let tail = (1.0 - confidence) / 2.0;
        let tau_squared = paule_mandel(sorted);
        let ends = [tail, 1.0 - tail].map(|tail| at(sorted, chi_squared::upper_quantile(tail, freedom)));
        let typical = typical_variance(sorted);
        let share = |tau_squared: f64| tau_squared / (tau_squared + typical);
        Heterogeneity {
            machines: sorted.len(),
            q: WeightedMean::of(sorted, 0.0).squares,
            p: welch(sorted),
            tau_squared,
            tau_squared_interval: ends,
            i_squared: share(tau_squared),
            i_squared_interval: ends.map(share),
        }
    }
}

/// Findings about their weighted mean, for a between-machine variance of `tau_squared`.
pub(super) struct WeightedMean {
    pub mean: f64,
    /// The sum of the weights.
    pub weight: f64,
    /// The weighted squares about the mean: the generalised Q.
    pub squares: f64,
}

impl WeightedMean {
    pub(super) fn of(sorted: &[MachineResult], tau_squared: f64) -> WeightedMean {
        let weight = |one: &MachineResult| (tau_squared + one.error * one.error).recip();
        let sum: f64 = sorted.iter().map(weight).sum();
        let mean = sorted.iter().map(|one| weight(one) / sum * one.estimate).sum::<f64>();
        let squares = sorted.iter().map(|one| weight(one) * (one.estimate - mean).powi(2)).sum();
        WeightedMean { mean, weight: sum, squares }
    }
}

/// The between-machine variance at which the weighted squares equal their expectation.
pub(super) fn paule_mandel(sorted: &[MachineResult]) -> f64 {
    at(sorted, (sorted.len() - 1) as f64)
}

/// The between-machine variance with weighted squares `target`; 0 if they start below. They fall with it.
fn at(sorted: &[MachineResult], target: f64) -> f64 {
    let is_above = |tau_squared: f64| WeightedMean::of(sorted, tau_squared).squares > target;
    if !is_above(0.0) {
        return 0.0;
    }
    let mut high = typical_variance(sorted);
    while is_above(high) {
        high *= 2.0;
    }
    let mut low = 0.0;
    // Bisection of a double takes at most this number of steps, with a few more from below.
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if is_above(middle) { low = middle } else { high = middle }
    }
    high
}

/// A typical squared standard error (Higgins and Thompson, equation 9).
fn typical_variance(sorted: &[MachineResult]) -> f64 {
    // Relative to the largest weight, whose square could overflow for very small errors.
    let most = sorted.iter().map(|one| one.error).fold(f64::MAX, f64::min).powi(2);
    let weights = || sorted.iter().map(|one| most / (one.error * one.error));
    let (sum, squares) = (weights().sum::<f64>(), weights().map(|weight| weight * weight).sum::<f64>());
    most * (sorted.len() - 1) as f64 * sum / (sum * sum - squares)
}

/// The p-value of "machines do not differ": Cochran's Q, with Welch's correction for estimated errors.
fn welch(sorted: &[MachineResult]) -> f64 {
    let all = WeightedMean::of(sorted, 0.0);
    let count = sorted.len() as f64;
    let (freedom, squared) = (count - 1.0, count * count - 1.0);
    let unsure = |one: &MachineResult| {
        let rest = 1.0 - (one.error * one.error).recip() / all.weight;
        one.freedom.map_or(0.0, |freedom| rest * rest / freedom.max(1) as f64)
    };
    let unsure: f64 = sorted.iter().map(unsure).sum();
    if unsure == 0.0 {
        return chi_squared::upper_tail(all.squares, sorted.len() - 1);
    }
    let f = all.squares / freedom / (1.0 + 2.0 * (count - 2.0) / squared * unsure);
    fisher::upper_tail(f, freedom, squared / (3.0 * unsure))
}
