//! Contracts of answers that are not known to the byte: what breaks them is caught by verification, and under load.

use crate::support::{Fake, Workspace, alone, manifest};

/// Its first answer is another one each time.
const SHAPE: &str = r#"
format = "1.1"
name = "shape"
title = "answers by their form"

[[request]]
name = "text"
method = "GET"
path = "/shop/items/1"
[request.response]
status = 200
headers = { Content-Type = { matches = 'application/json(;.*)?' }, Content-Length = { present = true }, Date = { absent = true } }
matches = '\{"id":1,"name":"tea","read":[0-9]+,"at":"[^"]+Z","tags":\["hot"\]\}'

[[request]]
name = "length"
method = "GET"
path = "/test/status"
[request.response]
status = 200
length = { min = 1, max = 2 }

[checks]
keep-alive = "skip"
not-found = "skip"
"#;

fn workspace(services: &[(&str, &str)]) -> Workspace {
    let workspace = Workspace::new(&[]);
    workspace.write("contracts/shape.toml", SHAPE);
    for (name, mode) in services {
        workspace.service(name, &manifest(name, mode).replace("\"bare\"]", "\"bare\", \"shape\"]"));
    }
    workspace
}

#[test]
fn every_answer_of_a_load_has_its_form() {
    let _alone = alone();
    let workspace = workspace(&[]);
    let honest = Fake::start("correct");
    let words = "--contract shape -c 4 -n 6000 --json --max-interference 100%";
    let right = workspace.load(&honest, words).json();
    assert_eq!((&right["totals"]["answered"], &right["totals"]["failed"]), (&6000.into(), &0.into()));
    let longer = Fake::start("longer-in-1500");
    for (request, wanted) in [("text", "a body that matches '\\{"), ("length", "a body of 1 to 2 bytes")] {
        let wrong = workspace.load(
            &longer,
            &format!("--contract shape --only {request} -c 4 -n 6000 --max-interference 100%"),
        );
        assert!(wrong.stdout.contains("mismatch") && wrong.stdout.contains(wanted), "{wrong}");
        assert_eq!(wrong.code(), Some(4), "{wrong}");
    }
}

#[test]
fn a_header_that_should_not_come_is_named() {
    let workspace = workspace(&[("plain", "correct"), ("dated", "frozen-date"), ("wrong", "wrong-body")]);
    workspace.tare(&["verify", "plain", "--contract", "shape"]).expect(0);
    let verify = |name: &str| workspace.tare(&["verify", name, "--contract", "shape"]).expect(2);
    let said = "expected no header Date, got \"Date: Thu, 01 Jan 2026 00:00:00 GMT\"";
    assert!(verify("dated").stdout.contains(said));
    let wrong = verify("wrong");
    assert!(wrong.stdout.contains("expected a body that matches '\\{"), "{wrong}");
    assert!(!wrong.stdout.contains("a body of 1 to 2 bytes, got"), "its length is right: {wrong}");
}
