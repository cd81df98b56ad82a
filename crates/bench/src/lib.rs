//! Experiments: the plan, the order in time, the executor, the samples, the run folder. Measures, and says nothing about
//! what it measured: that is for the analysis.
//!
//! `experiment` is what a person writes, `plan` what will be done, whatever kind of experiment it is; `prepare` builds and
//! verifies, `schedule` orders in time (and knows no process), `executor` runs it on this machine, `record` and `sample` are
//! what is stored, `folder` where.

#![warn(clippy::disallowed_macros, clippy::missing_errors_doc, unreachable_pub)]

pub mod disturbance;
pub mod executor;
pub mod experiment;
pub mod figures;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod folder;
pub mod metric;
pub mod plan;
pub mod prepare;
pub mod record;
pub mod sample;
pub mod sample_agents;
pub mod schedule;
pub mod slo;
