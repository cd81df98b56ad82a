//! Forms of answers: what they accept, and errors for those that make no sense.

use insta::assert_snapshot;
use tare_load::exchange::ExpectedBody;

use crate::{Contract, ContractError, NotFixed, fixed_response};

/// A contract whose response has these lines; they begin in line 10.
fn with(response: &str) -> Result<Contract, ContractError> {
    let text = format!(
        "format = \"1.1\"\nname = \"sample\"\ntitle = \"\"\n[[request]]\nname = \"a\"\nmethod = \"GET\"\npath = \"/\"\n\
         [request.response]\nstatus = 200\n{response}\n"
    );
    Contract::parse(&text, std::path::Path::new("contracts/sample.toml"))
}

fn error(response: &str) -> String {
    with(response).unwrap_err().to_string()
}

fn accepts(response: &str, body: &str) -> bool {
    let contract = with(response).unwrap();
    let load = contract.exchanges_for_load(1, 9, "h");
    assert_eq!(load.len(), 1, "nothing varies");
    assert!(matches!(load[0].expected.body, ExpectedBody::Shape(_)));
    load[0].expected.body.accepts(body.as_bytes())
}

#[test]
fn a_header_is_a_value_or_a_rule() {
    let contract =
        with("headers = { A = '1', B = { present = true }, C = { absent = true }, D = { matches = 'x+' } }")
            .unwrap();
    let rules = &contract.requests[0].answer.headers;
    let accepts = |name: &str, got: Option<&str>| {
        rules.iter().find(|(rule, _)| rule == name).is_some_and(|(_, rule)| rule.accepts(got))
    };
    assert!(accepts("A", Some("1")) && !accepts("A", Some("2")) && !accepts("A", None));
    assert!(accepts("B", Some("")) && !accepts("B", None));
    assert!(accepts("C", None) && !accepts("C", Some("")));
    assert!(accepts("D", Some("xx")) && !accepts("D", Some("xxy")) && !accepts("D", None));
    // Rules may name any response header, since they send nothing.
    assert!(with("headers = { Transfer-Encoding = { absent = true } }").is_ok());
}

#[test]
fn mistakes_in_headers_are_reported() {
    assert_snapshot!(error("headers = { ETag = { presnt = true } }"), @r#"contracts/sample.toml:10: unknown key "presnt"; did you mean "present"?"#);
    assert_snapshot!(error("headers = { ETag = { present = false } }"), @r#"contracts/sample.toml:10: the header "ETag" needs one of "present = true", "absent = true" and "matches = '...'", and only one"#);
    assert_snapshot!(error("headers = { ETag = { present = true, matches = 'a' } }"), @r#"contracts/sample.toml:10: the header "ETag" needs one of "present = true", "absent = true" and "matches = '...'", and only one"#);
    assert_snapshot!(error("headers = { ETag = {} }"), @r#"contracts/sample.toml:10: the header "ETag" needs one of "present = true", "absent = true" and "matches = '...'", and only one"#);
    assert_snapshot!(error("headers = { ETag = 7 }"), @r#"contracts/sample.toml:10: invalid value: integer "7", expected a text in quotes or a table"#);
    assert_snapshot!(error("headers = { ETag = { matches = '(' } }"), @"contracts/sample.toml:10: the pattern '(' is no regular expression: unclosed group");
    assert_snapshot!(error("headers = { 'E Tag' = { absent = true } }"), @r#"contracts/sample.toml:10: the header "E Tag" is no valid header name or has a line break in its value"#);
}

#[test]
fn a_body_has_a_length_or_a_pattern() {
    assert!(accepts("matches = '[0-9]+'", "17") && !accepts("matches = '[0-9]+'", "17 "));
    assert!(accepts("length = 3", "abc") && !accepts("length = 3", "ab"));
    let range = "length = { min = 2, max = 3 }";
    assert!(accepts(range, "ab") && accepts(range, "abc") && !accepts(range, "a") && !accepts(range, "abcd"));
    assert!(accepts("length = { min = 2 }", &"a".repeat(100)) && !accepts("length = { max = 2 }", "abc"));
    let both = "length = 3\nmatches = '[ab]*'";
    assert!(accepts(both, "abb") && !accepts(both, "ab") && !accepts(both, "abc"));
    assert!(accepts("matches = 'a{2}'", "aa"), "a repetition is no placeholder");
}

#[test]
fn mistakes_in_shapes_are_reported() {
    assert_snapshot!(error("body = 'a'\nmatches = 'a'"), @r#"contracts/sample.toml:11: a response has "body" or "matches", not both"#);
    assert_snapshot!(error("length = 1\njson = '1'"), @r#"contracts/sample.toml:10: a response has "json" or "length", not both"#);
    assert_snapshot!(error("matches = '[a'"), @"contracts/sample.toml:10: the pattern '[a' is no regular expression: unclosed character class");
    assert_snapshot!(error("matches = 'id {{label.a}}'"), @r#"contracts/sample.toml:10: a pattern takes no placeholders such as {{label.a}}: give the answer as "body" or "json""#);
    assert_snapshot!(error("length = {}"), @r#"contracts/sample.toml:10: "length" has neither "min" nor "max""#);
    assert_snapshot!(error("length = { min = 3, max = 2 }"), @r#"contracts/sample.toml:10: no length is at least 3 and at most 2: "min" must not be above "max""#);
    assert_snapshot!(error("length = { mn = 3 }"), @r#"contracts/sample.toml:10: unknown key "mn"; valid names are: min, max"#);
    assert_snapshot!(error("length = -1"), @r#"contracts/sample.toml:10: invalid value: integer "-1", expected a number from 0 up or a table"#);
    assert_snapshot!(error("length = \"3\""), @r#"contracts/sample.toml:10: invalid type: string "3", expected a number from 0 up or a table"#);
}

#[test]
fn an_older_file_is_told_what_it_needs() {
    for (response, what) in [
        ("matches = 'a'", "\"matches\""),
        ("length = 1", "\"length\""),
        ("headers = { A = { present = true } }", "a header that is no text"),
    ] {
        let text = "format = \"1.0\"\nname = \"a\"\ntitle = \"\"\n[[request]]\nname = \"a\"\nmethod = \"GET\"\npath = \"/\"\n[request.response]\nstatus = 200\n";
        let parsed = Contract::parse(&format!("{text}{response}\n"), std::path::Path::new("a.toml"));
        let error = parsed.unwrap_err().to_string();
        assert_eq!(error, format!("a.toml:10: {what} needs format = \"1.1\" in the first line"));
    }
}

#[test]
fn a_reference_answers_what_has_an_example() {
    let response =
        |lines: &str| fixed_response(&with(lines).unwrap()).map(|bytes| String::from_utf8(bytes).unwrap());
    let shaped =
        response("headers = { A = { present = true }, B = { absent = true } }\nlength = { min = 3 }");
    let shaped = shaped.unwrap();
    assert!(
        shaped.contains("\r\nA: 1\r\n") && !shaped.contains("\r\nB:") && shaped.ends_with("\r\n\r\nxxx"),
        "{shaped}"
    );
    assert!(response("matches = 'it is [0-9]{2}:[0-9]{2}'").unwrap().ends_with("\r\n\r\nit is 00:00"));
    assert!(response("headers = { A = { matches = 'a+' } }").unwrap().contains("\r\nA: a\r\n"));
    for (lines, why) in [
        ("matches = '[^\\s\\S]'", "nothing matches"),
        ("matches = 'a+'\nlength = 2", "the shortest that matches is too short"),
        ("headers = { A = { matches = '\\x01' } }", "no header may have such a value"),
        ("length = 100000000", "it would be kept in memory"),
    ] {
        assert_eq!(response(lines), Err(NotFixed::NoExample), "{lines}: {why}");
    }
}
