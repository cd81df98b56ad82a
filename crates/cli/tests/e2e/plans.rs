//! Messages before a measurement and about an incomplete one: plans, unknown names, and interrupts.

use std::{fs, path::Path};

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{
    Ended, PROGRAM, USUAL, Workspace, checkout, experiment, git, journal, manifest, send, start, within,
};

fn tare(folder: &Path, words: &[&str]) -> Ended {
    start(folder, words).end()
}

/// A service whose build takes a second.
fn built(name: &str) -> String {
    manifest(name, "correct").replace("[version]", "[[build]]\ncommand = [\"sleep\", \"1\"]\n[version]")
}

#[test]
fn a_plan_says_what_must_be_built_and_how_long_that_took() {
    let workspace = Workspace::new(&[("plain", "correct")]);
    workspace.service("made", &built("made"));
    workspace.write("experiments/tiny.toml", &experiment(&["plain", "made"], 6));
    let plan = || workspace.tare(&["run", "experiments/tiny.toml", "--dry-run"]).expect(0).stdout.clone();
    let before = plan();
    let head = "before      1 of 3 services must be built, and no record says how long that takes; then each is verified";
    assert!(before.contains(head), "{before}");
    assert!(before.contains("\nto build    made: there is no record of a build\n"), "{before}");
    workspace.tare(&["build", "made"]).expect(0);
    let built = plan();
    assert!(built.contains("before      every service is built, if its tools are still the same"), "{built}");
    workspace.write("services/fake/made/new-file", "1");
    let changed = plan();
    assert!(changed.contains("1 of 3 services must be built, which took 1 s the last time"), "{changed}");
    assert!(changed.contains("made: it has changed since its last build; that took 1 s"), "{changed}");
    fs::remove_file(workspace.root().join("services/fake/made/new-file")).unwrap();
    assert!(plan().contains("every service is built"), "as it was before");
}

#[test]
fn a_plan_with_few_blocks_says_what_an_interval_takes() {
    let workspace = Workspace::new(&[("plain", "correct")]);
    workspace.write("experiments/one.toml", &experiment(&["plain"], 1));
    workspace.write("experiments/three.toml", &experiment(&["plain"], 3));
    let plan = |name: &str| workspace.tare(&["run", name, "--dry-run"]).expect(0).stdout.clone();
    let one = plan("experiments/one.toml");
    assert!(one.contains("interval    none comes of about 1 block: it takes 2 blocks; --budget "), "{one}");
    assert!(plan("experiments/three.toml").contains("interval    about 3 blocks are few for one; "));
}

#[test]
fn a_plan_of_a_command_that_cannot_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |words: &[&str]| {
        let ended = tare(folder.path(), words).expect(1);
        assert_eq!(ended.stdout, "", "{ended}");
        ended.stderr.clone()
    };
    let error = refused(&["compare", "env -i sleep 1", "no-such-program x", "--get", "/", "--dry-run"]);
    assert!(error.contains("there is no program no-such-program"), "{error}");
    fs::write(folder.path().join("perl"), "").unwrap();
    let error = refused(&["slo", "./perl srv.pl", "--slo", "p99=10ms", "--dry-run"]);
    assert!(error.contains("`./perl srv.pl`: there is no file srv.pl in "), "{error}");
    let error = refused(&["run", "--service", "./bin/server --port {port}", "--dry-run"]);
    assert!(error.contains("there is no program ./bin/server"), "{error}");
    fs::write(folder.path().join("srv.pl"), "").unwrap();
    let plan = tare(folder.path(), &["slo", "./perl srv.pl", "--slo", "p99=10ms", "--dry-run"]).expect(0);
    assert!(!plan.stdout.contains("THREADS="), "a command never heard of it: {plan}");
}

#[test]
fn what_is_not_there_is_named_as_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("bare")).unwrap();
    for (words, expected) in [
        (&["verify", "./nope"][..], "error: ./nope: there is no such folder, and no such program\n"),
        (&["compare", "./nope", "./bare", "--dry-run"], "error: ./nope: there is no such folder"),
        (&["verify", "./bare"], "error: ./bare: has no service.toml, which says how a service is started\n"),
        (&["list", "--root", "nope"], "error: nope: there is no such folder\n"),
        (&["list", "--catalogue", "nope"], "error: nope: there is no such folder\n"),
        (&["show", "nope"], "error: nope: not a run folder: there is no such folder\n"),
        (&["report", "nope"], "error: nope: not a run folder: there is no such folder\n"),
        (&["compare", "hypr", "axum"], "unknown service \"hypr\"; did you mean \"hyper\"?"),
        (&["slo", "zzz", "--slo", "p99=10ms"], "; a service of yours is a command such as 'node server.js'"),
        (&["list", "group:goo"], "unknown group \"goo\"; did you mean \"go\"?"),
        (&["run", "quikc"], "unknown experiment \"quikc\"; did you mean \"quick\"?"),
        (
            &["run", "experiments/quick.toml"],
            "experiments/quick.toml: there is no such file. The experiments of Tare have names: quick",
        ),
    ] {
        let ended = tare(folder.path(), words).expect(1);
        assert!(ended.stderr.contains(expected), "{words:?}: {ended}");
    }
    let typed = tare(folder.path(), &["comapre"]);
    assert!(typed.stderr.contains("a similar subcommand exists: 'compare'"), "{typed}");
    let help = tare(folder.path(), &["slo", "--help"]).expect(0);
    let words = help.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("any between p0 and p100, such as p50, p90, p95, p99 or p99.9"), "{help}");
}

#[test]
fn a_history_that_was_interrupted_shows_no_absence_of_change() {
    let (_folder, root) = checkout("shop");
    git(&root, &["init", "-q"]);
    for number in 0..3 {
        fs::write(root.join("number"), number.to_string()).unwrap();
        git(&root, &["add", "."]);
        git(&root, &["commit", "-q", "-m", "change"]);
    }
    let service = format!("FAKE=correct {}", PROGRAM.display());
    let words =
        ["history", &service, "HEAD~2", "HEAD~1", "HEAD", "--get", "/", "--budget", "60s", "--out", "out"];
    let mut tare = start(&root, &words);
    let run = root.join("out");
    let third = |record: &Value| record["kind"] == "block" && record["block"] == 2;
    let is_there = || run.join("journal.ndjson").exists() && journal(&run).iter().any(third);
    assert!(within(USUAL, || is_there() || tare.has_ended()));
    send(tare.pid(), Signal::INT);
    let ended = tare.end().expect(130);
    assert!(
        ended.stdout.contains("Undecided after 2 blocks: the run was interrupted.\nSo far: Whether "),
        "{ended}"
    );
    assert!(!ended.stdout.contains("No change"), "{ended}");
}

#[test]
fn an_init_that_was_interrupted_names_what_it_wrote() {
    let (_folder, root) = checkout("shop");
    fs::write(root.join("Procfile"), format!("web: FAKE=correct {}\n", PROGRAM.display())).unwrap();
    let mut tare = start(&root, &["init", "--get", "/", "--ci", "github", "--budget", "60s"]);
    let compares =
        |tare: &crate::support::Running| tare.printed("stderr").contains("comparing shop with itself");
    assert!(within(USUAL, || compares(&tare) || tare.has_ended()));
    send(tare.pid(), Signal::INT);
    let ended = tare.end().expect(130);
    let names = "tare/shop.toml, tare.toml, .github/workflows/tare.yml are written, and stay";
    assert!(ended.stderr.contains(names), "{ended}");
    assert!(ended.stderr.contains("undecided") || ended.stdout.contains("undecided"), "{ended}");
    assert!(!ended.stderr.contains("nothing is stored"), "{ended}");
    assert!(ended.stderr.contains("put the repository that holds Tare in place of OWNER/tare"), "{ended}");
    assert!(root.join("tare.toml").exists());
}
