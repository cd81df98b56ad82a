//! Settings that every service of an experiment gets through its environment.

use serde::{Deserialize, Serialize};

/// Default number of database connections of a service.
pub const DATABASE_CONNECTIONS: u32 = 16;

/// The settings of every service in an experiment, as a run stores them.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct ServiceSettings {
    pub threads: usize,
    #[serde(default)]
    pub delay_ms: u64,
    /// Database connections of the whole service.
    #[serde(default = "usual", skip_serializing_if = "is_usual")]
    pub database_connections: u32,
    /// CPUs of the backing services; empty: those of the service.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backing_cpus: Vec<usize>,
}

impl ServiceSettings {
    /// Settings for this number of threads, without delay.
    #[must_use]
    pub fn of_threads(threads: usize) -> ServiceSettings {
        ServiceSettings {
            threads,
            delay_ms: 0,
            database_connections: DATABASE_CONNECTIONS,
            backing_cpus: Vec::new(),
        }
    }
}

const fn usual() -> u32 {
    DATABASE_CONNECTIONS
}

fn is_usual(connections: &u32) -> bool {
    *connections == DATABASE_CONNECTIONS
}
