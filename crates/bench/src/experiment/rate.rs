//! The rate of an open loop, as a file gives it and as a plan has it.

use serde::{Deserialize, Serialize};

/// The rate of an open loop.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rate {
    PerSecond(f64),
    /// So much of what the service answered in the closed loop of the same block.
    OfCapacity(f64),
    /// A search sets it, see [`crate::slo`]; no experiment file has it.
    Searched,
}

impl Rate {
    /// For a head and a file name: `5000/s`, `80%`.
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

    /// Requests a second for a service of this capacity.
    pub fn per_second(&self, capacity_per_second: f64) -> f64 {
        match self {
            Rate::PerSecond(rate) => *rate,
            Rate::OfCapacity(share) => share * capacity_per_second,
            Rate::Searched => capacity_per_second,
        }
    }
}
