//! Reasons why a sample has no estimate. A doubt about an estimate is a [`crate::Warning`] instead.

use std::fmt;

/// Which series a value belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeriesId {
    /// The numerator: the measured series.
    Subject,
    /// The denominator: the reference series.
    Reference,
    /// One of several services, by its place among them, from 0.
    Service(usize),
}

impl fmt::Display for SeriesId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SeriesId::Subject => f.write_str("subject"),
            SeriesId::Reference => f.write_str("reference"),
            SeriesId::Service(index) => write!(f, "service {index} (counted from 0)"),
        }
    }
}

/// Reasons for a missing estimate.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum EstimateError {
    #[error("the sample is empty: at least one complete block is needed")]
    Empty,
    #[error(
        "value {index} (counted from 0) is '{value}': give finite values only, and leave invalid blocks out"
    )]
    NotFinite { index: usize, value: f64 },
    #[error(
        "value {index} (counted from 0) of the {series} is '{value}', which has no logarithm: leave the block out"
    )]
    NotPositive { series: SeriesId, index: usize, value: f64 },
    #[error(
        "the subject has {subject} blocks and the reference {reference}: give the blocks that both have, in the same order"
    )]
    LengthsDiffer { subject: usize, reference: usize },
    #[error("the confidence is '{value}': it must lie between 0 and 1, both excluded, such as 0.95")]
    Confidence { value: f64 },
    #[error(
        "service {index} (counted from 0) has {found} blocks and the first {expected}: give those that all have"
    )]
    BlocksDiffer { index: usize, found: usize, expected: usize },
    #[error("there are {found} series, and it takes {needed} at the least")]
    TooFewSeries { found: usize, needed: usize },
    #[error("the probability is '{value}': it must lie between 0 and 1, both excluded, such as 0.05")]
    Level { value: f64 },
    #[error(
        "the difference that matters is '{value}': it must lie between 0 and 1, both excluded, such as 0.03"
    )]
    Delta { value: f64 },
    #[error(
        "look {index} (counted from 0) is at {n} blocks: give at least one look, each at more blocks than the one before"
    )]
    Looks { index: usize, n: usize },
    #[error(
        "the standard error of estimate {index} (counted from 0) is '{value}': it must be above 0, so leave out what has none"
    )]
    StandardError { index: usize, value: f64 },
    #[error("the probability of a quantile is '{value}': it must lie between 0 and 1")]
    Probability { value: f64 },
}

/// Refuses an empty sample, and one with a value that is NaN or infinite.
pub(crate) fn check_sample(values: &[f64]) -> Result<(), EstimateError> {
    if values.is_empty() {
        return Err(EstimateError::Empty);
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(EstimateError::NotFinite { index, value: values[index] }),
        None => Ok(()),
    }
}

/// Refuses a confidence that is not strictly between 0 and 1.
pub(crate) fn check_confidence(confidence: f64) -> Result<(), EstimateError> {
    // NaN fails this test too.
    if confidence > 0.0 && confidence < 1.0 {
        Ok(())
    } else {
        Err(EstimateError::Confidence { value: confidence })
    }
}

/// Refuses an error probability that is not strictly between 0 and 1.
pub(crate) fn check_level(value: f64) -> Result<(), EstimateError> {
    if value > 0.0 && value < 1.0 { Ok(()) } else { Err(EstimateError::Level { value }) }
}
