//! Tables: columns with a unit, rows of values. Numbers are whole in base units (nanoseconds, bytes, shares of 1); how a person
//! reads them follows from the unit.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer, ser::SerializeStruct};
use strum::IntoStaticStr;
use tare_analysis::{
    figures::{self, Parts, parts},
    findings::Finding,
    interleaved::RatioBound,
    verdict::{Question, Tone, Verdict},
};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// What the rows are, for a screen reader: `Services by throughput`.
    pub caption: String,
    /// The columns, also those that are not shown as such.
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Value>>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Column {
    /// Stable, in snake case with the unit last, such as `latency_ns_p99`: the name in CSV, Parquet and JSON.
    pub key: String,
    /// The head of the column: `p99`.
    pub title: String,
    pub unit: Unit,
    /// What it means, in a sentence, where the title does not say it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub help: String,
    /// Keys of the columns with the ends of its interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[String; 2]>,
    /// A bar is drawn with it: it is a ratio to what is 1.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub bar: bool,
    /// A page draws it with its interval, on a scale of logarithms on which 1 has a line: the table is its chart.
    #[serde(skip)]
    pub track: bool,
    /// Whether a page with such a chart shows it only to who asks for all columns.
    #[serde(skip)]
    pub extra: Extra,
    /// A table of few columns has it: one for a pull request.
    #[serde(skip)]
    pub digest: bool,
    /// Rows can be filtered by it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub facet: bool,
    /// It stands in the data only: ends of intervals, which are shown beside their value, and what few readers ask for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// How long a narrow form keeps it: the least goes first, and [`ALWAYS`] last of all.
    #[serde(skip)]
    pub priority: u8,
    /// The same of its interval.
    #[serde(skip)]
    pub interval_priority: u8,
}

/// Which columns a page keeps for those who ask for all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Extra {
    #[default]
    Never,
    Always,
    /// Where all rows have the same.
    IfAlike,
}

/// The priority of a column that no form does without if it can help it.
pub const ALWAYS: u8 = u8::MAX;
/// The priority of an interval for which only a wide terminal has room: a page says it to who points at the value.
pub(crate) const LAST: u8 = 2;

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Unit {
    Text,
    Flag,
    Count,
    /// A number without a unit.
    Number,
    PerSecond,
    Nanoseconds,
    Bytes,
    /// A share of 1, read as a percentage.
    Share,
    /// A ratio, read as a multiple.
    Times,
    /// A ratio, read as a change: 0.9 is `-10.0%`.
    Change,
    /// A percentile, from 0 to 1, on an axis of nines.
    Percentile,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Not known, or not to be said: another column has the reason.
    None,
    /// A load that never came to its end: no figure, and no lack of one.
    Never,
    Text(String),
    /// A verdict or a state, in a word or two that have a colour.
    Word(&'static str, Tone),
    /// Finite.
    Number(f64),
    /// An inequality: at least or at most so much.
    Bounded(f64, RatioBound),
    /// A number that is the best or the worst of its row.
    Ranked(f64, Rank),
    Flag(bool),
}

/// How a number of a matrix stands in its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rank {
    Best,
    Worst,
}

/// With the tones of its words, by which a page colours what it draws of them.
impl Serialize for Table {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let words = self.rows.iter().flatten().filter_map(|value| match value {
            Value::Word(word, tone) if *tone != Tone::Plain => Some((*word, *tone)),
            _ => None,
        });
        let tones: BTreeMap<&str, Tone> = words.collect();
        let mut written = to.serialize_struct("Table", 4)?;
        written.serialize_field("caption", &self.caption)?;
        written.serialize_field("columns", &self.columns)?;
        written.serialize_field("rows", &self.rows)?;
        if !tones.is_empty() {
            written.serialize_field("tones", &tones)?;
        }
        written.end()
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match (self, self.whole()) {
            (Value::None | Value::Never, _) => to.serialize_none(),
            (Value::Text(text), _) => to.serialize_str(text),
            (Value::Word(word, _), _) => to.serialize_str(word),
            // A count is 6 and not 6.0, which readers with types refuse.
            (Value::Number(_) | Value::Bounded(..) | Value::Ranked(..), Some(whole)) => {
                to.serialize_i64(whole)
            }
            (Value::Number(number) | Value::Bounded(number, _) | Value::Ranked(number, _), None) => {
                to.serialize_f64(*number)
            }
            (Value::Flag(flag), _) => to.serialize_bool(*flag),
        }
    }
}

impl Table {
    pub(crate) fn new(caption: &str, columns: Vec<Column>) -> Table {
        Table { caption: caption.to_owned(), columns, rows: Vec::new() }
    }

    /// A table of a command, which is in no document: columns with a title, a unit and a priority. In a column that is never
    /// left out long texts become sentences below their row; the other columns hold words.
    #[must_use]
    pub fn plain<const N: usize>(columns: [(&str, Unit, u8); N], rows: Vec<[Value; N]>) -> Table {
        let column = |(title, unit, priority)| {
            let column = Column::new(title, title, unit).priority(priority);
            if priority < ALWAYS { column.facet() } else { column }
        };
        let rows = rows.into_iter().map(Vec::from).collect();
        Table { rows, ..Table::new("", columns.map(column).into()) }
    }

    pub fn place(&self, key: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.key == key)
    }

    /// The values of a column, in the order of the rows; absent if there is no such column.
    pub fn values<'a>(&'a self, key: &str) -> impl Iterator<Item = &'a Value> + 'a {
        let place = self.place(key);
        self.rows.iter().filter_map(move |row| row.get(place?))
    }

    /// No row has a value there: what a run did not measure would take the room of what it did.
    pub(crate) fn is_unknown(&self, place: usize) -> bool {
        !self.rows.is_empty() && self.rows.iter().all(|row| row.get(place) == Some(&Value::None))
    }

    /// All rows have the same there; one row alone tells all.
    pub(crate) fn is_alike(&self, place: usize) -> bool {
        let first = self.rows.first().and_then(|row| row.get(place));
        self.rows.len() > 1 && self.rows.iter().all(|row| row.get(place) == first)
    }

    /// The same of the rows that have a value there.
    pub(crate) fn is_alike_where_known(&self, place: usize) -> bool {
        let mut known =
            self.rows.iter().filter_map(|row| row.get(place)).filter(|value| **value != Value::None);
        let first = known.next();
        self.rows.len() > 1 && first.is_some() && known.all(|value| Some(value) == first)
    }
}

impl Column {
    pub(crate) fn new(key: &str, title: &str, unit: Unit) -> Column {
        Column {
            key: key.to_owned(),
            title: title.to_owned(),
            unit,
            help: String::new(),
            interval: None,
            bar: false,
            track: false,
            extra: Extra::Never,
            digest: false,
            facet: false,
            hidden: false,
            priority: ALWAYS,
            interval_priority: ALWAYS,
        }
    }

    /// With a priority below [`ALWAYS`], for its interval too.
    pub(crate) fn priority(self, priority: u8) -> Column {
        Column { priority, interval_priority: priority, ..self }
    }

    /// With an interval that is kept for longer, or less long, than the column itself.
    pub(crate) fn interval_priority(self, interval_priority: u8) -> Column {
        Column { interval_priority, ..self }
    }

    /// Whether a page has room for its interval beside its value.
    pub fn has_interval_beside(&self) -> bool {
        self.interval.is_some() && self.interval_priority > LAST
    }

    pub(crate) fn help(self, help: &str) -> Column {
        Column { help: help.to_owned(), ..self }
    }

    /// With an interval, the ends of which stand in the columns `low` and `high`.
    pub(crate) fn interval(self, low: &str, high: &str) -> Column {
        Column { interval: Some([low.to_owned(), high.to_owned()]), ..self }
    }

    pub(crate) fn bar(self) -> Column {
        Column { bar: true, ..self }
    }

    pub(crate) fn track(self) -> Column {
        Column { track: true, ..self }
    }

    pub(crate) fn extra(self, extra: Extra) -> Column {
        Column { extra, ..self }
    }

    pub(crate) fn digest(self) -> Column {
        Column { digest: true, ..self }
    }

    pub(crate) fn facet(self) -> Column {
        Column { facet: true, ..self }
    }

    pub(crate) fn hidden(self) -> Column {
        Column { hidden: true, ..self }
    }
}

impl Unit {
    /// Its values are numbers, and right-aligned.
    pub(crate) fn is_numeric(self) -> bool {
        !matches!(self, Unit::Text | Unit::Flag)
    }

    /// As it is called in JSON and beside the other forms.
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }

    pub fn show(self, number: f64) -> String {
        figures::joined(self.parts(number))
    }

    /// Both ends of an interval, with their unit once where it is the same.
    pub(crate) fn show_interval(self, low: f64, high: f64) -> String {
        figures::interval(self.parts(low), self.parts(high))
    }

    fn parts(self, number: f64) -> Parts {
        match self {
            Unit::PerSecond => parts::rate(number),
            Unit::Nanoseconds => parts::time(number),
            Unit::Bytes => parts::bytes(number),
            Unit::Share => parts::percent(number),
            Unit::Times => parts::times(number),
            Unit::Change => parts::change(number),
            // Six digits behind the point: five nines, without what binary fractions add to them.
            Unit::Percentile => (format!("p{}", (number * 1e8).round() / 1e6), ""),
            Unit::Number => parts::number(number),
            Unit::Text | Unit::Flag | Unit::Count => (number.to_string(), ""),
        }
    }
}

impl Value {
    /// A finite number, or an inequality.
    pub(crate) fn bounded(number: f64, bound: RatioBound) -> Value {
        match bound {
            RatioBound::Exact => Value::Number(number),
            _ => Value::Bounded(number, bound),
        }
    }

    /// A verdict as the answer to a question, in its colour.
    pub(crate) fn of_verdict(verdict: Verdict, question: Question) -> Value {
        Value::Word(verdict.word(question), verdict.tone())
    }

    /// As programs read it: all digits, and nothing if it is not known.
    pub(crate) fn raw(&self) -> String {
        match (self, self.number()) {
            (Value::Flag(flag), _) => flag.to_string(),
            // The shortest digits that read back as the same number, and never an exponent.
            (_, Some(number)) => number.to_string(),
            _ => self.text().unwrap_or_default().to_owned(),
        }
    }

    /// As people read it in a column of `unit`.
    pub fn show(&self, unit: Unit) -> String {
        match self {
            Value::None => "-".to_owned(),
            Value::Never => "x".to_owned(),
            Value::Text(text) => text.clone(),
            Value::Word(word, _) => (*word).to_owned(),
            Value::Number(number) => unit.show(*number),
            Value::Bounded(number, bound) => format!("{}{}", bound.sign(), unit.show(*number)),
            Value::Ranked(number, Rank::Best) => format!("* {}", unit.show(*number)),
            Value::Ranked(number, Rank::Worst) => format!("! {}", unit.show(*number)),
            Value::Flag(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        }
    }

    /// A number that is whole and that a double holds exactly.
    pub(crate) fn whole(&self) -> Option<i64> {
        const LIMIT: f64 = (1_u64 << 53) as f64;
        self.number()
            .filter(|number| number.fract() == 0.0 && number.abs() <= LIMIT)
            .map(|number| number as i64)
    }

    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Number(number) | Value::Bounded(number, _) | Value::Ranked(number, _) => Some(*number),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            Value::Word(word, _) => Some(word),
            _ => None,
        }
    }

    pub(crate) fn tone(&self) -> Tone {
        match self {
            Value::Word(_, tone) => *tone,
            Value::Ranked(_, Rank::Best) => Tone::Good,
            Value::Ranked(_, Rank::Worst) | Value::Never => Tone::Bad,
            _ => Tone::Plain,
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<(&'static str, Tone)> for Value {
    fn from((word, tone): (&'static str, Tone)) -> Value {
        Value::Word(word, tone)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Value {
        Value::Flag(flag)
    }
}

/// What is not finite is not known.
impl From<f64> for Value {
    fn from(number: f64) -> Value {
        if number.is_finite() { Value::Number(number) } else { Value::None }
    }
}

/// Counts and nanoseconds of a run are far below 2^53, from which on `f64` would round them.
impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value::Number(number as f64)
    }
}

impl From<&Finding> for Value {
    fn from(finding: &Finding) -> Value {
        Value::Text(finding.to_string())
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Value {
        Value::Number(number as f64)
    }
}

impl<V: Into<Value>> From<Option<V>> for Value {
    fn from(value: Option<V>) -> Value {
        value.map_or(Value::None, Into::into)
    }
}
