//! `tare bisect` and `tare history`: where a cost changed, in a repository made by the test. The tests of
//! tare-analysis check the decisions without timing.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use rustix::process::Signal;
use serde_json::Value;

use tare_host::fixture::has_program;

use crate::support::{PROGRAM, checkout, git, journal, rows, send, start, within};

/// A repository with a commit per mode of the service.
fn repository(modes: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let (folder, root) = checkout("shop");
    git(&root, &["init", "--quiet", "--initial-branch=main"]);
    for (number, mode) in modes.iter().enumerate() {
        let text = format!("#!/bin/sh\n# {number}\nFAKE={mode} exec {}\n", PROGRAM.display());
        fs::write(root.join("serve.sh"), text).unwrap();
        git(&root, &["add", "."]);
        git(&root, &["commit", "--quiet", "-m", &format!("{number}: {mode}")]);
    }
    git(&root, &["tag", "old", &format!("HEAD~{}", modes.len() - 1)]);
    (folder, root)
}

/// The subjects of the commits that are or may be the first bad one.
pub(crate) fn first_bad(found: &Value) -> Vec<&str> {
    let commit = |place: &Value| {
        let place = usize::try_from(place.as_u64().unwrap()).unwrap();
        found["commits"][place]["subject"].as_str().unwrap()
    };
    found["first_bad"].as_array().unwrap().iter().map(commit).collect()
}

#[test]
fn a_bisection_that_was_killed_goes_on_with_the_steps_that_are_known() {
    let (_folder, root) = repository(&["correct", "burns-cpu", "burns-cpu"]);
    let folder = root.as_path();
    let found = folder.join("found");
    let words = ["bisect", "old", "HEAD", "sh serve.sh", "--get", "/", "--budget", "60s", "--out", "found"];
    let mut tare = start(folder, &words);
    let (ends, step) = (found.join("ends/journal.ndjson"), found.join(commit(folder, "HEAD~1")));
    let in_the_step = || journal(&step).iter().any(|record| record["kind"] == "sample");
    assert!(within(Duration::from_secs(240), || in_the_step() || tare.has_ended()), "no step began");
    send(tare.pid(), Signal::KILL);
    assert_eq!(tare.end().code(), None);
    let begun = "contains a bisection already; choose another folder, or continue it by --resume";
    let again = start(folder, &words).end().expect(1);
    assert!(again.stderr.contains(begun), "{again}");

    let known = fs::read(&ends).unwrap();
    let samples = journal(&step).len();
    let resumed =
        start(folder, &["bisect", "--resume", "found", "--json"]).end_within(Duration::from_secs(240));
    let resumed = resumed.expect(0);
    assert_eq!(first_bad(&resumed.json()), ["1: burns-cpu"], "{resumed}");
    assert_eq!(fs::read(&ends).unwrap(), known, "what was measured is not measured again");
    assert!(journal(&step).len() > samples, "the step that was cut off is continued");
    // Nothing is left to measure, so the same answer comes at once.
    let known = start(folder, &["bisect", "--resume", "found", "--json"]).end().expect(0);
    assert_eq!(known.stdout, resumed.stdout);

    git(folder, &["commit", "--quiet", "--allow-empty", "-m", "later"]);
    let other = start(folder, &["bisect", "--resume", "found"]).end().expect(1);
    assert!(other.stderr.contains("old and HEAD mean other commits"), "{other}");
}

/// The full name of a revision.
fn commit(folder: &Path, name: &str) -> String {
    let output = Command::new("git").arg("-C").arg(folder).args(["rev-parse", name]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn ends_that_are_turned_round_are_refused() {
    let (_folder, repository) = repository(&["correct", "burns-cpu"]);
    let turned = start(&repository, &["bisect", "HEAD", "old", "sh serve.sh"]).end().expect(1);
    assert!(turned.stderr.contains("\"HEAD\" does not come before \"old\""), "{turned}");
}

/// A server that works for 0.2 ms or more if it has release 2.0.0 of the package.
const WITH_A_PACKAGE: &str = "\
const old = require('ms/package.json').version === '2.0.0';
const work = () => { let sum = 0; for (let i = 0; i < 200000; i++) sum += Math.sqrt(i); return sum; };
require('node:http').createServer((request, response) => {
  if (old) work();
  response.end(String(require('ms')('1s')));
}).listen(process.env.PORT, '127.0.0.1');
";

#[test]
fn releases_of_a_package_are_installed_each_in_a_build_of_its_own() {
    if !["node", "npm"].iter().all(|program| has_program("releases", program)) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let asked = r#"{"private": true, "dependencies": {"ms": "2.1.3"}}"#;
    fs::write(folder.path().join("package.json"), asked).unwrap();
    fs::write(folder.path().join("server.js"), WITH_A_PACKAGE).unwrap();
    let history = |releases: &str| {
        let words =
            ["history", "node server.js", "--releases", releases, "--get", "/", "--budget", "20s", "--json"];
        start(folder.path(), &words).end_within(Duration::from_secs(120))
    };
    // A release that does not exist is a row that was not built.
    let ended = history("ms@2.0.0,ms@2.1.3,ms@99.0.0").expect(1);
    let versions = rows(&ended.json(), "versions");
    assert_eq!(versions[1]["label"], "node server.js@ms@2.1.3", "{versions:?}");
    // Whether so short a run finds the change depends on the machine.
    assert!(versions[1]["against_previous"].as_f64().unwrap() < 0.5, "{versions:?}");
    let reason = versions[2]["reason"].as_str().unwrap();
    assert!(reason.starts_with("build step \"npm install") && reason.contains("ms@99.0.0"), "{reason}");
    assert_eq!(
        fs::read_to_string(folder.path().join("package.json")).unwrap(),
        asked,
        "the folder stays as it is"
    );
    assert!(!folder.path().join("node_modules").exists());

    let refused = |releases: &str| history(releases).expect(1).stderr.clone();
    assert!(refused("ms@2.0.0").contains("one release has no history"));
    assert!(refused("ms@2.0.0,ms@2.0.0").contains("\"ms@2.0.0\" stands twice"));
    assert!(refused("2.0.0,2.1.3").contains("does not say which package it is of"));
    assert!(refused("pkg:gem/rack@3.0.0,ms@2.0.0").contains("releases of \"gem\" packages cannot be set"));
}
