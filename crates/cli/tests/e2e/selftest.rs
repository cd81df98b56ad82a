//! `tare selftest`: only the trials whose outcome does not depend on time.

use std::fs;

use serde_json::Value;

use crate::support::{Workspace, alone};

const TIMELESS: &str = "honest,cache,late-cache,some-wrong-lengths,dropper";

#[test]
fn every_fault_that_needs_no_clock_is_seen_and_certified() {
    let _alone = alone();
    let workspace = Workspace::new(&[]);
    let tested =
        workspace.tare(&["selftest", "--quick", "--only", TIMELESS, "--seed", "7", "--json"]).expect(0);
    let certificate = tested.json();
    let trials = certificate["trials"].as_array().unwrap();
    let names: Vec<&str> = trials.iter().map(|trial| trial["name"].as_str().unwrap()).collect();
    assert_eq!(names, TIMELESS.split(',').collect::<Vec<_>>());
    assert!(trials.iter().all(|trial| trial["outcome"] == "seen"), "{trials:?}");
    assert_eq!((&certificate["format"], &certificate["seed"]), (&Value::from("1.0"), &Value::from(7)));
    let share = trials[4]["figures"]["failure_share"].as_f64().unwrap();
    assert!((0.007..0.013).contains(&share), "{share}");

    let run = workspace.run();
    let kept = fs::read_to_string(run.join("certificate.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&kept).unwrap(), certificate);
    let text = fs::read_to_string(run.join("certificate.txt")).unwrap();
    assert!(text.ends_with("\nthe instrument saw what it must: 5 of 5\n"), "{text}");
    assert!(run.join("cache/0/transcript.json").is_file());
    // What a trial measured is a run like any other.
    let dropper = run.join("dropper");
    let shown = workspace.tare(&["show", dropper.to_str().unwrap()]).expect(4);
    assert!(shown.line_with("subject: reason: ", "failing: ").contains(" requests"), "{}", shown.stdout);
}

#[test]
fn trials_are_listed_and_unknown_ones_refused() {
    let workspace = Workspace::new(&[]);
    let listed = workspace.tare(&["selftest", "--dry-run"]).expect(0);
    assert!(listed.line("slower").starts_with("slower "));
    assert!(listed.stdout.contains(" 3% more CPU"));
    let refused = workspace.tare(&["selftest", "--only", "droper"]).expect(1);
    assert_eq!(refused.stderr, "error: unknown trial \"droper\"; did you mean \"dropper\"?\n");
    assert!(!workspace.root().join(".tare/runs").exists());
    let wrong = workspace.tare(&["raw-socket", "--port", "1", "--misbehave", "sings"]).expect(1);
    assert!(wrong.stderr.contains("unknown fault \"sings\""), "{}", wrong.stderr);
}
