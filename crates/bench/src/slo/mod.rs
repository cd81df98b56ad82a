//! Capacity under an SLO: the highest rate at which a service meets it, such as "p99 within 10 ms".
//!
//! An [`Slo`] classifies requests as good or bad, and a window of open-loop load counts both. [`search`]
//! picks the next rate and finally the highest that holds; it works on numbers only.
//! [`crate::schedule::searches`] attaches a search to each row of each block of an ordinary run. So a fresh
//! start is one search, and the unit of the statistics. Nothing here starts or loads a service.

mod isotonic;
pub mod objective;
pub mod search;

pub use objective::Slo;
pub use search::{FoundRate, Search};

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SloPlan {
    pub slo: Slo,
    /// Counted windows of a search; as many may be discarded in addition.
    pub windows: usize,
    /// Expected windows of a search, including discarded ones; absent without stored searches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub windows_expected: Option<usize>,
    /// A window is discarded if its p99 schedule lag exceeds this.
    pub lag_ns_max: u64,
    /// The rate that every row must hold; absent if only the highest is wanted.
    pub at_least: Option<f64>,
}

impl SloPlan {
    /// Expected number of windows of a search.
    pub fn windows_expected(&self) -> usize {
        self.windows_expected.unwrap_or(self.windows)
    }
}

#[cfg(test)]
mod tests;
