//! `tare verify`: every fault of a fake service, and the message for its author.

use crate::support::{Workspace, manifest, wrong_of};

/// Verified in parallel: verification mostly waits for the clock.
const AT_ONCE: usize = 6;

/// A mode of the fake service, a contract that exposes it, and a part of the expected message.
const FAILURES: [(&str, &str, &str); 28] = [
    // Five real errors of published benchmarks.
    ("status-ok-bang", "rest", r#"expected "OK" (2 bytes), got "OK!" (3 bytes)"#),
    ("lowercase-framework", "strings", r#"$.Hello: is missing; "hello" is there"#),
    ("ignores-count", "strings", "expected an array of length 3, got length 10"),
    ("labels-of-three", "rest", "those of 3 are answered rightly, those of 1, 2, 8, 16, 24 wrongly"),
    (
        "resets-after-response",
        "hello",
        r#"reset the connection after 1 of 1100 requests without saying "Connection: close""#,
    ),
    ("wrong-body", "hello", "the body differs at byte 0"),
    ("wrong-length", "hello", "the body differs at byte 11"),
    ("wrong-in-1000", "hello", " of 1100: the body differs at byte 0"),
    ("half-answer", "hello", "closed the connection within the answer"),
    ("caches", "rest", "the answer to an earlier request came again, as from a cache"),
    ("no-404", "api", "expected status 404 for a path that the contract does not know, got 200"),
    ("accepts-bad-json", "rest", "expected a status of the class 4xx for wrong input, got 200"),
    ("frozen-date", "hello", "the Date stands still"),
    ("date-in-the-past", "hello", " s behind the clock of this machine"),
    ("prefix-router", "api", "FAIL  not-found         GET /api\n        expected status 404 for a path that"),
    // Wrong ways to answer.
    ("reorders-pipeline", "rest", "the answer to the second of 2 pipelined requests came first"),
    ("drops-second-pipelined", "hello", "answered 1 of 2 pipelined requests: no answer within 5s"),
    ("closes-after-response", "hello", "said that it closes the connection in answer 1 of 1100"),
    ("closes-at-1000", "hello", " the connection after 1000 of 1100 requests without saying"),
    ("stalls", "hello", "of 1100 on one connection: no answer within 5s"),
    (
        "hasty-with-chunks",
        "rest",
        "cut into 8 segments, though it was answered as one: expected status 200, got 400",
    ),
    // Wrong ways to start and stop.
    ("fails-at-sigterm", "hello", "after SIGTERM: exit status 1"),
    (
        "exits-early",
        "hello",
        "ended before it was ready: exit status 1; the end of its stderr:\n    the fake database",
    ),
    (
        "never-ready",
        "hello",
        "gave no correct answer within 300ms of its start: it listens on no port yet; if it needs more time, raise `ready-timeout`",
    ),
    ("no-such-mode", "hello", "ended before it was ready: exit status 2"),
    ("ignores-sigterm", "hello", "did not end within 3s of SIGTERM and was killed"),
    ("leaks-child", "hello", "ended (exit status 0) but left process"),
    ("leaks-session", "hello", "ended (exit status 0) but left process"),
];

#[test]
fn every_misbehaviour_fails_with_its_reason() {
    let workspace = Workspace::new(&FAILURES.map(|(mode, ..)| (mode, mode)));
    let impatient = manifest("never-ready", "never-ready").replace("\"10s\"", "\"300ms\"");
    workspace.service("never-ready", &impatient);
    let check = |&(mode, contract, reason): &(&str, &str, &str)| {
        let ended = workspace.tare(&["verify", mode, "--contract", contract]);
        let right = ended.code() == Some(2)
            && ended.stdout.contains(reason)
            && ended.stdout.contains("\n0 passed, 1 failed, 0 not on this machine; seed ");
        (!right).then(|| format!("{mode}: exit status 2 and {reason:?} were expected of\n{ended}"))
    };
    let wrong = wrong_of(&FAILURES, AT_ONCE, check);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn a_right_service_passes_all_contracts() {
    let workspace = Workspace::new(&[("honest", "correct")]);
    let ended = workspace.tare(&["verify"]).expect(0);
    // The built-in reference has only three.
    assert!(ended.stdout.contains("\n8 passed, 0 failed, 0 not on this machine; seed "));
    for contract in ["hello", "rest", "strings", "api", "bare"] {
        assert!(ended.line(&format!("honest                   {contract:<8} ")).contains("pass"));
    }
}

#[test]
fn the_end_is_a_check_of_its_own_and_hides_no_other() {
    let workspace = Workspace::new(&[("deaf", "ignores-sigterm"), ("jvm", "ends-with-143")]);
    let checks = |name: &str, code: i32| -> Vec<(String, String)> {
        let ended = workspace.tare(&["verify", name, "--contract", "hello", "--json"]).expect(code).json();
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        let checks = ended[0]["transcript"]["checks"].as_array().unwrap();
        checks.iter().map(|check| (text(&check["check"]), text(&check["outcome"]))).collect()
    };
    let is = |checks: &[(String, String)], check: &str, outcome: &str| {
        checks.iter().any(|(own, found)| own == check && found == outcome)
    };
    let deaf = checks("deaf", 2);
    assert!(
        is(&deaf, "end", "fail") && is(&deaf, "response", "pass") && is(&deaf, "alive", "pass"),
        "{deaf:?}"
    );
    assert!(is(&checks("jvm", 0), "end", "pass"), "the status that a runtime gives to SIGTERM");
    workspace.tare(&["verify", "jvm", "--contract", "hello", "--endure"]).expect(0);
}

#[test]
fn slowness_and_honest_closing_are_no_failures() {
    let workspace = Workspace::new(&[("late", "slow-start")]);
    let closing = manifest("closing", "closes-after-response");
    let says_so = "[[variant]]\nname = \"open\"\ntitle = \"says so\"\nkeeps-connections = false\n";
    workspace.service("closing", &format!("{closing}{says_so}"));
    workspace.service(
        "open",
        &format!("{}keeps-connections = false\n", closing.replace("\"closing\"", "\"open\"")),
    );
    let ended = workspace.tare(&["verify", "late", "closing:open", "open", "--contract", "hello"]).expect(0);
    assert!(ended.stdout.contains("\n3 passed, 0 failed, "));
}

#[test]
fn a_named_service_is_verified_without_its_variants_which_are_named() {
    let workspace = Workspace::new(&[]);
    let other = "[[variant]]\nname = \"other\"\ntitle = \"alike\"\n";
    // The service gets its port only as an argument of its command.
    let by_word =
        manifest("honest", "correct").replace("command       = [", "command = [\"env\", \"PORT={port}\", ");
    workspace.service("honest", &format!("{by_word}{other}"));
    let left_out = "left out honest:other: a variant is verified by its own name";
    let verify =
        |words: &str| workspace.tare(&["verify", words, "--contract", "hello"]).expect(0).stderr.clone();
    assert!(verify("honest").contains(left_out));
    assert!(!verify("honest,honest:other").contains(left_out) && !verify("honest:other").contains(left_out));
}

#[test]
fn a_proof_of_nothing_is_an_error() {
    let workspace = Workspace::new(&[("honest", "correct")]);
    let bare = manifest("bare-only", "correct")
        .replace("\"hello\", \"rest\", \"strings\", \"api\", \"bare\"", "\"bare\"");
    workspace.service("bare-only", &bare);
    let refused = |words: &[&str], reason: &str| {
        let ended = workspace.tare(words).expect(1);
        assert!(
            ended.stdout.is_empty() && ended.stderr.contains(reason),
            "{reason:?} was expected of\n{ended}"
        );
    };
    let none = r#"error: none of the services declares the contract "rest""#;
    refused(&["verify", "bare-only", "--contract", "rest"], none);
    refused(&["verify", "bare-only", "--contract", "bare,rest"], none);
    let of_one = r#"error: service "bare-only" does not declare the contract "rest""#;
    refused(&["verify", "honest,bare-only", "--contract", "rest"], of_one);
    // A group may contain services that do not declare it.
    workspace.tare(&["verify", "group:fake", "--contract", "api"]).expect(0);
}

#[test]
fn one_seed_asks_the_same_questions() {
    let workspace = Workspace::new(&[("fake", "accepts-bad-json")]);
    let root = workspace.root().to_str().unwrap();
    let sent = |seed: &str| {
        let words = ["verify", "fake", "--contract", "rest", "--seed", seed, "--json", "--root", root];
        let verdicts = workspace.tare(&words).expect(2).json();
        assert_eq!(
            (verdicts[0]["service"].as_str(), verdicts[0]["result"].as_str()),
            (Some("fake"), Some("failed"))
        );
        let checks = verdicts[0]["transcript"]["checks"].as_array().unwrap();
        let failed = checks.iter().find(|check| check["outcome"] == "fail").unwrap();
        let sent = failed["wire"]["sent"].as_str().unwrap();
        // Only the body: the head contains the port.
        sent.rsplit_once("\\r\\n\\r\\n").unwrap().1.to_owned()
    };
    let first = sent("1");
    assert!(first.starts_with("{\"message\":"), "{first}");
    assert_eq!(first, sent("1"));
    assert_ne!(first, sent("2"));
}
