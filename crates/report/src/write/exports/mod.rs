//! Formats of other tools for the figures of a run. A format decides how a measure is written;
//! [`crate::exports`] decides which measures and values are valid.

pub mod bencher;
#[cfg(test)]
mod fixture;
pub mod github;
pub mod go_bench;
pub mod openmetrics;
pub mod otava;

/// A number for people, with six digits.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    rounded.to_string()
}
