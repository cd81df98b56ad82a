//! Tables: columns with a unit, and rows of values. Numbers are in base units (nanoseconds, bytes, shares of
//! 1); the unit decides how they are displayed.

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
    /// The content of the rows, for a screen reader: `Services by throughput`.
    pub caption: String,
    /// The columns, including hidden ones.
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Value>>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Column {
    /// A stable key in snake case with the unit last, such as `latency_ns_p99`, for CSV, Parquet and JSON.
    pub key: String,
    /// The column's title: `p99`.
    pub title: String,
    pub unit: Unit,
    /// An explanation in a sentence, if the title is not enough.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub help: String,
    /// Keys of the columns with the bounds of its interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[String; 2]>,
    /// The key of a hidden column with the addresses to which its values link.
    #[serde(skip)]
    pub link: Option<String>,
    /// Whether a bar is drawn: the column is a ratio to a row that is 1.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub bar: bool,
    /// Whether a page draws it with its interval, on the scale of [`Column::on_track`]: the table is its own chart.
    #[serde(skip)]
    pub track: bool,
    /// Whether a page with such a chart shows it only on request, with all columns.
    #[serde(skip)]
    pub extra: Extra,
    /// Whether it is in the table with few columns, for a pull request.
    #[serde(skip)]
    pub digest: bool,
    /// Whether rows can be filtered by it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub facet: bool,
    /// What people read in place of some of its texts, such as `C++` for `cpp`. The data keep the text.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<String, String>,
    /// Whether it is in the data only: bounds of intervals, which are shown beside their value, and rarely
    /// needed columns.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// The priority in a narrow form: the lowest is dropped first, and [`ALWAYS`] last.
    #[serde(skip)]
    pub priority: u8,
    #[serde(skip)]
    pub interval_priority: u8,
}

/// Which columns a page shows only with all columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Extra {
    #[default]
    Never,
    Always,
    /// If all rows have the same value.
    IfAlike,
}

/// The priority of a column that is kept as long as possible.
pub const ALWAYS: u8 = u8::MAX;
/// The priority of an interval that only a wide terminal shows; a page shows it as a tooltip.
pub const LAST: u8 = 2;

/// The unit of a column's values.
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
    /// A share of 1, displayed as a percentage.
    Share,
    /// A ratio, displayed as a multiple.
    Times,
    /// A ratio, displayed as a change: 0.9 is `-10.0%`.
    Change,
    /// A percentile, from 0 to 1, on an axis of nines.
    Percentile,
    /// A p-value, displayed with two digits.
    Probability,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Unknown, or withheld: another column has the reason.
    None,
    /// A load that never ended, which is not a missing figure.
    Never,
    Text(String),
    /// What is to be known of a row.
    Sentences(Sentences),
    /// A verdict or a state: one or two words with a colour.
    Word(&'static str, Tone),
    /// A finite number.
    Number(f64),
    /// An inequality: at least or at most this number.
    Bounded(f64, RatioBound),
    /// A number that is the best or the worst of its row.
    Ranked(f64, Rank),
    Flag(bool),
}

/// At least one sentence: one text for programs and for a line, and each for whoever shows it once for several rows. A sentence
/// may have any sign, so the text cannot be split again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentences {
    text: String,
    each: Vec<String>,
}

impl Sentences {
    /// `None` without any.
    pub fn new(each: impl IntoIterator<Item = impl ToString>) -> Option<Sentences> {
        let each: Vec<String> = each.into_iter().map(|sentence| sentence.to_string()).collect();
        (!each.is_empty()).then(|| Sentences { text: each.join("; "), each })
    }

    pub fn text(&self) -> &str {
        &self.text
    }
}

/// The rank of a number of a matrix within its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rank {
    Best,
    Worst,
}

/// Also writes the tones of its words, by which a page colours its charts.
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
            (Value::Sentences(sentences), _) => to.serialize_str(&sentences.text),
            (Value::Word(word, _), _) => to.serialize_str(word),
            // A count is written as 6 instead of 6.0, which typed readers reject.
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
    pub fn new(caption: &str, columns: Vec<Column>) -> Table {
        Table { caption: caption.to_owned(), columns, rows: Vec::new() }
    }

    /// A table for a command, which is in no document: columns with a title, a unit and a priority. Long
    /// texts in a column that is never dropped become sentences below their row; other columns contain words.
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

    /// The values of a column, in the order of the rows; empty if there is no such column.
    pub fn values<'a>(&'a self, key: &str) -> impl Iterator<Item = &'a Value> + 'a {
        let place = self.place(key);
        self.rows.iter().filter_map(move |row| row.get(place?))
    }

    /// Has people read another text in place of those of a column, where `name` has one.
    pub fn rename(&mut self, key: &str, name: impl Fn(&str) -> String) {
        let Some(place) = self.place(key) else { return };
        let texts = self.rows.iter().filter_map(|row| row.get(place)?.text());
        let names = texts.map(|text| (text.to_owned(), name(text))).filter(|(text, name)| text != name);
        self.columns[place].names = names.collect();
    }

    /// The address to which a value links. Run folders may come from others: only an address on the web is a link, and
    /// only if its letters need no escapes.
    pub fn link<'a>(&self, row: &'a [Value], place: usize) -> Option<&'a str> {
        let key = self.columns.get(place)?.link.as_deref()?;
        let address = row.get(self.place(key)?)?.text()?;
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./+#:@~".contains(letter);
        (address.starts_with("https://") && address.chars().all(is_plain)).then_some(address)
    }

    /// Whether no row has a value. Such a column would take room from measured ones.
    pub fn is_unknown(&self, place: usize) -> bool {
        !self.rows.is_empty() && self.rows.iter().all(|row| row.get(place) == Some(&Value::None))
    }

    /// Whether all rows have the same value, so that it need be shown only once.
    pub fn is_alike(&self, place: usize) -> bool {
        let first = self.rows.first().and_then(|row| row.get(place));
        self.rows.len() > 1 && self.rows.iter().all(|row| row.get(place) == first)
    }

    /// The same for the rows that have a value.
    pub fn is_alike_where_known(&self, place: usize) -> bool {
        let mut known =
            self.rows.iter().filter_map(|row| row.get(place)).filter(|value| **value != Value::None);
        let first = known.next();
        self.rows.len() > 1 && first.is_some() && known.all(|value| Some(value) == first)
    }
}

impl Column {
    pub fn new(key: &str, title: &str, unit: Unit) -> Column {
        Column {
            key: key.to_owned(),
            title: title.to_owned(),
            unit,
            help: String::new(),
            interval: None,
            link: None,
            bar: false,
            track: false,
            extra: Extra::Never,
            digest: false,
            facet: false,
            names: BTreeMap::new(),
            hidden: false,
            priority: ALWAYS,
            interval_priority: ALWAYS,
        }
    }

    /// Sets a priority below [`ALWAYS`], also for its interval.
    pub fn priority(self, priority: u8) -> Column {
        Column { priority, interval_priority: priority, ..self }
    }

    pub fn interval_priority(self, interval_priority: u8) -> Column {
        Column { interval_priority, ..self }
    }

    /// Whether a page shows its interval beside its value.
    pub fn has_interval_beside(&self) -> bool {
        self.interval.is_some() && self.interval_priority > LAST
    }

    /// A value of it for people.
    pub fn show(&self, value: &Value) -> String {
        let name = value.text().and_then(|text| self.names.get(text));
        name.cloned().unwrap_or_else(|| value.show(self.unit))
    }

    /// Where a number is on its track: at 0 if nothing differs. Ratios are drawn as logarithms, differences as they are.
    pub fn on_track(&self, number: f64) -> Option<f64> {
        match self.unit {
            Unit::Nanoseconds => Some(number),
            _ => (number > 0.0).then(|| number.ln()),
        }
    }

    pub fn help(self, help: &str) -> Column {
        Column { help: help.to_owned(), ..self }
    }

    /// Sets the columns `low` and `high` with the bounds of its interval.
    pub fn interval(self, low: &str, high: &str) -> Column {
        Column { interval: Some([low.to_owned(), high.to_owned()]), ..self }
    }

    /// Sets the column `key` with the addresses to which its values link.
    pub fn link(self, key: &str) -> Column {
        Column { link: Some(key.to_owned()), ..self }
    }

    pub fn bar(self) -> Column {
        Column { bar: true, ..self }
    }

    pub fn track(self) -> Column {
        Column { track: true, ..self }
    }

    pub fn extra(self, extra: Extra) -> Column {
        Column { extra, ..self }
    }

    pub fn digest(self) -> Column {
        Column { digest: true, ..self }
    }

    pub fn facet(self) -> Column {
        Column { facet: true, ..self }
    }

    pub fn hidden(self) -> Column {
        Column { hidden: true, ..self }
    }
}

impl Unit {
    /// Whether its values are right-aligned numbers.
    pub fn is_numeric(self) -> bool {
        !matches!(self, Unit::Text | Unit::Flag)
    }

    /// The unit's name in JSON and other formats.
    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn show(self, number: f64) -> String {
        figures::joined(self.parts(number))
    }

    /// Both bounds of an interval; a common unit appears once.
    pub fn show_interval(self, low: f64, high: f64) -> String {
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
            // Six decimals: enough for five nines, without rounding errors of binary fractions.
            Unit::Percentile => (format!("p{}", (number * 1e8).round() / 1e6), ""),
            Unit::Number => parts::number(number),
            Unit::Probability => parts::number(two_digits(number)),
            Unit::Text | Unit::Flag | Unit::Count => (number.to_string(), ""),
        }
    }
}

/// Rounds to two significant digits: what a p-value is worth.
fn two_digits(value: f64) -> f64 {
    format!("{value:.1e}").parse().unwrap_or(value)
}

impl Value {
    /// A finite number, or an inequality.
    pub fn bounded(number: f64, bound: RatioBound) -> Value {
        match bound {
            RatioBound::Exact => Value::Number(number),
            _ => Value::Bounded(number, bound),
        }
    }

    /// A verdict as the answer to a question, with its colour.
    pub fn of_verdict(verdict: Verdict, question: Question) -> Value {
        Value::Word(verdict.word(question), verdict.tone())
    }

    /// The value for programs: all digits, and empty if unknown.
    pub fn raw(&self) -> String {
        match (self, self.number()) {
            (Value::Flag(flag), _) => flag.to_string(),
            // The shortest digits that parse to the same number, never with an exponent.
            (_, Some(number)) => number.to_string(),
            _ => self.text().unwrap_or_default().to_owned(),
        }
    }

    /// The value for people, in a column of `unit`.
    pub fn show(&self, unit: Unit) -> String {
        match self {
            Value::None => "-".to_owned(),
            Value::Never => "x".to_owned(),
            Value::Text(text) => text.clone(),
            Value::Sentences(sentences) => sentences.text.clone(),
            Value::Word(word, _) => (*word).to_owned(),
            Value::Number(number) => unit.show(*number),
            Value::Bounded(number, bound) => format!("{}{}", bound.sign(), unit.show(*number)),
            Value::Ranked(number, Rank::Best) => format!("* {}", unit.show(*number)),
            Value::Ranked(number, Rank::Worst) => format!("! {}", unit.show(*number)),
            Value::Flag(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        }
    }

    /// The number, if it is whole and a double represents it exactly.
    pub fn whole(&self) -> Option<i64> {
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
            Value::Sentences(sentences) => Some(&sentences.text),
            Value::Word(word, _) => Some(word),
            _ => None,
        }
    }

    /// Each sentence of it; a text is one.
    pub fn sentences(&self) -> impl Iterator<Item = &str> {
        let each = match self {
            Value::Sentences(sentences) => sentences.each.as_slice(),
            _ => &[],
        };
        let whole = self.text().filter(|text| each.is_empty() && !text.is_empty());
        each.iter().map(String::as_str).chain(whole)
    }

    pub fn tone(&self) -> Tone {
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

impl From<Sentences> for Value {
    fn from(sentences: Sentences) -> Value {
        Value::Sentences(sentences)
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

/// A value that is not finite counts as unknown.
impl From<f64> for Value {
    fn from(number: f64) -> Value {
        if number.is_finite() { Value::Number(number) } else { Value::None }
    }
}

/// Counts and nanoseconds of a run are far below 2^53, above which `f64` would round them.
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
