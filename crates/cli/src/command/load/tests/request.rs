//! Requests byte for byte.

use insta::assert_snapshot;
use tare_contract::Contract;

use super::super::request::*;
use crate::command::target::url;

fn bytes(spec: &RequestSpec) -> String {
    let exchange = spec.exchange(&url::parse("http://a:81/b?c").unwrap());
    String::from_utf8(exchange.request).unwrap().replace('\r', "\\r")
}

fn headers(texts: &[&str]) -> Vec<Header> {
    texts.iter().map(|text| header(text).unwrap()).collect()
}

#[test]
fn nothing_is_sent_that_nobody_asked_for() {
    assert_snapshot!(bytes(&RequestSpec::default()), @r"
    GET /b?c HTTP/1.1\r
    Host: a:81\r
    \r
    ");
    let head = RequestSpec { method: Some("HEAD".into()), ..RequestSpec::default() };
    assert!(head.exchange(&url::parse("a").unwrap()).is_head);
}

#[test]
fn a_body_is_a_form_that_is_posted_unless_told_otherwise() {
    let form = RequestSpec { body: Some(b"x=1".to_vec()), ..RequestSpec::default() };
    assert_snapshot!(bytes(&form), @r"
    POST /b?c HTTP/1.1\r
    Host: a:81\r
    Content-Type: application/x-www-form-urlencoded\r
    Content-Length: 3\r
    \r
    x=1
    ");
    let json = RequestSpec {
        method: Some("PUT".into()),
        headers: headers(&["content-type: application/json", "Host: other", "X-Empty;"]),
        body: Some(b"{}".to_vec()),
    };
    assert_snapshot!(bytes(&json), @r"
    PUT /b?c HTTP/1.1\r
    content-type: application/json\r
    Host: other\r
    X-Empty: \r
    Content-Length: 2\r
    \r
    {}
    ");
    let bare = RequestSpec { headers: headers(&["Content-Type:"]), ..form };
    assert!(!bytes(&bare).contains("Type"), "an empty value leaves a header out, as in curl");
}

#[test]
fn mistakes_are_one_sentence() {
    let refusal = |text: &str| header(text).unwrap_err().to_string();
    assert_snapshot!(refusal("Accept"), @r#""Accept" is not a header: give a name, a colon and a value, such as "Accept: */*""#);
    assert_snapshot!(refusal("A b: c"), @r#""A b" is not the name of a header: it has letters, digits and -, no spaces"#);
    assert_snapshot!(refusal(": c"), @r#""" is not the name of a header: it has letters, digits and -, no spaces"#);
    assert_snapshot!(refusal("A: b\r\nC: d"), @"the value of the header A has a control character: leave it out");
    assert_snapshot!(refusal("Content-Length: 5"), @"the header content-length follows from --data and is not given by -H");
    let refusal = |text: &str| method(text).unwrap_err().to_string();
    assert_snapshot!(refusal("GET /"), @r#""GET /" is not a method: it has letters, digits and -, no spaces"#);
    assert_snapshot!(refusal("CONNECT"), @"CONNECT asks for a tunnel, whose bytes are no responses: give another method");
    assert_snapshot!(body("@/no/such/file").unwrap_err().to_string(), @"/no/such/file cannot be read");
    assert_snapshot!(only("echo=0").unwrap_err().to_string(), @r#"the weight "0" of "echo" is not 1 to 1000"#);
}

#[test]
fn a_contract_is_narrowed_to_what_is_wanted() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contracts/rest.toml");
    let contract = Contract::load(&path).unwrap();
    let wanted = |words: &[&str]| {
        let words: Vec<Only> = words.iter().map(|word| only(word).unwrap()).collect();
        narrowed(&contract, &words)
    };
    assert_eq!(wanted(&[]).unwrap(), contract);
    let mixed = wanted(&["status=3", "label"]).unwrap();
    let exchanges = of_contract(&mixed, 1, &url::parse("localhost:81").unwrap());
    let count = |name: &str| exchanges.iter().filter(|exchange| exchange.name == name).count();
    assert_eq!((count("status"), count("label"), count("echo")), (384, 128, 0));
    assert!(exchanges[0].request.windows(20).any(|part| part == b"Host: localhost:81\r\n"));
    let refusal = |words: &[&str]| wanted(words).unwrap_err().to_string();
    assert_snapshot!(refusal(&["staus"]), @r#"--only: the contract "rest" has no request "staus"; did you mean "status"?"#);
    assert_snapshot!(refusal(&["label", "label"]), @r#"--only: the request "label" stands twice: give it a weight"#);
}
