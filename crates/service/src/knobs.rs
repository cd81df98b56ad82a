//! What every service of an experiment is given by its environment.

use serde::{Deserialize, Serialize};

/// `[service]`: the settings that every service of an experiment is started with.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Knobs {
    /// `THREADS`.
    pub threads: usize,
    /// `DELAY_MS`.
    #[serde(default)]
    pub delay_ms: u64,
}
