//! A YAML or JSON document as a tree that keeps the spelling of scalars: only a schema shows whether `01234`
//! is a number or text.

use std::{borrow::Cow, fmt};

use indexmap::IndexMap;
use serde_json::Value;

/// Members in document order, with unchanged names.
pub(super) type Mapping = IndexMap<String, DocumentNode>;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum DocumentNode {
    Scalar(Scalar),
    Sequence(Vec<DocumentNode>),
    Mapping(Mapping),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scalar {
    spelling: String,
    /// Written without quotes or similar, so that the spelling determines the type.
    is_plain: bool,
}

/// The meaning of a scalar by the core schema of YAML 1.2 (10.3.2), which JSON shares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meaning<'s> {
    Null,
    Bool(bool),
    /// In JSON's spelling, with all digits.
    Number(String),
    Text(&'s str),
}

impl Scalar {
    pub(super) fn new(spelling: String, is_plain: bool) -> Scalar {
        Scalar { spelling, is_plain }
    }

    pub(super) fn spelling(&self) -> &str {
        &self.spelling
    }

    pub(super) fn meaning(&self) -> Meaning<'_> {
        match self.spelling.as_str() {
            text if !self.is_plain => Meaning::Text(text),
            "" | "~" | "null" | "Null" | "NULL" => Meaning::Null,
            "true" | "True" | "TRUE" => Meaning::Bool(true),
            "false" | "False" | "FALSE" => Meaning::Bool(false),
            text => number(text).map_or(Meaning::Text(text), Meaning::Number),
        }
    }

    /// As text, without quotes.
    pub(super) fn text(&self) -> Cow<'_, str> {
        match self.meaning() {
            Meaning::Null => "null".into(),
            Meaning::Bool(value) => value.to_string().into(),
            Meaning::Number(digits) => digits.into(),
            Meaning::Text(text) => text.into(),
        }
    }
}

impl DocumentNode {
    pub(super) fn text(text: impl Into<String>) -> DocumentNode {
        DocumentNode::Scalar(Scalar::new(text.into(), false))
    }

    /// A number, a boolean or null in JSON's spelling.
    pub(super) fn plain(spelling: impl Into<String>) -> DocumentNode {
        DocumentNode::Scalar(Scalar::new(spelling.into(), true))
    }

    pub(super) fn get(&self, key: &str) -> Option<&DocumentNode> {
        match self {
            DocumentNode::Mapping(members) => members.get(key),
            DocumentNode::Scalar(_) | DocumentNode::Sequence(_) => None,
        }
    }

    pub(super) fn scalar(&self) -> Option<&Scalar> {
        match self {
            DocumentNode::Scalar(scalar) => Some(scalar),
            DocumentNode::Sequence(_) | DocumentNode::Mapping(_) => None,
        }
    }

    /// The spelling of a scalar.
    pub(super) fn spelling(&self) -> Option<&str> {
        self.scalar().map(Scalar::spelling)
    }

    /// The spelling of a member.
    pub(super) fn word(&self, key: &str) -> Option<&str> {
        self.get(key)?.spelling()
    }

    pub(super) fn flag(&self, key: &str) -> Option<bool> {
        match self.get(key)?.scalar()?.meaning() {
            Meaning::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// Whether the value is missing, as in `example:`.
    pub(super) fn is_blank(&self) -> bool {
        self.scalar().is_some_and(|scalar| scalar.is_plain && scalar.spelling.is_empty())
    }

    pub(super) fn members<'n>(
        &'n self,
        key: &str,
    ) -> impl Iterator<Item = (&'n str, &'n DocumentNode)> + use<'n> {
        let members = match self.get(key) {
            Some(DocumentNode::Mapping(members)) => Some(members),
            _ => None,
        };
        members.into_iter().flatten().map(|(name, value)| (name.as_str(), value))
    }

    pub(super) fn elements(&self, key: &str) -> &[DocumentNode] {
        match self.get(key) {
            Some(DocumentNode::Sequence(elements)) => elements,
            _ => &[],
        }
    }

    /// The node that a JSON pointer in a fragment refers to (RFC 6901, section 6).
    pub(super) fn at(&self, fragment: &str) -> Option<&DocumentNode> {
        let pointer = percent_decoded(fragment)?;
        let Some(steps) = pointer.strip_prefix('/') else { return pointer.is_empty().then_some(self) };
        steps.split('/').try_fold(self, |node, step| {
            let step = step.replace("~1", "/").replace("~0", "~");
            match node {
                DocumentNode::Mapping(members) => members.get(&step),
                DocumentNode::Sequence(elements) => elements.get(step.parse::<usize>().ok()?),
                DocumentNode::Scalar(_) => None,
            }
        })
    }

    pub(super) fn value(&self) -> Value {
        match self {
            DocumentNode::Scalar(scalar) => match scalar.meaning() {
                Meaning::Null => Value::Null,
                Meaning::Bool(value) => Value::Bool(value),
                Meaning::Number(digits) => digits.parse().map_or(Value::Null, Value::Number),
                Meaning::Text(text) => Value::from(text),
            },
            DocumentNode::Sequence(elements) => elements.iter().map(DocumentNode::value).collect(),
            DocumentNode::Mapping(members) => {
                members.iter().map(|(name, value)| (name.clone(), value.value())).collect()
            }
        }
    }
}

/// As JSON; numbers keep their digits.
impl fmt::Display for DocumentNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str| Value::from(text).to_string();
        let between = |first: bool| if first { "" } else { "," };
        match self {
            DocumentNode::Scalar(scalar) => match scalar.meaning() {
                Meaning::Text(text) => f.write_str(&quoted(text)),
                _ => f.write_str(&scalar.text()),
            },
            DocumentNode::Sequence(elements) => {
                f.write_str("[")?;
                for (place, element) in elements.iter().enumerate() {
                    write!(f, "{}{element}", between(place == 0))?;
                }
                f.write_str("]")
            }
            DocumentNode::Mapping(members) => {
                f.write_str("{")?;
                for (place, (name, value)) in members.iter().enumerate() {
                    write!(f, "{}{}:{value}", between(place == 0), quoted(name))?;
                }
                f.write_str("}")
            }
        }
    }
}

/// In JSON's spelling; absent if it is not a number of the core schema, or JSON cannot express it.
fn number(text: &str) -> Option<String> {
    if let Some(digits) = text.strip_prefix("0o") {
        return of_radix(digits, 8);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return of_radix(digits, 16);
    }
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = unsigned.split_at(unsigned.find(['e', 'E']).unwrap_or(unsigned.len()));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let power = exponent.get(1..).map(|power| power.strip_prefix(['+', '-']).unwrap_or(power));
    let is_number = is_digits(whole)
        && is_digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && power.is_none_or(|power| !power.is_empty() && is_digits(power));
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    };
    let point = if fraction.is_empty() { "" } else { "." };
    is_number.then(|| format!("{sign}{whole}{point}{fraction}{exponent}"))
}

fn of_radix(digits: &str, radix: u32) -> Option<String> {
    let is_digits = digits.chars().all(|digit| digit.is_digit(radix));
    let number = u128::from_str_radix(digits, radix).ok().filter(|_| is_digits);
    number.map(|number| number.to_string())
}

/// Absent if the bytes are not text.
pub(super) fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let triple = rest.get(..3).filter(|_| *first == b'%').and_then(|triple| str::from_utf8(triple).ok());
        let coded = triple.and_then(|triple| u8::from_str_radix(&triple[1..], 16).ok());
        bytes.push(coded.unwrap_or(*first));
        rest = if coded.is_some() { &rest[3..] } else { after };
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_plain_scalar_is_what_the_core_schema_says() {
        let meaning = |text: &str| DocumentNode::plain(text).to_string();
        for text in [
            "y",
            "n",
            "yes",
            "no",
            "on",
            "off",
            "NO",
            "Yes",
            "tRuE",
            "nULL",
            "1_000",
            "12:30:45",
            "2026-01-02",
        ] {
            assert_eq!(meaning(text), format!("\"{text}\""));
        }
        // Octal and hexadecimal numbers have no sign and no other digits; JSON has neither infinity nor NaN.
        for text in [
            "0o8", "0xg", "-0x1f", "0o", "0x", "0x+1", "0b1", ".", "-", "+", "1e", "e1", ".e1", "1.2.3",
            ".inf", ".NaN", "١",
        ] {
            assert_eq!(meaning(text), format!("\"{text}\""));
        }
        for (text, json) in [
            ("", "null"),
            ("~", "null"),
            ("NULL", "null"),
            ("True", "true"),
            ("FALSE", "false"),
            ("01234", "1234"),
            ("000", "0"),
            ("-007", "-7"),
            ("+1", "1"),
            ("-0", "-0"),
            ("0o17", "15"),
            ("0x1F", "31"),
            ("1.10", "1.10"),
            ("1.", "1"),
            (".5", "0.5"),
            ("-.5e3", "-0.5e3"),
            ("1e10", "1e10"),
            ("1E+2", "1E+2"),
            ("12345678901234567890123", "12345678901234567890123"),
        ] {
            assert_eq!(meaning(text), json, "{text}");
            assert!(serde_json::from_str::<Value>(json).is_ok());
        }
        assert_eq!(DocumentNode::text("01234").to_string(), "\"01234\"");
    }

    #[test]
    fn a_pointer_leads_to_a_part() {
        let leaf = |text: &str| DocumentNode::text(text);
        let inner = Mapping::from([("a/b".to_owned(), leaf("1")), ("{x}".to_owned(), leaf("2"))]);
        let node = DocumentNode::Mapping(Mapping::from([(
            "list".to_owned(),
            DocumentNode::Sequence(vec![leaf("0"), DocumentNode::Mapping(inner)]),
        )]));
        let word = |fragment: &str| node.at(fragment).and_then(DocumentNode::spelling);
        assert_eq!(word("/list/0"), Some("0"));
        assert_eq!(word("/list/1/a~1b"), Some("1"));
        assert_eq!(word("/list/1/%7Bx%7D"), Some("2"));
        assert_eq!(node.at(""), Some(&node));
        for nowhere in ["/list/2", "/list/x", "list", "/list/0/a", "/%ff"] {
            assert_eq!(node.at(nowhere), None, "{nowhere}");
        }
    }

    proptest! {
        #[test]
        fn a_number_of_json_keeps_its_digits(number in "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,9})?([eE][+-]?[0-9]{1,2})?") {
            prop_assert_eq!(DocumentNode::plain(number.clone()).to_string(), number);
        }

        #[test]
        fn what_is_written_is_json(text in "[-+]?[0-9.eExo_]{0,9}") {
            let json = DocumentNode::plain(text.clone()).to_string();
            prop_assert!(serde_json::from_str::<serde::de::IgnoredAny>(&json).is_ok(), "{}", json);
        }
    }
}
