//! What every service of an experiment is given by its environment.

use serde::{Deserialize, Serialize};

/// Connections to a database that a service may have, unless an experiment says otherwise.
pub const DATABASE_CONNECTIONS: u32 = 16;

/// The settings that every service of an experiment is started with, as a run keeps them.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct ServiceSettings {
    pub threads: usize,
    #[serde(default)]
    pub delay_ms: u64,
    /// To a database, for the whole service.
    #[serde(default = "usual", skip_serializing_if = "is_usual")]
    pub database_connections: u32,
    /// CPUs of what services work with; empty: those of the service.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backing_cpus: Vec<usize>,
}

impl ServiceSettings {
    /// For this many requests at once, without delay.
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
