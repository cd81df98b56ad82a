//! Capacity under an SLO: the highest rate that a service holds, such as "p99 within 10 ms".
//!
//! An [`Slo`] says of every request whether it is good; a window of open-loop load at a rate is a number of requests and of
//! bad ones. [`search`] says which rate to try next and, in the end, which one is the highest that holds; it knows numbers
//! only. [`crate::schedule::searches`] puts a search behind each row of each block of an ordinary run, so that a fresh start is one search
//! and the unit that statistics count. Nothing here starts or loads a service.

mod isotonic;
pub mod objective;
pub mod search;

pub use objective::Slo;
pub use search::{Found, Search};

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SloPlan {
    pub slo: Slo,
    /// Windows of a search that count; as many again may be discarded.
    pub windows: usize,
    /// Windows that a search takes, the discarded ones among them, by what stored searches on a machine like this took; absent if
    /// none is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub windows_expected: Option<usize>,
    /// A window with more schedule lag (its 99th percentile) is discarded.
    pub lag_ns_max: u64,
    /// The rate that every row must hold; absent if only the highest is looked for.
    pub at_least: Option<f64>,
}

impl SloPlan {
    /// How many windows a search is expected to take.
    pub fn windows_expected(&self) -> usize {
        self.windows_expected.unwrap_or(self.windows)
    }
}

#[cfg(test)]
mod tests;
