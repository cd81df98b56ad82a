//! `tare crosscheck`: that a tool and our engine are asked alike and told beside each other. What they say is not tried
//! here: these tests share their CPUs.

use std::path::Path;

use rustix::process::Signal;
use tare_host::fixture::has_program;

use crate::support::{USUAL, Workspace, alone, send, within};

#[test]
fn the_reference_by_wrk_and_by_us() {
    if !has_program("crosscheck", "wrk") {
        return;
    }
    let _alone = alone();
    let workspace = Workspace::new(&[]);
    let words =
        ["crosscheck", "raw-socket", "--tools", "wrk", "--rounds", "2", "--duration", "1s", "--out", "out"];
    let words = [&words[..], &["--connections", "4", "--warm-up", "100ms", "--seed", "1", "--json"]].concat();
    let ran = workspace.tare(&words);
    // Whether two rounds on a busy machine agree is a matter of chance; that they were made is not.
    assert!(matches!(ran.code(), Some(0 | 4 | 5)), "{:?}", ran.code());
    let report = ran.json();
    assert_eq!((&report["format"], &report["trouble"]), (&"1.0".into(), &serde_json::Value::Null));
    let wrk = &report["opinions"][0];
    assert_eq!((&wrk["tool"], &wrk["load"]["connections"]), (&"wrk".into(), &4.into()));
    assert_eq!(wrk["pairs"].as_array().map(Vec::len), Some(2), "{}", wrk["fault"]);
    assert_eq!(wrk["findings"][0]["metric"], "throughput");
    for side in ["theirs", "ours"] {
        assert!(wrk["pairs"][0][side]["answered"].as_u64() > Some(0), "{side}");
        assert!(wrk["pairs"][0][side]["client_cpu_ns"].as_u64() > Some(0), "{side}");
    }
    // The request of both, which is wrk's own, and its output.
    assert!(wrk["request_bytes"].as_u64() > Some(30));
    let kept = |name: &str| workspace.root().join("out").join(name);
    for name in ["crosscheck.json", "crosscheck.md", "wrk-introduced.stdout", "wrk-round-001.stdout"] {
        assert!(kept(name).is_file(), "{name}");
    }
    workspace.tare(&words).expect(1);
}

#[test]
fn what_was_cut_off_leaves_nothing_and_tells_what_is_known() {
    if !has_program("crosscheck", "wrk") {
        return;
    }
    let _alone = alone();
    let workspace = Workspace::new(&[]);
    let mut tare = workspace.start(&[
        "crosscheck",
        "raw-socket",
        "--tools",
        "wrk",
        "--duration",
        "60s",
        "--connections",
        "4",
        "--warm-up",
        "100ms",
        "--out",
        "out",
    ]);
    let first = workspace.root().join("out/wrk-round-000.stdout");
    let begun = |path: &Path| path.is_file();
    // Either side of the first round may come first; ours writes nothing.
    assert!(within(USUAL, || begun(&first)
        || begun(&workspace.root().join("out/wrk-introduced.stdout"))
        || tare.has_ended()));
    send(tare.pid(), Signal::INT);
    let ended = tare.end().expect(130);
    assert!(ended.stdout.contains("\ninterrupted: 0 of 8 rounds"), "{}", ended.stdout);
}

#[test]
fn mistakes() {
    let workspace = Workspace::new(&[("honest", "correct")]);
    let line = |words: &str| {
        let ended = workspace.tare(&words.split(' ').collect::<Vec<_>>()).expect(1);
        workspace.redact(ended.stderr.trim_end())
    };
    insta::assert_snapshot!(line("crosscheck honest --tools htperf"), @r#"error: --tools: unknown tool "htperf"; did you mean "httperf"?"#);
    insta::assert_snapshot!(line("crosscheck honest --tools ab"), @r#"error: --tools: unknown tool "ab"; there is: wrk, h2load, httperf, locust"#);
    insta::assert_snapshot!(line("crosscheck honset"), @r#"error: unknown service "honset"; did you mean "honest"?"#);
    insta::assert_snapshot!(line("crosscheck honest --contract strings"), @r#"error: the load of contract "strings" has several requests: choose one by --request, of "framework", "benchmark", "benchmark-three", "benchmark-none""#);
    insta::assert_snapshot!(line("crosscheck honest --contract rest --request echo"), @r#"error: request "echo" of contract "rest" is no GET of one fixed path without headers and body; by --request there is "status", "label-of-one""#);
    insta::assert_snapshot!(line("crosscheck reference --contract rest --request status"), @r#"error: "raw-socket" does not declare the contract "rest""#);
    insta::assert_snapshot!(line("crosscheck honest --duration 1500ms"), @"error: --duration: give whole seconds, 1s to 10m");
}
