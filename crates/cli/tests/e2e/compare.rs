//! `tare compare`: its output, files and exit status, folders outside of the checkout, revisions. The tests
//! of tare-analysis check the verdicts without timing.

use std::fs;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{
    Ended, USUAL, Workspace, experiment, fact, git, home, journal, manifest, rows, send, within,
};

/// A short comparison has 12 blocks, with looks after 4, 5, 6, 9 and 12.
fn workspace(services: &[(&str, &str)]) -> Workspace {
    let workspace = Workspace::new(services);
    workspace.write("experiments/tiny.toml", &experiment(&[], 12));
    workspace
}

const TINY: [&str; 2] = ["--experiment", "experiments/tiny.toml"];

fn compare(workspace: &Workspace, words: &[&str]) -> Ended {
    workspace.tare(&[&["compare"], words, &TINY].concat())
}

fn figure(found: &Value, metric: &str) -> Value {
    rows(found, "metrics").into_iter().find(|figure| figure["metric"] == metric).unwrap()
}

#[test]
fn one_that_burns_cpu_fails_and_the_run_keeps_the_verdict() {
    let workspace = workspace(&[("honest", "correct"), ("slow", "burns-cpu")]);
    let ended = compare(&workspace, &["honest", "slow", "--seed", "7", "--delta", "50%"]).expect(3);
    // If other programs take CPU time, the interval may exceed 50% only at a later look.
    let is_verdict = |looks: usize| {
        ended.stdout.contains(&format!("\nFAIL after {looks} blocks: worse by 50% or more in "))
    };
    assert!([4, 5, 6, 9, 12].into_iter().any(is_verdict), "{ended}");
    assert!(ended.line("CPU/request").contains("  fail  "), "{ended}");

    let run = workspace.run();
    let shown =
        |words: &[&str]| workspace.tare(&[&["show", run.to_str().unwrap()], words].concat()).expect(3);
    assert_eq!(shown(&[]).stdout, ended.stdout);
    let kept = |name: &str| fs::read_to_string(run.join(name)).unwrap();
    assert_eq!(shown(&["--format", "markdown"]).stdout, kept("report.md"));
    let found = shown(&["--json"]).json();
    assert_eq!(found, serde_json::from_str::<Value>(&kept("report.json")).unwrap());
    let cpu = figure(&found, "CPU/request");
    assert!(cpu["ratio_low"].as_f64().unwrap() > 1.5, "{found}");
    assert!(fact(&found, "Took").ends_with(": the question was answered"), "{found}");
    assert_eq!(fact(&found, "Contract"), "hello");
    // With another reference it is a table of two services, and no comparison.
    let table = workspace.tare(&["show", run.to_str().unwrap(), "--reference", "slow"]).expect_measured();
    assert!(table.stdout.contains("the results were looked at after 4, 5, 6, 9, 12 blocks: "));
}

#[test]
fn one_that_was_cut_off_is_resumed_to_its_verdict() {
    let workspace = workspace(&[("honest", "correct"), ("slow", "burns-cpu")]);
    let mut running = workspace.start(&[&["compare", "honest", "slow", "--out", "cut"][..], &TINY].concat());
    let run = workspace.root().join("cut");
    let blocks = || journal(&run).iter().filter(|record| record["kind"] == "stopped").count() / 2;
    assert!(within(USUAL, || blocks() >= 2 || running.has_ended()));
    send(running.pid(), Signal::INT);
    let cut = running.end().expect(130);
    assert!(cut.stdout.contains("\nINCONCLUSIVE "), "{cut}");
    let resumed = workspace.tare(&["run", "--resume", "cut"]).expect(3);
    assert!(resumed.stdout.contains("\nFAIL "), "{resumed}");
    assert_eq!(workspace.tare(&["show", "cut"]).expect(3).stdout, resumed.stdout);
}

#[test]
fn what_cannot_be_compared_has_a_status_of_its_own() {
    let workspace = workspace(&[("honest", "correct"), ("wrong", "wrong-body")]);
    let unbuilt = manifest("unbuilt", "correct").replace("[run]", "[[build]]\ncommand = [\"false\"]\n[run]");
    workspace.service("unbuilt", &unbuilt);
    let out = |out: &str, candidate: &str, code: i32| {
        compare(&workspace, &["honest", candidate, "--out", out]).expect(code).stdout.clone()
    };
    assert!(out("a", "wrong", 2).contains(": wrong: in verification: "));
    let measured = journal(&workspace.root().join("a"));
    assert_eq!(measured.len(), 1, "nothing is measured where there is nothing to compare: {measured:?}");
    assert!(out("c", "unbuilt", 1).contains(": unbuilt: build step \"false\" failed"));
}

#[test]
fn a_dry_run_shows_when_it_would_end() {
    let workspace = workspace(&[("honest", "correct")]);
    let plan = compare(&workspace, &["honest", "raw-socket", "--dry-run", "--delta", "2.5%"]).expect(0);
    let until = "until       the comparison is decided, within 2.5%; looks after 4, 5, 6, 9, 12 blocks";
    assert_eq!(plan.line("until"), until);
    assert!(!workspace.root().join(".tare/runs").exists());
}

#[test]
fn mistakes_of_words_are_told() {
    let workspace = workspace(&[("honest", "correct")]);
    let line = |words: &[&str]| {
        let ended = workspace.tare(&[&["compare"], words].concat()).expect(1);
        workspace.redact(ended.stderr.lines().next().unwrap())
    };
    assert_eq!(line(&["honest"]), "error: a comparison needs two services, or one and --revisions A..B");
    assert_eq!(line(&["honest", "honset"]), "error: unknown service \"honset\"; did you mean \"honest\"?");
    assert_eq!(
        line(&["honest", "raw-socket", "--contract", "rest"]),
        "error: raw-socket does not declare the contract \"rest\"; valid names are: api, bare, hello"
    );
    assert_eq!(line(&["honest", "./mine"]), "error: ./mine: there is no such folder, and no such program");
    assert!(
        line(&["honest", "raw-socket", "--delta", "3"])
            .contains("a share between 0 and 1, such as 3% or 0.03")
    );
    assert_eq!(
        line(&["honest", "--revisions", "main"]),
        "error: expected two revisions as BASELINE..CANDIDATE, or BASELINE...CANDIDATE for the commit where they part, got \"main\""
    );
}

/// Names stand wherever the commands would, and a column of a long one has its letter.
#[test]
fn both_may_be_given_names() {
    let workspace = workspace(&[("honest", "correct"), ("slow", "burns-cpu")]);
    let named = |out: &str, [one, other]: [&str; 2]| {
        let words = ["honest", "slow", "-n", one, "-n", other, "--seed", "7", "--delta", "50%", "--out", out];
        compare(&workspace, &words).expect(3)
    };
    let ended = named("short", ["before", "after"]);
    let head = ended.stdout.lines().find(|line| line.trim_start().starts_with("metric")).unwrap();
    assert!(head.contains("  before  ") && head.contains("  after  "), "{ended}");
    assert!(ended.stdout.contains("Does after cost more than before?"), "{ended}");
    let json = |out: &str| workspace.tare(&["show", out, "--json"]).expect(3).json();
    let found = json("short");
    assert!(fact(&found, "A, baseline").starts_with("before, "), "{found}");
    assert!(
        fact(&found, "B, candidate").starts_with("after, ") && fact(&found, "B, candidate").contains("slow")
    );
    let labels: Vec<Value> = rows(&found, "ranks").iter().map(|row| row["label"].clone()).collect();
    assert_eq!(labels.len(), 2, "{labels:?}");
    assert!(labels.contains(&"before".into()) && labels.contains(&"after".into()), "{labels:?}");
    assert!(workspace.root().join("short/services/after").is_dir());

    let long = "the one that we had before we changed anything";
    let ended = named("long", [long, "after"]);
    let head = ended.stdout.lines().find(|line| line.trim_start().starts_with("metric")).unwrap();
    assert!(head.contains("  A  ") && head.contains("  B  "), "{ended}");
    assert!(fact(&json("long"), "A, baseline").starts_with(long));
}

#[test]
fn names_that_are_none_are_told_before_anything_is_started() {
    let workspace = workspace(&[("honest", "correct")]);
    let line = |words: &[&str]| {
        let ended = workspace.tare(&[&["compare", "honest", "raw-socket"], words].concat()).expect(1);
        assert!(!workspace.root().join(".tare/runs").exists());
        ended.stderr.lines().next().unwrap().to_owned()
    };
    let two = ", and needs two: `-n BASELINE -n CANDIDATE`";
    assert_eq!(line(&["-n", "before"]), format!("error: --name was given 1 name{two}"));
    assert_eq!(line(&["-n", "a", "-n", "b", "-n", "c"]), format!("error: --name was given 3 names{two}"));
    assert_eq!(
        line(&["-n", "before", "-n", "before"]),
        "error: --name was \"before\" twice: the two rows need different names"
    );
    for empty in ["", "  "] {
        assert_eq!(line(&["-n", "a", "-n", empty]), "error: --name is empty: give a text such as \"before\"");
    }
    for (name, shown) in [("a\tb", "a\\tb"), ("a\u{1b}[31m", "a\\u{1b}[31m"), ("a@b", "a@b"), ("a,b", "a,b")]
    {
        let told = format!(
            "error: --name \"{shown}\": leave out \"@\", \",\" and control characters, as in \"before\""
        );
        assert_eq!(line(&["-n", name, "-n", "b"]), told);
    }
    let long = "a".repeat(61);
    assert_eq!(
        line(&["-n", &long, "-n", "b"]),
        "error: --name has 61 letters, and may have 60: give a short text such as \"before\""
    );
}

/// An external service of the user: its language is not its parent's name, and the checkout has a namesake.
#[test]
fn a_folder_outside_is_a_service_everywhere() {
    let workspace = workspace(&[("mine", "correct")]);
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("mine");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("service.toml"), manifest("mine", "burns-cpu")).unwrap();
    let folder = folder.to_str().unwrap();
    for command in ["build", "verify"] {
        workspace.tare(&[command, folder]).expect(0);
    }
    let stamps = fs::read_dir(workspace.root().join(".tare/builds")).unwrap().flatten();
    let stamps = stamps.filter(|entry| entry.file_name().to_str().unwrap().starts_with("mine+"));
    assert!(stamps.count() > 0, "its records have a name of their own");

    let words = ["run", "experiments/tiny.toml", "--until", "ranks:cpu", "--services"];
    let rows = format!("mine,{folder}");
    let ran = workspace
        .tare(&[&words[..], &[&rows, "--reference", "mine", "--json", "--out", "ran"]].concat())
        .expect_measured();
    let report = ran.json();
    assert_eq!(crate::support::state(&report, folder), "measured");
    assert_eq!(fact(&report, "Blocks"), "4");
    assert!(fact(&report, "Took").ends_with(": the question was answered"), "{report}");
    let tells = |note: &Value| note.as_str().unwrap().contains("after 4, 5, 6, 9, 12 ");
    assert!(report["notes"].as_array().unwrap().iter().any(tells), "{}", report["notes"]);

    compare(&workspace, &["mine", folder, "--metric", "cpu"]).expect(3);
}

#[test]
fn revisions_of_a_folder_are_built_apart_and_compared() {
    let workspace = workspace(&[("mine", "correct")]);
    let root = workspace.root();
    // The build leaves a file behind, which would expose two builds in one place.
    let text = |mode: &str| {
        manifest("mine", mode).replace("[run]", "[[build]]\ncommand = [\"mkdir\", \"built\"]\n[run]")
    };
    workspace.write(".gitignore", "/.tare/\n/runs/\nbuilt/\n");
    git(root, &["init", "--quiet", "--initial-branch=main"]);
    for (mode, branch) in [("correct", "main"), ("burns-cpu", "topic")] {
        workspace.service("mine", &text(mode));
        git(root, &["checkout", "--quiet", "-B", branch]);
        git(root, &["add", "."]);
        git(root, &["commit", "--quiet", "-m", mode]);
    }
    workspace.service("mine", "what the user is about to write");

    let words = ["services/fake/mine", "--revisions", "main..topic", "--metric", "cpu"];
    let ended = compare(&workspace, &words).code();
    assert_eq!(ended, Some(1), "the folder must hold a manifest that can be read");
    workspace.service("mine", &text("wrong-body"));
    let first = compare(&workspace, &[&words[..], &["--json", "--out", "first"]].concat()).expect(3).json();
    let contender = |label: &str| fact(&first, label);
    assert!(contender("A, baseline").starts_with("mine@main, "), "{first}");
    let candidate = contender("B, candidate");
    assert!(candidate.starts_with("mine@topic, ") && candidate.contains("commit "), "{candidate}");
    assert!(!root.join("services/fake/mine/built").exists(), "the work tree is not built in");
    assert_eq!(fs::read_dir(home(root).join("revisions")).unwrap().count(), 2);

    // It is built already: a second `mkdir` would fail. A revision compared with itself is no regression.
    let same = ["services/fake/mine", "--revisions", "main..main", "--delta", "50%"];
    let ended = compare(&workspace, &[&same[..], &["--out", "second"]].concat());
    assert!(matches!(ended.code(), Some(0 | 5)), "{ended}");
}
