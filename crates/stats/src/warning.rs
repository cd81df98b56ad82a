//! Doubts about a sample. A warning is a value that travels with the estimate; its text names the remedy.
//!
//! It depends on the values in their order. No warning alters a value: blocks are never dropped.

use std::fmt;

use serde::Serialize;

use crate::kendall;
use crate::serial;
use crate::summary;

/// A value further from the median than this many MADs is an outlier.
///
/// The MAD is the plain one, without the factor 1.4826, so this is about 6.7 standard deviations of normal data. False
/// alarms on normal data, by 20,000 simulations: 2.8% of samples with n = 6, 1.2% with n = 10, 0.2% with n =
/// 20. With 5 MADs it would be 16%, 14% and 12%, too often to be taken seriously.
pub(crate) const OUTLIER_MADS: f64 = 10.0;

/// Fewest values for detecting outliers: with fewer the MAD is unreliable.
pub(crate) const OUTLIER_N_MIN: usize = 6;

/// Drift is reported up to this p-value of the trend test.
pub(crate) const DRIFT_P_MAX: f64 = 0.01;

/// Autocorrelated blocks are reported up to this p-value.
///
/// False alarms of this and of drift together, by 10,000 simulations: 0.6% of samples with n = 8, 1.5% with n
/// = 12, 1.9% with n = 40. For its effect see [`crate::contrast`].
pub(crate) const SERIAL_P_MAX: f64 = 0.01;

/// Ties are reported if at least this share of the values equals another value.
pub(crate) const TIES_SHARE_MIN: f64 = 0.25;

/// A doubt about an estimate. Indices count from 0, in the order of the values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Warning {
    /// Too few blocks for an interval of the requested confidence.
    TooFewBlocks {
        /// Number of blocks there are.
        n: usize,
        /// Fewest blocks needed.
        needed: usize,
    },
    /// The values rise or fall over the blocks: they are not independent draws of one distribution.
    Drift {
        /// Whether they rise.
        rises: bool,
        /// Two-sided p-value of the Mann-Kendall test.
        p: f64,
    },
    /// Blocks resemble their neighbours: they are not independent, and the interval is too narrow.
    Autocorrelated {
        /// Approximate rank correlation of neighbours (1 minus half of von Neumann's ratio).
        correlation: f64,
        /// One-sided p-value of Bartels' test.
        p: f64,
    },
    /// One block lies far from the others.
    Outlier {
        /// Which block.
        index: usize,
        /// Its distance from the median in (plain) MADs.
        mads: f64,
    },
    /// Many values are equal: the metric is too coarse.
    Ties {
        /// How many values equal another one.
        tied: usize,
        /// Number of values.
        n: usize,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::TooFewBlocks { n, needed } => write!(
                f,
                "{n} {} too few for an interval, which takes {needed}: give a larger budget, so that more are run",
                if *n == 1 { "block is" } else { "blocks are" }
            ),
            Warning::Drift { rises, p } => write!(
                f,
                "the blocks {} one after the other (Mann-Kendall p {p}): warm up for longer, and look for \
                 heat, a clock that is being throttled, or other work on the machine",
                if *rises { "rise" } else { "fall" },
                p = if *p < 0.0001 { "< 0.0001".to_owned() } else { format!("= {p:.4}") }
            ),
            Warning::Autocorrelated { correlation, p } => write!(
                f,
                "blocks resemble their neighbours (rank correlation {correlation:.2}, Bartels p = {p:.4}): the interval is \
                 too narrow; look for other work on the machine that lasts for several blocks, and make blocks longer"
            ),
            Warning::Outlier { index, mads } => write!(
                f,
                "block {} is an outlier, {mads:.0} MADs from the median: see what else ran then. It counts, and makes the \
                 interval wider: do not drop it, run more blocks",
                index + 1
            ),
            Warning::Ties { tied, n } => write!(
                f,
                "{tied} of {n} values equal another: the metric is too coarse for an interval; record it in a finer unit, \
                 or measure longer slices"
            ),
        }
    }
}

/// All warnings from the values alone: drift, autocorrelation, outliers, ties. Expects finite values.
#[must_use]
pub fn inspect(values: &[f64]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let drift = drift(values);
    // A trend also correlates neighbours: one cause gives one warning.
    let resemblance = if drift.is_none() { resemblance(values) } else { None };
    warnings.extend(drift);
    warnings.extend(resemblance);
    warnings.extend(outliers(values));
    warnings.extend(ties(values));
    warnings
}

fn drift(values: &[f64]) -> Option<Warning> {
    let trend = kendall::trend(values);
    (trend.p <= DRIFT_P_MAX).then_some(Warning::Drift { rises: trend.score > 0, p: trend.p })
}

fn resemblance(values: &[f64]) -> Option<Warning> {
    let serial = serial::resemblance(values).filter(|serial| serial.p <= SERIAL_P_MAX)?;
    Some(Warning::Autocorrelated { correlation: serial.correlation, p: serial.p })
}

fn outliers(values: &[f64]) -> Vec<Warning> {
    let (Ok(median), Ok(mad)) = (summary::median(values), summary::mad(values)) else { return Vec::new() };
    // A MAD of 0 means that more than half of the values are equal: these are ties, not outliers.
    if values.len() < OUTLIER_N_MIN || mad == 0.0 {
        return Vec::new();
    }
    let distances = values.iter().map(|value| (value - median).abs() / mad).enumerate();
    distances
        .filter(|(_, mads)| *mads > OUTLIER_MADS)
        .map(|(index, mads)| Warning::Outlier { index, mads })
        .collect()
}

fn ties(values: &[f64]) -> Option<Warning> {
    let tied = kendall::tie_sizes(values).into_iter().sum();
    let share = tied as f64 / values.len() as f64;
    (tied > 0 && share >= TIES_SHARE_MIN).then_some(Warning::Ties { tied, n: values.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_sample_raises_no_doubt() {
        assert_eq!(inspect(&[1.02, 0.97, 1.05, 0.99, 1.01, 1.03, 0.98, 1.04]), []);
    }

    #[test]
    fn a_far_block_is_named() {
        let warnings = inspect(&[1.0, 1.2, 0.9, 1.1, 9.0, 0.95, 1.05, 0.8]);
        assert!(matches!(warnings[..], [Warning::Outlier { index: 4, mads }] if mads > 10.0), "{warnings:?}");
    }

    #[test]
    fn drift_is_reported_with_its_direction() {
        let rising: Vec<f64> = (0..8).map(f64::from).collect();
        let falling: Vec<f64> = rising.iter().map(|value| -value).collect();
        assert!(matches!(inspect(&rising)[..], [Warning::Drift { rises: true, .. }]));
        assert!(matches!(inspect(&falling)[..], [Warning::Drift { rises: false, .. }]));
    }

    #[test]
    fn blocks_that_come_in_waves_resemble_their_neighbours() {
        let waves: Vec<f64> = (0..24).map(|i| (f64::from(i) / 2.0).sin()).collect();
        let warnings = inspect(&waves);
        assert!(matches!(warnings[..], [Warning::Autocorrelated { correlation, .. }] if correlation > 0.7));
        let rising: Vec<f64> = (0..24).map(f64::from).collect();
        assert!(matches!(inspect(&rising)[..], [Warning::Drift { .. }]), "a trend is reported once");
    }

    #[test]
    fn equal_values_are_ties_and_not_outliers() {
        assert_eq!(inspect(&[0.0; 7]), [Warning::Ties { tied: 7, n: 7 }]);
        let warnings = inspect(&[0.0, 0.0, 0.0, 5.0, 0.0, 0.0, -0.0]);
        assert!(warnings.iter().all(|warning| matches!(warning, Warning::Ties { .. })), "{warnings:?}");
        assert_eq!(ties(&[1.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]), None, "2 of 9 is a trifle");
    }

    #[test]
    fn texts_name_the_remedy() {
        let texts = [
            (Warning::TooFewBlocks { n: 1, needed: 6 }, "1 block is too few", "larger budget"),
            (Warning::TooFewBlocks { n: 5, needed: 6 }, "5 blocks are too few", "larger budget"),
            (
                Warning::Drift { rises: true, p: 0.004 },
                "rise one after the other (Mann-Kendall p = 0.0040)",
                "warm up",
            ),
            (
                Warning::Outlier { index: 3, mads: 12.3 },
                "block 4 is an outlier, 12 MADs from the median",
                "what else ran",
            ),
            (
                Warning::Autocorrelated { correlation: 0.61, p: 0.0021 },
                "0.61, Bartels p = 0.0021",
                "blocks longer",
            ),
            (Warning::Ties { tied: 4, n: 9 }, "4 of 9 values equal another", "finer unit"),
        ];
        for (warning, what, remedy) in texts {
            let text = warning.to_string();
            assert!(text.contains(what) && text.contains(remedy), "{text}");
        }
    }
}
