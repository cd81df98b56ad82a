//! Faults that were planted in a service and that nothing reported once: for each the command that promises to notice it, and a
//! part of its words. What `tare verify` and `--endure` promise is in `verify` and `endure`; the table for readers is in
//! `docs/methodology/selftest.md`.

use std::{
    net::TcpStream,
    process::{Child, Command, Stdio},
};

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{
    Ended, PROGRAM, USUAL, Workspace, alone, experiment, free_port, manifest, row, send, within, wrong_of,
};

/// A closed loop of eight connections, since the fake service has a thread for each of them.
const CONNECTIONS: &str = "8";

/// A service, and what the row of `tare run` must say.
const IN_A_RUN: [(&str, &str); 7] = [
    ("closes-at-thaw", "closed at thaw: "),
    ("dies-at-thaw", "exit status 1 when Tare thawed it, "),
    ("wrong-at-first", "wrong answers: "),
    ("wrong-in-1500", "wrong answers: "),
    ("leaks", "its memory only grew: "),
    ("late-in-500", "late answers: up to "),
    (STALLING, "stalls: no answer on any connection for up to "),
];
/// The raw-socket server with a fault of its own.
const STALLING: &str = "stalling";

/// How often a machine that is busy with others may keep a finding from being one.
const ATTEMPTS: usize = 2;

fn workspace() -> Workspace {
    let services = [
        "honest",
        "closes-at-thaw",
        "dies-at-thaw",
        "wrong-at-first",
        "wrong-in-1500",
        "leaks",
        "late-in-500",
    ];
    let workspace =
        Workspace::new(&services.map(|mode| (mode, if mode == "honest" { "correct" } else { mode })));
    let command = [env!("CARGO_BIN_EXE_tare"), "raw-socket", "--misbehave", "stall=200ms/500ms"];
    let own = format!("command       = [\"{}\"]", PROGRAM.to_str().unwrap());
    let stalling = manifest(STALLING, "correct").replace(&own, &format!("command = {command:?}"));
    assert!(stalling.contains("stall="), "{stalling}");
    workspace.service(STALLING, &stalling.replace("\"framework\"", "\"raw-socket\""));
    let rows = [&["raw-socket", STALLING][..], &services].concat();
    let text = experiment(&rows, 3)
        .replace("connections = 1", &format!("connections = {CONNECTIONS}"))
        .replace("30ms", "100ms")
        .replace("50ms", "300ms")
        .replace("slices-per-block = 2", "slices-per-block = 8");
    workspace.write("experiments/tiny.toml", &text);
    workspace
}

/// The reason and the warnings of a row.
fn words(report: &Value, label: &str) -> String {
    let row = row(report, label);
    format!("{} {}", row["reason"], row["warnings"])
}

/// Whether other programs had much of the CPUs: then few slices show when a service was late.
fn is_noisy(report: &Value) -> bool {
    let notes = report["notes"].as_array().into_iter().flatten();
    notes.filter_map(Value::as_str).any(|note| note.starts_with("noisy host: "))
}

#[test]
fn a_run_names_the_faults_that_its_figures_do_not_show() {
    let _alone = alone();
    let workspace = workspace();
    let mut untried = Vec::new();
    for _ in 0..ATTEMPTS {
        let ended = workspace.tare(&["run", "experiments/tiny.toml", "--json"]);
        let report = ended.json();
        for (label, part) in IN_A_RUN {
            assert!(
                !words(&report, "honest").contains(part),
                "{label} is said of a healthy service: {ended}"
            );
        }
        assert_eq!(
            row(&report, "wrong-at-first")["errors"],
            0,
            "wrong while it was warmed up, and not later"
        );
        let missing: Vec<(&str, &str)> =
            IN_A_RUN.into_iter().filter(|(label, part)| !words(&report, label).contains(part)).collect();
        if missing.is_empty() {
            return;
        }
        let told: Vec<String> = missing
            .iter()
            .map(|(label, part)| format!("{label}: {part:?} is not in {}", words(&report, label)))
            .collect();
        let need_quiet = |label: &str| ["late-in-500", STALLING].contains(&label);
        let is_excused = missing.iter().all(|(label, _)| need_quiet(label)) && is_noisy(&report);
        assert!(is_excused, "{}", told.join("\n"));
        untried = told;
    }
    eprintln!("not tried, since other programs took the CPUs:\n{}", untried.join("\n"));
}

#[test]
fn a_comparison_with_one_wrong_answer_in_1500_has_no_other_verdict() {
    let _alone = alone();
    let workspace = workspace();
    let ended =
        workspace.tare(&["compare", "honest", "wrong-in-1500", "--experiment", "experiments/tiny.toml"]);
    assert!(ended.stdout.contains("\nINVALID ") && ended.stdout.contains(": wrong answers: "), "{ended}");
    assert_eq!(ended.code(), Some(4), "{ended}");
}

/// A mode, a contract, and the stage of `--endure` that fails; another one may fail as well.
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

/// A service that is not supervised, as that of `tare load` is.
struct Fake(Child, String);

impl Fake {
    fn start(mode: &str) -> Fake {
        let port = free_port().to_string();
        let mut command = Command::new(PROGRAM.as_path());
        command.env("FAKE", mode).env("PORT", &port).stdin(Stdio::null());
        let fake = Fake(command.spawn().unwrap(), format!("http://127.0.0.1:{port}/"));
        assert!(within(USUAL, || TcpStream::connect(format!("127.0.0.1:{port}")).is_ok()));
        fake
    }

    fn load(&self, words: &str) -> Ended {
        let words: Vec<&str> = ["load", &self.1].into_iter().chain(words.split(' ')).collect();
        Workspace::new(&[]).tare(&words)
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A mode, how it is loaded, and a part of the words.
const IN_A_LOAD: [(&str, &str, &str); 4] = [
    ("late-in-500", "-c 8 -d 4s", "late answers: up to "),
    ("wrong-in-1500", "-c 8 -d 1s", "mismatch"),
    ("races", "-c 8 -d 2s --contract rest --only label", "mismatch"),
    ("compiles-late", "-c 1 -d 24s", " s the rate rose by "),
];

#[test]
fn a_load_names_a_stall() {
    let _alone = alone();
    let workspace = Workspace::new(&[]);
    let port = free_port().to_string();
    let server = workspace.start(&["raw-socket", "--port", &port, "--misbehave", "stall=200ms/2s"]);
    assert!(within(USUAL, || TcpStream::connect(format!("127.0.0.1:{port}")).is_ok()));
    let url = format!("http://127.0.0.1:{port}/");
    let ended = workspace.tare(&["load", &url, "-c", "8", "-d", "7s"]);
    send(server.pid(), Signal::TERM);
    server.end().expect(0);
    assert!(ended.stdout.contains("stalls: no answer on any connection for up to "), "{ended}");
}

#[test]
fn a_load_names_them_too() {
    let _alone = alone();
    for (mode, words, part) in IN_A_LOAD {
        let ended = Fake::start(mode).load(words);
        assert!(ended.stdout.contains(part), "{mode}: {part:?} is not in {ended}");
    }
}
