//! Placeholders in the text of a contract, such as `{{label}}`, and the values that fill them.
//!
//! Knows nothing of HTTP. The same generator in the same state fills the same text with the same values.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

use rand::{Rng, RngExt};
use tare_load::{pattern::Wildcard, percent};

/// The length of the longest label.
pub(crate) const LABEL_LENGTH_MAX: usize = 24;
const TEXT_LENGTH_MAX: usize = 64;
const NUMBER_MAX: u64 = 999_999_999;
/// The largest integer that a JSON reader with floating-point numbers keeps exactly.
const NUMBER_EXACT_MAX: u64 = (1 << 53) - 1;
const KINDS: [&str; 6] = ["bytes", "env", "label", "number", "phrase", "text"];
/// The longest body that services of the catalogue have to take.
const BYTES_MAX: usize = 1_000_000;
const LABEL_CHARACTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
const PHRASE_LENGTH_MAX: usize = 24;
/// Each of them must be percent-encoded in a path, and decoded by whoever reads it.
const PHRASE_CHARACTERS: [char; 4] = [' ', '%', 'é', '+'];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Literal(String),
    Placeholder(Placeholder),
}

/// A part of a template that is filled when an exchange is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placeholder {
    pub kind: Kind,
    /// Placeholders with the same name have the same value within an exchange. One without a name has its own value.
    pub name: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// 1 to 24 characters of `[A-Za-z0-9_-]`.
    Label,
    /// A decimal integer in this range.
    Number(RangeInclusive<u64>),
    /// 1 to 24 characters, of which at least one must be percent-encoded in a path, as it is there.
    Phrase,
    /// This number of letters, always the same ones.
    Bytes(usize),
    /// 1 to 64 printable ASCII characters that need no escape in JSON.
    Text,
    /// The value of a variable of the environment: a token, a password. It is written nowhere.
    Env(Secret),
}

/// A variable, and its value once the contract is used.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    pub variable: String,
    value: Option<String>,
}

/// Without its value.
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
    #[error("the placeholder \"{placeholder}\" has no number of bytes from 1 to {BYTES_MAX}")]
    Bytes { placeholder: String },
}

impl Template {
    /// Parses the placeholders in `text`.
    ///
    /// # Errors
    /// A placeholder is unknown, not closed, or has an invalid name or range.
    pub(crate) fn parse(text: &str) -> Result<Template, PlaceholderError> {
        Template::parse_with(text, |_| Ok(None))
    }

    /// The same for JSON of a response, in which wildcards such as `{{any:int}}` stay as they are.
    ///
    /// # Errors
    /// As of [`Template::parse`], or a wildcard is unknown.
    pub(super) fn parse_with_wildcards(text: &str) -> Result<Template, PlaceholderError> {
        Template::parse_with(text, wildcard)
    }

    /// What `kept` returns is part of the text, and no placeholder.
    fn parse_with(
        text: &str,
        kept: impl Fn(&str) -> Result<Option<String>, PlaceholderError>,
    ) -> Result<Template, PlaceholderError> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let (inside, behind) = after.split_once("}}").ok_or(PlaceholderError::Open)?;
            if !before.is_empty() {
                parts.push(Part::Literal(before.to_owned()));
            }
            parts.push(match kept(inside)? {
                Some(text) => Part::Literal(text),
                None => Part::Placeholder(Placeholder::parse(inside)?),
            });
            rest = behind;
        }
        if !rest.is_empty() {
            parts.push(Part::Literal(rest.to_owned()));
        }
        Ok(Template { parts })
    }

    pub(crate) fn placeholders(&self) -> impl Iterator<Item = &Placeholder> {
        self.parts.iter().filter_map(|part| match part {
            Part::Placeholder(placeholder) => Some(placeholder),
            Part::Literal(_) => None,
        })
    }

    /// Enters the values of variables. One that has no value, or that holds a control character, stays without it.
    pub(crate) fn enter_secrets(&mut self, value_of: &impl Fn(&str) -> Option<String>) {
        let is_sendable = |value: &String| !value.chars().any(char::is_control);
        for part in &mut self.parts {
            if let Part::Placeholder(Placeholder { kind: Kind::Env(secret), .. }) = part {
                secret.value = value_of(&secret.variable).filter(is_sendable);
            }
        }
    }

    /// The variables without a value.
    pub(crate) fn missing(&self) -> impl Iterator<Item = &str> {
        self.placeholders().filter_map(|placeholder| match &placeholder.kind {
            Kind::Env(Secret { variable, value: None }) => Some(variable.as_str()),
            _ => None,
        })
    }

    /// The text, if it has no placeholders.
    pub fn fixed(&self) -> Option<String> {
        match self.parts.as_slice() {
            [] => Some(String::new()),
            [Part::Literal(text)] => Some(text.clone()),
            _ => None,
        }
    }

    /// Whether `path` could be this one, its query left out, if each placeholder stood for any part of a segment.
    pub(crate) fn matches(&self, path: &str) -> bool {
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
    pub(crate) fn fill<R: Rng>(&self, values: &mut Values<'_, R>) -> String {
        self.fill_with(|placeholder| values.value(placeholder))
    }

    /// The same for a path or a query: what could not stand there is percent-encoded.
    pub(crate) fn fill_encoded<R: Rng>(&self, values: &mut Values<'_, R>) -> String {
        self.fill_with(|placeholder| match placeholder.kind {
            Kind::Phrase | Kind::Text | Kind::Env(_) => percent::encoded(&values.value(placeholder)),
            Kind::Label | Kind::Number(_) | Kind::Bytes(_) => values.value(placeholder),
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

/// The wildcard between the braces, if it is meant as one.
fn wildcard(inside: &str) -> Result<Option<String>, PlaceholderError> {
    if !inside.starts_with("any") {
        return Ok(None);
    }
    let text = format!("{{{{{inside}}}}}");
    if text.parse::<Wildcard>().is_ok() {
        return Ok(Some(text));
    }
    let known = Wildcard::ALL.iter().map(|known| known.to_string().trim_matches(['{', '}']).to_owned());
    let known: Vec<String> = known.collect();
    let suggestion = tare_host::spelling::suggestion(inside, known.iter().map(String::as_str));
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

/// The template as it is written in a contract.
impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| match part {
            Part::Literal(literal) => f.write_str(literal),
            Part::Placeholder(placeholder) => write!(f, "{{{{{placeholder}}}}}"),
        })
    }
}

impl Placeholder {
    fn parse(inside: &str) -> Result<Placeholder, PlaceholderError> {
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
            ("label", None) => Kind::Label,
            ("phrase", None) => Kind::Phrase,
            ("text", None) => Kind::Text,
            ("number", None) => Kind::Number(0..=NUMBER_MAX),
            ("number", Some(range)) => Kind::Number(
                parse_range(range)
                    .ok_or_else(|| PlaceholderError::Range { placeholder: inside.to_owned() })?,
            ),
            ("env", Some(variable)) if is_variable(variable) => {
                Kind::Env(Secret { variable: variable.to_owned(), value: None })
            }
            ("bytes", Some(count)) => {
                let count = count.parse().ok().filter(|count| (1..=BYTES_MAX).contains(count));
                Kind::Bytes(count.ok_or_else(|| PlaceholderError::Bytes { placeholder: inside.to_owned() })?)
            }
            _ => {
                let suggestion = tare_host::spelling::suggestion(word, KINDS);
                return Err(PlaceholderError::Unknown { placeholder: inside.to_owned(), suggestion });
            }
        };
        Ok(Placeholder { kind, name })
    }
}

fn is_variable(name: &str) -> bool {
    let in_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(in_name) && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

fn parse_range(text: &str) -> Option<RangeInclusive<u64>> {
    // `u64::from_str` takes a sign, which would make `1-+5` a range.
    let number = |digits: &str| {
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<u64>().ok()).flatten()
    };
    let (from, to) = text.split_once('-')?;
    let (from, to) = (number(from)?, number(to)?);
    (from <= to && to <= NUMBER_EXACT_MAX).then_some(from..=to)
}

impl Kind {
    /// Whether two values of it can differ.
    pub(super) fn varies(&self) -> bool {
        !matches!(self, Kind::Bytes(_) | Kind::Env(_))
    }
}

impl fmt::Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Label => f.write_str("label")?,
            Kind::Phrase => f.write_str("phrase")?,
            Kind::Text => f.write_str("text")?,
            Kind::Number(range) if *range == (0..=NUMBER_MAX) => f.write_str("number")?,
            Kind::Bytes(count) => write!(f, "bytes:{count}")?,
            Kind::Env(secret) => write!(f, "env:{}", secret.variable)?,
            Kind::Number(range) => write!(f, "number:{}-{}", range.start(), range.end())?,
        }
        self.name.as_ref().map_or(Ok(()), |name| write!(f, ".{name}"))
    }
}

/// The values of the placeholders within one exchange.
#[derive(Debug)]
pub struct Values<'r, R> {
    rng: &'r mut R,
    label_length: Option<usize>,
    named: BTreeMap<String, String>,
}

impl<'r, R: Rng> Values<'r, R> {
    /// Values from `rng`; labels have `label_length` characters, or a random number from 1 to 24 of them.
    pub(crate) fn new(rng: &'r mut R, label_length: Option<usize>) -> Values<'r, R> {
        Values { rng, label_length, named: BTreeMap::new() }
    }

    fn value(&mut self, placeholder: &Placeholder) -> String {
        if let Some(value) = placeholder.name.as_ref().and_then(|name| self.named.get(name)) {
            return value.clone();
        }
        let value = self.invent(&placeholder.kind);
        if let Some(name) = &placeholder.name {
            self.named.insert(name.clone(), value.clone());
        }
        value
    }

    fn invent(&mut self, kind: &Kind) -> String {
        match kind {
            Kind::Label => {
                let length = self.label_length.unwrap_or_else(|| self.rng.random_range(1..=LABEL_LENGTH_MAX));
                let character = |_| LABEL_CHARACTERS[self.rng.random_range(0..LABEL_CHARACTERS.len())];
                (0..length).map(character).map(char::from).collect()
            }
            Kind::Number(range) => self.rng.random_range(range.clone()).to_string(),
            Kind::Phrase => self.phrase(),
            Kind::Env(secret) => secret.value.clone().unwrap_or_default(),
            Kind::Bytes(count) => ('a'..='z').cycle().take(*count).collect(),
            Kind::Text => {
                let length = self.rng.random_range(1..=TEXT_LENGTH_MAX);
                (0..length).map(|_| self.text_character()).collect()
            }
        }
    }

    /// A label, with a character that must be encoded in the place of one of its own.
    fn phrase(&mut self) -> String {
        let length = self.rng.random_range(1..=PHRASE_LENGTH_MAX);
        let encoded = self.rng.random_range(0..length);
        let mut character = |place| match place == encoded || self.rng.random_range(0..8) == 0 {
            true => PHRASE_CHARACTERS[self.rng.random_range(0..PHRASE_CHARACTERS.len())],
            false => char::from(LABEL_CHARACTERS[self.rng.random_range(0..LABEL_CHARACTERS.len())]),
        };
        (0..length).map(&mut character).collect()
    }

    /// Not `"` and `\`, which JSON escapes. `<`, `>` and `&`, which some escape although they need not, do come.
    fn text_character(&mut self) -> char {
        loop {
            let character = char::from(self.rng.random_range(b' '..=b'~'));
            if !matches!(character, '"' | '\\') {
                return character;
            }
        }
    }
}
