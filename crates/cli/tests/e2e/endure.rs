//! `tare verify --endure`: services that pass the proof but fail under load, and their messages.

use serde_json::Value;

use crate::support::{Ended, Workspace, manifest, wrong_of};

const KNOWN_FAILURE: &str = "[[excuse]]\ncheck = \"crowd\"\nwhy = \"a thread for each connection\"\n";

/// Most of the time is spent waiting for time limits.
const AT_ONCE: usize = 3;

/// A mode of the fake service, a contract whose proof it passes, and a part of the expected message.
const FAILURES: [(&str, &str, &str); 7] = [
    (
        "worn-by-bad-input",
        "rest",
        "round 10 of 25: rest: bad-input of \"json-not-an-object\": refused without",
    ),
    (
        "closes-at-5000",
        "hello",
        "closed 2 of the connections that it had to keep: 10000 answers came over 3, not 1 connection",
    ),
    ("crashes-under-load", "hello", "exit status 3 in long-connection"),
    (
        "wrong-in-crowd",
        "hello",
        " mismatch); the first: mismatch at \"hello\": expected status 200 with 12 bytes",
    ),
    ("starves-crowd", "hello", " response-timeout); the first: response-timeout at \"hello\""),
    ("dies-loaded", "hello", "under load it ended "),
    ("hangs-loaded", "hello", "under load it did not end within 3s of SIGTERM and was killed"),
];

#[test]
fn every_stage_finds_what_the_proof_does_not() {
    let workspace = Workspace::new(&FAILURES.map(|(mode, ..)| (mode, mode)));
    let check = |&(mode, contract, reason): &(&str, &str, &str)| {
        let ended = workspace.tare(&["verify", mode, "--contract", contract, "--endure"]);
        let right = ended.code() == Some(2)
            && ended.line(&format!("{mode:<24} {contract:<8} ")).contains("pass")
            && ended.line(&format!("{mode:<24} endures  ")).contains("FAIL 1 failed, ")
            && ended.stdout.contains(reason)
            && ended.stdout.contains("\n0 passed, 1 failed, 0 not on this machine; seed ");
        (!right).then(|| format!("{mode}: exit status 2 and {reason:?} were expected of\n{ended}"))
    };
    let wrong = wrong_of(&FAILURES, AT_ONCE, check);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn stages(ended: &Ended) -> Vec<(String, String)> {
    let verdicts = ended.json();
    let stages = verdicts[0]["endurance"]["stages"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    stages.iter().map(|stage| (text(&stage["stage"]), text(&stage["outcome"]))).collect()
}

fn all(outcomes: [&str; 4]) -> Vec<(String, String)> {
    let stages = ["bad-input", "long-connection", "crowd", "sigterm"];
    stages.iter().zip(outcomes).map(|(stage, outcome)| ((*stage).to_owned(), outcome.to_owned())).collect()
}

#[test]
fn a_right_service_endures_the_contract_that_asks_the_most() {
    let workspace = Workspace::new(&[("honest", "correct")]);
    // The heap of glibc has more arenas the more threads wait for each other, which is growth on a busy machine.
    let manifest = manifest("honest", "correct").replace("FAKE =", "MALLOC_ARENA_MAX = \"1\", FAKE =");
    workspace.service("honest", &manifest);
    let ended = workspace.tare(&["verify", "honest", "--endure", "--json"]).expect(0);
    let verdicts = ended.json();
    assert_eq!(verdicts.as_array().unwrap().len(), 1);
    assert_eq!(verdicts[0]["contract"], "rest");
    assert_eq!(stages(&ended), all(["pass"; 4]));
    let figures = |stage: usize| &verdicts[0]["endurance"]["stages"][stage]["figures"];
    assert_eq!((&figures(1)["answered"], &figures(1)["connects"]), (&Value::from(10_000), &Value::from(1)));
    assert_eq!((&figures(2)["answered"], &figures(2)["connects"]), (&Value::from(6_400), &Value::from(64)));
}

#[test]
fn what_a_manifest_says_of_connections_is_skipped_or_tolerated() {
    let workspace = Workspace::new(&[]);
    let closing = manifest("closing", "closes-after-response")
        + "[[variant]]\nname = \"open\"\ntitle = \"says so\"\nkeeps-connections = false\n";
    workspace.service("closing", &closing);
    workspace.service("crowded", &(manifest("crowded", "starves-crowd") + KNOWN_FAILURE));
    let endured = |name: &str| {
        stages(&workspace.tare(&["verify", name, "--contract", "hello", "--endure", "--json"]).expect(0))
    };
    assert_eq!(endured("closing:open"), all(["skipped", "skipped", "pass", "pass"]));
    assert_eq!(endured("crowded"), all(["skipped", "pass", "warn", "pass"]));
}

#[test]
fn a_service_that_fails_its_proof_is_asked_no_more() {
    let workspace = Workspace::new(&[("wrong", "wrong-body")]);
    let ended = workspace.tare(&["verify", "wrong", "--contract", "hello", "--endure", "--json"]).expect(2);
    let verdict = &ended.json()[0];
    assert_eq!((&verdict["result"], &verdict["endurance"]), (&Value::from("failed"), &Value::Null));
}
