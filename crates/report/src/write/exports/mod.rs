//! The figures of a run in the formats of other tools. A format decides how a measure is written; which measures there are, and
//! which values are valid, is decided in [`crate::exports`].

pub mod bencher;
#[cfg(test)]
mod fixture;
pub mod github;
pub mod go_bench;
pub mod openmetrics;
pub mod otava;

/// A number that people read beside another: six digits.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    rounded.to_string()
}
