//! Contracts of answers that are not known byte for byte: verification and loads find every violation.

use std::fs;

use crate::support::{Fake, Workspace, experiment, manifest};

/// A service whose first answer differs each time.
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

/// Ten thousand answers; the service knows the row of each.
const ITEMS: &str = r#"
format = "1.1"
name = "items"
title = "rows of a table"

[data.items]
rows = 10000
[data.items.columns]
id = "{{row}}"
name = "item {{phrase}}"
price = "{{number:1-99}}"

[[request]]
name = "item"
method = "GET"
path = "/data/items/{{items.id}}"
[request.response]
status = 200
json = '{"id": {{items.id}}, "name": "{{items.name}}", "price": {{items.price}}}'

[checks]
keep-alive = "skip"
"#;

/// A form with a file, which is answered part by part.
const FORM: &str = r#"
format = "1.1"
name = "form"
title = "a form"

[[request]]
name = "form"
method = "POST"
path = "/form"
multipart = [
    { name = "note", content = "{{label.note}}" },
    { name = "file", filename = "{{label.file}}.csv", content-type = "text/csv", content = "id\r\n{{number.id}}\r\n" },
]
[request.response]
status = 200
json = '{"note": "{{label.note}}", "file": "id\r\n{{number.id}}\r\n"}'

[checks]
keep-alive = "skip"
"#;

fn workspace(services: &[(&str, &str)]) -> Workspace {
    let workspace = Workspace::new(&[]);
    workspace.write("contracts/shape.toml", SHAPE);
    workspace.write("contracts/items.toml", ITEMS);
    workspace.write("contracts/form.toml", FORM);
    for (name, mode) in services {
        let manifest = manifest(name, mode).replace("\"bare\"]", "\"bare\", \"shape\", \"items\", \"form\"]");
        workspace.service(name, &manifest);
    }
    workspace
}

#[test]
fn every_answer_of_a_load_has_its_form() {
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

#[test]
fn every_answer_of_a_run_is_of_the_row_that_was_asked_for() {
    let workspace = workspace(&[("honest", "correct"), ("confused", "other-row-in-1500")]);
    let text = experiment(&["raw-socket", "honest", "confused"], 3)
        .replace("\"hello\"", "\"items\"")
        .replace("connections = 1", "connections = 4")
        .replace("30ms", "100ms")
        .replace("slices-per-block = 2", "slices-per-block = 12");
    workspace.write("experiments/tiny.toml", &text);
    let words = [
        "compare",
        "honest",
        "confused",
        "--contract",
        "items",
        "--experiment",
        "experiments/tiny.toml",
        "--out",
        "out",
    ];
    let ended = workspace.tare(&words).expect(4);
    assert!(
        ended.stdout.contains("\nINVALID ") && ended.stdout.contains("confused: wrong answers: "),
        "{ended}"
    );
    assert!(!ended.stdout.contains("honest: wrong answers: "), "{ended}");
    let table = fs::read_to_string(workspace.root().join("out/tables/items.items.csv")).unwrap();
    assert_eq!((table.lines().next(), table.lines().count()), (Some("id,name,price"), 10_001));
}

#[test]
fn a_server_that_runs_needs_the_rows_of_the_seed() {
    let workspace = workspace(&[]);
    let printed = workspace.tare(&["data", "items", "--seed", "5"]).expect(0);
    assert_eq!(printed.stdout, workspace.tare(&["data", "items", "items", "--seed", "5"]).expect(0).stdout);
    workspace.write("items.csv", &printed.stdout);
    let path = workspace.root().join("items.csv");
    let fake = Fake::start_with("correct", &[("DATA_ITEMS", path.to_str().unwrap())]);
    let load = |words: &str| {
        workspace.load(&fake, &format!("--contract items -c 2 -n 2000 --max-interference 100%{words}"))
    };
    load(" --seed 5").expect(0);
    let other = load(" --seed 6").expect(1);
    assert!(other.stderr.contains("the contract items is not honoured: "), "{other}");
    let refused = load("").expect(1);
    assert!(refused.stderr.contains("the rows of \"items\" are made from the seed"), "{refused}");
    let unknown = workspace.tare(&["data", "items", "item", "--seed", "5"]).expect(1);
    assert!(unknown.stderr.contains("has no table \"item\"; did you mean \"items\"?"), "{unknown}");
    assert!(workspace.tare(&["data", "hello", "--seed", "5"]).expect(1).stderr.contains("has no table"));
}

#[test]
fn every_form_of_a_load_is_answered_by_its_parts() {
    let workspace = workspace(&[("honest", "correct"), ("caching", "caches")]);
    workspace.tare(&["verify", "honest", "--contract", "form"]).expect(0);
    let verified = workspace.tare(&["verify", "caching", "--contract", "form"]).expect(2);
    assert!(verified.stdout.contains("$.note: expected \""), "{verified}");
    let words = "--contract form -c 4 -n 6000 --max-interference 100%";
    workspace.load(&Fake::start("correct"), words).expect(0);
    let wrong = workspace.load(&Fake::start("wrong-in-1500"), words).expect(4);
    assert!(wrong.stdout.contains("mismatch"), "{wrong}");
}
