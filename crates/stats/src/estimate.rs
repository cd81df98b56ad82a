//! What every method of this crate gives back. Knows no method.

use crate::warning::Warning;

/// An interval and the confidence it really has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end, in the unit of the differences; belongs to the interval.
    pub low: f64,
    /// Upper end, in the unit of the differences; belongs to the interval.
    pub high: f64,
    /// Its confidence: what was asked, or, of a method that counts, the least attainable one that is not below it.
    pub attained: f64,
}

impl Interval {
    /// Whether `value` lies within, the ends included.
    #[must_use]
    pub fn holds(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// A point estimate, its interval where there can be one, and what is doubtful about both.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// In the unit of the differences.
    pub point: f64,
    /// `None` where there are too few differences for the confidence; [`Warning::TooFewBlocks`] says how many it takes.
    pub interval: Option<Interval>,
    /// Number of differences.
    pub n: usize,
    /// Doubts, the gravest first.
    pub warnings: Vec<Warning>,
}
