//! What a service works with while it runs: a database, another HTTP server. Started for each start of a service, frozen and thawed
//! with it, accounted apart, and gone with it.
//!
//! It knows tables and statements, and nothing of loads or answers.

mod postgres;
mod programs;
mod stored;
mod upstream;
pub mod upstream_server;

use std::path::Path;

use serde::{Deserialize, Serialize};
use tare_host::process::{self, FreezeError, ScratchError, StartError, Supervisor, Unready};

use crate::contract::Contract;

pub use postgres::{Postgres, READY_WITHIN};
pub use programs::{PostgresPrograms, ProgramsError};
pub use upstream::Upstream;

/// How a backing service is started.
#[derive(Debug, Clone, Copy)]
pub struct BackingGround<'a> {
    pub supervisor: &'a Supervisor,
    /// Where output goes, in files whose names begin with this.
    pub folder: &'a Path,
    pub stem: &'a str,
    /// CPUs that it may use; empty: any.
    pub cpus: &'a [usize],
    /// Connections that a service may have.
    pub connections: u32,
    /// Determines passwords.
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

/// What a service works with under its contract, running.
#[derive(Debug, Default)]
pub struct Backing {
    postgres: Option<Postgres>,
    upstream: Option<Upstream>,
}

/// What backing services did for a service since the last time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BackingCounts {
    /// Statements of the service that read and wrote nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<u64>,
    /// Rows that those read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_read: Option<u64>,
    /// Rows that other statements wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_written: Option<u64>,
    /// Requests to the server behind it.
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
    /// Starts what `contract` says.
    ///
    /// # Errors
    /// A program is missing, or what was started is not ready in time.
    pub fn start(contract: &Contract, ground: &BackingGround<'_>) -> Result<Backing, BackingError> {
        let backing = &contract.backing;
        let postgres =
            backing.postgres.as_ref().map(|tables| Postgres::start(tables, contract, ground)).transpose()?;
        let upstream = backing.upstream.as_ref().map(|table| Upstream::start(table, ground)).transpose()?;
        Ok(Backing { postgres, upstream })
    }

    /// The variables by which a service finds it.
    pub fn variables(&self) -> Vec<(String, String)> {
        let postgres = self.postgres.iter().flat_map(Postgres::variables);
        postgres.chain(self.upstream.iter().map(Upstream::variable)).collect()
    }

    pub fn is_none(&self) -> bool {
        self.postgres.is_none() && self.upstream.is_none()
    }

    /// What the database says of itself: its version and the settings that Tare gave it.
    pub fn describe(&self) -> Option<String> {
        self.postgres.as_ref().map(Postgres::describe)
    }

    fn processes(&self) -> impl Iterator<Item = &process::Service> {
        self.postgres.iter().map(Postgres::process).chain(self.upstream.iter().map(Upstream::process))
    }

    /// # Errors
    /// The kernel refuses, or one still runs after two seconds.
    pub fn freeze(&self) -> Result<(), FreezeError> {
        self.processes().try_for_each(process::Service::freeze)
    }

    /// # Errors
    /// The kernel refuses.
    pub fn thaw(&self) -> Result<(), FreezeError> {
        self.processes().try_for_each(process::Service::thaw)
    }

    /// CPU time so far; absent if there is nothing, or it cannot be read.
    pub fn cpu_ns(&self) -> Option<u64> {
        let each = self.processes().map(|process| process.cpu_ns().ok().flatten());
        each.sum::<Option<u64>>().filter(|_| !self.is_none())
    }

    /// Resident memory of its processes, which share some of it.
    pub fn rss_bytes(&self) -> Option<u64> {
        (!self.is_none()).then(|| self.processes().map(process::Service::rss_bytes).sum())
    }

    /// Why one of them is gone, if it is.
    pub fn death(&self) -> Option<String> {
        let end =
            |process: &process::Service| crate::drive::death(process, "while the service worked with it");
        let postgres = self.postgres.as_ref().and_then(|postgres| end(postgres.process()));
        let upstream = self.upstream.as_ref().and_then(|upstream| end(upstream.process()));
        postgres
            .map(|why| format!("the database: {why}"))
            .or(upstream.map(|why| format!("the upstream server: {why}")))
    }

    /// What the service asked of it since the last time. It must not be frozen.
    ///
    /// # Errors
    /// It does not answer.
    pub fn take_counts(&mut self) -> Result<BackingCounts, BackingError> {
        let mut counts = self.postgres.as_mut().map(Postgres::take_counts).transpose()?.unwrap_or_default();
        counts.upstream_requests = self.upstream.as_mut().map(Upstream::take_count).transpose()?;
        Ok(counts)
    }

    /// Numbers of a column by the key of the row. It must not be frozen.
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
