//! The backing services of a contract, from the file to valid values: a database with these tables, and an
//! upstream HTTP server.

use std::collections::BTreeMap;

use toml::Spanned;

use super::error::{Lowered, Problem};
use super::file::{BackingFile, PostgresFile, StatementsFile, UpstreamFile};
use super::placeholder::{DataTable, Tables};
use super::row_set::table;

/// The backing services that a contract needs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BackingNeeds {
    pub postgres: Option<PostgresTables>,
    pub upstream: Option<UpstreamTable>,
}

/// The tables of a database.
#[derive(Debug, Clone, PartialEq)]
pub struct PostgresTables {
    /// For each table of the contract, its columns in SQL.
    pub columns: BTreeMap<String, String>,
    /// Statements executed after the rows are inserted.
    pub after: Vec<String>,
}

/// An upstream HTTP server, which answers `GET /TABLE/KEY` with the row of this key.
#[derive(Debug, Clone, PartialEq)]
pub struct UpstreamTable {
    pub delay_ms: u32,
    pub table: DataTable,
}

/// The database work of one answer, if the contract states it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statements {
    /// Read-only statements.
    pub reads: Option<u32>,
    /// Rows read by these statements.
    pub rows_read: Option<u32>,
    /// Rows written, by any number of statements.
    pub rows_written: Option<u32>,
}

impl From<StatementsFile> for Statements {
    fn from(file: StatementsFile) -> Statements {
        let StatementsFile { reads, rows_read, rows_written } = file;
        Statements { reads, rows_read, rows_written }
    }
}

impl UpstreamTable {
    /// The index of the key column.
    pub fn key(&self) -> usize {
        self.table.key().unwrap_or(0)
    }
}

impl BackingNeeds {
    /// Whether no backing service is needed.
    pub fn is_none(&self) -> bool {
        self.postgres.is_none() && self.upstream.is_none()
    }

    /// Whether this table is in the database or the upstream server, not in a file for the service.
    pub(super) fn holds(&self, table: &str) -> bool {
        let in_postgres = self.postgres.as_ref().is_some_and(|postgres| postgres.columns.contains_key(table));
        in_postgres || self.upstream.as_ref().is_some_and(|upstream| upstream.table.name() == table)
    }

    /// Uses the current rows of its tables.
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
