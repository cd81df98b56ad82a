//! A figure with its interval, read from the table of a document.

use serde::{Deserialize, Serialize};
use tare_analysis::{estimate::UnitEstimate, interleaved::RatioBound};

use tare_report::document::{Document, Table, Tone, Value};

/// A figure with its interval, if it has one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct RunFigure {
    pub value: f64,
    /// Whether it is an inequality.
    #[serde(default, skip_serializing_if = "is_exact")]
    pub bound: RatioBound,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// A verdict in one or two words, with its colour.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Word {
    pub text: String,
    pub tone: Tone,
}

fn is_exact(bound: &RatioBound) -> bool {
    *bound == RatioBound::Exact
}

impl RunFigure {
    /// Both bounds, if they are known.
    pub fn ends(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }

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

impl From<RunFigure> for UnitEstimate {
    fn from(figure: RunFigure) -> UnitEstimate {
        UnitEstimate { low: figure.low, high: figure.high, ..UnitEstimate::known(figure.value) }
    }
}

/// Reads a row of a table by column keys.
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

pub(super) fn table<'a>(document: &'a Document, id: &str) -> Option<&'a Table> {
    document.sections.iter().find(|section| section.id == id)?.table.as_ref()
}
