//! `tare slo`: its output, files and exit status. The tests of tare-analysis check its accuracy.

use std::fs;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{USUAL, Workspace, journal, row, send, within};

/// Two starts of few short windows. The generator's lateness is ignored: these tests share CPUs.
const SHORT: [&str; 12] = [
    "--starts",
    "2",
    "--windows",
    "4",
    "--window",
    "100ms",
    "--warm-up",
    "30ms",
    "--warm-up-max",
    "0s",
    "--out",
    "out",
];
/// The limit is longer than a window, so that no rate is too high.
const EASY: [&str; 4] = ["--slo", "p50=900ms", "--max-lag", "60s"];

fn words<'a>(services: &[&'a str], slo: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [&["slo"], services, slo, &SHORT, more].concat()
}

#[test]
fn what_is_recomputed_is_compared_with_what_was_kept() {
    let workspace = Workspace::new(&[("honest", "correct")]);
    workspace.tare(&words(&["honest"], &EASY, &[])).expect(0);
    let path = workspace.root().join("out/report.json");
    let text = fs::read_to_string(&path).unwrap();
    let mut kept: Value = serde_json::from_str(&text).unwrap();
    let table = &mut kept["sections"][0]["table"];
    let place =
        table["columns"].as_array().unwrap().iter().position(|column| column["key"] == "starts").unwrap();
    table["rows"][0][place] = 3.into();
    fs::write(&path, kept.to_string()).unwrap();
    let told = "recomputed: not the same as out/report.json: section \"capacity\": row 1, \"starts\" was 3 and is 2\n";
    assert_eq!(workspace.tare(&["show", "out", "--recompute"]).expect(4).stderr, told);
    fs::remove_file(&path).unwrap();
    workspace.tare(&["show", "out", "--recompute"]).expect(1);
}

#[test]
fn a_service_that_crashes_is_named_and_the_other_has_its_capacity() {
    let workspace = Workspace::new(&[("honest", "correct"), ("fragile", "crashes-under-load")]);
    let crashed = workspace.tare(&words(&["honest", "fragile"], &EASY, &[])).expect(2);
    assert!(crashed.stdout.contains("fragile  failed: start 1: "), "{crashed}");
    assert!(crashed.line("honest ").contains("%"));
}

#[test]
fn a_search_that_was_cut_off_goes_on() {
    let workspace = Workspace::new(&[("honest", "correct")]);
    let run = workspace.root().join("out");
    let many = words(&["honest"], &EASY, &[]);
    let many: Vec<&str> = many.iter().map(|word| if *word == "2" { "3" } else { word }).collect();
    let mut tare = workspace.start(&many);
    let second = |record: &Value| record["block"] == 1 && record["load"]["offered_per_second"].is_number();
    assert!(within(USUAL, || journal(&run).iter().any(second) || tare.has_ended()));
    send(tare.pid(), Signal::INT);
    let interrupted = tare.end().expect(130);
    assert!(interrupted.stdout.contains("\nInterrupted: "), "{interrupted}");
    assert!(
        interrupted.stdout.contains("Undecided after 1 search: the run was interrupted.\nSo far: "),
        "{interrupted}"
    );
    assert!(interrupted.line("honest ").contains("%"), "its first start counts");
    let resumed = workspace.tare(&["slo", "--resume", "out"]).expect(0);
    let report = workspace.tare(&["show", "out", "--json"]).expect_measured().json();
    assert_eq!(row(&report, "honest")["starts"], 2, "of three, the one that was cut off is lost");
    assert_eq!(workspace.tare(&["show", "out", "--recompute"]).expect_measured().stdout, resumed.stdout);
}

#[test]
fn a_budget_that_is_too_short_is_said_to_be() {
    let workspace = Workspace::new(&[("honest", "correct")]);
    let ended = workspace
        .tare(&["slo", "honest", "--slo", "p50=900ms", "--budget", "100ms", "--out", "out"])
        .expect(5);
    assert!(ended.stderr.contains("measuring for at most about "), "{ended}");
    let reason = "no search came to its end: give a longer --budget, or resume it";
    assert!(ended.stdout.contains(reason), "{ended}");
    assert_eq!(journal(&workspace.root().join("out")).last().unwrap()["reason"], "budget-spent");
}

#[test]
fn mistakes_are_told_before_anything_starts() {
    let workspace = Workspace::new(&[("honest", "correct")]);
    let told = |slo: &str, more: &[&str]| {
        let refused = workspace.tare(&[&["slo", "honest", "--slo", slo], more].concat()).expect(1);
        refused.stderr.clone()
    };
    assert!(told("10ms", &[]).starts_with("error: --slo: \"10ms\" is not an SLO: give a percentile"));
    assert!(told("errors=1%", &[]).contains("an SLO takes a percentile with a time"));
    assert!(told("p99=10ms", &["--contract", "helo"]).contains("did you mean \"hello\"?"));
    assert_eq!(told("p99=10ms", &["--starts", "0"]), "error: --starts: 0 is not 1 to 100\n");
    let dry = workspace.tare(&["slo", "honest", "--slo", "p99=20ms", "--dry-run", "--seed", "3"]).expect(0);
    assert!(dry.stdout.contains("14 windows of 2000 ms each on a fresh process"), "{dry}");
    assert!(dry.stdout.contains("seed        3\n"), "{dry}");
    assert!(
        dry.stdout.contains("how many will be is not known, as no search on this machine is stored"),
        "{dry}"
    );
    let few = workspace.tare(&["slo", "honest", "--slo", "p95=20ms", "--dry-run", "--starts", "1"]).expect(0);
    assert!(few.stdout.contains("interval    none comes of about 1 search: it takes 2 searches"), "{few}");
    assert!(!workspace.root().join(".tare/runs").exists());
}
