//! A path to a JSON value such as `$.session.tokens[0]`: member names and element indices.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

/// A path from the whole document to one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonPath(Vec<PathPart>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum PathPart {
    Member(String),
    Element(usize),
}

/// Why a text is not a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the path \"{path}\" is not like $.a.b[0]: {reason}")]
pub struct JsonPathError {
    path: String,
    reason: &'static str,
}

impl FromStr for JsonPath {
    type Err = JsonPathError;

    fn from_str(path: &str) -> Result<JsonPath, JsonPathError> {
        let wrong = |reason| JsonPathError { path: path.to_owned(), reason };
        let mut rest = path.strip_prefix('$').ok_or_else(|| wrong("it begins with \"$\""))?;
        let mut parts = Vec::new();
        while !rest.is_empty() {
            if let Some(inside) = rest.strip_prefix('[') {
                let (number, behind) =
                    inside.split_once(']').ok_or_else(|| wrong("a \"[\" is not closed"))?;
                let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
                let element = number.parse().ok().filter(|_| is_number);
                parts.push(PathPart::Element(
                    element.ok_or_else(|| wrong("brackets hold the number of an element"))?,
                ));
                rest = behind;
                continue;
            }
            let named = rest.strip_prefix('.').ok_or_else(|| wrong("a \".\" precedes a name"))?;
            let end = named.find(['.', '[', ']']).unwrap_or(named.len());
            let (name, behind) = named.split_at(end);
            if name.is_empty() {
                return Err(wrong("a name is empty"));
            }
            parts.push(PathPart::Member(name.to_owned()));
            rest = behind;
        }
        Ok(JsonPath(parts))
    }
}

impl JsonPath {
    /// The text of the value in `body`: the content of a string, the spelling of a number or boolean.
    ///
    /// # Errors
    /// The body is not JSON, or has no such value there.
    pub(super) fn find(&self, body: &[u8]) -> Result<String, String> {
        let whole: Value =
            serde_json::from_slice(body).map_err(|error| format!("the body is not JSON: {error}"))?;
        let mut value = &whole;
        for part in &self.0 {
            let next = match part {
                PathPart::Member(name) => value.get(name),
                PathPart::Element(number) => value.get(number),
            };
            value = next.ok_or_else(|| format!("the JSON has no {self}"))?;
        }
        match value {
            Value::String(text) => Ok(text.clone()),
            Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
            Value::Null => Err(format!("{self} is null")),
            Value::Array(_) | Value::Object(_) => Err(format!("{self} is no single value")),
        }
    }
}

/// The path as written in a contract.
impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$")?;
        self.0.iter().try_for_each(|part| match part {
            PathPart::Member(name) => write!(f, ".{name}"),
            PathPart::Element(number) => write!(f, "[{number}]"),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn find(path: &str, body: &str) -> Result<String, String> {
        path.parse::<JsonPath>().unwrap().find(body.as_bytes())
    }

    #[test]
    fn values_are_found_by_members_and_elements() {
        let body = r#"{"a": {"b-c": ["x", 7, true, null, {"d": "\u00e9\n"}]}, "0": "zero"}"#;
        let table = [
            ("$.a.b-c[0]", "x"),
            ("$.a.b-c[1]", "7"),
            ("$.a.b-c[2]", "true"),
            ("$.a.b-c[4].d", "é\n"),
            ("$.0", "zero"),
        ];
        for (path, value) in table {
            assert_eq!(find(path, body).as_deref(), Ok(value), "{path}");
        }
        assert_eq!(find("$", "\"whole\"").as_deref(), Ok("whole"));
        assert_eq!(find("$[1][0]", "[0, [2.50]]").as_deref(), Ok("2.5"));
    }

    #[test]
    fn what_is_not_there_is_told() {
        let body = r#"{"a": [null, {}]}"#;
        let table = [
            ("$.b", "the JSON has no $.b"),
            ("$.a[2].c", "the JSON has no $.a[2].c"),
            ("$.a.b", "the JSON has no $.a.b"),
            ("$.a[0]", "$.a[0] is null"),
            ("$.a[1]", "$.a[1] is no single value"),
        ];
        for (path, reason) in table {
            assert_eq!(find(path, body).unwrap_err(), reason);
        }
        assert!(find("$.a", "nothing").unwrap_err().starts_with("the body is not JSON"));
    }

    #[test]
    fn mistakes_are_named() {
        for path in
            ["", "token", "$token", "$.", "$.a..b", "$.a[", "$.a[]", "$.a[-1]", "$.a[x]", "$.a]", "$.a[0]b"]
        {
            let error = path.parse::<JsonPath>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("the path \"{path}\" is not like $.a.b[0]: ")), "{error}");
        }
    }

    proptest! {
        #[test]
        fn a_path_is_written_as_it_was_read(parts in prop::collection::vec(
            prop_oneof!["[a-zA-Z0-9_ é-]{1,8}".prop_map(PathPart::Member), (0_usize..1000).prop_map(PathPart::Element)], 0..6,
        )) {
            let path = JsonPath(parts);
            prop_assert_eq!(path.to_string().parse::<JsonPath>(), Ok(path));
        }

        #[test]
        fn no_text_is_too_much(text in "[$.a0\\[\\]é]{0,12}", body in ".{0,20}") {
            if let Ok(path) = text.parse::<JsonPath>() {
                prop_assert_eq!(path.to_string().parse::<JsonPath>(), Ok(path.clone()));
                let _found = path.find(body.as_bytes());
            }
        }
    }
}
