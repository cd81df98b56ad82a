//! Sequences of a contract: a login, and requests with its token. Verification and loads find errors of
//! services with sessions.

use serde_json::Value;

use crate::support::{Ended, Fake, Workspace, manifest};

const SESSION: &str = r#"
format = "1.1"
name = "session"
title = "a login, and an item of one's own"

[[request]]
name = "status"
method = "GET"
path = "/"
[request.response]
status = 200
body = "Hello world!"

[[request]]
name = "login"
method = "POST"
path = "/session"
headers = { Content-Type = "application/json" }
body = '{"user": "{{label.user}}"}'
[request.response]
status = 200
json = '{"user": "{{label.user}}", "token": "{{any}}"}'
[request.capture]
token = { json = "$.token" }
user = { body = '"user":"([^"]*)"' }

[[request]]
name = "make"
method = "POST"
path = "/session/items"
headers = { Authorization = "Bearer {{captured.token}}" }
[request.response]
status = 201
[request.capture]
item = { header = "Location", matches = 'items/(\d+)$' }

[[request]]
name = "read"
method = "GET"
path = "/session/items/{{captured.item}}?as={{captured.token}}"
headers = { Authorization = "Bearer {{captured.token}}" }
[request.response]
status = 200
json = '{"id": {{captured.item}}, "owner": "{{captured.user}}"}'

[[request]]
name = "logout"
method = "DELETE"
path = "/session"
headers = { Authorization = "Bearer {{captured.token}}" }
[request.response]
status = 200
body = "bye"

[[sequence]]
name = "visit"
steps = ["login", "make", "read", "read", "logout"]
weight = 2
"#;

fn workspace(services: &[(&str, &str)]) -> Workspace {
    let workspace = Workspace::new(&[]);
    workspace.write("contracts/session.toml", SESSION);
    for (name, mode) in services {
        workspace.service(name, &manifest(name, mode).replace("\"bare\"]", "\"bare\", \"session\"]"));
    }
    workspace
}

fn load(workspace: &Workspace, fake: &Fake, words: &str) -> Ended {
    workspace.load(fake, &format!("--contract session -c 4 --max-interference 100% {words}"))
}

#[test]
fn an_honest_service_is_proved_and_what_is_not_asked_is_said() {
    let workspace = workspace(&[("honest", "correct")]);
    let proved = workspace.tare(&["verify", "honest", "--contract", "session", "--all"]).expect(0);
    for step in ["login", "make", "read", "logout"] {
        assert!(proved.stdout.contains(&format!("visit: {step}")), "{proved}");
    }
    let said = "make, read, logout: cannot be sent without the steps before it; \"response\" asks it in its sequence";
    for check in ["fresh", "fragments", "request-forms", "pipelined", "keep-alive", "connection-close"] {
        assert!(proved.stdout.contains(&format!("  skip  {check:<16}  {said}")), "{check}: {proved}");
    }
}

#[test]
fn what_a_service_does_wrong_with_sessions_is_found_before_the_load() {
    let modes = [
        (
            "one",
            "one-token",
            "visit: make",
            "in the second of 2 sessions at once: expected status 201, got 401",
        ),
        ("other", "other-session", "visit: read", "in the first of 2 sessions at once: $.owner: expected \""),
        (
            "closing",
            "closes-after-response",
            "visit: login",
            "closes the connection, on which the sequence goes on",
        ),
    ];
    let services: Vec<(&str, &str)> = modes.iter().map(|(name, mode, ..)| (*name, *mode)).collect();
    let workspace = workspace(&services);
    for (name, _, step, reason) in modes {
        let found = workspace.tare(&["verify", name, "--contract", "session"]).expect(2);
        assert!(found.stdout.contains(step) && found.stdout.contains(reason), "{name}: {found}");
    }
}

fn totals(ended: &Ended) -> (Value, Value) {
    let json = ended.json();
    (json["totals"]["answered"].clone(), json["totals"]["failed"].clone())
}

#[test]
fn every_step_of_a_load_is_sent_with_the_values_of_its_own_connection() {
    let workspace = workspace(&[]);
    let honest = Fake::start("correct");
    let right = load(&workspace, &honest, "-n 5500 --json");
    assert_eq!(totals(&right), (5500.into(), 0.into()), "{right}");
    // In an open loop, each due instant sends the next step of a free connection.
    let open = load(&workspace, &honest, "--rate 500 -d 1s --json");
    assert_eq!(totals(&open).1, 0, "{open}");
    let only = load(&workspace, &honest, "--only visit -n 500 --json");
    assert_eq!(totals(&only), (500.into(), 0.into()), "{only}");
    let part = load(&workspace, &honest, "--only make -n 500").expect(1);
    assert!(part.stderr.contains("has no request \"make\""), "{part}");
}

#[test]
fn what_a_service_does_wrong_with_sessions_is_found_under_load() {
    let workspace = workspace(&[]);
    for (mode, kind, words) in [
        ("one-token", "with an unexpected status", "status 201 with any body"),
        ("other-session", "with an unexpected body", "status 200 with JSON equal to"),
        (
            "no-token-in-100",
            "without a value for a later step",
            "a value for {{captured.token}}: $.token is null",
        ),
        ("closes-after-response", "closed between two steps", "an open connection for the next step"),
    ] {
        let fake = Fake::start(mode);
        let wrong = load(&workspace, &fake, "-n 3000");
        assert!(wrong.stdout.contains(kind) && wrong.stdout.contains(words), "{mode}: {wrong}");
        assert_ne!(wrong.code(), Some(0), "{mode}: {wrong}");
    }
}

#[test]
fn a_sequence_cannot_be_pipelined() {
    let workspace = workspace(&[]);
    let honest = Fake::start("correct");
    let refused = load(&workspace, &honest, "--pipeline 4 -n 500").expect(1);
    assert!(refused.stderr.contains("the steps of a sequence wait for each other's answers"), "{refused}");
}
