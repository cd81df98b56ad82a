//! Two commands at once: on the same CPUs they measure in sequence, and only one writes into a folder.

use std::fs;

use rustix::process::Signal;

use crate::support::{Running, USUAL, Workspace, experiment, journal, send, start_under, within};

fn workspace() -> Workspace {
    let workspace = Workspace::new(&[("honest", "correct"), ("late", "slow-start")]);
    workspace.write("experiments/tiny.toml", &experiment(&["honest"], 1));
    workspace.write("experiments/late.toml", &experiment(&["late"], 1));
    workspace.write("experiments/endless.toml", &experiment(&["raw-socket", "honest"], 1000));
    workspace
}

/// Starts a command in a group that the commands of one test share.
fn start(workspace: &Workspace, realm: &str, words: &[&str]) -> Running {
    let realm = format!("TARE_CPU_REALM=-test-{realm}-{}", std::process::id());
    start_under(&["env", &realm], workspace.root(), words)
}

#[test]
fn the_second_on_the_same_cpus_says_who_measures_and_waits_or_refuses() {
    let workspace = workspace();
    let first = ["run", "experiments/endless.toml", "--budget", "1h", "--out", "first"];
    let mut first = start(&workspace, "turn", &first);
    let run = workspace.root().join("first");
    assert!(within(USUAL, || !journal(&run).is_empty() || first.has_ended()));
    let holder = format!("process {} (\"", first.pid());

    let mut second = start(&workspace, "turn", &["run", "experiments/tiny.toml", "--out", "second"]);
    let told = |second: &Running| second.printed("stderr").contains(&format!("waiting: {holder}"));
    assert!(within(USUAL, || told(&second) || second.has_ended()), "{}", second.printed("stderr"));
    assert!(!second.has_ended());
    let left = fs::read_dir(workspace.root().join("second")).unwrap().count();
    assert_eq!(left, 0, "it has neither built nor verified anything");

    let words = ["run", "experiments/tiny.toml", "--out", "third", "--no-wait"];
    let refused = start(&workspace, "turn", &words).end().expect(1);
    assert!(
        refused.stderr.contains(&holder) && refused.stderr.contains("experiments/endless.toml"),
        "{refused}"
    );

    send(first.pid(), Signal::INT);
    first.end().expect(130);
    second.end().expect_measured();
}

#[test]
fn a_folder_belongs_to_the_first_from_before_anything_is_written_into_it() {
    let workspace = workspace();
    let mut first = start(&workspace, "one", &["run", "experiments/late.toml", "--out", "out"]);
    assert!(within(USUAL, || !first.carrying("ROW=late").is_empty() || first.has_ended()));
    assert!(!workspace.root().join("out/run.json").exists(), "it is still verifying");
    let refused =
        start(&workspace, "other", &["run", "experiments/tiny.toml", "--out", "out"]).end().expect(1);
    let told = "error: out: another tare is measuring into it; wait until it has ended, or stop it\n";
    assert_eq!(refused.stderr, told);
    assert!(!workspace.root().join("out/services/honest").exists());
    send(first.pid(), Signal::INT);
    first.end().expect(130);
}
