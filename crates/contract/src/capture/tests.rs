use tare_load::http1::parse_response;

use super::*;

fn response(head: &str, body: &str) -> Response {
    let text = format!("HTTP/1.1 200 OK\r\n{head}Content-Length: {}\r\n\r\n{body}", body.len());
    parse_response(text.as_bytes(), false, true).unwrap().unwrap().0
}

fn found(source: CaptureSource, response: &Response) -> Result<String, String> {
    let capture = Capture { name: "a".to_owned(), source };
    let mut captured = Captured::new();
    let taken = take(&[capture], response, &mut captured).map_err(|missing| missing.to_string());
    taken.map(|()| captured.remove("a").unwrap())
}

fn pattern(text: &str) -> CapturePattern {
    CapturePattern::new(text).unwrap()
}

#[test]
fn values_are_taken_from_headers_and_bodies() {
    let created = response("Location: /items/17?x=1 \r\n", "token=abc; next");
    let header = |name: &str, group: Option<&str>| CaptureSource::Header(name.to_owned(), group.map(pattern));
    assert_eq!(found(header("location", Some(r"items/(\d+)")), &created).as_deref(), Ok("17"));
    assert_eq!(found(header("Location", None), &created).as_deref(), Ok("/items/17?x=1"));
    assert_eq!(found(CaptureSource::Body(pattern("token=([a-z]+)")), &created).as_deref(), Ok("abc"));
    let missing = found(header("Location", Some("users/(.)")), &created).unwrap_err();
    assert_eq!(missing, "a value for {{captured.a}}: the header Location does not match 'users/(.)'");
    let missing = found(header("ETag", None), &created).unwrap_err();
    assert_eq!(missing, "a value for {{captured.a}}: no header ETag came");
}

#[test]
fn a_value_that_could_not_be_sent_is_none() {
    let json = |value: &str| {
        let body = serde_json::json!({ "a": value }).to_string();
        found(CaptureSource::Json("$.a".parse().unwrap()), &response("", &body))
    };
    assert_eq!(json("a b/é").as_deref(), Ok("a b/é"));
    let table = [
        ("", "it is empty"),
        ("a\r\nSet-Cookie: b", "it holds a control character"),
        ("a\u{85}b", "it holds a control character"),
        ("{{any}}", "it holds \"{{\", with which placeholders begin"),
    ];
    for (value, reason) in table {
        assert_eq!(json(value).unwrap_err(), format!("a value for {{{{captured.a}}}}: {reason}"));
    }
    assert_eq!(json(&"a".repeat(VALUE_BYTES_MAX)).map(|value| value.len()), Ok(VALUE_BYTES_MAX));
    assert!(
        json(&"a".repeat(VALUE_BYTES_MAX + 1))
            .unwrap_err()
            .ends_with("it has 8193 bytes, and no more than 8192 are taken")
    );
}
