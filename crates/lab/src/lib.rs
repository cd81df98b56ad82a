//! All of Tare that knows files and processes: what there is to weigh, how it is built, proved, started, loaded,
//! recorded and reported.
#![deny(missing_docs)]

pub mod aspects;
pub mod build;
pub mod catalogue;
pub mod comparison;
pub mod contract;
pub mod crosscheck;
pub mod document;
pub mod endure;
pub mod experiment;
pub mod figures;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod grid;
pub mod judge;
pub mod link;
pub mod machine;
pub mod pivot;
pub mod process;
pub mod published;
pub mod recompute;
pub mod replay;
pub mod report;
pub mod revisions;
pub mod run;
pub mod selftest;
pub mod slo;
pub mod verify;
