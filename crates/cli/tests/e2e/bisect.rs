//! `tare bisect` and `tare history`: where a cost changed, in a repository that the test makes.

use std::{fs, path::Path, time::Duration};

use serde_json::Value;

use crate::support::{Ended, PROGRAM, alone, git, rows, start};

/// A commit for each mode of the service.
fn repository(modes: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "--quiet", "--initial-branch=main"]);
    for (number, mode) in modes.iter().enumerate() {
        let text = format!("#!/bin/sh\n# {number}\nFAKE={mode} exec {}\n", PROGRAM.display());
        fs::write(folder.path().join("serve.sh"), text).unwrap();
        git(folder.path(), &["add", "."]);
        git(folder.path(), &["commit", "--quiet", "-m", &format!("{number}: {mode}")]);
    }
    git(folder.path(), &["tag", "old", &format!("HEAD~{}", modes.len() - 1)]);
    folder
}

fn bisect(folder: &Path, words: &[&str]) -> Ended {
    let words = [&["bisect", "old", "HEAD", "sh serve.sh", "--get", "/"], words].concat();
    start(folder, &words).end_within(Duration::from_secs(240))
}

fn first_bad(found: &Value) -> Vec<&str> {
    let commit = |place: &Value| {
        let place = usize::try_from(place.as_u64().unwrap()).unwrap();
        found["commits"][place]["subject"].as_str().unwrap()
    };
    found["first_bad"].as_array().unwrap().iter().map(commit).collect()
}

#[test]
fn the_commit_that_made_it_dearer_is_found() {
    let _alone = alone();
    let repository = repository(&["correct", "no-such-mode", "burns-cpu", "burns-cpu"]);
    let planned = bisect(repository.path(), &["--dry-run"]).expect(0);
    assert!(planned.stdout.starts_with("3 commits after the good one; about 2 steps"), "{planned}");
    // What does not start leaves two commits: it, and the one after it.
    let ended = bisect(repository.path(), &["--budget", "4m", "--json", "--out", "found"]).expect(5);
    let found = ended.json();
    assert_eq!(first_bad(&found), ["1: no-such-mode", "2: burns-cpu"], "{found}");
    let left_out =
        found["steps"].as_array().unwrap().iter().find(|step| step["result"] == "left out").unwrap();
    assert!(left_out["reason"].as_str().unwrap().contains("ended before it was ready"), "{found}");
    let kept = fs::read_to_string(repository.path().join("found/bisect.json")).unwrap();
    assert_eq!(kept, ended.stdout);
}

#[test]
fn commits_that_cannot_be_distinguished_are_said_to_be() {
    let _alone = alone();
    let repository = repository(&["correct", "correct", "correct"]);
    let ended = bisect(repository.path(), &["--budget", "12s"]).expect(5);
    assert!(
        ended.stdout.starts_with("INCONCLUSIVE: they cannot be distinguished\nCPU/request from "),
        "{ended}"
    );
    let ended = start(repository.path(), &["bisect", "HEAD", "old", "sh serve.sh"]).end().expect(1);
    assert!(ended.stderr.contains("\"HEAD\" does not come before \"old\""), "{ended}");
}

#[test]
fn a_history_has_an_interval_for_each_version_and_marks_the_change() {
    let _alone = alone();
    let repository = repository(&["correct", "no-such-mode", "correct", "burns-cpu"]);
    let words = ["history", "sh serve.sh", "old..HEAD", "--get", "/", "--budget", "60s", "--json"];
    let ended = start(repository.path(), &words).end_within(Duration::from_secs(240));
    // One of the versions does not start, which is for its author to mend.
    let ended = ended.expect(2);
    let found = ended.json();
    let versions = rows(&found, "versions");
    let changes: Vec<bool> = versions.iter().map(|version| version["is_change"].as_bool().unwrap()).collect();
    assert_eq!(changes, [false, false, false, true], "{versions:?}");
    assert!(versions[1]["reason"].as_str().unwrap().contains("ended before it was ready"), "{versions:?}");
    assert!(versions[3]["against_previous"].as_f64().unwrap() > 2.0, "{versions:?}");
    assert!(found["answer"].as_str().unwrap().starts_with("CPU/request changed at sh serve.sh@"), "{found}");
    let one = start(repository.path(), &["history", "sh serve.sh", "HEAD"]).end().expect(1);
    assert!(one.stderr.contains("one revision has no history"), "{one}");
}
