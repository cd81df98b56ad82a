//! The rate of an open loop, in a file and in a plan.

use serde::{Deserialize, Serialize};

/// The rate of an open loop.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rate {
    PerSecond(f64),
    /// A share of the service's rate in the closed loop of the same block.
    OfCapacity(f64),
    /// Set by a search, see [`crate::slo`]; experiment files do not have it.
    Searched,
}

impl Rate {
    /// For a table head and a file name: `5000/s`, `80%`.
    pub fn label(&self) -> String {
        match self {
            Rate::PerSecond(rate) => format!("{rate}/s"),
            Rate::OfCapacity(share) => format!("{}%", share * 100.0),
            Rate::Searched => "searched".to_owned(),
        }
    }

    pub(crate) fn number(&self) -> String {
        match self {
            Rate::PerSecond(rate) => rate.to_string(),
            other => other.label(),
        }
    }

    /// Requests per second for a service of this capacity.
    pub fn per_second(&self, capacity_per_second: f64) -> f64 {
        match self {
            Rate::PerSecond(rate) => *rate,
            Rate::OfCapacity(share) => share * capacity_per_second,
            Rate::Searched => capacity_per_second,
        }
    }
}
