//! `tare list`: the services, and with `--footprint` their other properties.

use std::time::Duration;

use rustix::process::Signal;

use crate::support::{USUAL, Workspace, manifest, send, within};

#[test]
fn aspects_are_measured_once_and_kept_for_that_build() {
    let workspace = Workspace::new(&[("honest", "correct")]);
    let aspects = |words: &[&str]| {
        let words = [&["list", "honest", "--footprint", "--json"], words].concat();
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

    let text = workspace.tare(&["list", "--footprint"]).expect(0);
    assert!(text.line("honest").contains("(MIT)"));
    assert!(!text.line("raw-socket").contains("MiB"));

    workspace.write(".tare/builds/honest.json", "of another time");
    assert!(aspects(&[])["measured"].is_null());
}

#[test]
fn what_cannot_be_started_is_told_and_the_others_are_measured() {
    let workspace = Workspace::new(&[("broken", "exits-early"), ("honest", "correct")]);
    let ended = workspace.tare(&["list", "broken", "honest", "--footprint", "--measure", "--json"]).expect(2);
    assert!(ended.stderr.contains("failed broken: "), "{}", ended.stderr);
    assert!(ended.json()[0]["measured"].is_null());
    assert!(ended.json()[1]["measured"].is_object());
}

/// A requirement check that leaves a file when it runs.
fn marked(workspace: &Workspace, name: &str) -> std::path::PathBuf {
    let mark = workspace.root().join("was-run");
    let asks = format!("[[requires]]\ncommand = [\"sh\", \"-c\", \"touch {}\"]\n", mark.display());
    workspace.service(name, &(manifest(name, "correct") + &asks));
    mark
}

#[test]
fn looking_runs_nothing_of_a_repository() {
    let workspace = Workspace::new(&[]);
    let mark = marked(&workspace, "honest");
    for words in
        [&["list"][..], &["list", "--json"], &["doctor", "--dry-run"], &["doctor", "--dry-run", "--json"]]
    {
        let looked = workspace.tare(words).expect(0);
        assert!(!mark.exists(), "{looked}");
    }
    let planned = workspace.tare(&["doctor", "--dry-run"]).expect(0);
    assert!(planned.stdout.contains("sh -c touch "), "{planned}");
    assert_eq!(workspace.tare(&["list", "--json"]).expect(0).json()[1]["version"], serde_json::Value::Null);
    workspace.tare(&["build", "honest"]).expect(0);
    assert!(mark.exists());
    assert!(workspace.tare(&["list", "honest", "--json"]).expect(0).json()[0]["version"].is_string());
}

#[test]
fn a_requirement_that_never_answers_or_never_ends_is_stopped_and_leaves_nothing() {
    let workspace = Workspace::new(&[]);
    let asks = |command: &str| manifest("odd", "correct") + "[[requires]]\ncommand = " + command + "\n";
    workspace.service("odd", &asks("[\"yes\"]"));
    for (words, code) in [(&["build", "odd", "--json"][..], 0), (&["doctor"], 1)] {
        let told = workspace.tare(words).expect(code);
        assert!(told.stdout.contains(" printed more than 1048576 bytes"), "{told}");
    }
    workspace.service("odd", &asks("[\"sh\", \"-c\", \"touch begun; sleep 60\"]"));
    for words in [&["build", "odd"][..], &["doctor"], &["verify", "odd"]] {
        let begun = workspace.root().join("services/fake/odd/begun");
        let mut tare = workspace.start(words);
        assert!(within(USUAL, || begun.exists() || tare.has_ended()));
        send(tare.pid(), Signal::INT);
        assert!(
            within(Duration::from_secs(10), || tare.has_ended()),
            "{words:?}: the interrupt is not obeyed"
        );
        tare.end().expect(130);
        std::fs::remove_file(begun).unwrap();
    }
}
