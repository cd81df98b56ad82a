//! The statistics of Tare: samples in; estimates with intervals, and warnings about them, out.
//!
//! Pure mathematics. This crate does not know what a service, a block's content, a file or a clock is, and makes no
//! random numbers: the same samples give the same result to the last digit. Callers hand over one value per *block*
//! (the unit that is independent: a fresh start of every service), in the order in which the blocks were measured, and
//! never one value per request.
//!
//! - [`ratio`]: how many times the subject is the pivot, paired within the block. The start for most callers.
//! - [`summary`]: one sample by itself: median, quantiles, MAD, geometric mean, a level with its interval.
//! - [`signed_rank`]: the method under both: Hodges-Lehmann estimate, signed-rank interval, exact null distribution.
//! - [`warning`]: what is doubtful about a sample; every estimate carries its warnings.
//!
//! Seams for what is not here yet: [`signed_rank::NullDistribution`] is the null distribution that a group-sequential
//! test needs; [`signed_rank::Method`] tells the reader which assumption stands behind an interval; a further method is
//! a further function from differences to [`Estimate`].
#![deny(missing_docs)]

mod error;
mod kendall;
mod normal;
pub mod ratio;
pub mod signed_rank;
pub mod summary;
pub mod warning;

pub use error::{EstimateError, Series};
pub use ratio::{RatioEstimate, paired_log_ratio, paired_log_ratio_at};
pub use signed_rank::{Estimate, Interval, hodges_lehmann, interval};
pub use warning::Warning;

/// The confidence used where the caller names none.
pub const DEFAULT_CONFIDENCE: f64 = 0.95;
