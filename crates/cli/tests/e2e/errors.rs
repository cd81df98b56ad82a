//! User errors: one line each, with the file, the key and the nearest valid name.

use insta::assert_snapshot;
use rustix::process::Signal;

use crate::support::{USUAL, Workspace, experiment, free_port, manifest, send, within};

/// A checkout with one service and one experiment; a replacement can introduce an error into each.
fn workspace(in_manifest: (&str, &str), in_experiment: (&str, &str)) -> Workspace {
    let workspace = Workspace::new(&[]);
    let mistake = |text: String, (right, wrong): (&str, &str)| {
        assert!(text.contains(right), "{right:?} is not in:\n{text}");
        text.replacen(right, wrong, 1)
    };
    workspace.service("honest", &mistake(manifest("honest", "correct"), in_manifest));
    workspace.write("experiments/tiny.toml", &mistake(experiment(&["honest"], 6), in_experiment));
    workspace
}

const FINE: (&str, &str) = ("", "");

/// The one line that a failing command prints.
#[track_caller]
fn line(workspace: &Workspace, words: &[&str]) -> String {
    let ended = workspace.tare(words).expect(1);
    assert_eq!((ended.stdout.as_str(), ended.stderr.lines().count()), ("", 1));
    workspace.redact(ended.stderr.trim_end())
}

#[track_caller]
fn in_manifest(right: &str, wrong: &str) -> String {
    line(&workspace((right, wrong), FINE), &["verify", "honest"])
}

#[track_caller]
fn in_experiment(right: &str, wrong: &str) -> String {
    line(&workspace(FINE, (right, wrong)), &["run", "experiments/tiny.toml"])
}

#[test]
fn mistakes_in_a_manifest() {
    assert_snapshot!(in_manifest("licence", "license"), @r#"error: "honest" cannot be used: ROOT/services/fake/honest/service.toml:6: unknown key "license"; did you mean "licence"?"#);
    assert_snapshot!(in_manifest("\"rest\"", "\"rset\""), @r#"error: "honest" cannot be used: ROOT/services/fake/honest/service.toml:7: unknown contract "rset"; did you mean "rest"?"#);
    assert_snapshot!(in_manifest("\"1.0\"", "\"2.0\""), @r#"error: "honest" cannot be used: ROOT/services/fake/honest/service.toml:1: format "2.0" is not one this tare reads: it reads "1.0""#);
    assert_snapshot!(in_manifest("\"honest\"", "\"honset\""), @r#"error: "honest" cannot be used: ROOT/services/fake/honest/service.toml:2: name "honset" is not the folder's: "honest""#);
    assert_snapshot!(in_manifest("style     = \"framework\"", "style = \"framwork\""), @r#"error: "honest" cannot be used: ROOT/services/fake/honest/service.toml:8: unknown value "framwork"; did you mean "framework"?"#);
    assert_snapshot!(in_manifest("licence   = \"MIT\"\n", ""), @r#"error: "honest" cannot be used: ROOT/services/fake/honest/service.toml:1: missing field "licence""#);
    assert_snapshot!(in_manifest("\"10s\"", "10"), @r#"error: "honest" cannot be used: ROOT/services/fake/honest/service.toml:13: invalid type: integer "10", expected a duration in quotes, such as "30s""#);
    assert_snapshot!(in_manifest("[run]", "[run"), @r#"error: "honest" cannot be used: ROOT/services/fake/honest/service.toml:11: unclosed table, expected "]""#);
}

#[test]
fn a_wrong_manifest_costs_its_own_service_only() {
    let workspace = workspace(("licence", "license"), FINE);
    workspace.service("other", &manifest("other", "correct"));
    let left_out = r#"left out honest: ROOT/services/fake/honest/service.toml:6: unknown key "license"; did you mean "licence"?"#;
    let verified = workspace.tare(&["verify", "--contract", "hello"]).expect(1);
    assert!(verified.stdout.contains("\n2 passed, 0 failed, "));
    assert!(workspace.redact(&verified.stderr).contains(left_out));
    workspace.tare(&["verify", "other", "--contract", "hello"]).expect(0);
    let listed = workspace.tare(&["list"]).expect(1);
    assert!(listed.stdout.contains("\nother ") && !listed.stdout.contains("\nhonest "));
    let ran = workspace.tare(&["run", "experiments/tiny.toml", "--dry-run"]).expect(1);
    assert!(
        workspace.redact(&ran.stderr).contains(r#"tiny.toml:7: "services": "honest" cannot be used: ROOT"#)
    );
}

#[test]
fn mistakes_in_an_experiment() {
    assert_snapshot!(in_experiment("[\"honest\"]", "[\"honset\"]"), @r#"error: experiments/tiny.toml:7: "services": unknown service "honset"; did you mean "honest"?"#);
    assert_snapshot!(in_experiment("[\"honest\"]", "[\"group:fkae\"]"), @r#"error: experiments/tiny.toml:7: "services": unknown group "fkae"; did you mean "fake"?"#);
    assert_snapshot!(in_experiment("[\"honest\"]", "[\"honest\", \"honset@2\"]"), @r#"error: experiments/tiny.toml:7: "services": unknown service "honset"; did you mean "honest"?"#);
    assert_snapshot!(in_experiment("reference    = \"raw-socket\"", "reference = \"raw-scket\""), @r#"error: experiments/tiny.toml:5: "reference": unknown service "raw-scket"; did you mean "raw-socket"?"#);
    assert_snapshot!(in_experiment("\"hello\"", "\"helo\""), @r#"error: experiments/tiny.toml:4: "contract": unknown contract "helo"; did you mean "hello"?"#);
    assert_snapshot!(in_experiment("connections", "conections"), @r#"error: experiments/tiny.toml:9: unknown key "conections"; did you mean "connections"?"#);
    assert_snapshot!(in_experiment("warm-up", "warmup"), @r#"error: experiments/tiny.toml:17: unknown key "warmup"; did you mean "warm-up"?"#);
    assert_snapshot!(in_experiment("\"30ms\"", "\"1ms\""), @r#"error: experiments/tiny.toml:15: "slice" must be 20ms to 60s"#);
    assert_snapshot!(in_experiment("\"1.0\"", "\"1.1\""), @r#"error: experiments/tiny.toml:1: format "1.1" is not one this tare reads: it reads "1.0""#);
}

#[test]
fn mistakes_on_the_command_line() {
    let workspace = workspace(FINE, FINE);
    let line = |words: &str| line(&workspace, &words.split(' ').collect::<Vec<_>>());
    assert_snapshot!(line("run experiments/tiny.toml --services honest,honset"), @r#"error: --services: unknown service "honset"; did you mean "honest"?"#);
    assert_snapshot!(line("run experiments/tiny.toml --services honest,honest"), @r#"error: --services: "honest" stands twice; to measure one service twice write "honest@2""#);
    assert_snapshot!(line("run experiments/tiny.toml --reference honset"), @r#"error: --reference: unknown service "honset"; did you mean "honest"?"#);
    assert_snapshot!(line("run experiments/tinny.toml"), @"error: experiments/tinny.toml: there is no such file. The experiments of Tare have names: quick, all, and those that `tare catalogue` prints");
    assert_snapshot!(line("verify honset"), @r#"error: unknown service "honset"; did you mean "honest"?"#);
    assert_snapshot!(line("verify honest --contract helo"), @r#"error: unknown contract "helo"; did you mean "hello"?"#);
    assert_snapshot!(line("build group:fkae"), @r#"error: unknown group "fkae"; did you mean "fake"?"#);
    assert_snapshot!(line("raw-socket --port 9 --contract rest"), @r#"error: the raw socket cannot serve contract "rest": 3 requests are asked for"#);
    assert_snapshot!(line("list --root experiments"), @r#"error: experiments: has no tare.toml"#);
}

#[test]
fn a_limit_on_memory_that_leaves_no_room_is_told_with_the_fix() {
    let script = "ulimit -v 200000; exec \"$@\"";
    let mut shell = std::process::Command::new("sh");
    let refused = shell.args(["-c", script, "sh", env!("CARGO_BIN_EXE_tare"), "list"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert_snapshot!(String::from_utf8_lossy(&refused.stderr), @"error: this process may have 195 MiB of memory (`ulimit -v`), and tare needs 256 MiB: raise the limit, such as by `ulimit -v unlimited`");
}

#[test]
fn folders_that_are_no_runs() {
    let workspace = workspace(FINE, FINE);
    workspace.write("newer/run.json", "{\"format\": \"3.0\", \"plan\": {}}");
    workspace.write("older/run.json", "{\"format\": \"2.0\"}");
    workspace.write("strange/run.json", "not JSON");
    let line = |words: &[&str]| line(&workspace, words);
    assert_snapshot!(line(&["show"]), @"error: ROOT/.tare/runs: no runs yet: No such file or directory (os error 2)");
    assert_snapshot!(line(&["show", "experiments"]), @r#"error: experiments: not a run folder (it has no readable "run.json"): No such file or directory (os error 2)"#);
    // Readable parts of a run are printed, and the others reported: its verdict is unknown.
    let shown = |run: &str| workspace.tare(&["show", run]).expect(5).stdout.clone();
    let newer = shown("newer");
    assert!(
        newer.contains(r#"run.json has format "3.0", newer than "2.4", which this tare reads"#),
        "{newer}"
    );
    assert!(shown("older").contains("missing field `tare`"));
    assert_snapshot!(line(&["show", "strange"]), @r#"error: strange: not a run folder (it has no readable "run.json"): expected ident at line 1 column 2"#);
}

#[test]
fn a_port_in_use_is_told_with_its_owner() {
    let workspace = workspace(FINE, FINE);
    let port = free_port().to_string();
    let mut owner = workspace.start(&["raw-socket", "--port", &port]);
    let listens = || std::net::TcpStream::connect(format!("127.0.0.1:{port}")).is_ok();
    assert!(within(USUAL, || listens() || owner.has_ended()));
    let verified = workspace.tare(&["verify", "honest", "--contract", "hello", "--port", &port]);
    let told = verified.line("honest").replace(&port, "PORT").replace(&owner.pid().to_string(), "PID");
    assert_snapshot!(told, @r#"honest                   hello    FAIL service "honest": port PORT is in use by process PID ("tare"): end it, or choose another port"#);
    assert_ne!(verified.code(), Some(0));
    send(owner.pid(), Signal::TERM);
    owner.end().expect(0);
}
