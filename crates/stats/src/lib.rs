//! The statistics of Tare: samples in; estimates with intervals, and warnings about them, out.
//!
//! Pure mathematics. This crate does not know what a service, a block's content, a file or a clock is, and makes no
//! random numbers: the same samples give the same result to the last digit. Callers hand over one value per *block*
//! (the unit that is independent: a fresh start of every service), in the order in which the blocks were measured, and
//! never one value per request.
//!
//! One ratio, from all blocks of a run that ended by its budget:
//! - [`ratio`]: how many times the subject is the reference, paired within the block. The start for most callers.
//! - [`summary`]: one sample by itself: median, quantiles, MAD.
//! - [`samples`]: how many samples a quantile takes.
//! - [`contrast`]: the method under both: the mean of the differences, Student's t, and what the other rows of a run say about
//!   its noise.
//! - [`two_level`]: a few starts with several slices each, and how many slices a start should have.
//! - [`neighbours`]: what the moment of a measurement did to it, where many series are measured in turns.
//!
//! A run that is evaluated while it is in progress:
//! - [`sequential`]: planned looks with 5% over all of them, and the interval to show at each. The rule for interleaved experiments.
//!
//! A question about more than one ratio:
//! - [`ranking`]: all pairs of many services, and the ranks that each may have; [`holm`] is the adjustment under it.
//! - [`equivalence`]: a gate that passes, fails or says that it cannot tell.
//!
//! Runs of different times, which have no block in common:
//! - [`two_sample`]: run against run, and some runs against some others.
//! - [`change_points`]: where a history of runs changed its level.
//!
//! One question on several machines:
//! - [`meta`]: estimates of several machines pooled by random effects, and how much machines differ.
//!
//! A curve over numbers of threads:
//! - [`scalability`]: the universal scalability law, with intervals and its misfit.
//!
//! A course over the work that is done:
//! - [`growth`]: whether a quantity only grows with it, as the memory of a process that leaks.
//!
//! And [`warning`]: what is doubtful about a sample; every estimate carries its warnings.
//!
//! All but [`ratio`] and [`ranking`] take differences: [`ratio::log_ratios`] makes them of two series, and
//! `RatioEstimate::from` makes a ratio of the estimate that comes back.
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
//! A further method is a further function from differences to [`Estimate`]. How often each method errs is simulated by
//! `cargo run --release -p tare-stats --example evidence`, with fixed seeds; the figures in these pages are its.
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
mod student;
pub mod summary;
pub mod two_level;
pub mod two_sample;
pub mod warning;

pub use better::Better;
pub use contrast::{Contrast, Prior, interval};
pub use error::{EstimateError, Series};
pub use estimate::{Estimate, Interval};
pub use ratio::{RatioEstimate, log_ratios};
pub use sequential::Looks;
pub use summary::hodges_lehmann;
pub use warning::Warning;

/// The confidence used where the caller names none.
pub const DEFAULT_CONFIDENCE: f64 = 0.95;
