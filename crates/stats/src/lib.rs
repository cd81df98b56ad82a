//! The statistics of Tare: from samples to estimates with intervals and warnings.
//!
//! Pure mathematics without services, files, clocks or randomness: the same samples give the same result to
//! the last digit. Callers pass one value per *block*, in the order of measurement, never one per request. A
//! block is a fresh start of every service, and is the independent unit.
//!
//! One ratio, from all blocks of a run that ended by its budget:
//! - [`ratio`]: subject divided by reference, paired within the block. The start for most callers.
//! - [`summary`]: one sample by itself: median, quantiles, MAD.
//! - [`samples`]: the number of samples that a quantile needs.
//! - [`contrast`]: the method behind both: the mean of differences, Student's t, and noise shared among rows.
//! - [`two_level`]: a few starts with several slices each, and the best number of slices per start.
//! - [`neighbours`]: adjustment for the machine's state at the moment of a measurement.
//!
//! A run that is evaluated while it is in progress:
//! - [`sequential`]: planned looks that share 5%, and the interval at each; for interleaved experiments.
//!
//! A question about more than one ratio:
//! - [`ranking`]: all pairs of services, and the possible ranks of each; [`holm`] adjusts the p-values.
//! - [`simultaneous`]: many means over the same blocks, with intervals that hold together.
//! - [`equivalence`]: a gate that passes, fails, or is inconclusive.
//!
//! Runs at different times, without common blocks:
//! - [`two_sample`]: run against run, and groups of runs against each other.
//! - [`change_points`]: where a history of runs changes its level.
//!
//! One question on several machines:
//! - [`meta`]: random-effects pooling of estimates from several machines, and how much machines differ.
//!
//! A curve over numbers of threads:
//! - [`scalability`]: the universal scalability law, with intervals and its lack of fit.
//!
//! A quantity over the work done:
//! - [`growth`]: whether a quantity grows with the work, like the memory of a leaking process.
//!
//! [`warning`] lists doubts about a sample; every estimate carries its warnings.
//!
//! All but [`ratio`] and [`ranking`] take differences: [`ratio::log_ratios`] makes them from two series, and
//! `RatioEstimate::from` turns the result into a ratio.
//!
//! ```
//! // Requests per second of eight blocks: the subject and the reference slowed down together in the fourth.
//! let reference = [91.2e3, 90.7e3, 92.0e3, 60.1e3, 91.5e3, 90.9e3, 91.1e3, 91.8e3];
//! let subject = [45.1e3, 45.9e3, 45.7e3, 30.3e3, 45.2e3, 45.6e3, 45.4e3, 46.1e3];
//! let logs = tare_stats::log_ratios(&subject, &reference)?;
//! let found = tare_stats::RatioEstimate::from(tare_stats::interval(&logs, tare_stats::DEFAULT_CONFIDENCE)?);
//! assert!((found.ratio - 0.5).abs() < 0.01);
//! assert_eq!(found.holds(0.5), Some(true));
//! # Ok::<(), tare_stats::EstimateError>(())
//! ```
//!
//! A new method is a new function from differences to [`Estimate`]. `cargo run --release -p tare-stats
//! --example evidence` simulates the error rates with fixed seeds; the figures in these pages come from it.
#![warn(clippy::disallowed_macros, clippy::missing_errors_doc, unreachable_pub)]
#![deny(missing_docs)]

mod better;
pub mod change_points;
mod chi_squared;
pub mod contrast;
pub mod equivalence;
mod error;
mod estimate;
pub mod expected;
mod fisher;
mod gamma;
pub mod growth;
pub mod holm;
mod kendall;
pub mod meta;
pub mod neighbours;
mod normal;
pub mod ranking;
pub mod ratio;
pub mod samples;
pub mod scalability;
pub mod sequential;
mod serial;
pub mod simultaneous;
mod student;
pub mod summary;
pub mod two_level;
pub mod two_sample;
pub mod warning;

pub use better::Better;
pub use contrast::{Contrast, Prior, interval};
pub use error::{EstimateError, SeriesId};
pub use estimate::{Estimate, Interval};
pub use ratio::{RatioEstimate, log_ratios};
pub use sequential::Looks;
pub use summary::hodges_lehmann;
pub use warning::Warning;

/// The default confidence.
pub const DEFAULT_CONFIDENCE: f64 = 0.95;
