//! Subject divided by reference, from values paired by block.
//!
//! Disturbances are multiplicative: another tenant or a slower clock multiplies both values of a block. They
//! cancel in differences of logarithms. The method does not depend on the metric or its direction.
//!
//! Percentiles need no special method. A block's p99 is one value, however many requests it comes from, and
//! blocks are the independent unit. So p99 is compared like any other figure. (An interval from order
//! statistics would treat thousands of requests of one process as independent.) The same holds for the level
//! of one service: [`crate::interval`] of the logarithms.
//!
//! ```
//! // p99 in microseconds, one value a block; in the third block another tenant stalled both.
//! let subject = [412.0, 398.0, 2250.0, 441.0, 405.0, 420.0, 399.0, 430.0];
//! let reference = [201.0, 204.0, 1130.0, 215.0, 199.0, 207.0, 203.0, 210.0];
//! let logs = tare_stats::log_ratios(&subject, &reference)?;
//! let p99 = tare_stats::RatioEstimate::from(tare_stats::interval(&logs, 0.95)?);
//! assert!(p99.low.unwrap() > 1.95 && p99.high.unwrap() < 2.06);
//!
//! // The subject's own p99, by itself: far wider, for the third block does not cancel.
//! let logs = subject.map(f64::ln);
//! let own = tare_stats::interval(&logs, 0.95)?.interval.unwrap();
//! assert!(own.high.exp() / own.low.exp() > 2.0);
//! # Ok::<(), tare_stats::EstimateError>(())
//! ```

use crate::error::{EstimateError, SeriesId};
use crate::estimate::Estimate;
use crate::warning::Warning;

/// The ratio of subject to reference, as a plain number: 0.5 is half the reference.
///
/// Swapping the series gives the reciprocal ratio and interval. Two identical series give 1 with the interval [1, 1].
#[derive(Debug, Clone, PartialEq)]
pub struct RatioEstimate {
    /// exp of the mean of the paired log-ratios: the geometric mean of the ratios.
    pub ratio: f64,
    /// Lower end, part of the interval; `None` with too few blocks.
    pub low: Option<f64>,
    /// Upper end, part of the interval; `None` with too few blocks.
    pub high: Option<f64>,
    /// The attained confidence, at least the requested one; `None` without an interval.
    pub confidence_attained: Option<f64>,
    /// Number of blocks.
    pub n: usize,
    /// Warnings, the most serious first. Their indices are blocks.
    pub warnings: Vec<Warning>,
}

impl RatioEstimate {
    /// Whether the interval contains `ratio`, including its ends; `None` without an interval.
    #[must_use]
    pub fn holds(&self, ratio: f64) -> Option<bool> {
        Some(self.low? <= ratio && ratio <= self.high?)
    }
}

/// ln(subject / reference) per block, the input of every method that compares two services.
///
/// # Errors
/// Series of different lengths, a value that is not finite and positive.
pub fn log_ratios(subject: &[f64], reference: &[f64]) -> Result<Vec<f64>, EstimateError> {
    if subject.len() != reference.len() {
        return Err(EstimateError::LengthsDiffer { subject: subject.len(), reference: reference.len() });
    }
    let subject = logarithms(subject, SeriesId::Subject)?;
    let reference = logarithms(reference, SeriesId::Reference)?;
    // A difference of logarithms, because the quotient of two finite values may overflow.
    Ok(subject.iter().zip(&reference).map(|(subject, reference)| subject - reference).collect())
}

/// Natural logarithms. The error for a value without one has its index.
pub(crate) fn logarithms(values: &[f64], series: SeriesId) -> Result<Vec<f64>, EstimateError> {
    let logarithm = |(index, &value): (usize, &f64)| {
        if value.is_finite() && value > 0.0 {
            Ok(value.ln())
        } else {
            Err(EstimateError::NotPositive { series, index, value })
        }
    };
    values.iter().enumerate().map(logarithm).collect()
}

/// Converts an estimated log ratio of any method into a ratio.
impl From<Estimate> for RatioEstimate {
    fn from(estimate: Estimate) -> Self {
        RatioEstimate {
            ratio: estimate.point.exp(),
            low: estimate.interval.map(|interval| interval.low.exp()),
            high: estimate.interval.map(|interval| interval.high.exp()),
            confidence_attained: estimate.interval.map(|interval| interval.attained),
            n: estimate.n,
            warnings: estimate.warnings,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paired_log_ratio(subject: &[f64], reference: &[f64]) -> Result<RatioEstimate, EstimateError> {
        Ok(crate::interval(&log_ratios(subject, reference)?, 0.95)?.into())
    }

    #[test]
    fn identical_series_hold_one() {
        let series = [812.0, 790.5, 801.25, 777.0, 820.0, 799.0];
        let found = paired_log_ratio(&series, &series).unwrap();
        assert_eq!((found.ratio, found.low, found.high), (1.0, Some(1.0), Some(1.0)));
        assert_eq!(found.holds(1.0), Some(true));
        assert_eq!(found.warnings, [Warning::Ties { tied: 6, n: 6 }]);
    }

    #[test]
    fn what_disturbs_a_whole_block_cancels() {
        let reference = [100.0, 40.0, 250.0, 90.0, 10.0, 120.0, 70.0];
        let subject = reference.map(|value| value * 0.8);
        let found = paired_log_ratio(&subject, &reference).unwrap();
        assert!((found.ratio - 0.8).abs() < 1e-12);
        assert!(found.high.unwrap() - found.low.unwrap() < 1e-12);
    }

    #[test]
    fn too_few_blocks_give_a_ratio_without_an_interval() {
        let found = paired_log_ratio(&[2.0], &[1.0]).unwrap();
        assert!((found.ratio - 2.0).abs() < 1e-12);
        assert_eq!((found.low, found.high, found.confidence_attained), (None, None, None));
        assert_eq!(found.holds(1.0), None);
        assert!(found.warnings.contains(&Warning::TooFewBlocks { n: 1, needed: 2 }));
    }

    #[test]
    fn values_without_a_logarithm_are_named() {
        for value in [0.0, -3.0, f64::NAN, f64::INFINITY] {
            let error = paired_log_ratio(&[1.0, value], &[1.0, 1.0]).unwrap_err();
            assert!(matches!(error, EstimateError::NotPositive { series: SeriesId::Subject, index: 1, .. }));
            let error = paired_log_ratio(&[1.0, 1.0], &[value, 1.0]).unwrap_err();
            assert!(matches!(
                error,
                EstimateError::NotPositive { series: SeriesId::Reference, index: 0, .. }
            ));
        }
        let text = paired_log_ratio(&[1.0, 0.0], &[1.0, 1.0]).unwrap_err().to_string();
        assert!(text.starts_with("value 1 (counted from 0) of the subject is '0'"), "{text}");
    }

    #[test]
    fn series_that_are_not_paired_are_refused() {
        let error = paired_log_ratio(&[1.0], &[1.0, 2.0]).unwrap_err();
        assert_eq!(error, EstimateError::LengthsDiffer { subject: 1, reference: 2 });
        assert_eq!(paired_log_ratio(&[], &[]), Err(EstimateError::Empty));
    }

    #[test]
    fn extreme_values_do_not_overflow_on_the_way() {
        let found = paired_log_ratio(&[f64::MAX; 6], &[f64::MAX; 6]).unwrap();
        assert_eq!(found.holds(1.0), Some(true));
        assert!(paired_log_ratio(&[1e300; 6], &[1e-3; 6]).unwrap().ratio > 1e302);
    }
}
