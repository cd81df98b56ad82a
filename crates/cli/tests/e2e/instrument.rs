//! The instrument fails in the middle of a run: no service is blamed, and the rest is measured later.

use std::{fs, path::Path};

use rustix::process::{Pid, Resource, Rlimit, Signal, prlimit};
use serde_json::Value;

use crate::support::{Running, USUAL, Workspace, experiment, journal, send, within};

const ROWS: [&str; 3] = ["raw-socket", "honest", "other"];

fn workspace(blocks: usize) -> Workspace {
    let workspace = Workspace::new(&[("honest", "correct"), ("other", "correct")]);
    workspace.write("experiments/some.toml", &experiment(&ROWS, blocks));
    workspace
}

fn is_of(kind: &str, block: u64) -> impl Fn(&Value) -> bool {
    move |record| record["kind"] == kind && record["block"] == block
}

fn reaches(tare: &mut Running, run: &Path, block: u64) {
    assert!(within(USUAL, || journal(run).iter().any(is_of("sample", block)) || tare.has_ended()));
    assert!(!tare.has_ended(), "it ended before block {block}");
}

fn kinds(run: &Path, kind: &str) -> usize {
    journal(run).iter().filter(|record| record["kind"] == kind).count()
}

#[test]
fn a_watchdog_that_is_killed_is_replaced_and_the_run_goes_on() {
    let workspace = workspace(1000);
    let run = workspace.root().join("out");
    let mut tare = workspace.start(&["run", "experiments/some.toml", "--budget", "1h", "--out", "out"]);
    for block in [0, 2] {
        reaches(&mut tare, &run, block);
        let watchdog = tare.watchdog().expect("a watchdog");
        send(watchdog, Signal::KILL);
        assert!(within(USUAL, || tare.watchdog().is_some_and(|other| other != watchdog)));
    }
    reaches(&mut tare, &run, 4);
    assert_eq!(kinds(&run, "failed"), 0);
    // The new watchdog knows services that were started before it.
    send(tare.pid(), Signal::KILL);
    tare.end();
}

#[test]
fn a_histogram_that_cannot_be_stored_cuts_the_run_off_and_blames_no_service() {
    let workspace = workspace(3);
    let run = workspace.root().join("out");
    let mut tare = workspace.start(&["run", "experiments/some.toml", "--out", "out"]);
    reaches(&mut tare, &run, 1);
    let (histograms, aside) = (run.join("histograms"), run.join("aside"));
    fs::rename(&histograms, &aside).unwrap();
    fs::write(&histograms, "in the way").unwrap();
    let cut_off = tare.end().expect(4);
    assert!(cut_off.stderr.contains("histograms/"), "{cut_off}");
    assert!(cut_off.stderr.contains("`tare run --resume out` measures the rest"), "{cut_off}");
    assert!(cut_off.stdout.contains("\nCut off: ") && cut_off.line("honest").contains("µs"), "{cut_off}");
    assert_eq!((kinds(&run, "failed"), kinds(&run, "ended")), (0, 0));
    let before = journal(&run);

    fs::remove_file(&histograms).unwrap();
    fs::rename(&aside, &histograms).unwrap();
    workspace.tare(&["run", "--resume", "out"]).expect_measured();
    assert_eq!(journal(&run)[..before.len()], before);
    assert_eq!((kinds(&run, "failed"), kinds(&run, "ended")), (0, 1));
}

/// Limits the size of files, which acts like a full disk and needs no root.
fn limit_files(tare: &Running, bytes: u64) {
    let pid = Pid::from_raw(tare.pid().cast_signed()).expect("a process");
    let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
    prlimit(Some(pid), Resource::Fsize, limit).unwrap();
}

#[test]
fn a_record_that_found_no_room_is_taken_back_and_the_journal_has_whole_lines() {
    let workspace = workspace(3);
    let run = workspace.root().join("out");
    let mut tare = workspace.start(&["run", "experiments/some.toml", "--out", "out"]);
    reaches(&mut tare, &run, 1);
    let path = run.join("journal.ndjson");
    limit_files(&tare, fs::metadata(&path).unwrap().len() + 1500);
    let cut_off = tare.end().expect(4);
    assert!(cut_off.stderr.contains("File too large"), "{cut_off}");
    assert_eq!((kinds(&run, "failed"), kinds(&run, "ended")), (0, 0));
    let (text, before) = (fs::read_to_string(&path).unwrap(), journal(&run));
    assert!(text.ends_with("}}\n") && text.lines().all(|line| line.contains(",\"crc32\":\"")), "{text}");
    let shown = workspace.tare(&["show", "out"]).expect_unfinished();
    assert!(!shown.stdout.contains("journal.ndjson"), "nothing of it is damaged: {shown}");

    workspace.tare(&["run", "--resume", "out"]).expect_measured();
    assert_eq!(journal(&run)[..before.len()], before);
    assert_eq!((kinds(&run, "failed"), kinds(&run, "ended")), (0, 1));
}
