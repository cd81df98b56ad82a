//! Placeholders in the text of a contract, such as `{{label}}`, and the values that fill them.
//!
//! It knows nothing of HTTP. The same random generator gives the same values for the same text.

mod blob;
mod computed;
mod files;
mod table;
mod values;

use std::fmt;
use std::ops::RangeInclusive;

use rand::Rng;
use tare_base::percent;
use tare_base::spelling::suggestion;
use tare_load::pattern::Wildcard;

pub use computed::Computed;
pub use table::{DataTable, TableError};
pub(super) use table::{DrawnColumn, ROWS_MAX, Tables, is_column};
pub use values::LABEL_LENGTH_MAX;
pub use values::Values;

/// The beginning of a placeholder.
pub const BRACES: &str = "{{";
/// The placeholder for literal braces.
pub const BRACES_PLACEHOLDER: &str = "{{braces}}";
const BRACES_WORD: &str = "braces";
const NUMBER_MAX: u64 = 999_999_999;
/// The largest integer that a JSON reader with floating-point numbers represents exactly.
const NUMBER_EXACT_MAX: u64 = (1 << 53) - 1;
pub(super) const KINDS: [&str; 12] = [
    "add", "byte", "bytes", "captured", "env", "label", "multiply", "number", "phrase", "random", "rows",
    "text",
];
/// The number of a row; only in the columns of a table.
pub(super) const ROW: &str = "row";
/// Longest body that services of the catalogue must accept.
const BYTES_MAX: usize = 1_000_000;
/// Longest upload.
const RANDOM_BYTES_MAX: usize = 32 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Literal(String),
    Placeholder(Placeholder),
}

/// A part of a template that each exchange fills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placeholder {
    pub kind: PlaceholderKind,
    /// Placeholders of the same name share one value in an exchange. One without a name has its own value.
    pub name: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlaceholderKind {
    /// 1 to 24 characters of `[A-Za-z0-9_-]`.
    Label,
    /// A decimal integer in this range.
    Number(RangeInclusive<u64>),
    /// 1 to 24 characters, at least one of which must be percent-encoded in a path.
    Phrase,
    /// This number of letters, always the same.
    Bytes(usize),
    /// 1 to 64 printable ASCII characters that need no escape in JSON.
    Text,
    /// The value of an environment variable, such as a token or password. It is never stored.
    Env(Secret),
    /// A value captured from an earlier answer in the sequence.
    Captured,
    /// A column of the row that the exchange draws.
    Cell(DrawnColumn),
    /// The number of the row, from 1.
    Row,
    /// This number of bytes of text, different each time.
    Random(usize),
    /// A value computed from others.
    Computed(Computed),
    /// All rows of the row set with this name.
    Rows,
}

/// Placeholders allowed in this place in addition to the general ones.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Scope<'t> {
    /// Columns of these tables, and captured values.
    pub tables: Option<&'t Tables>,
    /// The number of a row.
    pub row: bool,
    /// Wildcards such as `{{any:int}}`, which stay as they are.
    pub wildcards: bool,
    /// Computed values and row sets.
    pub answer: bool,
}

/// An environment variable, and its value once the contract is in use.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    pub variable: String,
    value: Option<String>,
}

/// Omits the value.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({})", self.variable)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlaceholderError {
    #[error("unknown placeholder \"{placeholder}\"{suggestion}")]
    Unknown { placeholder: String, suggestion: String },
    #[error("a placeholder opens with \"{{{{\" but does not close with \"}}}}\"")]
    Open,
    #[error(
        "the placeholder \"{placeholder}\" has no name after its dot: names are made of a-z, 0-9, \"_\" and \"-\""
    )]
    Name { placeholder: String },
    #[error("the placeholders named \"{name}\" are of two kinds: give them two names")]
    TwoKinds { name: String },
    #[error(
        "the placeholder \"{placeholder}\" has no range of integers A-B with A <= B <= {NUMBER_EXACT_MAX}"
    )]
    Range { placeholder: String },
    #[error("the placeholder \"{placeholder}\" has no number of bytes from 1 to {max}")]
    Bytes { placeholder: String, max: usize },
    #[error(
        "the placeholder \"{placeholder}\" needs what it is computed from: {{{{add:A:B}}}}, {{{{multiply:A:B}}}} of names, \
         columns or numbers, or {{{{byte:TEXT:PLACE}}}} of names"
    )]
    Operands { placeholder: String },
    #[error(
        "the placeholder \"{placeholder}\" has its place in an answer: it follows from what the request says"
    )]
    OutsideOfAnswer { placeholder: String },
    #[error("a captured value has its place in the steps of a contract's [[sequence]]")]
    OutsideOfSequence,
    #[error("{{{{{table}}}}} is a table: name a column of it, such as {{{{{table}.{first}}}}}")]
    NoColumn { table: String, first: String },
    #[error("the table \"{table}\" has no column \"{column}\"{suggestion}")]
    Column { table: String, column: String, suggestion: String },
}

/// Appends to the preceding literal, if there is one.
fn push_literal(parts: &mut Vec<Part>, text: &str) {
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(Part::Literal(before)) => before.push_str(text),
        _ => parts.push(Part::Literal(text.to_owned())),
    }
}

impl Template {
    /// Parses the placeholders in `text`.
    ///
    /// # Errors
    /// A placeholder is unknown, not closed, or has an invalid name or range.
    pub fn parse(text: &str) -> Result<Template, PlaceholderError> {
        Template::parse_in(text, Scope::default())
    }

    /// As [`Template::parse`], with the placeholders that `scope` allows.
    ///
    /// # Errors
    /// As [`Template::parse`], or a wildcard or a column is unknown.
    pub(super) fn parse_in(text: &str, scope: Scope) -> Result<Template, PlaceholderError> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(BRACES) {
            let (inside, behind) = after.split_once("}}").ok_or(PlaceholderError::Open)?;
            push_literal(&mut parts, before);
            match inside {
                BRACES_WORD => push_literal(&mut parts, BRACES),
                inside => parts.push(Part::parse(inside, scope)?),
            }
            rest = behind;
        }
        push_literal(&mut parts, rest);
        Ok(Template { parts })
    }

    pub(crate) fn placeholders(&self) -> impl Iterator<Item = &Placeholder> {
        self.parts.iter().filter_map(|part| match part {
            Part::Placeholder(placeholder) => Some(placeholder),
            Part::Literal(_) => None,
        })
    }

    pub(super) fn cells(&self) -> impl Iterator<Item = &DrawnColumn> {
        self.placeholders().flat_map(|placeholder| {
            let (cell, computed) = match &placeholder.kind {
                PlaceholderKind::Cell(cell) => (Some(cell), None),
                PlaceholderKind::Computed(computed) => (None, Some(computed)),
                _ => (None, None),
            };
            cell.into_iter().chain(computed.into_iter().flat_map(Computed::cells))
        })
    }

    /// Updates the tables of its columns by name.
    pub(super) fn enter_tables(&mut self, tables: &Tables) {
        for part in &mut self.parts {
            if let Part::Placeholder(Placeholder { kind: PlaceholderKind::Cell(cell), .. }) = part
                && let Some(table) = tables.get(cell.table.name())
            {
                cell.table = table.clone();
            }
        }
    }

    /// Sets the values of variables. A value with control characters counts as missing.
    pub(crate) fn enter_secrets(&mut self, value_of: &impl Fn(&str) -> Option<String>) {
        let is_sendable = |value: &String| !value.chars().any(char::is_control);
        for part in &mut self.parts {
            if let Part::Placeholder(Placeholder { kind: PlaceholderKind::Env(secret), .. }) = part {
                secret.value = value_of(&secret.variable).filter(is_sendable);
            }
        }
    }

    /// The variables without a value.
    pub(crate) fn missing(&self) -> impl Iterator<Item = &str> {
        self.placeholders().filter_map(|placeholder| match &placeholder.kind {
            PlaceholderKind::Env(Secret { variable, value: None }) => Some(variable.as_str()),
            _ => None,
        })
    }

    /// The placeholder, if the template consists of only one.
    pub(super) fn only(&self) -> Option<&Placeholder> {
        match self.parts.as_slice() {
            [Part::Placeholder(placeholder)] => Some(placeholder),
            _ => None,
        }
    }

    /// The text, if it has no placeholders.
    pub fn fixed(&self) -> Option<String> {
        match self.parts.as_slice() {
            [] => Some(String::new()),
            [Part::Literal(text)] => Some(text.clone()),
            _ => None,
        }
    }

    /// Whether `path` fits this template without its query, if a placeholder matches any part of a segment.
    pub fn matches(&self, path: &str) -> bool {
        matches(&self.without_query(), path)
    }

    fn without_query(&self) -> Vec<Part> {
        let mut parts = Vec::new();
        for part in &self.parts {
            match part {
                Part::Literal(text) if text.contains('?') => {
                    let path = text.split('?').next().unwrap_or_default();
                    parts.push(Part::Literal(path.to_owned()));
                    break;
                }
                part => parts.push(part.clone()),
            }
        }
        parts
    }

    /// The text with its placeholders filled from `values`.
    pub fn fill<R: Rng>(&self, values: &mut Values<'_, R>) -> String {
        self.fill_with(|placeholder| values.value(placeholder))
    }

    /// As [`Template::fill`], for a path or query: values are percent-encoded.
    pub(crate) fn fill_encoded<R: Rng>(&self, values: &mut Values<'_, R>) -> String {
        self.fill_with(|placeholder| match placeholder.kind {
            PlaceholderKind::Phrase
            | PlaceholderKind::Text
            | PlaceholderKind::Env(_)
            | PlaceholderKind::Captured
            | PlaceholderKind::Cell(_)
            | PlaceholderKind::Random(_) => percent::encoded(&values.value(placeholder)),
            PlaceholderKind::Label
            | PlaceholderKind::Number(_)
            | PlaceholderKind::Bytes(_)
            | PlaceholderKind::Row
            | PlaceholderKind::Computed(_)
            | PlaceholderKind::Rows => values.value(placeholder),
        })
    }

    /// As [`Template::fill`], for JSON: values in strings are escaped.
    pub(super) fn fill_json<R: Rng>(&self, values: &mut Values<'_, R>) -> String {
        let mut text = String::new();
        for (part, in_string) in self.parts_of_json() {
            match part {
                Part::Literal(literal) => text.push_str(literal),
                Part::Placeholder(Placeholder { kind: kind @ PlaceholderKind::Cell(_), .. }) if in_string => {
                    text.push_str(&json_of(values.invent(kind), true));
                }
                Part::Placeholder(placeholder @ Placeholder { kind: PlaceholderKind::Captured, .. }) => {
                    text.push_str(&json_of(values.value(placeholder), in_string));
                }
                Part::Placeholder(placeholder) => text.push_str(&values.value(placeholder)),
            }
        }
        text
    }

    /// As [`Template::fill`], for HTML: columns are escaped as text between tags.
    pub(super) fn fill_html<R: Rng>(&self, values: &mut Values<'_, R>) -> String {
        self.fill_with(|placeholder| match placeholder.kind {
            PlaceholderKind::Rows => values.value(placeholder),
            _ => super::html::escaped(&values.value(placeholder)),
        })
    }

    /// Columns used as whole JSON values, outside strings.
    pub(super) fn cells_outside_of_strings(&self) -> impl Iterator<Item = &DrawnColumn> {
        self.parts_of_json().filter_map(|(part, in_string)| match part {
            Part::Placeholder(Placeholder { kind: PlaceholderKind::Cell(cell), .. }) if !in_string => {
                Some(cell)
            }
            _ => None,
        })
    }

    /// The parts of a JSON text, and whether each begins inside a string.
    fn parts_of_json(&self) -> impl Iterator<Item = (&Part, bool)> {
        let (mut in_string, mut is_escaped) = (false, false);
        self.parts.iter().map(move |part| {
            let began_in_string = in_string;
            let literal = if let Part::Literal(literal) = part { literal.as_str() } else { "" };
            for byte in literal.bytes() {
                match byte {
                    _ if is_escaped => is_escaped = false,
                    b'\\' => is_escaped = in_string,
                    b'"' => in_string = !in_string,
                    _ => {}
                }
            }
            (part, began_in_string)
        })
    }

    /// The text filled with the smallest and with the largest values of its placeholders.
    pub(super) fn extremes(&self) -> [String; 2] {
        let ends = [std::ops::RangeInclusive::start, std::ops::RangeInclusive::end];
        ends.map(|end| {
            self.fill_with(|placeholder| match &placeholder.kind {
                PlaceholderKind::Number(range) => end(range).to_string(),
                PlaceholderKind::Row | PlaceholderKind::Computed(_) => "1".to_owned(),
                // Valid inside a string, and a whole value outside.
                PlaceholderKind::Cell(_) | PlaceholderKind::Captured | PlaceholderKind::Rows => {
                    "null".to_owned()
                }
                PlaceholderKind::Phrase | PlaceholderKind::Text => " words ".to_owned(),
                PlaceholderKind::Label
                | PlaceholderKind::Bytes(_)
                | PlaceholderKind::Random(_)
                | PlaceholderKind::Env(_) => "word".to_owned(),
            })
        })
    }

    /// The text with each placeholder filled by `value`.
    pub(super) fn fill_with(&self, mut value: impl FnMut(&Placeholder) -> String) -> String {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(literal) => text.push_str(literal),
                Part::Placeholder(placeholder) => text.push_str(&value(placeholder)),
            }
        }
        text
    }
}

impl Part {
    /// Parses the text between the braces.
    fn parse(inside: &str, scope: Scope) -> Result<Part, PlaceholderError> {
        if scope.wildcards && inside.starts_with("any") {
            return wildcard(inside).map(Part::Literal);
        }
        if let Some(computed) = Computed::parse(inside, scope.tables) {
            let kind = PlaceholderKind::Computed(computed?);
            return match scope.answer {
                true => Ok(Part::Placeholder(Placeholder { kind, name: None })),
                false => Err(PlaceholderError::OutsideOfAnswer { placeholder: inside.to_owned() }),
            };
        }
        let (word, column) = inside.split_once('.').unwrap_or((inside, ""));
        let kind = match scope.tables.and_then(|tables| tables.get(word)) {
            Some(table) => PlaceholderKind::Cell(table.cell(column)?),
            None if scope.row && inside == ROW => PlaceholderKind::Row,
            None => return Placeholder::parse(inside, scope).map(Part::Placeholder),
        };
        Ok(Part::Placeholder(Placeholder { kind, name: None }))
    }
}

/// A captured value in JSON: escaped in a string; outside, a number or boolean as it is, else a string.
fn json_of(value: String, in_string: bool) -> String {
    let is_scalar =
        |value: &str| value.parse::<serde_json::Number>().is_ok() || matches!(value, "true" | "false");
    if !in_string && is_scalar(&value) {
        return value;
    }
    let quoted = serde_json::Value::from(value).to_string();
    if in_string { quoted[1..quoted.len() - 1].to_owned() } else { quoted }
}

/// Validates the wildcard between the braces and returns it unchanged.
fn wildcard(inside: &str) -> Result<String, PlaceholderError> {
    let text = format!("{{{{{inside}}}}}");
    if text.parse::<Wildcard>().is_ok() {
        return Ok(text);
    }
    let known = Wildcard::ALL.iter().map(|known| known.to_string().trim_matches(['{', '}']).to_owned());
    let known: Vec<String> = known.collect();
    let suggestion = suggestion(inside, known.iter().map(String::as_str));
    Err(PlaceholderError::Unknown { placeholder: inside.to_owned(), suggestion })
}

fn matches(parts: &[Part], text: &str) -> bool {
    match parts {
        [] => text.is_empty(),
        [Part::Literal(literal), rest @ ..] => {
            text.strip_prefix(literal.as_str()).is_some_and(|text| matches(rest, text))
        }
        [Part::Placeholder(_), rest @ ..] => {
            let segment = text.find('/').unwrap_or(text.len());
            let mut ends = (1..=segment).filter(|end| text.is_char_boundary(*end));
            ends.any(|end| matches(rest, &text[end..]))
        }
    }
}

/// The template as written in a contract.
impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| match part {
            Part::Literal(literal) => f.write_str(literal),
            Part::Placeholder(placeholder) => write!(f, "{{{{{placeholder}}}}}"),
        })
    }
}

impl Placeholder {
    fn parse(inside: &str, scope: Scope) -> Result<Placeholder, PlaceholderError> {
        let (kind, name) = match inside.split_once('.') {
            Some((kind, name)) => (kind, Some(name.to_owned())),
            None => (inside, None),
        };
        let in_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
        if name.as_ref().is_some_and(|name| name.is_empty() || !name.bytes().all(in_name)) {
            return Err(PlaceholderError::Name { placeholder: inside.to_owned() });
        }
        let (word, range) = match kind.split_once(':') {
            Some((word, range)) => (word, Some(range)),
            None => (kind, None),
        };
        let kind = match (word, range) {
            ("label", None) => PlaceholderKind::Label,
            ("captured", None) if scope.tables.is_none() => return Err(PlaceholderError::OutsideOfSequence),
            ("captured", None) if name.is_some() => PlaceholderKind::Captured,
            ("captured", None) => return Err(PlaceholderError::Name { placeholder: inside.to_owned() }),
            ("phrase", None) => PlaceholderKind::Phrase,
            ("text", None) => PlaceholderKind::Text,
            ("number", None) => PlaceholderKind::Number(0..=NUMBER_MAX),
            ("number", Some(range)) => PlaceholderKind::Number(
                parse_range(range)
                    .ok_or_else(|| PlaceholderError::Range { placeholder: inside.to_owned() })?,
            ),
            ("env", Some(variable)) if is_variable(variable) => {
                PlaceholderKind::Env(Secret { variable: variable.to_owned(), value: None })
            }
            ("bytes", Some(count)) => PlaceholderKind::Bytes(length(count, BYTES_MAX, inside)?),
            ("random", Some(count)) => PlaceholderKind::Random(length(count, RANDOM_BYTES_MAX, inside)?),
            ("rows", None) if scope.answer && name.is_some() => PlaceholderKind::Rows,
            _ => {
                let tables = scope.tables.into_iter().flat_map(|tables| tables.keys().map(String::as_str));
                // Captured values are allowed where columns are, computed values in answers.
                let may_stand = |word: &&str| match *word {
                    "captured" => scope.tables.is_some(),
                    "add" | "byte" | "multiply" | "rows" => scope.answer,
                    _ => true,
                };
                let kinds = KINDS.into_iter().filter(may_stand);
                let words = kinds.chain(scope.row.then_some(ROW)).chain(tables);
                let suggestion = suggestion(word, words);
                return Err(PlaceholderError::Unknown { placeholder: inside.to_owned(), suggestion });
            }
        };
        Ok(Placeholder { kind, name })
    }
}

fn length(text: &str, max: usize, inside: &str) -> Result<usize, PlaceholderError> {
    let count = text.parse().ok().filter(|count| (1..=max).contains(count));
    count.ok_or_else(|| PlaceholderError::Bytes { placeholder: inside.to_owned(), max })
}

fn is_variable(name: &str) -> bool {
    let in_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(in_name) && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

fn parse_range(text: &str) -> Option<RangeInclusive<u64>> {
    // `u64::from_str` accepts a sign, which would make `1-+5` a range.
    let number = |digits: &str| {
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<u64>().ok()).flatten()
    };
    let (from, to) = text.split_once('-')?;
    let (from, to) = (number(from)?, number(to)?);
    (from <= to && to <= NUMBER_EXACT_MAX).then_some(from..=to)
}

impl PlaceholderKind {
    /// Whether its value can differ between exchanges.
    pub(super) fn varies(&self) -> bool {
        !matches!(self, PlaceholderKind::Bytes(_) | PlaceholderKind::Env(_) | PlaceholderKind::Captured)
    }
}

impl fmt::Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            PlaceholderKind::Label => f.write_str("label")?,
            PlaceholderKind::Captured => f.write_str("captured")?,
            PlaceholderKind::Phrase => f.write_str("phrase")?,
            PlaceholderKind::Text => f.write_str("text")?,
            PlaceholderKind::Number(range) if *range == (0..=NUMBER_MAX) => f.write_str("number")?,
            PlaceholderKind::Bytes(count) => write!(f, "bytes:{count}")?,
            PlaceholderKind::Env(secret) => write!(f, "env:{}", secret.variable)?,
            PlaceholderKind::Cell(cell) => cell.fmt(f)?,
            PlaceholderKind::Row => f.write_str(ROW)?,
            PlaceholderKind::Random(count) => write!(f, "random:{count}")?,
            PlaceholderKind::Computed(computed) => computed.fmt(f)?,
            PlaceholderKind::Rows => f.write_str("rows")?,
            PlaceholderKind::Number(range) => write!(f, "number:{}-{}", range.start(), range.end())?,
        }
        self.name.as_ref().map_or(Ok(()), |name| write!(f, ".{name}"))
    }
}
