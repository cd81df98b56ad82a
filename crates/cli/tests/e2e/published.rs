//! `tare run` of a small published experiment, over services that misbehave on purpose.

use std::fs;

use rustix::process::Signal;
use serde_json::Value;
use tare_host::{fixture, link::Link};

use crate::support::{USUAL, Workspace, journal, rows, send, unsealed, within};

const FIGURES: &str = r#"format   = "1.0"
title    = "Small benchmark, 1999"
question = "Which is fast?"
load     = "two producers"
machine  = "a machine"
unit     = "seconds"
services = ["Honest", "Stalling"]
[[claim]]
id   = "stuck"
text = "Stalling never ends"
[[cell]]
n           = 40
t_ms        = 0
environment = "local"
threads     = 1
seconds     = [1.5, "x"]
"#;

const EXPERIMENT: &str = r#"format   = "1.0"
title    = "Small benchmark, again"
question = "Which is fast?"
figures  = "small"
layout   = "makespan"
[[row]]
service   = "honest"
published = "Honest"
[[row]]
service      = "stalling"
published    = "Stalling"
as-published = true
[links]
far = "delay=5ms"
[[part]]
name     = "published"
contract = "rest"
requests = ["echo"]
rounds   = ROUNDS
link     = LINK
load     = { kind = "batch", producers = 2, messages = 40 }
[[check]]
claim = "stuck"
of    = "stalling"
stuck = true
"#;

fn workspace(rounds: usize, link: &str) -> Workspace {
    let workspace = Workspace::new(&[("honest", "correct"), ("stalling", "stalls")]);
    workspace.write("figures/small.toml", FIGURES);
    let experiment = EXPERIMENT.replace("ROUNDS", &rounds.to_string()).replace("LINK", link);
    workspace.write("experiments/small.toml", &experiment);
    workspace
}

fn cells(records: &[Value]) -> Vec<(u64, u64)> {
    let cells = records.iter().filter(|record| record["kind"] == "sample");
    let place = |cell: &Value, of: &str| cell[of].as_u64().unwrap();
    cells.map(|cell| (place(cell, "round"), place(cell, "row"))).collect()
}

#[test]
fn a_service_that_hangs_is_an_x_and_the_published_figure_stands_beside() {
    let workspace = workspace(2, "\"local\"");
    let ran = workspace.tare(&["run", "experiments/small.toml", "--out", "out"]).expect(0);
    assert!(ran.line("stuck ").starts_with("stuck  holds  "), "{ran}");
    assert!(ran.stdout.contains("stalling: stuck at N=40, t=0 ms, local, C=1: no answer for "), "{ran}");
    assert!(ran.stdout.contains("stalling: measured as it was published, though "), "{ran}");
    assert!(ran.stdout.contains("3 of 4 cells"), "what hung once is not asked again: {ran}");
    assert_eq!(workspace.tare(&["show", "out"]).expect(0).stdout, ran.stdout);
    workspace.tare(&["show", "out", "--recompute"]).expect(0);
    let report = workspace.tare(&["show", "--json", "out"]).expect(0).json();
    assert_eq!(rows(&report, "claims")[0]["verdict"], "holds");
    assert_eq!(rows(&report, "published")[0]["makespan_ns_published"], 1_500_000_000);
    let kept = fs::read_to_string(workspace.root().join("out/report.md")).unwrap();
    assert_eq!(workspace.tare(&["show", "--format", "markdown", "out"]).expect(0).stdout, kept);
    let refused = workspace.tare(&["run", "--resume", "out"]).expect(1);
    assert_eq!(
        refused.stderr,
        "error: out: nothing is left to do: everything was measured; `tare show out` prints its table\n"
    );
}

#[test]
fn a_sequential_run_that_was_killed_loses_at_most_the_sample_in_flight() {
    let workspace = workspace(12, "\"local\"");
    let words = ["run", "experiments/small.toml", "--services", "honest", "--out", "out"];
    let mut tare = workspace.start(&words);
    let run = workspace.root().join("out");
    assert!(within(USUAL, || cells(&journal(&run)).len() >= 3 || tare.has_ended()));
    send(tare.pid(), Signal::KILL);
    assert_eq!(tare.end().code(), None);
    let before = journal(&run);
    let path = run.join("journal.ndjson");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text + "{\"sam").unwrap();
    let went_on = workspace.tare(&["run", "--resume", "out"]).expect(0);
    let after = journal(&run);
    assert_eq!(after[..before.len()], before, "nothing that was kept is lost");
    assert_eq!(
        cells(&after),
        (0..12).map(|round| (round, 0)).collect::<Vec<_>>(),
        "and each cell is there once"
    );
    assert!(went_on.stdout.contains("12 of 12 cells"), "{went_on}");
}

#[test]
fn a_slow_link_takes_its_two_round_trips() {
    let link = Link::create(&"delay=5ms".parse().unwrap(), &[], 1);
    if fixture::link("a_slow_link_takes_its_two_round_trips", link).is_none() {
        return;
    }
    let workspace = workspace(1, "\"far\"");
    let words = ["run", "experiments/small.toml", "--services", "honest", "--json"];
    let report = workspace.tare(&words).expect(0).json();
    let message_ms = rows(&report, "published")[0]["message_ns"].as_f64().unwrap() / 1e6;
    assert!(message_ms >= 20.0, "{message_ms} ms for two round trips of 10 ms");
    let records = journal(&workspace.run());
    let packets = records.iter().find_map(|record| record["host"]["link"]["packets"].as_u64());
    assert!(packets.unwrap() > 80 * 6, "{records:?}");
}

const SERIES: &str = r#"format = "1.0"
title  = "Two small ones"
[[experiment]]
file  = "small.toml"
scale = 0.5
[[experiment]]
file  = "other.toml"
scale = 1.0
"#;

#[test]
fn a_series_goes_on_where_it_was_cut_off() {
    let workspace = workspace(8, "\"local\"");
    let other = EXPERIMENT.replace("ROUNDS", "1").replace("LINK", "\"local\"");
    workspace.write("experiments/other.toml", &other);
    workspace.write("experiments/all.toml", SERIES);
    let words = ["run", "experiments/all.toml", "--services", "honest", "--out", "all"];
    let mut tare = workspace.start(&words);
    let first = workspace.root().join("all/small");
    assert!(within(USUAL, || cells(&journal(&first)).len() >= 2 || tare.has_ended()));
    send(tare.pid(), Signal::INT);
    let ran = tare.end().expect(130);
    assert!(ran.stdout.contains("\nInterrupted: "), "{ran}");
    let refused = workspace.tare(&["run", "--resume", "all"]).expect(1);
    let fix = "tare run experiments/all.toml --services honest --out all";
    assert!(
        refused
            .stderr
            .ends_with(&format!("a series is resumed by the command that started it, with --out: {fix}\n")),
        "{refused}"
    );
    let shown = workspace.tare(&["show", "all"]).expect(5);
    assert!(shown.stderr.contains("other: not begun\n"), "{shown}");
    let before = journal(&first);
    let went_on = workspace.tare(&[&words[..], &["--json"]].concat()).expect(0).json();
    let names: Vec<Value> =
        rows(&went_on, "experiments").into_iter().map(|row| row["experiment"].clone()).collect();
    assert_eq!(names, ["small", "other"], "in the order of the series");
    let kept = before.iter().filter(|record| record["kind"] == "sample").count();
    assert_eq!(journal(&first)[..kept], before[..kept]);
    assert_eq!(cells(&journal(&first)).len(), 8);
    let shown = workspace.tare(&["show", "all", "--json"]).expect(0).json();
    assert_eq!(shown, went_on);
    a_series_is_recomputed_member_by_member(&workspace);
    let gate = workspace.tare(&["report", "all", "--format", "junit"]).expect(0);
    for name in ["small: honest", "other: honest"] {
        assert!(gate.stdout.contains(&format!("<testcase name=\"{name}\"")), "{gate}");
    }
    let head = unsealed(&workspace.root().join("all/series.json"));
    workspace.write("all/series.json", &head.replace("\"other\"", "\"../../other\""));
    let left_out = workspace.tare(&["report", "all"]).expect(0);
    assert!(
        left_out.stderr.contains("names \"../../other\", which is no folder in it: left out"),
        "{left_out}"
    );
    workspace.write("all/series.json", &head.replace("2.4", "3.0"));
    let refused = workspace.tare(&["report", "all"]).expect(1);
    let told = "has format \"3.0\", newer than \"2.4\", which this tare reads); each has a report of its own";
    assert!(refused.stderr.contains(told), "{refused}");
    workspace.write("all/series.json", &head);
    let none = workspace.tare(&["run", "experiments/all.toml", "--services", "absent"]).expect(1);
    assert_eq!(none.stderr, "error: --services: none of its experiments has a row \"absent\"\n");
    let other = EXPERIMENT
        .replace("ROUNDS", "1")
        .replace("LINK", "\"local\"")
        .replace("\"stalling\"", "\"honest@2\"");
    workspace.write("experiments/other.toml", &other);
    let both = workspace
        .tare(&["run", "experiments/all.toml", "--services", "stalling,honest@2", "--dry-run"])
        .expect(0);
    let services: Vec<&str> = both.stdout.lines().filter(|line| line.starts_with("services")).collect();
    assert_eq!(services, ["services    1 (stalling)", "services    1 (honest@2)"]);
}

fn a_series_is_recomputed_member_by_member(workspace: &Workspace) {
    let words = ["show", "all", "--recompute"];
    let same = workspace.tare(&words).expect(0);
    for name in ["small", "other"] {
        assert!(same.stderr.contains(&format!("recomputed: the same as all/{name}/report.json")), "{same}");
    }
    let kept = workspace.root().join("all/other/report.json");
    let text = fs::read_to_string(&kept).unwrap();
    fs::write(
        &kept,
        text.replacen("\"stuck\", \"holds\"", "\"other\", \"holds\"", 1).replacen(
            "[\"honest\"",
            "[\"dishonest\"",
            1,
        ),
    )
    .unwrap();
    let other = workspace.tare(&words).expect(4);
    assert!(other.stderr.contains("recomputed: the same as all/small/report.json"), "{other}");
    assert!(other.stderr.contains("recomputed: not the same as all/other/report.json: section"), "{other}");
    fs::remove_file(&kept).unwrap();
    let gone = workspace.tare(&words).expect(1);
    assert!(gone.stderr.contains("all/other: cannot read report.json"), "{gone}");
    let reference = workspace.tare(&["show", "all", "--reference", "honest"]).expect(1);
    assert_eq!(reference.stderr, "error: each experiment of a series has no reference to choose\n");
}

#[test]
fn wrong_answers_are_failures_and_no_silence() {
    let workspace = workspace(1, "\"local\"");
    workspace.service("stalling", &crate::support::manifest("stalling", "wrong-body"));
    let ran = workspace.tare(&["run", "experiments/small.toml", "--out", "out"]).expect(0);
    assert!(ran.stdout.contains("wrong answers: 80 of 80 requests"), "{ran}");
    assert!(ran.line("stuck ").starts_with("stuck  does not hold (weak: one round)  "), "{ran}");
}

#[test]
fn what_means_nothing_to_it_is_refused_with_the_fix() {
    let workspace = workspace(1, "\"local\"");
    let error = |words: &[&str]| {
        let words = [&["run", "experiments/small.toml", "--dry-run"], words].concat();
        workspace.tare(&words).expect(1).stderr.clone()
    };
    insta::assert_snapshot!(
        [
            error(&["--scale", "2"]),
            error(&["--budget", "3m"]),
            error(&["--delta", "1%"]),
            error(&["--services", "honst"]),
            error(&["--sweep"]),
        ]
        .concat()
    );
    let usage = workspace.tare(&["run", "experiments/small.toml", "--link", "delay=fast"]).expect(1);
    assert!(usage.stderr.contains("delay"), "{usage}");
}
