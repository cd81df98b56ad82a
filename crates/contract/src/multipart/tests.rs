//! Forms: the bytes that are sent, and error messages.

use std::path::Path;

use insta::assert_snapshot;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::{Contract, ContractError};

fn parse(request: &str) -> Result<Contract, ContractError> {
    let text = format!(
        "format = \"1.1\"\nname = \"sample\"\ntitle = \"\"\n[[request]]\nname = \"a\"\nmethod = \"POST\"\npath = \"/\"\n\
         {request}\n[request.response]\nstatus = 200\n"
    );
    Contract::parse(&text, Path::new("contracts/sample.toml"))
}

fn sent(request: &str) -> String {
    let contract = parse(request).unwrap();
    let exchange = contract.exchange(&contract.requests[0], "h", &mut ChaCha8Rng::seed_from_u64(1));
    String::from_utf8(exchange.request).unwrap().replace("tare-9c4f1d7be2a85036-boundary", "BOUNDARY")
}

#[test]
fn a_form_is_written_part_by_part() {
    let form = "multipart = [{ name = 'note', content = 'tea' }, { name = 'file', filename = 'a.csv', content-type = 'text/csv', \
                content = '{{number:7-7.n}},b' }]";
    assert_snapshot!(sent(form).replace("\r\n", "\n"), @r#"
    POST / HTTP/1.1
    Host: h
    Content-Type: multipart/form-data; boundary=BOUNDARY
    Content-Length: 250

    --BOUNDARY
    Content-Disposition: form-data; name="note"

    tea
    --BOUNDARY
    Content-Disposition: form-data; name="file"; filename="a.csv"
    Content-Type: text/csv

    7,b
    --BOUNDARY--
    "#);
    let chunked = sent(&format!("{form}\nchunked = true"));
    assert!(
        chunked.contains("\r\nTransfer-Encoding: chunked\r\n") && chunked.ends_with("--\r\n\r\n0\r\n\r\n"),
        "{chunked}"
    );
    let length = sent("multipart = [{ name = 'a', content = '{{bytes:1000}}' }]");
    let (head, body) = length.split_once("\r\n\r\n").unwrap();
    let told: usize = head.split("Content-Length: ").nth(1).unwrap().parse().unwrap();
    // Each of the two boundaries is 22 characters longer than its placeholder.
    assert_eq!(told, body.len() + 2 * 22);
}

#[test]
fn mistakes_in_forms_are_reported() {
    let error = |request: &str| parse(request).unwrap_err().to_string();
    assert_snapshot!(error("multipart = []"), @r#"contracts/sample.toml:8: "multipart" has no parts: { name = '...', content = '...' } is one"#);
    assert_snapshot!(error("body = 'a'\nmultipart = [{ name = 'a', content = 'b' }]"), @r#"contracts/sample.toml:9: a request has "body" or "multipart", not both"#);
    assert_snapshot!(error("headers = { content-type = 'a/b' }\nmultipart = [{ name = 'a', content = 'b' }]"), @r#"contracts/sample.toml:9: the header "content-type" is made from "multipart": remove it"#);
    assert_snapshot!(error("multipart = [{ name = 'a\"b', content = 'b' }]"), @r#"contracts/sample.toml:8: "a\"b" stands in quotes in the head of a part: it can have no quotes and no line breaks"#);
    assert_snapshot!(error("multipart = [{ name = 'a', contents = 'b' }]"), @r#"contracts/sample.toml:8: unknown key "contents"; did you mean "content"?"#);
    assert_snapshot!(error("multipart = [{ name = 'a', content = '{{lable}}' }]"), @r#"contracts/sample.toml:8: unknown placeholder "lable"; did you mean "label"?"#);
    assert_snapshot!(error("multipart = [{ name = 'a', content = 'tare-9c4f1d7be2a85036-boundary' }]"), @"contracts/sample.toml:8: a part holds the boundary between parts: change its content");
    let older = "format = \"1.0\"\nname = \"a\"\ntitle = \"\"\n[[request]]\nname = \"a\"\nmethod = \"POST\"\npath = \"/\"\n\
                 multipart = [{ name = 'a', content = 'b' }]\n[request.response]\nstatus = 200\n";
    assert_snapshot!(Contract::parse(older, Path::new("a.toml")).unwrap_err(), @r#"a.toml:8: "multipart" needs format = "1.1" in the first line"#);
}
