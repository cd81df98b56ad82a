//! A JSON value with wildcards: the form of an answer whose values change from one request to the next.
//!
//! A wildcard is a whole string, such as `"{{any:int}}"`. Everything else must be equal.

use std::str::FromStr;

use serde_json::{Map, Value};
use strum::VariantArray;

/// What a wildcard matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display, strum::EnumString, strum::VariantArray)]
pub enum Wildcard {
    /// Any value, including null.
    #[strum(to_string = "{{any}}")]
    Any,
    /// A 64-bit integer.
    #[strum(to_string = "{{any:int}}")]
    Int,
    /// A number, with a fraction or without.
    #[strum(to_string = "{{any:number}}")]
    Number,
    /// Any string.
    #[strum(to_string = "{{any:string}}")]
    Text,
    /// True or false.
    #[strum(to_string = "{{any:bool}}")]
    Bool,
    /// An array of any length.
    #[strum(to_string = "{{any:array}}")]
    Array,
    /// An object with any members.
    #[strum(to_string = "{{any:object}}")]
    Object,
    /// A string of 32 hexadecimal digits in five groups.
    #[strum(to_string = "{{any:uuid}}")]
    Uuid,
    /// An instant in the form of RFC 3339.
    #[strum(to_string = "{{any:timestamp}}")]
    Timestamp,
}

impl Wildcard {
    /// All wildcards.
    pub const ALL: &[Wildcard] = Wildcard::VARIANTS;

    /// Whether the wildcard matches `value`.
    #[must_use]
    pub fn accepts(self, value: &Value) -> bool {
        match self {
            Wildcard::Any => true,
            Wildcard::Int => value.is_i64() || value.is_u64(),
            Wildcard::Number => value.is_number(),
            Wildcard::Text => value.is_string(),
            Wildcard::Bool => value.is_boolean(),
            Wildcard::Array => value.is_array(),
            Wildcard::Object => value.is_object(),
            Wildcard::Uuid => value.as_str().is_some_and(is_uuid),
            Wildcard::Timestamp => value.as_str().is_some_and(is_timestamp),
        }
    }

    /// A value that the wildcard matches.
    fn example(self) -> Value {
        match self {
            Wildcard::Any => Value::Null,
            Wildcard::Int | Wildcard::Number => Value::from(1),
            Wildcard::Text => Value::from("text"),
            Wildcard::Bool => Value::from(true),
            Wildcard::Array => Value::Array(Vec::new()),
            Wildcard::Object => Value::Object(Map::new()),
            Wildcard::Uuid => Value::from("00000000-0000-4000-8000-000000000000"),
            Wildcard::Timestamp => Value::from("2000-01-01T00:00:00Z"),
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Wildcard::Any => "any value",
            Wildcard::Int => "an int",
            Wildcard::Number => "a number",
            Wildcard::Text => "a string",
            Wildcard::Bool => "a bool",
            Wildcard::Array => "an array",
            Wildcard::Object => "an object",
            Wildcard::Uuid => "a UUID",
            Wildcard::Timestamp => "an RFC 3339 timestamp",
        }
    }
}

fn is_uuid(text: &str) -> bool {
    let groups = [8, 4, 4, 4, 12];
    let is_group = |(group, length): (&str, usize)| {
        group.len() == length && group.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    text.split('-').count() == groups.len() && text.split('-').zip(groups).all(is_group)
}

/// Checks forms itself, because the crate also accepts some that RFC 3339 does not have: a space for the `T`,
/// no colons, a zone in brackets.
fn is_timestamp(text: &str) -> bool {
    let bytes = text.as_bytes();
    let has = |place: usize, of: &[u8]| bytes.get(place).is_some_and(|byte| of.contains(byte));
    let is_long = [(4, b"-"), (7, b"-"), (13, b":"), (16, b":")].iter().all(|(place, of)| has(*place, *of));
    let end = text.strip_suffix(['Z', 'z']).is_some()
        || bytes.len().checked_sub(6).is_some_and(|sign| has(sign, b"+-") && has(sign + 3, b":"));
    is_long && has(10, b"Tt") && end && text.parse::<jiff::Timestamp>().is_ok()
}

/// A JSON value in which some strings are wildcards.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonPattern {
    value: Value,
    /// Whether objects may have members that the pattern does not name.
    extra: bool,
}

impl JsonPattern {
    /// The pattern written as `value`. With `extra`, objects may have more members than it names.
    #[must_use]
    pub fn new(value: Value, extra: bool) -> JsonPattern {
        JsonPattern { value, extra }
    }

    /// How many wildcards it has.
    #[must_use]
    pub fn wildcards(&self) -> usize {
        wildcards(&self.value)
    }

    /// Whether objects may have more members than it names.
    #[must_use]
    pub fn allows_extra(&self) -> bool {
        self.extra
    }

    /// A value that matches.
    #[must_use]
    pub fn example(&self) -> Value {
        example(&self.value)
    }

    /// Whether `got` matches.
    #[must_use]
    pub fn matches(&self, got: &Value) -> bool {
        self.fits(&self.value, got)
    }

    fn fits(&self, expected: &Value, got: &Value) -> bool {
        match (expected, got) {
            (Value::Object(expected), Value::Object(got)) => {
                let is_member =
                    |(name, value): (&String, &Value)| got.get(name).is_some_and(|got| self.fits(value, got));
                (self.extra || expected.len() == got.len()) && expected.iter().all(is_member)
            }
            (Value::Array(expected), Value::Array(got)) => {
                expected.len() == got.len()
                    && expected.iter().zip(got).all(|(expected, got)| self.fits(expected, got))
            }
            (expected, got) => is_equal_or_wild(expected, got),
        }
    }

    /// Every place at which `got` does not match, by its JSON path: `$.id: expected an int, got "7"`.
    #[must_use]
    pub fn differences(&self, got: &Value) -> Vec<String> {
        let mut found = Vec::new();
        self.collect("$", &self.value, got, &mut found);
        found
    }

    fn collect(&self, path: &str, expected: &Value, got: &Value, found: &mut Vec<String>) {
        match (expected, got) {
            (Value::Object(expected), Value::Object(got)) => {
                self.collect_members(path, expected, got, found);
            }
            (Value::Array(expected), Value::Array(got)) if expected.len() == got.len() => {
                for (index, (expected, got)) in expected.iter().zip(got).enumerate() {
                    self.collect(&format!("{path}[{index}]"), expected, got, found);
                }
            }
            (Value::Array(expected), Value::Array(got)) => {
                let (wanted, came) = (expected.len(), got.len());
                found.push(format!("{path}: expected an array of length {wanted}, got length {came}"));
            }
            (expected, got) if is_equal_or_wild(expected, got) => {}
            (expected, got) => {
                let wanted =
                    wildcard(expected).map_or_else(|| short(expected), |wildcard| wildcard.noun().to_owned());
                found.push(format!("{path}: expected {wanted}, got {}", short(got)));
            }
        }
    }

    fn collect_members(
        &self,
        path: &str,
        expected: &Map<String, Value>,
        got: &Map<String, Value>,
        found: &mut Vec<String>,
    ) {
        for (name, value) in expected {
            let path = member(path, name);
            match got.get(name) {
                Some(got) => self.collect(&path, value, got, found),
                None => found.push(format!("{path}: is missing{}", spelt_otherwise(name, got))),
            }
        }
        // A member that is only misspelt has already been reported.
        let is_told = |name: &str| {
            expected.keys().any(|known| !got.contains_key(known) && known.eq_ignore_ascii_case(name))
        };
        let unexpected =
            got.iter().filter(|(name, _)| !self.extra && !expected.contains_key(*name) && !is_told(name));
        found.extend(
            unexpected.map(|(name, value)| {
                format!("{}: was not expected, got {}", member(path, name), short(value))
            }),
        );
    }
}

/// The form in a contract.
impl std::fmt::Display for JsonPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.value.fmt(f)
    }
}

fn wildcard(value: &Value) -> Option<Wildcard> {
    Wildcard::from_str(value.as_str()?).ok()
}

fn is_equal_or_wild(expected: &Value, got: &Value) -> bool {
    wildcard(expected).map_or_else(|| expected == got, |wildcard| wildcard.accepts(got))
}

fn wildcards(value: &Value) -> usize {
    match value {
        Value::Array(values) => values.iter().map(wildcards).sum(),
        Value::Object(members) => members.values().map(wildcards).sum(),
        value => usize::from(wildcard(value).is_some()),
    }
}

fn example(value: &Value) -> Value {
    match value {
        Value::Array(values) => values.iter().map(example).collect(),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(name, value)| (name.clone(), example(value))).collect())
        }
        value => wildcard(value).map_or_else(|| value.clone(), Wildcard::example),
    }
}

fn spelt_otherwise(name: &str, got: &Map<String, Value>) -> String {
    let other = got.keys().find(|got| got.eq_ignore_ascii_case(name));
    other.map_or_else(String::new, |other| {
        format!("; \"{other}\" is there, but upper and lower case are different names")
    })
}

fn member(path: &str, name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    match !name.is_empty() && name.bytes().all(is_plain) {
        true => format!("{path}.{name}"),
        false => format!("{path}[{}]", Value::from(name)),
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn each_wildcard_takes_its_type_and_no_other() {
        let table = [
            (
                Wildcard::Int,
                vec![json!(7), json!(-7), json!(u64::MAX)],
                vec![json!(7.5), json!("7"), json!(null)],
            ),
            (Wildcard::Number, vec![json!(7), json!(7.5)], vec![json!("7.5"), json!(true)]),
            (Wildcard::Text, vec![json!(""), json!("a")], vec![json!(1), json!(["a"])]),
            (Wildcard::Bool, vec![json!(true), json!(false)], vec![json!(0), json!("true")]),
            (Wildcard::Array, vec![json!([]), json!([1, "a"])], vec![json!({}), json!("[]")]),
            (Wildcard::Object, vec![json!({}), json!({"a": 1})], vec![json!([]), json!(null)]),
            (
                Wildcard::Uuid,
                vec![json!("0b9ff8aa-3D1C-4d3e-9f00-000000000001")],
                vec![
                    json!("0b9ff8aa3d1c4d3e9f00000000000001"),
                    json!("0b9ff8ag-3d1c-4d3e-9f00-000000000001"),
                ],
            ),
            (
                Wildcard::Timestamp,
                vec![json!("2026-11-23T12:00:00Z"), json!("2026-11-23T12:00:00.123+05:30")],
                vec![
                    json!("2026-11-23"),
                    json!("2026-11-23 12:00:00Z"),
                    json!("2026-13-23T12:00:00Z"),
                    json!("2026-11-23T12:00:00"),
                    json!("2026-11-23T12:00:00+05:30[Asia/Kolkata]"),
                    json!(1),
                ],
            ),
            (Wildcard::Any, vec![json!(null), json!({"a": [1]})], vec![]),
        ];
        assert_eq!(table.len(), Wildcard::ALL.len());
        for (wildcard, right, wrong) in table {
            let pattern = JsonPattern::new(json!({ "a": [wildcard.to_string()] }), false);
            assert_eq!(pattern.wildcards(), 1);
            right.iter().for_each(|got| assert!(pattern.matches(&json!({ "a": [got] })), "{wildcard} {got}"));
            wrong
                .iter()
                .for_each(|got| assert!(!pattern.matches(&json!({ "a": [got] })), "{wildcard} {got}"));
        }
    }

    #[test]
    fn every_difference_is_named_by_its_path() {
        let pattern = json!({"id": "{{any:int}}", "a b": [1, "{{any:bool}}"], "gone": 1, "list": [1]});
        let got = json!({"id": "7", "a b": [1, 2], "list": [], "new": null});
        let named = [
            "$.id: expected an int, got \"7\"",
            "$[\"a b\"][1]: expected a bool, got 2",
            "$.gone: is missing",
            "$.list: expected an array of length 1, got length 0",
        ];
        let differences = |extra| JsonPattern::new(pattern.clone(), extra).differences(&got);
        assert_eq!(differences(true), named);
        assert_eq!(differences(false), [&named[..], &["$.new: was not expected, got null"]].concat());
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<i32>().prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            "[a-z]{0,3}".prop_map(Value::from),
            prop::sample::select(Wildcard::ALL).prop_map(|wildcard| Value::from(wildcard.to_string())),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("[a-c]", inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_value_fits_if_no_difference_is_named(one in any_json(), other in any_json(), extra: bool) {
            let pattern = JsonPattern::new(one.clone(), extra);
            prop_assert_eq!(pattern.matches(&other), pattern.differences(&other).is_empty());
            prop_assert!(pattern.matches(&pattern.example()));
            if pattern.wildcards() == 0 {
                prop_assert!(pattern.matches(&one));
                prop_assert!(extra || pattern.matches(&other) == (one == other));
            }
        }
    }
}
