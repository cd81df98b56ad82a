//! Experiments: the plan, the order in time, the executor, the samples, the run folder. This crate measures;
//! `tare-analysis` interprets.
//!
//! `experiment` is the file that a user writes, and `plan` is the list of work derived from it. `prepare`
//! builds and verifies services, `schedule` orders the work in time without knowledge of processes, and
//! `executor` runs it on this machine. `record` and `sample` are what a run stores, and `folder` is where.

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
