//! Experiments: the plan, the order in time, the executor, the samples, the run folder. Measures, and says nothing about what
//! it measured: that is for the analysis.

pub mod experiment;
pub mod figures;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod grid;
pub mod metric;
pub mod run;
pub mod sample;
pub mod slo;
