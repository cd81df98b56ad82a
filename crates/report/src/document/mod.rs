//! A document: sections with a table each, and charts that are views of that table. It is versioned data with
//! one structure for all kinds of runs. So writers of pages, Markdown or Parquet know nothing about runs.

mod chart;
mod table;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use chart::{Chart, Scale, Shape};
pub use table::LAST;
pub use table::{ALWAYS, Column, Extra, Rank, Sentences, Table, Unit, Value};
use tare_analysis::checks;
pub use tare_analysis::{
    checks::Check,
    status::Status,
    verdict::{Tone, Verdict},
};

/// The version of the JSON that a document is written as: `major.minor`. Its schema is in `schema/document.schema.json`.
pub const FORMAT: &str = "1.4";

/// What a reader takes in at a glance.
pub const ANSWER_WORDS_MAX: usize = 18;

/// The report of one run, or of several.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Document {
    pub format: &'static str,
    pub kind: Kind,
    pub title: String,
    pub question: String,
    /// The result, in a sentence of at most [`ANSWER_WORDS_MAX`] words.
    pub answer: String,
    /// What the answer rests on: intervals, and figures of others, in a sentence or two.
    pub basis: String,
    /// When the run began, RFC 3339, UTC.
    pub began: String,
    /// The progress of the run.
    pub status: Status,
    /// Parts of its folder that could not be read, a sentence each. All else is shown.
    pub damage: Vec<String>,
    /// Reasons to distrust all of its figures, a sentence each. They precede any figure.
    pub cautions: Vec<String>,
    /// Facts that are needed to interpret it, a sentence each.
    pub notes: Vec<String>,
    /// Label and text for the head of the page: load, machine, seed, the command that reproduces it.
    pub facts: Vec<Fact>,
    /// The checks of a gate with their results; empty if nothing was checked.
    pub checks: Vec<Check>,
    /// The sections in reading order; the first one has the main table.
    pub sections: Vec<Section>,
}

impl Document {
    /// The answer with its basis, for forms in which both are one paragraph.
    pub fn whole_answer(&self) -> String {
        [self.answer.as_str(), self.basis.as_str()].join(" ").trim().to_owned()
    }

    /// The verdict of the run: its word, its colour and the exit status of every command that prints it.
    pub fn verdict(&self) -> Verdict {
        checks::verdict(&self.checks)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Slices in blocks, related to a reference.
    Interleaved,
    /// A published experiment, compared with its published figures.
    Sequential,
    /// A search for capacity under an SLO.
    Capacity,
    /// A against B within one run.
    Comparison,
    /// Run against run, or a history of runs.
    History,
    /// Published figures of others, checked by arithmetic.
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
    /// The label, such as `Machine`.
    pub label: String,
    /// The text, such as `2 CPUs (AMD EPYC)`.
    pub text: String,
    /// Whether it is a command or a hash: shown in a fixed-width font, and easily copied.
    pub code: bool,
    /// Whether it is part of the short form.
    #[serde(skip)]
    pub brief: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Section {
    /// A stable and unique id, such as `ranks`: an anchor of the page, a file name of CSV.
    pub id: String,
    pub title: String,
    /// What is shown, and how to read it, in a sentence or two.
    pub lead: String,
    /// Notes, a sentence each.
    pub notes: Vec<String>,
    /// Views of the table; empty if its figures suffice.
    pub charts: Vec<Chart>,
    /// The table; `None` if the run stored no such data, for a reason in a note.
    pub table: Option<Table>,
    /// Notes about parts of the folder that cannot be read.
    #[serde(skip)]
    pub damage: Vec<String>,
    /// Whether it is part of the short form. The first section always is.
    #[serde(skip)]
    pub brief: bool,
}

/// Who reads a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SectionLevel {
    /// Whoever came with a question.
    Result,
    /// Whoever doubts the result, or wants to know how it came about.
    Diagnostics,
    /// Whoever wants to repeat the run.
    Provenance,
}

impl Section {
    /// The level of a section, by its id. A section of one load of several has the same one.
    pub fn level(&self) -> SectionLevel {
        const DIAGNOSTICS: [&str; 17] = [
            "again",
            "comparability",
            "cpu-accounting",
            "evidence",
            "memory",
            "not-separated",
            "pairs",
            "ratios",
            "rounds",
            "seconds",
            "slices",
            "start-up",
            "steps",
            "validity",
            "warm-up",
            "wire",
            "missing",
        ];
        const PROVENANCE: [&str; 4] = ["environment", "environments", "footprint", "settings"];
        let load = self.id.rsplit_once('-').filter(|(_, load)| load.parse::<usize>().is_ok());
        match load.map_or(self.id.as_str(), |(id, _)| id) {
            id if DIAGNOSTICS.contains(&id) => SectionLevel::Diagnostics,
            id if PROVENANCE.contains(&id) => SectionLevel::Provenance,
            _ => SectionLevel::Result,
        }
    }

    pub fn new(id: &str, title: &str, lead: &str, table: Table) -> Section {
        Section { table: Some(table), ..Section::without(id, title, lead) }
    }

    /// A section without a table, whose notes should give the reason.
    pub fn without(id: &str, title: &str, lead: &str) -> Section {
        let [id, title, lead] = [id, title, lead].map(str::to_owned);
        Section { id, title, lead, ..Section::default() }
    }

    pub fn brief(self) -> Section {
        Section { brief: true, ..self }
    }

    pub fn note(mut self, note: impl Into<String>) -> Section {
        self.notes.push(note.into());
        self
    }

    pub fn chart(mut self, chart: Chart) -> Section {
        self.charts.push(chart);
        self
    }
}

impl Fact {
    pub fn new(label: &str, text: impl Into<String>) -> Fact {
        Fact { label: label.to_owned(), text: text.into(), code: false, brief: false }
    }

    pub fn code(label: &str, text: impl Into<String>) -> Fact {
        Fact { code: true, ..Fact::new(label, text) }
    }

    pub fn brief(self) -> Fact {
        Fact { brief: true, ..self }
    }
}
