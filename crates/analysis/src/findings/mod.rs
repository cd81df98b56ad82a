//! Findings that a reader needs in order to trust a figure. They are detected by thresholds, stored as data,
//! and worded in one place ([`words`]). Code matches on the type and never reads the words.

pub mod detect;
mod issues;
mod words;

use std::fmt;

use serde::{Serialize, Serializer};

pub(crate) use words::classes;

pub use issues::{KeptProcesses, NoBlock, PilotLoad, RowIssue, RunIssue, RunningRow, SlowLink};

/// A finding and its scope. Its text is a sentence; [`Finding::scoped`] begins with the scope.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub scope: Scope,
    pub issue: Issue,
}

/// The scope of a finding.
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
    /// Two compared rows.
    Pair(String, String),
}

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Severity {
    /// How the figures were obtained.
    Note,
    /// The figure is valid but may mislead.
    Warning,
    /// The figure is invalid.
    Invalid,
}

/// The issue of a row, or of the whole run.
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

    /// The stable code, for programs and for table cells without a figure.
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

    /// The sentence, preceded by its scope unless that is the whole run.
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
            #[serde(skip_serializing_if = "Option::is_none")]
            remedy: Option<&'static str>,
        }
        let (severity, text, remedy) = (self.severity(), self.to_string(), self.remedy());
        Written { issue: &self.issue, scope: &self.scope, severity, text, remedy }.serialize(serializer)
    }
}

#[cfg(test)]
mod tests;
