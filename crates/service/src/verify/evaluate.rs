//! Compares an answer with the contract's expectation, and describes every difference. No I/O.

use tare_load::exchange::{Expected, ExpectedBody, Judged};
use tare_load::http1::Response;
use tare_load::pattern::JsonPattern;

use super::escape::quote;
use super::media_type;
use crate::client::STATUS;
use tare_contract::{Encoding, ExpectedAnswer, HeaderRule};

/// Most differences in one message, which the answer's bytes follow.
const DIFFERENCES_MAX: usize = 6;

/// The first value of the header `name`, as text.
pub(super) fn header(response: &Response, name: &str) -> Option<String> {
    let (_, value) = response.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name))?;
    Some(String::from_utf8_lossy(value).trim().to_owned())
}

/// Whether `response` is right for `answer`, with placeholders filled as in `expected`; else all differences.
pub(super) fn evaluate(
    response: &Response,
    answer: &ExpectedAnswer,
    expected: &Expected,
) -> Result<(), String> {
    let mut differences = Vec::new();
    if response.status != expected.status {
        differences.push(format!("expected status {}, got {}", expected.status, status_and_body(response)));
    }
    // An answer with another class of status, such as an error page, is quoted instead of compared.
    if response.status / 100 == expected.status / 100 {
        differences.extend(framing(response).err());
        differences.extend(content_type(response, answer).err());
        differences.extend(headers(response, answer));
        differences.extend(encoding(response, answer).err());
        differences.extend(body(&response.body, &expected.body));
    }
    if differences.is_empty() { Ok(()) } else { Err(told(&differences)) }
}

fn told(differences: &[String]) -> String {
    match differences.split_at_checked(DIFFERENCES_MAX) {
        Some((first, [_, ..])) => {
            format!("{}; and {} more", first.join("; "), differences.len() - first.len())
        }
        _ => differences.join("; "),
    }
}

fn content_type(response: &Response, answer: &ExpectedAnswer) -> Result<(), String> {
    let Some(expected) = &answer.content_type else { return Ok(()) };
    match header(response, "content-type") {
        Some(got) => media_type::compare(expected, &got),
        None => Err(format!("expected content type \"{expected}\", got no Content-Type")),
    }
}

/// The header must name the body's encoding. The body is decoded and compared elsewhere.
fn encoding(response: &Response, answer: &ExpectedAnswer) -> Result<(), String> {
    let got = header(response, "content-encoding").unwrap_or_else(|| Encoding::Identity.word().to_owned());
    let wanted: Vec<&str> = match answer.encodings.as_slice() {
        [] => vec![Encoding::Identity.word()],
        encodings => encodings.iter().map(|encoding| encoding.word()).collect(),
    };
    match wanted.iter().any(|wanted| got.eq_ignore_ascii_case(wanted)) {
        true => Ok(()),
        false => Err(format!("expected the content encoding {}, got {got}", wanted.join(" or "))),
    }
}

fn headers(response: &Response, answer: &ExpectedAnswer) -> Vec<String> {
    let wrong = |(name, rule): &(String, HeaderRule)| {
        let got = header(response, name);
        (!rule.accepts(got.as_deref())).then(|| {
            let wanted = match rule {
                HeaderRule::Exact(value) => format!("\"{name}: {value}\""),
                HeaderRule::Present => format!("a header {name}"),
                HeaderRule::Absent => format!("no header {name}"),
                HeaderRule::Matches(pattern) => format!("a header {name} that matches '{pattern}'"),
            };
            let got = got.map_or_else(|| format!("no {name}"), |got| format!("\"{name}: {got}\""));
            format!("expected {wanted}, got {got}")
        })
    };
    answer.headers.iter().filter_map(wrong).collect()
}

pub(super) fn status_and_body(response: &Response) -> String {
    match response.body.as_slice() {
        [] => response.status.to_string(),
        body => format!("{} with the body {}", response.status, quote(body)),
    }
}

/// Whether an answer came over HTTP/2, in which a frame marks its end.
pub(super) fn is_of_http2(response: &Response) -> bool {
    response.headers.first().is_some_and(|(name, _)| name == STATUS)
}

/// A generator must know the end of an answer without waiting for the connection to end.
fn framing(response: &Response) -> Result<(), String> {
    if is_of_http2(response) {
        return Ok(());
    }
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

/// The difference of a body from the expected one, if any.
pub(crate) fn difference(got: &[u8], expected: &ExpectedBody) -> Option<String> {
    let differences = body(got, expected);
    (!differences.is_empty()).then(|| told(&differences))
}

fn body(got: &[u8], expected: &ExpectedBody) -> Vec<String> {
    match expected {
        ExpectedBody::Exact(expected) if expected != got => vec![bytes_differ(expected, got)],
        ExpectedBody::Json(expected) => json_differs(got, &JsonPattern::new(expected.value().clone(), false)),
        ExpectedBody::Pattern(pattern) => json_differs(got, pattern),
        ExpectedBody::Shape(shape) if !expected.accepts(got) => {
            vec![format!("expected {shape}, got {} bytes: {}", got.len(), quote(got))]
        }
        ExpectedBody::Judged(Judged(judge)) => judge.differences(got),
        ExpectedBody::Events(events) => events.wrong(got).iter().map(ToString::to_string).collect(),
        ExpectedBody::Shape(_) | ExpectedBody::Exact(_) | ExpectedBody::Any => Vec::new(),
    }
}

fn json_differs(got: &[u8], expected: &JsonPattern) -> Vec<String> {
    match serde_json::from_slice(got) {
        Ok(got) => expected.differences(&got),
        Err(error) => vec![format!("the body is not JSON: {error}; got {}", quote(got))],
    }
}

fn bytes_differ(expected: &[u8], got: &[u8]) -> String {
    let at = expected.iter().zip(got).take_while(|(expected, got)| expected == got).count();
    // Begins shortly before the difference, so that it is visible in a long body.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use tare_load::exchange::BodyShape;

    use super::*;

    fn exact(expected: &str, got: &str) -> String {
        body(got.as_bytes(), &ExpectedBody::Exact(expected.into())).join("; ")
    }

    fn json(expected: Value, got: &str) -> String {
        body(got.as_bytes(), &ExpectedBody::json(expected)).join("; ")
    }

    #[test]
    fn bytes_say_where_they_part() {
        assert_eq!(
            exact("OK", "OK!"),
            "the body differs at byte 2: expected \"OK\" (2 bytes), got \"OK!\" (3 bytes)"
        );
        let long = "x".repeat(100);
        assert!(exact(&format!("{long}a"), &format!("{long}b")).contains("from byte 80 on"));
        assert!(body(b"", &ExpectedBody::Any).is_empty());
    }

    #[test]
    fn json_says_where_it_parts() {
        assert_eq!(json(json!({"a": 2, "b": 1}), "{ \"b\":1, \"a\":2 }"), "");
        assert_eq!(json(json!({"Hello": "world"}), "{}"), "$.Hello: is missing");
        assert_eq!(json(json!({}), "{\"x\":1}"), "$.x: was not expected, got 1");
        assert_eq!(
            json(json!({"a": [1, {"b": 2}]}), "{\"a\":[1,{\"b\":\"2\"}]}"),
            "$.a[1].b: expected 2, got \"2\""
        );
        assert_eq!(json(json!([1]), "[1,2]"), "$: expected an array of length 1, got length 2");
        assert!(json(json!([1]), "[1").starts_with("the body is not JSON"));
    }

    #[test]
    fn every_difference_is_told_and_none_twice() {
        let (wanted, got) = (json!({"Hello": 1, "a": [1, 2], "c": 3}), r#"{"hello":1,"a":[1,3],"d":4}"#);
        assert_eq!(
            json(wanted, got),
            "$.Hello: is missing; \"hello\" is there, but upper and lower case are different names; \
             $.a[1]: expected 2, got 3; $.c: is missing; $.d: was not expected, got 4"
        );
        let of = |count: u32| told(&(0..count).map(|number| number.to_string()).collect::<Vec<_>>());
        assert_eq!((of(6).as_str(), of(8).as_str()), ("0; 1; 2; 3; 4; 5", "0; 1; 2; 3; 4; 5; and 2 more"));
    }

    #[test]
    fn a_shape_says_what_it_wants_and_what_came() {
        let pattern = Some(tare_load::text_pattern::TextPattern::new("[0-9]+").unwrap());
        let shape = ExpectedBody::Shape(BodyShape { bytes: 2..=3, pattern });
        assert!(body(b"17", &shape).is_empty());
        let wrong = ["expected a body of 2 to 3 bytes that matches '[0-9]+', got 2 bytes: \"1x\""];
        assert_eq!(body(b"1x", &shape), wrong);
    }

    #[test]
    fn headers_say_what_they_want_and_what_came() {
        let rule = |name: &str, rule| (name.to_owned(), rule);
        let pattern = tare_load::text_pattern::TextPattern::new("[0-9]+").unwrap();
        let answer = ExpectedAnswer {
            status: 200,
            content_type: None,
            headers: vec![
                rule("A", HeaderRule::Present),
                rule("Server", HeaderRule::Absent),
                rule("x-count", HeaderRule::Matches(pattern)),
            ],
            body: tare_contract::Body::Any,
            row_sets: Vec::new(),
            encodings: Vec::new(),
        };
        let told = |head: &str| {
            let bytes = format!("HTTP/1.1 200 OK\r\n{head}Content-Length: 0\r\n\r\n").into_bytes();
            let (response, _) = tare_load::http1::parse_response(&bytes, false, false).unwrap().unwrap();
            headers(&response, &answer)
        };
        assert_eq!(told("a: \r\nX-Count: 17\r\n"), [""; 0]);
        assert_eq!(
            told("server: x\r\nX-Count: 1a\r\n"),
            [
                "expected a header A, got no A",
                "expected no header Server, got \"Server: x\"",
                "expected a header x-count that matches '[0-9]+', got \"x-count: 1a\"",
            ]
        );
    }

    fn answered(status: u16, content_type: &str, body: &str) -> Result<(), String> {
        let wanted = ExpectedAnswer {
            status: 200,
            content_type: Some("application/json".to_owned()),
            headers: vec![("X".to_owned(), HeaderRule::Exact("1".to_owned()))],
            body: tare_contract::Body::Any,
            row_sets: Vec::new(),
            encodings: Vec::new(),
        };
        let expected = Expected { status: 200, body: ExpectedBody::json(json!({"a": 1})) };
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status} x\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n"
        );
        let bytes = head + body;
        let (response, _) =
            tare_load::http1::parse_response(bytes.as_bytes(), false, false).unwrap().unwrap();
        evaluate(&response, &wanted, &expected)
    }

    #[test]
    fn an_answer_is_compared_as_a_whole_and_an_error_page_is_quoted() {
        assert_eq!(
            answered(201, "text/plain", "{}"),
            Err("expected status 200, got 201 with the body \"{}\"; expected content type \"application/json\", got \
                 \"text/plain\"; expected \"X: 1\", got no X; $.a: is missing"
                .to_owned())
        );
        assert_eq!(
            answered(404, "text/html", "no"),
            Err("expected status 200, got 404 with the body \"no\"".to_owned())
        );
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
            prop_assert_eq!(body(one.to_string().as_bytes(), &ExpectedBody::json(other.clone())).is_empty(), one == other);
        }

        #[test]
        fn the_first_byte_that_differs_is_named(
            same in prop::collection::vec(any::<u8>(), 0..90), one in prop::collection::vec(any::<u8>(), 0..9),
        ) {
            let other = [&same[..], &one.iter().map(|byte| byte.wrapping_add(1)).collect::<Vec<_>>()].concat();
            let got = [&same[..], &one].concat();
            match body(&got, &ExpectedBody::Exact(other)).first() {
                None => prop_assert!(one.is_empty()),
                Some(reason) => {
                    let start = format!("the body differs at byte {}: ", same.len());
                    prop_assert!(reason.starts_with(&start), "{}", reason);
                }
            }
        }
    }
}
