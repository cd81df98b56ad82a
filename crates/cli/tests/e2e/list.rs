//! `tare list`: what is there, and with `--aspects` what it is besides fast.

use crate::support::{Workspace, manifest};

#[test]
fn aspects_are_measured_once_and_kept_for_that_build() {
    let workspace = Workspace::new(&[("honest", "correct")]);
    let aspects = |words: &[&str]| {
        let words = [&["list", "honest", "--aspects", "--json"], words].concat();
        workspace.tare(&words).expect(0).json()[0].clone()
    };
    let unmeasured = aspects(&[]);
    assert_eq!(unmeasured["licence"]["source"], "manifest");
    assert!(unmeasured["artefact_bytes"].as_u64().unwrap() > 0, "{unmeasured}");
    assert!(unmeasured["measured"].is_null() && unmeasured["version"].is_null(), "{unmeasured}");

    let measured = aspects(&["--measure"])["measured"].clone();
    assert!(measured["start_up_ns"].as_u64().unwrap() > 0, "{measured}");
    assert!(measured["rss_bytes"].as_u64().unwrap() > 0, "{measured}");
    assert_eq!(aspects(&[])["measured"], measured);

    let text = workspace.tare(&["list", "--aspects"]).expect(0);
    assert!(text.line("honest").contains("(MIT)"));
    assert!(!text.line("raw-socket").contains("MiB"));

    workspace.write(".tare/builds/honest.json", "of another time");
    assert!(aspects(&[])["measured"].is_null());
}

#[test]
fn what_cannot_be_started_is_told_and_the_others_are_measured() {
    let workspace = Workspace::new(&[("broken", "exits-early"), ("honest", "correct")]);
    let ended = workspace.tare(&["list", "broken", "honest", "--aspects", "--measure", "--json"]).expect(2);
    assert!(ended.stderr.contains("failed broken: "), "{}", ended.stderr);
    assert!(ended.json()[0]["measured"].is_null());
    assert!(ended.json()[1]["measured"].is_object());
}

#[test]
fn what_this_machine_lacks_has_no_version_of_an_old_build() {
    let workspace = Workspace::new(&[("honest", "correct")]);
    let list = || workspace.tare(&["list", "honest", "--json"]).expect(0).json()[0].clone();
    workspace.tare(&["build", "honest"]).expect(0);
    assert!(list()["version"].is_string());
    let lacking = manifest("honest", "correct") + "[[requires]]\ncommand = [\"no-such-tool\"]\n";
    workspace.service("honest", &lacking);
    assert!(list()["version"].is_null() && list()["missing"].is_string());
}
