//! `tare run` interrupted: by SIGKILL, and by signals that request an end.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rustix::process::Signal;

use crate::support::{Running, USUAL, Workspace, experiment, journal, send, state, within};

/// A run with one complete block, in the middle of the second, and its folder.
fn midway(workspace: &Workspace) -> (Running, PathBuf) {
    let endless = experiment(&["raw-socket", "honest", "other"], 1000).replace("\"0s\"", "\"1h\"");
    workspace.write("experiments/endless.toml", &endless);
    let mut tare = workspace.start(&["run", "experiments/endless.toml", "--out", "out"]);
    let run = workspace.root().join("out");
    let in_second_block = |record: &serde_json::Value| record["kind"] == "sample" && record["block"] == 1;
    assert!(within(USUAL, || journal(&run).iter().any(in_second_block) || tare.has_ended()));
    let services = tare.carrying(&format!("TARE_GROUP=tare-{}-", tare.pid()));
    assert!(!services.is_empty(), "no service runs in the middle of a run");
    (tare, run)
}

fn workspace() -> Workspace {
    Workspace::new(&[("honest", "correct"), ("other", "correct")])
}

#[test]
fn kill_9_leaves_no_process_and_a_run_that_can_be_shown() {
    let workspace = workspace();
    let (tare, run) = midway(&workspace);
    send(tare.pid(), Signal::KILL);
    // `end` checks that no process is left after five seconds.
    let killed = tare.end();
    assert_eq!(killed.code(), None);

    shows_as_cut_off(&workspace, &run);
    // The same with a truncated last line.
    let path = run.join("journal.ndjson");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text + "{\"sam").unwrap();
    let shown = shows_as_cut_off(&workspace, &run);
    assert!(shown.contains("journal.ndjson: the last line is not whole: the run was cut off while it wrote"));
}

#[test]
fn a_run_that_was_killed_goes_on_and_loses_nothing() {
    let workspace = workspace();
    let (tare, run) = midway(&workspace);
    send(tare.pid(), Signal::KILL);
    tare.end();
    let path = run.join("journal.ndjson");
    let text = fs::read_to_string(&path).unwrap();
    let before = journal(&run);
    fs::write(&path, text + "{\"sam").unwrap();
    // An hour is left in its budget: a few more blocks are enough.
    let mut going_on = workspace.start(&["run", "--resume", "out"]);
    let is_further = |record: &serde_json::Value| record["kind"] == "block" && record["block"] == 3;
    assert!(within(USUAL, || journal(&run).iter().any(is_further) || going_on.has_ended()));
    send(going_on.pid(), Signal::INT);
    let went_on = going_on.end().expect(130);
    let after = journal(&run);
    assert_eq!(after[..before.len()], before);
    assert!(
        went_on.stdout.contains("blocks were cut off: they count with the rounds that are complete"),
        "{went_on}"
    );
    assert_eq!(workspace.tare(&["show", "out"]).expect_unfinished().stdout, went_on.stdout);

    workspace.service("other", &crate::support::manifest("other", "slow-start"));
    fs::remove_dir_all(workspace.root().join("services/fake/honest")).unwrap();
    let refused = workspace.tare(&["run", "--resume", "out"]).expect(1);
    assert_eq!(refused.stderr, "error: there is no service \"honest\" any more\n");
}

#[test]
fn a_run_that_has_ended_does_not_go_on() {
    let workspace = Workspace::new(&[("honest", "correct")]);
    workspace.write("experiments/tiny.toml", &experiment(&["honest"], 1));
    workspace.tare(&["run", "experiments/tiny.toml", "--out", "out"]).expect_measured();
    let refused = workspace.tare(&["run", "--resume", "out"]).expect(1);
    let told =
        "error: out: nothing is left to do: all blocks were measured; `tare show out` prints its table\n";
    assert_eq!(refused.stderr, told);
}

fn shows_as_cut_off(workspace: &Workspace, run: &Path) -> String {
    let path = run.to_str().unwrap();
    let shown = workspace.tare(&["show", path]).expect_unfinished();
    assert!(shown.stdout.contains("\nCut off: "), "{shown}");
    assert!(shown.line("honest").contains("µs"));
    let report = workspace.tare(&["show", path, "--json"]).expect_unfinished().json();
    assert!(report["status"] == "cut-off" && state(&report, "other") == "measured", "{report}");
    shown.stdout.clone()
}

#[test]
fn what_asks_to_stop_gets_a_table_that_says_so() {
    let workspace = workspace();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let (tare, run) = midway(&workspace);
        // Like `timeout`, which signals the command and its group: the second signal is no second request.
        send(tare.pid(), signal);
        send(tare.pid(), signal);
        let ran = tare.end().expect(code);
        assert!(ran.stdout.contains("\nInterrupted: "), "{ran}");
        assert!(
            ran.stdout.contains("Undecided after ")
                && ran.stdout.contains(": the run was interrupted.\nSo far: "),
            "{ran}"
        );
        assert!(ran.line("honest").contains("µs"));
        let last = journal(&run).pop().unwrap();
        assert_eq!((&last["kind"], &last["reason"]), (&"ended".into(), &"interrupted".into()));
        let shown = workspace.tare(&["show", "out"]).expect_unfinished();
        assert_eq!(shown.stdout, ran.stdout);
        fs::remove_dir_all(run).unwrap();
    }
}

#[test]
fn an_interrupt_before_the_first_block_ends_in_an_orderly_way_too() {
    let workspace = Workspace::new(&[("late", "slow-start")]);
    workspace.write("experiments/tiny.toml", &experiment(&["late"], 1));
    let mut tare = workspace.start(&["run", "experiments/tiny.toml", "--out", "out"]);
    let is_planned = || workspace.root().join("out/run.json").exists();
    let is_starting = |tare: &Running| is_planned() && !tare.carrying("ROW=late").is_empty();
    assert!(within(USUAL, || is_starting(&tare) || tare.has_ended()));
    send(tare.pid(), Signal::INT);
    let ran = tare.end().expect(130);
    assert!(ran.stdout.contains("\nInterrupted: "), "{ran}");
    assert!(ran.stdout.contains("state: not measured, reason: no complete block"), "{ran}");
}

#[test]
fn an_interrupt_while_services_are_proved_stores_nothing() {
    let workspace = Workspace::new(&[("late", "slow-start")]);
    workspace.write("experiments/tiny.toml", &experiment(&["late"], 1));
    let mut tare = workspace.start(&["run", "experiments/tiny.toml", "--out", "out"]);
    assert!(within(USUAL, || !tare.carrying("ROW=late").is_empty() || tare.has_ended()));
    send(tare.pid(), Signal::INT);
    let ran = tare.end().expect(130);
    assert!(
        ran.stderr.contains(
            "error: undecided: interrupted while it built and verified, before anything was measured; "
        ),
        "{ran}"
    );
    assert!(!workspace.root().join("out/run.json").exists(), "what was not proved cannot be resumed");
}

#[test]
fn nobody_goes_on_with_a_run_that_is_being_measured() {
    let workspace = workspace();
    let (tare, _) = midway(&workspace);
    let refused = workspace.tare(&["run", "--resume", "out"]).expect(1);
    let told = "error: out: another tare is measuring into it; wait until it has ended, or stop it\n";
    assert_eq!(refused.stderr, told);
    send(tare.pid(), Signal::INT);
    tare.end().expect(130);
}
