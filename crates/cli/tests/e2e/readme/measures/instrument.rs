//! `tare selftest`: checks the instrument here. Only trials whose outcome does not depend on timing.

use std::fs;

use serde_json::Value;

use crate::support::Workspace;

const TIMELESS: &str = "honest,cache,late-cache,some-wrong-lengths,dropper";

#[test]
fn every_fault_that_needs_no_clock_is_seen_and_certified() {
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
    let mut kept: Value = serde_json::from_str(&kept).unwrap();
    assert!(kept.as_object_mut().unwrap().remove("crc32").is_some(), "the file has its checksum in itself");
    assert_eq!(kept, certificate);
    let text = fs::read_to_string(run.join("certificate.txt")).unwrap();
    assert!(text.ends_with("\nthe instrument saw what it must: 5 of 5\n"), "{text}");
    assert!(run.join("cache/0/transcript.json").is_file());
    // A trial's measurement is an ordinary run. The dropper may also close the connection of a check after
    // the load. If few requests fit into a slice, it closes no more connections than a freeze would.
    let dropper = run.join("dropper");
    let shown = workspace.tare(&["show", dropper.to_str().unwrap()]);
    let reasons = match shown.code() {
        Some(2) => ["block 1: wrong after the load: "].as_slice(),
        Some(4) => &["failing: ", "closed at thaw: "],
        _ => &[],
    };
    let reason = shown.line("subject: reason: ");
    assert!(reasons.iter().any(|part| reason.contains(part)), "{shown}");
}
