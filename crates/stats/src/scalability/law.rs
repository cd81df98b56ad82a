//! The scalability law: its value for a number of threads, and its gradient.

/// Throughput as a function of the number of threads: `lambda n / (1 + sigma (n - 1) + kappa n (n - 1))`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Law {
    /// Throughput of one thread.
    pub lambda: f64,
    /// Contention: the share of the work for which threads queue. With `kappa` 0 the law is Amdahl's.
    pub sigma: f64,
    /// Coherence: the cost of agreement per pair of threads. Above 0 the curve has a peak.
    pub kappa: f64,
}

impl Law {
    /// Throughput of `n` threads.
    #[must_use]
    pub fn at(&self, n: f64) -> f64 {
        self.lambda * n / self.denominator(n)
    }

    /// The number of threads at the peak: `sqrt((1 - sigma) / kappa)`, at least 1. `None` if it only rises.
    #[must_use]
    pub fn peak(&self) -> Option<f64> {
        (self.kappa > 0.0).then(|| ((1.0 - self.sigma).max(0.0) / self.kappa).sqrt().max(1.0))
    }

    pub(super) fn denominator(&self, n: f64) -> f64 {
        1.0 + self.sigma * (n - 1.0) + self.kappa * n * (n - 1.0)
    }

    pub(super) fn of([lambda, sigma, kappa]: [f64; 3]) -> Law {
        Law { lambda, sigma, kappa }
    }

    pub(super) fn parameters(&self) -> [f64; 3] {
        [self.lambda, self.sigma, self.kappa]
    }

    /// Derivatives of throughput by each parameter.
    pub(super) fn gradient(&self, n: f64) -> [f64; 3] {
        let (value, below) = (self.at(n), self.denominator(n));
        [n / below, -value * (n - 1.0) / below, -value * n * (n - 1.0) / below]
    }
}
