//! A document: sections with a table each, and a chart that is a view of that table. It is data, versioned, and the same for
//! all kinds of runs, so that whoever writes it down as a page, as Markdown or for a notebook knows nothing of runs.

mod chart;
mod table;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use chart::{Chart, Scale, Shape};
pub(crate) use table::LAST;
pub use table::{ALWAYS, Column, Extra, Rank, Table, Unit, Value};
pub use tare_analysis::{
    checks::Check,
    status::Status,
    verdict::{Tone, Verdict},
};

/// The version of the JSON that a document is written as: `major.minor`. Its schema is in `schema/document.schema.json`.
pub const FORMAT: &str = "1.2";

/// What a reader is shown of one run, or of several.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Document {
    pub format: &'static str,
    pub kind: Kind,
    pub title: String,
    pub question: String,
    /// What came out, in a sentence.
    pub answer: String,
    /// When the run began, RFC 3339, UTC.
    pub began: String,
    /// How far it came.
    pub status: Status,
    /// What could not be read of its folder, a sentence each. All else is shown.
    pub damage: Vec<String>,
    /// What makes all of its figures doubtful, a sentence each: it is said before any of them.
    pub cautions: Vec<String>,
    /// What a reader must know to believe it, a sentence each.
    pub notes: Vec<String>,
    /// Label and text, for the head of the page: load, machine, seed, the command that reproduces it.
    pub facts: Vec<Fact>,
    /// What a gate asks of the run, and what came out; empty where nothing was asked.
    pub checks: Vec<Check>,
    /// In the order of reading; the first one has the main table.
    pub sections: Vec<Section>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Slices in blocks, related to a reference.
    Interleaved,
    /// A published experiment, beside what it published.
    Sequential,
    /// A search for capacity under an SLO.
    Capacity,
    /// A against B within one run.
    Comparison,
    /// Run against run, or a history of runs.
    History,
    /// What was published by others, held against arithmetic.
    Audit,
    /// One experiment on several machines, pooled.
    Machines,
}

impl Kind {
    pub fn text(self) -> &'static str {
        match self {
            Kind::Interleaved => "interleaved experiment",
            Kind::Sequential => "published experiment",
            Kind::Capacity => "capacity under an SLO",
            Kind::Comparison => "comparison",
            Kind::History => "history",
            Kind::Audit => "audit",
            Kind::Machines => "over machines",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// Such as `Machine`.
    pub label: String,
    /// Such as `2 CPUs (AMD EPYC)`.
    pub text: String,
    /// It is a command or a hash: shown in a fixed width, and easily copied.
    pub code: bool,
    /// It is part of the short form.
    #[serde(skip)]
    pub brief: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Section {
    /// Stable and unique, such as `ranks`: an anchor of the page, a file name of CSV.
    pub id: String,
    pub title: String,
    /// What is shown and how to read it, in a sentence or two.
    pub lead: String,
    /// A sentence each.
    pub notes: Vec<String>,
    /// Views of the table: absent if figures say enough.
    pub charts: Vec<Chart>,
    /// Absent if the run kept nothing of the kind: then a note says why.
    pub table: Option<Table>,
    /// Notes that tell of what cannot be read of the folder.
    #[serde(skip)]
    pub damage: Vec<String>,
    /// It is part of the short form, as the first section is.
    #[serde(skip)]
    pub brief: bool,
}

impl Section {
    pub(crate) fn new(id: &str, title: &str, lead: &str, table: Table) -> Section {
        Section { table: Some(table), ..Section::without(id, title, lead) }
    }

    /// A section without a table; a note should say why.
    pub(crate) fn without(id: &str, title: &str, lead: &str) -> Section {
        let [id, title, lead] = [id, title, lead].map(str::to_owned);
        Section { id, title, lead, ..Section::default() }
    }

    pub(crate) fn brief(self) -> Section {
        Section { brief: true, ..self }
    }

    pub(crate) fn note(mut self, note: impl Into<String>) -> Section {
        self.notes.push(note.into());
        self
    }

    pub(crate) fn chart(mut self, chart: Chart) -> Section {
        self.charts.push(chart);
        self
    }
}

impl Fact {
    pub(crate) fn new(label: &str, text: impl Into<String>) -> Fact {
        Fact { label: label.to_owned(), text: text.into(), code: false, brief: false }
    }

    pub(crate) fn code(label: &str, text: impl Into<String>) -> Fact {
        Fact { code: true, ..Fact::new(label, text) }
    }

    pub(crate) fn brief(self) -> Fact {
        Fact { brief: true, ..self }
    }
}
