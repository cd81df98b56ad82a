//! What long work looks like while it goes on, as data: the models beside this make it, `draw` puts it into cells of a
//! terminal. Knows no terminal, no clock and no record.

mod draw;

use std::time::Duration;

pub use tare_analysis::verdict::Tone;

/// All that is shown at one instant.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct View {
    /// What is measured.
    pub title: String,
    /// What is being done.
    pub place: String,
    /// What has been found out, where that is a sentence.
    pub finding: String,
    /// Since it began.
    pub elapsed: Duration,
    /// What is still to come, as far as is known.
    pub left: Duration,
    /// What is known.
    pub table: Table,
    /// Doubts and failures, the newest first.
    pub remarks: Vec<String>,
}

/// Names, figures, and a range on a scale that all rows share.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// Head of the names.
    pub name: &'static str,
    /// Of the figures.
    pub columns: Vec<Column>,
    /// Of the ranges; absent if there are none to draw.
    pub scale: Option<Scale>,
    /// The best first.
    pub rows: Vec<Row>,
}

/// A column of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its head.
    pub title: &'static str,
    /// The order in which a narrow terminal does without: 1 goes first, 0 never.
    pub spare: u8,
}

/// What a range is drawn on.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// Its left end.
    pub from: f64,
    /// Its right end.
    pub to: f64,
    /// Both in words.
    pub ends: [String; 2],
    /// Whether a value is also a length from the left end.
    pub is_length: bool,
}

/// An interval reaches at most this many times as far as the greatest value: with few values it may be wider than all that it is
/// compared with.
const REACH: f64 = 2.0;

impl Scale {
    /// From nothing to the greatest value (or to `least`), and beyond it as far as intervals go; absent if that is nothing.
    pub fn length(rows: &[Row], least: f64, figure: fn(f64) -> String) -> Option<Scale> {
        let ranges = || rows.iter().filter_map(|row| row.range.as_ref());
        let values = ranges().filter_map(|range| range.value).fold(least, f64::max);
        let highs = ranges().filter_map(|range| Some(range.interval?.1)).fold(values, f64::max);
        let to = highs.min(REACH * values);
        let ends = ["0".to_owned(), figure(to)];
        (to > 0.0).then_some(Scale { from: 0.0, to, ends, is_length: true })
    }
}

/// A value and its interval.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Range {
    /// Absent if only the interval is known.
    pub value: Option<f64>,
    /// Absent if there is none yet.
    pub interval: Option<(f64, f64)>,
    /// Values to compare it with.
    pub marks: Vec<f64>,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    /// What it is about.
    pub name: String,
    /// As many as there are columns.
    pub cells: Vec<String>,
    /// Drawn on the scale.
    pub range: Option<Range>,
    /// What it is doing, or why there are no figures.
    pub state: String,
    /// How the state is coloured.
    pub tone: Tone,
    /// The state stands in place of the figures.
    pub is_out: bool,
    /// It is at work now.
    pub is_now: bool,
    /// Where not all fit, those with more of it are shown.
    pub interest: u8,
}

#[cfg(test)]
pub mod tests;
