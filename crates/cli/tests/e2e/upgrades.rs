//! A branch that upgrades a package, with each command that measures revisions: every row has the packages of
//! its own lock file. The service checks it, because each commit names its required version. The upgrade
//! raises the cost, so it is found as a change.

use std::fs;

use rustix::process::Signal;

use crate::{
    dependencies::Repository,
    support::{USUAL, journal, rows, send, within},
};

/// Answers correctly if it has the package of its commit. With the newer one it works for a tenth of a
/// millisecond or more.
const SERVER: &str = "\
const { version } = require('ms/package.json');
const work = () => { let sum = 0; for (let i = 0; i < 40000; i++) sum += Math.sqrt(i); return sum; };
require('node:http').createServer((request, response) => {
  if (version !== '2.0.0') work();
  response.statusCode = version === require('./package.json').dependencies.ms ? 200 : 500;
  response.end('hello');
}).listen(process.env.PORT, '127.0.0.1');
";

/// Three commits: the old package, the new one, and the new one with another file. The work tree has neither.
fn repository(test: &str) -> Option<Repository> {
    let repository = Repository::upgraded(test, SERVER)?;
    repository.write("README.md", "a shop");
    repository.commit("a readme");
    repository.run("npm install --no-audit --no-fund --no-save ms@1.0.0");
    Some(repository)
}

/// The upgrade multiplies the cost, so a few blocks show it.
const SHORT: [&str; 4] = ["--budget", "12s", "--connections", "8"];
const CHANGE: &str = ": ms 2.0.0 -> 2.1.3\n";

#[test]
fn a_history_has_the_packages_of_each_version() {
    let Some(repository) = repository("a history of upgrades") else { return };
    let words = ["history", "node server.js", "HEAD~2..HEAD", "--get", "/", "--json"];
    let ended = repository.tare(&[&words[..], &SHORT].concat()).expect_measured();
    assert!(ended.stderr.contains(CHANGE), "{ended}");
    let versions = rows(&ended.json(), "versions");
    let change = |place: usize| versions[place]["against_previous"].as_f64().unwrap();
    assert!(change(1) > 2.0 && (0.5..2.0).contains(&change(2)), "{versions:#?}");
}

#[test]
fn a_bisection_has_the_packages_of_each_commit() {
    let Some(repository) = repository("a bisection of upgrades") else { return };
    let words = ["bisect", "HEAD~2", "HEAD~1", "node server.js", "--get", "/", "--json"];
    let ended = repository.tare(&[&words[..], &SHORT].concat());
    // On a busy machine so short a run may be undecided.
    assert!(matches!(ended.code(), Some(0 | 4 | 5)) && ended.stderr.contains(CHANGE), "{ended}");
    assert!(ended.json()["change"]["ratio"].as_f64().unwrap() > 2.0, "{ended}");
}

const GATE: &str = r#"format = "1.0"
[service.shop]
command = "node server.js"
[gate.shop]
service = "shop"
base = "HEAD~2"
get = ["/"]
metrics = ["cpu"]
connections = 8
budget = "12s"
"#;

#[test]
fn a_gate_has_the_packages_of_both_ends() {
    let Some(repository) = repository("a gate of upgrades") else { return };
    repository.write("tare.toml", GATE);
    let ended = repository.tare(&["compare", "--gate", "shop", "--json"]);
    // FAIL; on a busy machine so short a run may be undecided.
    assert!(matches!(ended.code(), Some(3..=6)) && ended.stderr.contains(CHANGE), "{ended}");
    let metrics = rows(&ended.json(), "metrics");
    let cpu = metrics.iter().find(|figure| figure["metric"] == "CPU/request").unwrap();
    assert!(cpu["ratio"].as_f64().unwrap() > 2.0, "{metrics:#?}");
}

#[test]
fn a_run_that_was_cut_off_has_its_trees_and_packages_made_again() {
    let Some(repository) = repository("upgrades that are resumed") else { return };
    let run = repository.path().join("out");
    let words = ["compare", "node server.js", "--revisions", "HEAD~2..HEAD", "--get", "/", "--out", "out"];
    let mut running = repository.start(&[&words[..], &SHORT].concat());
    let has_slices = || journal(&run).iter().any(|record| record["kind"] == "sample");
    assert!(within(USUAL, || has_slices() || running.has_ended()));
    send(running.pid(), Signal::INT);
    running.end().expect(130);
    let resumed = || repository.tare(&["run", "--resume", "out"]);
    // No created file is left.
    for made in ["revisions", "builds"] {
        fs::remove_dir_all(repository.home_folder().join(made)).unwrap();
    }
    // If it cannot be made again, that is reported.
    repository.run("mv .git .git-away");
    let missing = resumed().expect(1);
    assert!(missing.stderr.contains("node server.js@HEAD~2"), "{missing}");
    repository.run("mv .git-away .git");
    let ended = resumed();
    assert!(matches!(ended.code(), Some(3..=6)) && ended.stderr.contains(CHANGE), "{ended}");
    let samples = |label: &str| {
        journal(&run).iter().filter(|record| record["kind"] == "sample" && record["label"] == label).count()
    };
    assert!(
        ["node server.js@HEAD~2", "node server.js@HEAD"].iter().all(|label| samples(label) > 10),
        "{ended}"
    );
}
