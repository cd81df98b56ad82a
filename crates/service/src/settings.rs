//! What every service of an experiment is given by its environment.

use serde::{Deserialize, Serialize};

/// The settings that every service of an experiment is started with, as a run keeps them.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct ServiceSettings {
    pub threads: usize,
    #[serde(default)]
    pub delay_ms: u64,
}
