//! Experiments that are grids of cells: each cell is one service, started afresh, under one load until that has ended. So
//! the published benchmarks were made, and so they are made again; what is compared in short interleaved slices is a
//! campaign ([`crate::run`]).
//!
//! A round measures every cell once, in random order, those of one point side by side; rounds are what is independent.

pub mod bench;
pub mod conduct;
mod deadline;
mod file;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
mod measure;
pub mod plan;
pub mod prepare;
pub mod record;

pub use file::{FORMAT, Grid, GridRow, LOCAL, Layout, Series, is_grid, is_series};
