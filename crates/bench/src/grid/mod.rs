//! Sequential experiments: each cell is one service, started afresh, under one load until that has ended. So
//! the published benchmarks were made, and so they are made again; what is compared in short interleaved slices is a
//! run ([`crate::run`]).
//!
//! A round measures every cell once, in random order, those of one point side by side; rounds are what is independent.

pub mod bench;
mod deadline;
mod file;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod plan;
pub mod points;
pub mod prepare;
pub mod schedule;

pub use file::{FORMAT, Grid, GridRow, LOCAL, Layout, Series, is_grid, is_series};

use crate::sample::Sample;

/// One service at one point in one round, by places in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    pub round: usize,
    pub point: usize,
    pub row: usize,
}

impl Cell {
    pub fn of(sample: &Sample) -> Cell {
        Cell { round: sample.round, point: sample.point, row: sample.row }
    }
}
