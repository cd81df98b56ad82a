//! The possible columns of a table.

use serde::Deserialize;

/// A column of a table, with a value per scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Column {
    Makespan,
    Useful,
    Holding,
    Wasted,
    Idle,
    Dollars,
    Attempts,
    Lost,
    Copies,
    Duplicates,
    Missing,
    Refused,
    Placing,
    Link,
    Checks,
    ChecksWaiting,
    ChecksWait,
}

impl Column {
    pub(crate) fn head(self) -> &'static str {
        match self {
            Column::Makespan => "until all jobs are done",
            Column::Useful => "machine time that is useful",
            Column::Holding => "holding a bundle",
            Column::Wasted => "wasted",
            Column::Idle => "idle",
            Column::Dollars => "cost",
            Column::Attempts => "attempts",
            Column::Lost => "lost attempts",
            Column::Copies => "copies",
            Column::Duplicates => "second bundles refused",
            Column::Missing => "jobs missing",
            Column::Refused => "refused pushes",
            Column::Placing => "engine busy",
            Column::Link => "collector's link busy",
            Column::Checks => "checkers busy",
            Column::ChecksWaiting => "most bundles waiting",
            Column::ChecksWait => "wait for a check (p99)",
        }
    }
}
