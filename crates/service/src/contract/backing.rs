//! What a service works with under a contract: a database with these tables, another HTTP server behind it. From the file as it is
//! written to values that make sense.

use std::collections::BTreeMap;

use toml::Spanned;

use super::error::{Lowered, Problem};
use super::file::{BackingFile, PostgresFile, StatementsFile, UpstreamFile};
use super::placeholder::{Table, Tables};
use super::row_set::table;

/// What a service works with.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BackingNeeds {
    pub postgres: Option<PostgresTables>,
    pub upstream: Option<UpstreamTable>,
}

/// The tables of a database.
#[derive(Debug, Clone, PartialEq)]
pub struct PostgresTables {
    /// Names of the contract's tables, each with its columns in SQL.
    pub columns: BTreeMap<String, String>,
    /// Statements that are executed once the rows are there.
    pub after: Vec<String>,
}

/// Another HTTP server, which answers `GET /TABLE/KEY` by the row with this key.
#[derive(Debug, Clone, PartialEq)]
pub struct UpstreamTable {
    pub delay_ms: u32,
    pub table: Table,
}

/// What an answer takes of a database, if the contract says it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statements {
    /// Statements that read and write nothing.
    pub reads: Option<u32>,
    /// Rows that those read.
    pub rows_read: Option<u32>,
    /// Rows that other statements write, however many statements these are.
    pub rows_written: Option<u32>,
}

impl From<StatementsFile> for Statements {
    fn from(file: StatementsFile) -> Statements {
        let StatementsFile { reads, rows_read, rows_written } = file;
        Statements { reads, rows_read, rows_written }
    }
}

impl UpstreamTable {
    /// The column of the key.
    pub(crate) fn key(&self) -> usize {
        self.table.key().unwrap_or(0)
    }
}

impl BackingNeeds {
    /// Whether a service works with nothing.
    pub fn is_none(&self) -> bool {
        self.postgres.is_none() && self.upstream.is_none()
    }

    /// Whether this table is in the database or behind the service, and not given to it as a file.
    pub(super) fn holds(&self, table: &str) -> bool {
        let in_postgres = self.postgres.as_ref().is_some_and(|postgres| postgres.columns.contains_key(table));
        in_postgres || self.upstream.as_ref().is_some_and(|upstream| upstream.table.name() == table)
    }

    /// With the rows that its tables have by now.
    pub(super) fn enter_tables(&mut self, tables: &Tables) {
        if let Some(upstream) = &mut self.upstream
            && let Some(table) = tables.get(upstream.table.name())
        {
            upstream.table = table.clone();
        }
    }
}

pub(super) fn backing(file: &BackingFile, tables: &Tables) -> Lowered<BackingNeeds> {
    let postgres = file.postgres.as_ref().map(|file| postgres(file, tables)).transpose()?;
    let upstream = file.upstream.as_ref().map(|file| upstream(file, tables)).transpose()?;
    Ok(BackingNeeds { postgres, upstream })
}

fn postgres(file: &PostgresFile, tables: &Tables) -> Lowered<PostgresTables> {
    file.tables.keys().try_for_each(|name| table(name, tables).map(|_| ()))?;
    let columns = file.tables.iter().map(|(name, columns)| (name.get_ref().clone(), columns.clone()));
    Ok(PostgresTables { columns: columns.collect(), after: file.after.clone() })
}

fn upstream(file: &Spanned<UpstreamFile>, tables: &Tables) -> Lowered<UpstreamTable> {
    let UpstreamFile { delay_ms, table: name } = file.get_ref();
    let table = table(name, tables)?;
    let named = || name.get_ref().clone();
    if table.key().is_none() {
        return Err((name.span().start, Problem::TableWithoutKey { name: named() }));
    }
    if table.json().is_none() {
        return Err((name.span().start, Problem::RowIsNoObject { name: named() }));
    }
    Ok(UpstreamTable { delay_ms: *delay_ms, table })
}

#[cfg(test)]
mod tests;
