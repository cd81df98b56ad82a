//! A figure with its interval, and how it is read out of the table of a document.

use serde::{Deserialize, Serialize};
use tare_analysis::{estimate::Estimate, interleaved::RatioBound};

use crate::document::{Document, Table, Tone, Value};

/// A figure and its interval, where it has one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct RunFigure {
    pub value: f64,
    /// It is an inequality.
    #[serde(default, skip_serializing_if = "is_exact")]
    pub bound: RatioBound,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// A verdict in a word or two, with its colour.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Word {
    pub text: String,
    pub tone: Tone,
}

fn is_exact(bound: &RatioBound) -> bool {
    *bound == RatioBound::Exact
}

impl RunFigure {
    /// Both ends, where they are known.
    pub fn ends(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }

    /// The same figure seen from the other of two sides.
    pub(crate) fn inverse(self) -> RunFigure {
        let bound = match self.bound {
            RatioBound::Exact => RatioBound::Exact,
            RatioBound::AtLeast => RatioBound::AtMost,
            RatioBound::AtMost => RatioBound::AtLeast,
        };
        let end = |end: Option<f64>| end.map(f64::recip);
        RunFigure { value: self.value.recip(), bound, low: end(self.high), high: end(self.low) }
    }
}

impl From<RunFigure> for Estimate {
    fn from(figure: RunFigure) -> Estimate {
        Estimate { low: figure.low, high: figure.high, ..Estimate::known(figure.value) }
    }
}

/// A row of a table, read by the keys of its columns.
pub(super) struct Reader<'a> {
    table: &'a Table,
    row: &'a [Value],
}

impl<'a> Reader<'a> {
    pub(super) fn all(table: &'a Table) -> impl Iterator<Item = Reader<'a>> {
        table.rows.iter().map(move |row| Reader { table, row })
    }

    pub(super) fn value(&self, key: &str) -> Option<&'a Value> {
        self.row.get(self.table.place(key)?)
    }

    pub(super) fn number(&self, key: &str) -> Option<f64> {
        self.value(key)?.number()
    }

    pub(super) fn text(&self, key: &str) -> String {
        self.value(key).and_then(Value::text).unwrap_or_default().to_owned()
    }

    pub(super) fn flag(&self, key: &str) -> bool {
        self.value(key) == Some(&Value::Flag(true))
    }

    pub(super) fn word(&self, key: &str) -> Option<Word> {
        let value = self.value(key)?;
        Some(Word { text: value.text()?.to_owned(), tone: value.tone() })
    }

    pub(super) fn figure(&self, key: &str) -> Option<RunFigure> {
        let end = |end: &str| self.number(&format!("{key}_{end}"));
        let bound = match self.value(key)? {
            Value::Bounded(_, bound) => *bound,
            _ => RatioBound::Exact,
        };
        Some(RunFigure { value: self.number(key)?, bound, low: end("low"), high: end("high") })
    }
}

/// The table of the section of this id.
pub(super) fn table<'a>(document: &'a Document, id: &str) -> Option<&'a Table> {
    document.sections.iter().find(|section| section.id == id)?.table.as_ref()
}
