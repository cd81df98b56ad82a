//! Compares an answer with what the contract expects, and describes the first difference. No I/O.

use serde_json::Value;
use tare_load::exchange::{Expected, ExpectedBody};
use tare_load::http1::Response;

use super::escape::quote;
use super::media_type;
use crate::contract::Answer;

/// The first value of the header `name`, as text.
pub(super) fn header(response: &Response, name: &str) -> Option<String> {
    let (_, value) = response.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name))?;
    Some(String::from_utf8_lossy(value).trim().to_owned())
}

/// Whether `response` is what `answer` asks for, its placeholders filled as in `expected`; if not, the first difference.
pub(super) fn judge(response: &Response, answer: &Answer, expected: &Expected) -> Result<(), String> {
    if response.status != expected.status {
        return Err(format!("expected status {}, got {}", expected.status, status_and_body(response)));
    }
    framing(response)?;
    if let Some(expected) = &answer.content_type {
        match header(response, "content-type") {
            Some(got) => media_type::compare(expected, &got)?,
            None => return Err(format!("expected content type \"{expected}\", got no Content-Type")),
        }
    }
    for (name, expected) in &answer.headers {
        match header(response, name) {
            Some(got) if got == *expected => {}
            Some(got) => return Err(format!("expected \"{name}: {expected}\", got \"{name}: {got}\"")),
            None => return Err(format!("expected \"{name}: {expected}\", got no {name}")),
        }
    }
    body(&response.body, &expected.body)
}

pub(super) fn status_and_body(response: &Response) -> String {
    match response.body.as_slice() {
        [] => response.status.to_string(),
        body => format!("{} with the body {}", response.status, quote(body)),
    }
}

/// A load generator must know where an answer ends without waiting for the end of the connection.
fn framing(response: &Response) -> Result<(), String> {
    let lengths: Vec<&[u8]> = (response.headers.iter())
        .filter(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .map(|(_, value)| value.as_slice())
        .collect();
    let coded = header(response, "transfer-encoding");
    match (lengths.as_slice(), coded) {
        ([], None) if !response.body.is_empty() && response.keep_alive => Err(String::from(
            "neither Content-Length nor \"Transfer-Encoding: chunked\": only the close shows where the answer ends",
        )),
        ([_, ..], Some(coded)) => {
            Err(format!("Content-Length beside \"Transfer-Encoding: {coded}\": RFC 9112 forbids both"))
        }
        ([first, rest @ ..], None) if rest.iter().any(|length| length != first) => {
            Err(String::from("two Content-Length headers that differ"))
        }
        _ => Ok(()),
    }
}

fn body(got: &[u8], expected: &ExpectedBody) -> Result<(), String> {
    match expected {
        ExpectedBody::Exact(expected) if expected != got => Err(bytes_differ(expected, got)),
        ExpectedBody::Json(expected) => match serde_json::from_slice::<Value>(got) {
            Ok(got) if got == *expected => Ok(()),
            Ok(value) => {
                Err(difference("", expected, &value).unwrap_or_else(|| String::from("the JSON differs")))
            }
            Err(error) => Err(format!("the body is not JSON: {error}; got {}", quote(got))),
        },
        ExpectedBody::Exact(_) | ExpectedBody::Any => Ok(()),
    }
}

fn bytes_differ(expected: &[u8], got: &[u8]) -> String {
    let at = expected.iter().zip(got).take_while(|(expected, got)| expected == got).count();
    // From a little before the difference, so that a long body still shows it.
    let excerpt = |bytes: &[u8]| match at.saturating_sub(20) {
        0 => quote(bytes),
        from => format!("{} from byte {from} on", quote(bytes.get(from..).unwrap_or_default())),
    };
    format!(
        "the body differs at byte {at}: expected {} ({} bytes), got {} ({} bytes)",
        excerpt(expected),
        expected.len(),
        excerpt(got),
        got.len()
    )
}

/// The first place at which two JSON values part, as `/member/0`.
fn difference(path: &str, expected: &Value, got: &Value) -> Option<String> {
    let place = if path.is_empty() { "the JSON" } else { path };
    match (expected, got) {
        (Value::Object(expected), Value::Object(got)) => {
            for (name, value) in expected {
                match got.get(name) {
                    Some(got) => {
                        if let Some(difference) = difference(&format!("{path}/{name}"), value, got) {
                            return Some(difference);
                        }
                    }
                    None => return Some(missing(place, name, got)),
                }
            }
            let extra = got.keys().find(|name| !expected.contains_key(*name))?;
            Some(format!("{place} has a member \"{extra}\" that was not expected"))
        }
        (Value::Array(expected), Value::Array(got)) => {
            if expected.len() != got.len() {
                let (wanted, came) = (expected.len(), got.len());
                return Some(format!("{place}: expected an array of length {wanted}, got length {came}"));
            }
            let mut pairs = expected.iter().zip(got).enumerate();
            pairs.find_map(|(index, (expected, got))| difference(&format!("{path}/{index}"), expected, got))
        }
        _ if expected == got => None,
        _ => Some(format!("{place}: expected {}, got {}", short(expected), short(got))),
    }
}

fn missing(place: &str, name: &str, got: &serde_json::Map<String, Value>) -> String {
    match got.keys().find(|got| got.eq_ignore_ascii_case(name)) {
        Some(other) => {
            format!(
                "{place} has no member \"{name}\" but \"{other}\": upper and lower case are different names"
            )
        }
        None => format!("{place} has no member \"{name}\""),
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

    fn exact(expected: &str, got: &str) -> String {
        body(got.as_bytes(), &ExpectedBody::Exact(expected.into())).unwrap_err()
    }

    fn json(expected: Value, got: &str) -> String {
        body(got.as_bytes(), &ExpectedBody::Json(expected)).unwrap_err()
    }

    #[test]
    fn bytes_say_where_they_part() {
        assert_eq!(
            exact("OK", "OK!"),
            "the body differs at byte 2: expected \"OK\" (2 bytes), got \"OK!\" (3 bytes)"
        );
        let long = "x".repeat(100);
        assert!(exact(&format!("{long}a"), &format!("{long}b")).contains("from byte 80 on"));
        assert_eq!(body(b"", &ExpectedBody::Any), Ok(()));
    }

    #[test]
    fn json_says_where_it_parts() {
        assert_eq!(body(b"{ \"b\":1, \"a\":2 }", &ExpectedBody::Json(json!({"a": 2, "b": 1}))), Ok(()));
        assert_eq!(json(json!({"Hello": "world"}), "{}"), "the JSON has no member \"Hello\"");
        assert_eq!(json(json!({}), "{\"x\":1}"), "the JSON has a member \"x\" that was not expected");
        assert_eq!(
            json(json!({"a": [1, {"b": 2}]}), "{\"a\":[1,{\"b\":\"2\"}]}"),
            "/a/1/b: expected 2, got \"2\""
        );
        assert_eq!(json(json!([1]), "[1,2]"), "the JSON: expected an array of length 1, got length 2");
        assert!(json(json!([1]), "[1").starts_with("the body is not JSON"));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a-zé]{0,5}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("[a-cA-C]", inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn two_values_differ_somewhere_unless_they_are_equal(one in any_json(), other in any_json()) {
            prop_assert_eq!(difference("", &one, &one), None);
            prop_assert_eq!(difference("", &one, &other).is_none(), one == other);
            prop_assert_eq!(body(one.to_string().as_bytes(), &ExpectedBody::Json(other.clone())).is_ok(), one == other);
        }

        #[test]
        fn the_first_byte_that_differs_is_named(
            same in prop::collection::vec(any::<u8>(), 0..90), one in prop::collection::vec(any::<u8>(), 0..9),
        ) {
            let other = [&same[..], &one.iter().map(|byte| byte.wrapping_add(1)).collect::<Vec<_>>()].concat();
            let got = [&same[..], &one].concat();
            match body(&got, &ExpectedBody::Exact(other)) {
                Ok(()) => prop_assert!(one.is_empty()),
                Err(reason) => {
                    let start = format!("the body differs at byte {}: ", same.len());
                    prop_assert!(reason.starts_with(&start), "{}", reason);
                }
            }
        }
    }
}
