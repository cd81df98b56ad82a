//! Faults planted in a service that no command once reported. Each has the command that must notice it, and a
//! part of its message. The tests `verify` and `endure` cover `tare verify` and `--endure`; the table for
//! readers is in `docs/methodology/selftest.md`.

use std::net::TcpStream;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{
    Fake, PROGRAM, USUAL, Workspace, experiment, free_port, journal, manifest, row, send, within, wrong_of,
};

/// A closed loop of eight connections, because the fake service has a thread per connection.
const CONNECTIONS: &str = "8";

/// A service, and the expected message of its row in `tare run`.
const IN_A_RUN: [(&str, &str); 8] = [
    ("closes-at-thaw", "closed at thaw: "),
    ("dies-at-thaw", "exit status 1 when Tare thawed it, "),
    ("wrong-at-first", "wrong answers: "),
    ("wrong-in-1500", "wrong answers: "),
    ("leaks", "its memory only grew: "),
    ("drops-at-first", "fails at first: "),
    ("late-in-500", "late answers: up to "),
    (STALLING, "stalls: no answer on any connection for up to "),
];
/// The name of a raw-socket server with a fault.
const STALLING: &str = "stalling";
const STALL: &str = "stall=200ms/2s";

/// The number of attempts. On a busy machine a finding may fail, or a stall may occur in only one slice: 4.5
/// of the 36 slices are expected to have one, so that happens in one run of sixteen.
const ATTEMPTS: usize = 3;

/// Adds a service that is the raw-socket server with a fault.
fn misbehaving(workspace: &Workspace, label: &str, fault: &str) {
    raw_socket(workspace, label, &["--misbehave", fault]);
}

/// Adds a service that is the raw-socket server with these options.
fn raw_socket(workspace: &Workspace, label: &str, options: &[&str]) {
    let command = [&[env!("CARGO_BIN_EXE_tare"), "raw-socket"], options].concat();
    let own = format!("command       = [\"{}\"]", PROGRAM.to_str().unwrap());
    let found = manifest(label, "correct").replace(&own, &format!("command = {command:?}"));
    assert!(found.contains("\"raw-socket\""), "{found}");
    workspace.service(label, &found.replace("\"framework\"", "\"raw-socket\""));
}

fn workspace() -> Workspace {
    let services = [
        "honest",
        "closes-at-thaw",
        "dies-at-thaw",
        "wrong-at-first",
        "wrong-in-1500",
        "leaks",
        "drops-at-first",
        "late-in-500",
    ];
    let workspace =
        Workspace::new(&services.map(|mode| (mode, if mode == "honest" { "correct" } else { mode })));
    misbehaving(&workspace, STALLING, STALL);
    let rows = [&["raw-socket", STALLING][..], &services].concat();
    let text = experiment(&rows, 3)
        .replace("connections = 1", &format!("connections = {CONNECTIONS}"))
        .replace("30ms", "100ms")
        .replace("50ms", "300ms")
        .replace("slices-per-block = 2", "slices-per-block = 12");
    workspace.write("experiments/tiny.toml", &text);
    workspace
}

/// The reason and the warnings of a row.
fn words(report: &Value, label: &str) -> String {
    let row = row(report, label);
    format!("{} {}", row["reason"], row["warnings"])
}

/// Whether other programs used much CPU time: then few slices show when a service was late.
fn is_noisy(report: &Value) -> bool {
    let cautions = report["cautions"].as_array().into_iter().flatten();
    cautions.filter_map(Value::as_str).any(|note| note.starts_with("noisy host: "))
}

#[test]
fn a_run_names_the_faults_that_its_figures_do_not_show() {
    let workspace = workspace();
    let mut expected = IN_A_RUN.to_vec();
    let mut untried = Vec::new();
    for attempt in 1..=ATTEMPTS {
        // What was named once is not asked again.
        let rows = ["raw-socket", "honest"].into_iter().chain(expected.iter().map(|(label, _)| *label));
        let services = rows.collect::<Vec<_>>().join(",");
        let ended = workspace.tare(&["run", "experiments/tiny.toml", "--json", "--services", &services]);
        let report = ended.json();
        for (label, part) in IN_A_RUN {
            assert!(
                !words(&report, "honest").contains(part),
                "{label} is said of a healthy service: {ended}"
            );
        }
        let has_many = |label: &str| words(&report, label).contains("more threads: ");
        assert!(has_many("honest"), "it has a thread for each connection: {ended}");
        assert!(!has_many("raw-socket"), "it keeps to THREADS: {ended}");
        if expected.iter().any(|(label, _)| *label == "wrong-at-first") {
            let errors = &row(&report, "wrong-at-first")["errors"];
            assert_eq!(*errors, 0, "wrong while it was warmed up, and not later");
        }
        expected.retain(|(label, part)| !words(&report, label).contains(part));
        if expected.is_empty() {
            return;
        }
        let told: Vec<String> = expected
            .iter()
            .map(|(label, part)| format!("{label}: {part:?} is not in {}", words(&report, label)))
            .collect();
        let may_be_missed = |label: &str| match label {
            STALLING => attempt < ATTEMPTS || is_noisy(&report),
            label => label == "late-in-500" && is_noisy(&report),
        };
        let is_excused = expected.iter().all(|(label, _)| may_be_missed(label));
        assert!(is_excused, "{}", told.join("\n"));
        untried = told;
    }
    eprintln!("not tried, since other programs took the CPUs:\n{}", untried.join("\n"));
}

#[test]
fn a_comparison_with_one_wrong_answer_in_1500_has_no_other_verdict() {
    let workspace = workspace();
    let ended =
        workspace.tare(&["compare", "honest", "wrong-in-1500", "--experiment", "experiments/tiny.toml"]);
    assert!(ended.stdout.contains("\nINVALID ") && ended.stdout.contains(": wrong answers: "), "{ended}");
    assert_eq!(ended.code(), Some(4), "{ended}");
}

/// A runtime that compiles its hot code while its process is kept from one block to the next.
#[test]
fn a_run_names_a_level_change_of_a_kept_process() {
    let workspace = Workspace::new(&[("jit", "starts-late-and-steps")]);
    let text = experiment(&["raw-socket", "jit"], 12)
        .replace("30ms", "60ms")
        .replace("50ms", "300ms\"\nwarm-up-max      = \"1s")
        .replace("slices-per-block = 2", "slices-per-block = 12");
    workspace.write("experiments/tiny.toml", &text);
    let ended = workspace.tare(&["run", "experiments/tiny.toml", "--json"]);
    let report = ended.json();
    let starts = journal(&workspace.run());
    let starts = starts.iter().filter(|record| record["kind"] == "started" && record["label"] == "jit");
    assert_eq!(starts.count(), 6, "it is kept for two blocks: {ended}");
    assert!(words(&report, "jit").contains("level change: its CPU per request "), "{ended}");
}

/// On a busy machine the result is either the same or inconclusive. Neither service carries ballast: without it
/// a server costs up to 3% less or more, so that only services without any are compared for so small a difference.
#[test]
fn a_comparison_names_five_percent_more_cpu() {
    let workspace = Workspace::new(&[]);
    raw_socket(&workspace, "plain", &[]);
    misbehaving(&workspace, "dearer", "slower=5%");
    // One look, so that its interval is narrow, and all of its blocks fit into the test's time limit.
    let text = experiment(&[], 10)
        .replace("connections = 1", &format!("connections = {CONNECTIONS}"))
        .replace("30ms", "60ms")
        .replace("50ms", "300ms")
        // The checks after the load take most of a block, however short the slices are.
        .replace("slices-per-block = 2", "slices-per-block = 20");
    workspace.write("experiments/tiny.toml", &text);
    let words = "compare plain dearer --contract hello --metric cpu --experiment experiments/tiny.toml";
    let ended = workspace.tare(&words.split(' ').collect::<Vec<_>>());
    if ended.code() == Some(5) && ended.stdout.contains("noisy host: ") {
        eprintln!("not tried, since other programs took the CPUs: {ended}");
        return;
    }
    assert!(matches!(ended.code(), Some(3 | 6)), "{ended}");
    assert!(
        ended.line("CPU/request").contains("  fail  ") || ended.line("CPU/request").contains("  worse  "),
        "{ended}"
    );
}

/// Both are warnings: the figures remain valid.
#[test]
fn endurance_warns_of_memory_that_only_grows() {
    let workspace = Workspace::new(&[("leaks", "leaks")]);
    let ended = workspace.tare(&["verify", "leaks", "--contract", "hello", "--endure"]).expect(0);
    assert!(ended.stdout.contains("its memory only grew: "), "{ended}");
    assert!(ended.stdout.contains("\n    warn crowd: its memory only grew: "), "{ended}");
}

/// The service stops in the warm-up of its first process, where not even a request with the full timeout is
/// answered. On a busy machine it is slower, and stops in a slice.
#[test]
fn a_comparison_names_a_service_that_stops_under_load() {
    let workspace = Workspace::new(&[("honest", "correct"), ("stops", "stops-under-load")]);
    let text = experiment(&[], 3).replace("connections = 1", &format!("connections = {CONNECTIONS}"));
    workspace.write("experiments/tiny.toml", &text.replace("30ms", "300ms"));
    let words = "compare honest stops --contract hello --experiment experiments/tiny.toml";
    let ended = workspace.tare(&words.split(' ').collect::<Vec<_>>());
    let is_named = ["no right answer while it was warmed up: ", "wrong after the load: hello: "]
        .iter()
        .any(|reason| ended.stdout.contains(&format!("stops: block 1: {reason}")));
    assert!(is_named, "{ended}");
    assert!(ended.stdout.contains(" stands still, as after SIGSTOP"), "{ended}");
    assert_eq!(ended.code(), Some(2), "{ended}");
}

#[test]
fn endurance_finds_a_date_that_stops_later() {
    let workspace = Workspace::new(&[("stops", "date-stops")]);
    let verify =
        |words: &[&str]| workspace.tare(&[&["verify", "stops", "--contract", "hello"], words].concat());
    verify(&[]).expect(0);
    let ended = verify(&["--endure"]).expect(2);
    assert!(ended.line("  FAIL  crowd").contains("answers over 64 connections"), "{ended}");
    assert!(
        ended.stdout.contains("wrong after it: hello: date of ")
            && ended.stdout.contains("the Date stands still: "),
        "{ended}"
    );
    assert!(
        ended.stdout.contains("\n  pass  sigterm "),
        "a Date that stands still breaks nothing else: {ended}"
    );
}

/// A mode, a contract, and the failing stage of `--endure`; other stages may fail too.
const ENDURED: [(&str, &str, &str); 2] =
    [("wrong-in-1500", "hello", "long-connection"), ("races", "rest", "crowd")];

#[test]
fn what_only_many_requests_show_is_found_by_endurance() {
    let workspace = Workspace::new(&ENDURED.map(|(mode, ..)| (mode, mode)));
    let check = |&(mode, contract, stage): &(&str, &str, &str)| {
        let ended = workspace.tare(&["verify", mode, "--contract", contract, "--endure"]);
        let right = ended.code() == Some(2)
            && ended.line(&format!("{mode:<24} {contract:<8} ")).contains("pass")
            && ended.stdout.contains(&format!("\n  FAIL  {stage}\n"))
            && ended.stdout.contains(" mismatch); the first: mismatch at ");
        (!right).then(|| format!("{mode}: {stage} should fail in\n{ended}"))
    };
    let wrong = wrong_of(&ENDURED, ENDURED.len(), check);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// A mode, its load, and a part of the message.
const IN_A_LOAD: [(&str, &str, &str); 6] = [
    ("leaks", "-c 8 -d 8s", "the server's memory only grew: "),
    ("drops-at-first", "-c 8 -d 6s", "all 64 failures came in the first 1.00 s of 6.0"),
    ("late-in-500", "-c 8 -d 4s", "late answers: up to "),
    ("wrong-in-1500", "-c 8 -d 1s", "mismatch"),
    ("races", "-c 8 -d 2s --contract rest --only label", "mismatch"),
    ("compiles-late", "-c 1 -d 24s", " s the rate rose by "),
];

#[test]
fn a_load_names_a_stall() {
    let workspace = Workspace::new(&[]);
    let port = free_port().to_string();
    let server = workspace.start(&["raw-socket", "--port", &port, "--misbehave", STALL]);
    assert!(within(USUAL, || TcpStream::connect(format!("127.0.0.1:{port}")).is_ok()));
    let url = format!("http://127.0.0.1:{port}/");
    let ended = workspace.tare(&["load", &url, "-c", "8", "-d", "7s"]);
    send(server.pid(), Signal::TERM);
    server.end().expect(0);
    assert!(ended.stdout.contains("stalls: no answer on any connection for up to "), "{ended}");
}

#[test]
fn a_load_names_them_too() {
    for (mode, words, part) in IN_A_LOAD {
        let ended = Workspace::new(&[]).load(&Fake::start(mode), words);
        assert!(ended.stdout.contains(part), "{mode}: {part:?} is not in {ended}");
    }
}
