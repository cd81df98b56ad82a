//! The command end to end. The figures of the generators are not tested: these tests share their CPUs.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tare_host::fixture::has_program;
use tempfile::TempDir;

fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A checkout with the real contracts and no services.
fn empty_checkout() -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for folder in ["contracts", "services"] {
        fs::create_dir(root.path().join(folder)).unwrap();
    }
    for entry in fs::read_dir(checkout().join("contracts")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, root.path().join("contracts").join(path.file_name().unwrap())).unwrap();
    }
    root
}

fn command(root: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tare-crosscheck"));
    for steering in ["TARE_ROOT", "PORT", "THREADS", "DELAY_MS", "PROTOCOL", "TLS_CERT", "TLS_KEY", "OHA"] {
        command.env_remove(steering);
    }
    command.args(words).current_dir(root).stdin(Stdio::null());
    command
}

fn run(root: &Path, words: &str) -> Output {
    command(root, &words.split(' ').collect::<Vec<_>>()).output().unwrap()
}

const SHORT: &str = "raw-socket --tools wrk --connections 4 --warm-up 100ms --out out";

#[test]
fn wrk_and_tare_load_the_raw_socket_in_turns() {
    if !has_program("crosscheck", "wrk") {
        return;
    }
    let root = empty_checkout();
    let words = format!("{SHORT} --rounds 2 --duration 1s --seed 1 --json");
    let ran = run(root.path(), &words);
    let stderr = String::from_utf8_lossy(&ran.stderr);
    // Whether two rounds agree on a busy machine is chance; it only matters that they were measured.
    assert!(matches!(ran.status.code(), Some(0 | 4 | 5)), "{stderr}");
    let report: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!((&report["format"], &report["failure"]), (&"1.1".into(), &Value::Null));
    let wrk = &report["tools"][0];
    assert_eq!((&wrk["tool"], &wrk["load"]["connections"]), (&"wrk".into(), &4.into()));
    assert_eq!(wrk["pairs"].as_array().map(Vec::len), Some(2), "{}", wrk["fault"]);
    assert_eq!(wrk["findings"][0]["metric"], "throughput");
    for side in ["theirs", "ours"] {
        assert!(wrk["pairs"][0][side]["answered"].as_u64() > Some(0), "{side}");
        assert!(wrk["pairs"][0][side]["client_cpu_ns"].as_u64() > Some(0), "{side}");
    }
    // Both send wrk's own request, and its output is stored.
    assert!(wrk["request_bytes"].as_u64() > Some(30));
    for name in ["crosscheck.json", "crosscheck.md", "wrk-introduced.stdout", "wrk-round-001.stdout"] {
        assert!(root.path().join("out").join(name).is_file(), "{name}");
    }
    assert_eq!(run(root.path(), &words).status.code(), Some(1), "the folder exists");
}

#[test]
fn h2load_and_tare_load_the_raw_socket_in_each_protocol() {
    if !has_program("crosscheck", "h2load") {
        return;
    }
    for (ending, protocol, streams) in
        [("+tls", "http/1.1 over TLS", 1), ("+h2", "h2", 3), ("+h2c", "h2c", 3)]
    {
        let root = empty_checkout();
        let of_streams = if streams > 1 { format!(" --streams {streams}") } else { String::new() };
        let words = format!(
            "raw-socket{ending} --tools h2load --connections 4 --warm-up 100ms --out out --rounds 1 --duration 1s --seed 1 \
             --json{of_streams}"
        );
        let ran = run(root.path(), &words);
        let stderr = String::from_utf8_lossy(&ran.stderr);
        assert!(matches!(ran.status.code(), Some(0 | 4 | 5)), "{stderr}");
        let report: Value = serde_json::from_slice(&ran.stdout).unwrap();
        let h2load = &report["tools"][0];
        assert_eq!((&report["failure"], &h2load["fault"]), (&Value::Null, &Value::Null), "{ending}");
        assert_eq!((&report["protocol"], &h2load["load"]["streams"]), (&protocol.into(), &streams.into()));
        for side in ["theirs", "ours"] {
            assert!(h2load["pairs"][0][side]["answered"].as_u64() > Some(0), "{ending} {side}");
        }
        // Both send h2load's own fields.
        let names = h2load["request_headers"].to_string().to_ascii_lowercase();
        assert_eq!(names, r#"["host","user-agent"]"#, "{ending}");
        assert_eq!(h2load["request_bytes"].is_null(), streams > 1, "{ending}");
        assert!(!root.path().join("out/key.pem").exists(), "the key is gone with the run");
    }
}

#[test]
fn an_interrupted_run_prints_what_is_known() {
    if !has_program("crosscheck", "wrk") {
        return;
    }
    let root = empty_checkout();
    let words = format!("{SHORT} --duration 60s");
    let mut command = command(root.path(), &words.split(' ').collect::<Vec<_>>());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let begun = || root.path().join("out/wrk-introduced.stdout").is_file();
    let deadline = Instant::now() + Duration::from_secs(120);
    while !begun() && child.try_wait().unwrap().is_none() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let ended = child.wait_with_output().unwrap();
    let stdout = String::from_utf8_lossy(&ended.stdout);
    assert_eq!(ended.status.code(), Some(130), "{stdout}");
    assert!(stdout.contains("\ninterrupted: 0 of 8 rounds"), "{stdout}");
}

/// A folder with programs of these names: each requests a path, like the tool, and prints a text.
fn made_up_tools(tools: &[(&str, &str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, path, prints) in tools {
        fs::write(folder.path().join(format!("{name}.txt")), prints).unwrap();
        let ask = match *path {
            "" => String::new(),
            path => format!(
                "port=$(printf '%s' \"$*\" | grep -oE '(:|--port )[0-9]+' | grep -oE '[0-9]+' | head -1)\n\
                 exec 3<>\"/dev/tcp/127.0.0.1/$port\"\n\
                 printf 'GET {path} HTTP/1.1\\r\\nHost: 127.0.0.1:%s\\r\\n\\r\\n' \"$port\" >&3\nread -r -t 5 _ <&3\n"
            ),
        };
        let program = folder.path().join(name);
        let version = "case \"$*\" in *version*|*-V*) echo \"tool 1.2.3\"; exit;; esac";
        fs::write(&program, format!("#!/bin/bash\n{version}\n{ask}cat \"$0.txt\"\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    folder
}

/// The service and our engine are real; of the tools only their requests and output are.
#[test]
fn a_tool_that_fails_in_its_own_way_says_how_and_the_others_go_on() {
    let root = empty_checkout();
    let recorded = include_str!("../src/reading/recorded/wrk.txt");
    let tools = made_up_tools(&[
        ("wrk", "/", recorded),
        ("h2load", "/elsewhere", recorded),
        ("oha", "/", "no figures either"),
        ("httperf", "/", "no figures at all"),
        ("locust", "", ""),
    ]);
    let words =
        "raw-socket --connections 4 --warm-up 100ms --out out --rounds 1 --duration 1s --seed 1 --json";
    let path = format!("{}:{}", tools.path().display(), std::env::var("PATH").unwrap());
    let mut command = command(root.path(), &words.split(' ').collect::<Vec<_>>());
    let ran = command.env("PATH", path).output().unwrap();
    let stderr = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(4), "{stderr}");
    let report: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let tool = |index: usize| &report["tools"][index];
    assert_eq!((&tool(0)["fault"], &tool(0)["version"]), (&Value::Null, &"1.2.3".into()));
    let pair = &tool(0)["pairs"][0];
    assert_eq!(pair["theirs"]["answered"], 118_911);
    assert!(pair["ours"]["answered"].as_u64() > Some(0));
    // Our engine sends the same bytes as the tool.
    let request = "GET / HTTP/1.1\r\nHost: 127.0.0.1:12345\r\n\r\n".len() as u64;
    assert_eq!(tool(0)["request_bytes"].as_u64(), Some(request));
    for (index, fault) in [
        (1, "it asks for \"GET /elsewhere\", and not for \"GET /\""),
        (2, "oha printed no JSON of its load; it said: \"no figures either\""),
        (3, "httperf printed no \"Total:\"; it said: \"no figures at all\""),
        (4, "it sent no request"),
    ] {
        let found = tool(index)["fault"].as_str().unwrap_or_default();
        assert!(found.contains(fault), "{index}: {found:?}");
        assert_eq!(tool(index)["pairs"].as_array().map(Vec::len), Some(0), "{index}");
    }
    assert_eq!(fs::read_to_string(root.path().join("out/wrk-round-000.stdout")).unwrap(), recorded);
}

#[test]
fn a_plan_names_the_tools_that_are_here_and_those_that_are_not() {
    let root = empty_checkout();
    let tools = made_up_tools(&[("wrk", "/", "")]);
    let words = ["raw-socket", "--tools", "wrk,locust", "--dry-run", "--seed", "5", "--duration", "3s"];
    let mut command = command(root.path(), &words);
    let ran = command.env("PATH", format!("{}:/bin", tools.path().display())).output().unwrap();
    let stderr = String::from_utf8_lossy(&ran.stderr);
    assert_eq!((ran.status.code(), ran.stdout.is_empty()), (Some(0), true), "{stderr}");
    for part in
        ["8 rounds of 3 s", "seed 5", "  wrk 1.2.3: 64 connections, 1 thread(s), 3 s", "missing locust"]
    {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
    assert!(!root.path().join("runs").exists(), "nothing is stored");
}

#[test]
fn without_any_tool_nothing_is_started() {
    let root = empty_checkout();
    let nowhere = tempfile::tempdir().unwrap();
    let mut command = command(root.path(), &["raw-socket", "--tools", "locust"]);
    let ran = command.env("PATH", nowhere.path()).output().unwrap();
    let stderr = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(1), "{stderr}");
    assert!(stderr.trim_end().ends_with("error: none of these tools is installed"), "{stderr}");
}

#[test]
fn mistakes() {
    let root = checkout();
    let line = |words: &str| {
        let ended = run(&root, words);
        assert_eq!(ended.status.code(), Some(1), "{words}");
        String::from_utf8_lossy(&ended.stderr).trim_end().to_owned()
    };
    insta::assert_snapshot!(line("hyper --tools htperf"), @r#"error: --tools: unknown tool "htperf"; did you mean "httperf"?"#);
    insta::assert_snapshot!(line("hyper --tools ab"), @r#"error: --tools: unknown tool "ab"; valid names are: wrk, h2load, oha, httperf, locust"#);
    insta::assert_snapshot!(line("hypr"), @r#"error: unknown service "hypr"; did you mean "hyper"?"#);
    insta::assert_snapshot!(line("hyper --contract strings"), @r#"error: the load of contract "strings" has several requests: choose one by --request, of "framework", "benchmark", "benchmark-three", "benchmark-none""#);
    insta::assert_snapshot!(line("hyper --contract rest --request echo"), @r#"error: request "echo" of contract "rest" is no GET of one fixed path without headers and body; by --request there is "status", "label-of-one""#);
    insta::assert_snapshot!(line("raw-socket --contract rest --request status"), @r#"error: "raw-socket" does not declare the contract "rest""#);
    insta::assert_snapshot!(line("raw-socket+h2c --tools wrk"), @"error: --tools: wrk is not asked in h2c");
    insta::assert_snapshot!(line("raw-socket --streams 2"), @"error: --streams is of HTTP/2: name the service as raw-socket+h2c or raw-socket+h2");
    insta::assert_snapshot!(line("flask+h2c"), @"error: flask+h2c: gunicorn serves it as by default, without the HTTP/2 that needs a further package");
    insta::assert_snapshot!(line("hyper --duration 1500ms"), @"error: --duration: give whole seconds, 1s to 10m");
}
