//! Backing services: a database, another HTTP server. They start with each service, are frozen, thawed and
//! stopped with it, and are accounted separately.
//!
//! This module knows tables and statements, but nothing of loads or answers.

mod postgres;
mod programs;
mod stored;
mod upstream;
pub mod upstream_server;

use std::path::Path;

use serde::{Deserialize, Serialize};
use tare_host::process::{self, FreezeError, ScratchError, StartError, Supervisor, Unready};

use tare_contract::Contract;

pub use postgres::{Postgres, READY_WITHIN};
pub use programs::{PostgresPrograms, ProgramsError};
pub use upstream::Upstream;

/// The context in which a backing service is started.
#[derive(Debug, Clone, Copy)]
pub struct BackingGround<'a> {
    pub supervisor: &'a Supervisor,
    /// Folder of the output files, whose names begin with `stem`.
    pub folder: &'a Path,
    pub stem: &'a str,
    /// CPUs that it may use; empty: any.
    pub cpus: &'a [usize],
    /// Most connections of a service to the database.
    pub connections: u32,
    /// Seed of the passwords.
    pub seed: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum BackingError {
    #[error(transparent)]
    Programs(#[from] ProgramsError),
    #[error("the database: {0}")]
    Scratch(#[from] ScratchError),
    #[error("the database: {what}: {reason}")]
    Postgres { what: &'static str, reason: String },
    #[error("the service behind the gateway: {0}")]
    Upstream(String),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error("a backing service: {0}")]
    Unready(#[from] Unready),
}

/// The running backing services of a contract.
#[derive(Debug, Default)]
pub struct Backing {
    postgres: Option<Postgres>,
    upstream: Option<Upstream>,
}

/// The work of the backing services for a service since the last call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BackingCounts {
    /// The service's read-only statements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<u64>,
    /// Rows read by these statements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_read: Option<u64>,
    /// Rows written by all other statements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_written: Option<u64>,
    /// Requests to the upstream server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream_requests: Option<u64>,
}

impl std::ops::AddAssign for BackingCounts {
    fn add_assign(&mut self, other: BackingCounts) {
        let and = |sum: &mut Option<u64>, count: Option<u64>| {
            *sum = count.map_or(*sum, |count| Some(sum.unwrap_or(0) + count));
        };
        and(&mut self.reads, other.reads);
        and(&mut self.rows_read, other.rows_read);
        and(&mut self.rows_written, other.rows_written);
        and(&mut self.upstream_requests, other.upstream_requests);
    }
}

impl Backing {
    /// Starts the backing services of `contract`.
    ///
    /// # Errors
    /// A program is missing, or a backing service is not ready in time.
    pub fn start(contract: &Contract, ground: &BackingGround<'_>) -> Result<Backing, BackingError> {
        let backing = &contract.backing;
        let postgres =
            backing.postgres.as_ref().map(|tables| Postgres::start(tables, contract, ground)).transpose()?;
        let upstream = backing.upstream.as_ref().map(|table| Upstream::start(table, ground)).transpose()?;
        Ok(Backing { postgres, upstream })
    }

    /// The variables that tell a service where they are.
    pub fn variables(&self) -> Vec<(String, String)> {
        let postgres = self.postgres.iter().flat_map(Postgres::variables);
        postgres.chain(self.upstream.iter().map(Upstream::variable)).collect()
    }

    pub fn is_none(&self) -> bool {
        self.postgres.is_none() && self.upstream.is_none()
    }

    /// The database's version and the settings that Tare gave it.
    pub fn describe(&self) -> Option<String> {
        self.postgres.as_ref().map(Postgres::describe)
    }

    fn processes(&self) -> impl Iterator<Item = &process::RunningService> {
        self.postgres.iter().map(Postgres::process).chain(self.upstream.iter().map(Upstream::process))
    }

    /// # Errors
    /// The kernel refuses, or a process still runs after two seconds.
    pub fn freeze(&self) -> Result<(), FreezeError> {
        self.processes().try_for_each(process::RunningService::freeze)
    }

    /// # Errors
    /// The kernel refuses.
    pub fn thaw(&self) -> Result<(), FreezeError> {
        self.processes().try_for_each(process::RunningService::thaw)
    }

    /// CPU time so far; absent if there is no backing service, or it cannot be read.
    pub fn cpu_ns(&self) -> Option<u64> {
        let each = self.processes().map(|process| process.cpu_ns().ok().flatten());
        each.sum::<Option<u64>>().filter(|_| !self.is_none())
    }

    /// Resident memory of its processes; memory that they share counts for each.
    pub fn rss_bytes(&self) -> Option<u64> {
        (!self.is_none()).then(|| self.processes().map(process::RunningService::rss_bytes).sum())
    }

    /// Why a backing service has died; absent if none has.
    pub fn death(&self) -> Option<String> {
        let end = |process: &process::RunningService| {
            crate::drive::death(process, "while the service worked with it")
        };
        let postgres = self.postgres.as_ref().and_then(|postgres| end(postgres.process()));
        let upstream = self.upstream.as_ref().and_then(|upstream| end(upstream.process()));
        postgres
            .map(|why| format!("the database: {why}"))
            .or(upstream.map(|why| format!("the upstream server: {why}")))
    }

    /// The service's statements and requests since the last call. It must not be frozen.
    ///
    /// # Errors
    /// A backing service does not answer.
    pub fn take_counts(&mut self) -> Result<BackingCounts, BackingError> {
        let mut counts = self.postgres.as_mut().map(Postgres::take_counts).transpose()?.unwrap_or_default();
        counts.upstream_requests = self.upstream.as_mut().map(Upstream::take_count).transpose()?;
        Ok(counts)
    }

    /// The numbers in a column, by the key of the row. It must not be frozen.
    ///
    /// # Errors
    /// There is no database, or it does not answer.
    pub fn column(
        &mut self,
        table: &str,
        key: &str,
        column: &str,
    ) -> Result<std::collections::BTreeMap<String, u64>, BackingError> {
        match &mut self.postgres {
            Some(postgres) => postgres.column(table, key, column),
            None => Err(BackingError::Postgres { what: "reading back", reason: "there is none".to_owned() }),
        }
    }
}
