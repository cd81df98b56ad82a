//! What a reader must know to believe a figure: found by thresholds, carried as data, and put into words in one place
//! ([`words`]). Nothing reads those words: code that needs to know what was found matches on the type.

pub mod detect;
mod issues;
mod words;

use std::fmt;

use serde::{Serialize, Serializer};

pub(crate) use words::classes;

pub use issues::{KeptProcesses, NoBlock, PilotLoad, RowIssue, RunIssue, RunningRow, SlowLink};

/// Something that was found, and what it is about. As text it is its sentence; [`Finding::scoped`] begins with its scope.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub scope: Scope,
    pub issue: Issue,
}

/// What a finding is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    Run,
    Row(String),
    /// One row under one load.
    Cell {
        row: String,
        load: String,
    },
    /// Two rows that are compared.
    Pair(String, String),
}

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Severity {
    /// How the figures were made.
    Note,
    /// A figure that stands, and may mislead.
    Warning,
    /// There is no valid figure because of it.
    Invalid,
}

/// What was found: of what was measured of a row, or of the run as a whole.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Issue {
    Row(RowIssue),
    Run(RunIssue),
}

impl Finding {
    pub(crate) fn of_run(issue: RunIssue) -> Finding {
        Finding { scope: Scope::Run, issue: Issue::Run(issue) }
    }

    pub fn of_row(row: &str, issue: RowIssue) -> Finding {
        Finding { scope: Scope::Row(row.to_owned()), issue: Issue::Row(issue) }
    }

    /// The stable name: for programs, and for a table in which it stands in place of a figure.
    pub fn code(&self) -> &'static str {
        match &self.issue {
            Issue::Row(issue) => issue.code(),
            Issue::Run(issue) => issue.code(),
        }
    }

    pub(crate) fn severity(&self) -> Severity {
        match &self.issue {
            Issue::Row(issue) => issue.severity(),
            Issue::Run(issue) => issue.severity(),
        }
    }

    /// The sentence, with what it is about before it if that is not the whole run.
    pub fn scoped(&self) -> String {
        format!("{}{}", words::prefix(&self.scope), self.issue)
    }

    /// The issue, if it is about a row.
    pub(crate) fn row_issue(&self) -> Option<&RowIssue> {
        match &self.issue {
            Issue::Row(issue) => Some(issue),
            Issue::Run(_) => None,
        }
    }

    /// The issue, if it is about the run.
    pub fn run_issue(&self) -> Option<&RunIssue> {
        match &self.issue {
            Issue::Run(issue) => Some(issue),
            Issue::Row(_) => None,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.issue.fmt(f)
    }
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Issue::Row(issue) => issue.fmt(f),
            Issue::Run(issue) => issue.fmt(f),
        }
    }
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Written<'a> {
            #[serde(flatten)]
            issue: &'a Issue,
            scope: &'a Scope,
            severity: Severity,
            text: String,
        }
        let text = self.to_string();
        Written { issue: &self.issue, scope: &self.scope, severity: self.severity(), text }
            .serialize(serializer)
    }
}

#[cfg(test)]
mod tests;
