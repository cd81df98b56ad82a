//! The results that all methods of this crate return.

use crate::warning::Warning;

/// An interval with its attained confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end, in the unit of the differences; part of the interval.
    pub low: f64,
    /// Upper end, in the unit of the differences; part of the interval.
    pub high: f64,
    /// The requested confidence; for a counting method the least attainable one that is not below it.
    pub attained: f64,
}

impl Interval {
    /// Whether `value` lies within, the ends included.
    #[must_use]
    pub fn holds(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// A point estimate, its interval if there is one, and warnings about both.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// In the unit of the differences.
    pub point: f64,
    /// `None` with too few differences for the confidence; [`Warning::TooFewBlocks`] has the required number.
    pub interval: Option<Interval>,
    /// Number of differences.
    pub n: usize,
    /// Warnings, the most serious first.
    pub warnings: Vec<Warning>,
}
