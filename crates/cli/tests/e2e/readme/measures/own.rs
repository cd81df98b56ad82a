//! A user's service: whether a branch made it slower, and which commit did.

use std::{fs, process::Command, time::Duration};

use serde_json::Value;

use crate::bisect::first_bad;
use crate::{
    readme::shop::{
        Shop,
        Version::{Broken, Cheap, Dear},
    },
    support::{experiment, home, journal, real_root, rows},
};

/// Time limit for several comparisons.
const PATIENCE: Duration = Duration::from_secs(240);

/// Tries one budget after the other until there is an answer: on a busy machine short budgets do not suffice.
fn answer_within(budgets: &[&str], ask: impl FnMut(&&str) -> Option<()>) {
    budgets.iter().find_map(ask).unwrap_or_else(|| panic!("no answer within {budgets:?}"));
}

#[test]
fn a_branch_that_is_slower_fails() {
    let Some(shop) = Shop::with_branch("a comparison of revisions", Dear) else { return };
    // Looks after 4, 5, 6, 9 and 12 short blocks. How many fit into the budget depends on other programs.
    shop.write("tiny.toml", &experiment(&[], 12));
    let revisions = ["compare", "node server.js", "--revisions", "main...HEAD", "--get", "/items/1"];
    let short = ["--metric", "cpu", "--experiment", "tiny.toml"];
    let ended = shop.tare(&[&revisions[..], &short].concat()).expect(3);
    let learned = "GET /items/1: every answer must have status 200 and the same 31 bytes";
    assert!(ended.stderr.contains(learned), "{ended}");
    assert!(ended.stdout.contains("FAIL after"), "{ended}");
    assert!(ended.line("CPU/request").contains("  fail  "), "{ended}");
    let runs: Vec<_> = fs::read_dir(shop.path().join(".tare/runs")).unwrap().flatten().collect();
    assert_eq!(runs.len(), 1, "{runs:?}");
    let contract = fs::read_to_string(runs[0].path().join("contracts/learned.toml")).unwrap();
    assert!(contract.contains("\"name\":\"tea\""), "{contract}");
    assert_eq!(shop.read(".tare/.gitignore"), "*\n");
    shop.tare(&["show"]).expect(3);
}

#[test]
fn the_gate_of_a_pull_request_compares_with_where_it_parted() {
    let Some(shop) = Shop::with_branch("a gate", Dear) else { return };
    shop.write(
        "tare.toml",
        "format = \"1.0\"\n[service.shop]\ncommand = \"node server.js\"\n[gate.shop]\nservice = \"shop\"\nbase = \"main\"\n\
         get = [\"/items/1\"]\nmetrics = [\"cpu\"]\nconnections = 1\nagain = true\n",
    );
    answer_within(&["15s", "120s"], |budget| {
        let out = format!("gate-{budget}");
        let output = shop.path().join(format!("{out}.output"));
        let mut gate = Command::new("sh");
        gate.arg(real_root().join("scripts/gate.sh")).current_dir(shop.path());
        gate.env("TARE", env!("CARGO_BIN_EXE_tare"))
            .env("TARE_HOME", home(shop.path()))
            .env("TARE_NO_WHY", "1");
        gate.envs([("GATE_NAME", "shop"), ("GATE_BUDGET", budget), ("GATE_OUT", &out)]);
        let ended = gate.env("GITHUB_OUTPUT", &output).output().unwrap();
        if matches!(ended.status.code(), Some(4 | 5)) {
            return None;
        }
        assert_eq!(ended.status.code(), Some(3), "{ended:?}");
        assert_eq!(fs::read_to_string(&output).unwrap(), "verdict=fail\n");
        let comment = shop.read(&format!("{out}/gate.md"));
        assert!(comment.contains("FAIL") && comment.contains("This machine: could have seen"), "{comment}");
        assert!(shop.read(&format!("{out}/gate.xml")).contains("<testsuite"));
        Some(())
    });
}

#[test]
fn a_repository_has_a_file_a_contract_and_a_first_comparison() {
    let Some(shop) = Shop::new("a repository") else { return };
    let words = ["init", "--name", "shop", "--ci", "github", "--get", "/items/1", "--budget", "8s"];
    let ended = shop.tare(&words);
    assert!(matches!(ended.code(), Some(0 | 4)), "{ended}");
    assert!(ended.stdout.contains("shop@2 against shop"), "{ended}");
    insta::assert_snapshot!(shop.read("tare.toml"));
    let contract = shop.read("tare/shop.toml");
    assert!(contract.contains("\"name\":\"tea\""), "{contract}");
    assert!(shop.read(".github/workflows/tare.yml").contains("with: { gate: shop }"));
    // The other commands use the written files.
    shop.tare(&["verify", "shop"]).expect(0);
    let again = shop.tare(&["init"]).expect(1);
    assert!(again.stderr.contains("tare.toml is there already"), "{again}");
}

#[test]
fn the_commit_that_made_it_dearer_is_found() {
    let Some(shop) = Shop::with_commits("a bisection", &[Cheap, Broken, Dear, Dear]) else { return };
    let bisect = ["bisect", "old", "HEAD", "node server.js", "--get", "/items/1", "--connections", "1"];
    let planned = shop.tare(&[&bisect[..], &["--dry-run"]].concat()).expect(0);
    assert!(planned.stdout.starts_with("3 commits after the good one; about 2 steps"), "{planned}");
    answer_within(&["40s", "120s"], |budget| {
        let words = [&bisect[..], &["--budget", budget, "--json", "--out", budget]].concat();
        // A commit that does not start leaves two candidates: itself, and the one after it.
        let ended = shop.start(&words).end_within(PATIENCE).expect(5);
        let found = ended.json();
        let steps = found["steps"].as_array().unwrap();
        if steps.is_empty() || steps.iter().any(|step| step["result"] == "neither") {
            return None;
        }
        assert_eq!(first_bad(&found), ["1: Broken", "2: Dear"], "{found}");
        let left_out = steps.iter().find(|step| step["result"] == "left out").unwrap();
        assert!(left_out["reason"].as_str().unwrap().contains("ended before it was ready"), "{found}");
        assert_eq!(shop.read(&format!("{budget}/bisect.json")), ended.stdout);
        Some(())
    });
}

#[test]
fn a_history_has_an_interval_for_each_version_and_marks_the_change() {
    let Some(shop) = Shop::with_commits("a history", &[Cheap, Broken, Cheap, Dear]) else { return };
    let history = ["history", "node server.js", "old..HEAD", "--get", "/items/1", "--connections", "1"];
    answer_within(&["12s", "60s"], |budget| {
        let words = [&history[..], &["--budget", budget, "--json"]].concat();
        // One of the versions does not start, which its author has to fix.
        let ended = shop.start(&words).end_within(PATIENCE).expect(2);
        let found = ended.json();
        let versions = rows(&found, "versions");
        // If other programs take CPU time, more blocks are needed.
        if versions[3]["is_change"] == false {
            return None;
        }
        let changes: Vec<bool> =
            versions.iter().map(|version| version["is_change"].as_bool().unwrap()).collect();
        assert_eq!(changes, [false, false, false, true], "{versions:?}");
        assert!(
            versions[1]["reason"].as_str().unwrap().contains("ended before it was ready"),
            "{versions:?}"
        );
        assert!(versions[3]["against_previous"].as_f64().unwrap() > 2.0, "{versions:?}");
        let answer = found["answer"].as_str().unwrap();
        let changed = versions[3]["version"].as_str().unwrap().rsplit_once('@').unwrap().1;
        assert!(answer.starts_with(&format!("CPU/request changed at {changed} by ")), "{found}");
        Some(())
    });
    let one = shop.tare(&["history", "node server.js", "HEAD"]).expect(1);
    assert!(one.stderr.contains("one revision has no history"), "{one}");
}

#[test]
fn two_servers_are_compared_by_the_cpu_time_of_the_processes_behind_their_ports() {
    let Some(shop) = Shop::new("two servers that run") else { return };
    let (mut cheap, mut dear) = (shop.serve(Cheap), shop.serve(Dear));
    // The request uses the path of the URL.
    let urls = [&cheap, &dear].map(|server| server.url("/items/1"));
    shop.write("tiny.toml", &experiment(&[], 12));
    let compare = ["compare", &urls[0], &urls[1], "--metric", "cpu", "--experiment", "tiny.toml"];
    let ended = shop.tare(&[&compare[..], &["--out", "out"]].concat()).expect(3);
    assert!(ended.stderr.contains("GET /items/1: every answer must have status 200"), "{ended}");
    assert!(
        ended.stderr.contains("learned from one process: what a fresh start would change is not known"),
        "{ended}"
    );
    assert!(ended.stdout.contains("FAIL after"), "{ended}");
    assert!(
        ended.stdout.contains("`tare show --long` prints all") && ended.stdout.lines().count() <= 25,
        "{ended}"
    );
    let long = shop.tare(&["show", "out", "--long"]).expect(3);
    let note = long.line_with("note: not started by Tare", "never frozen");
    for (server, url) in [&cheap, &dear].into_iter().zip(&urls) {
        assert!(note.contains(&format!("{url} (process {} (\"node\"", server.pid())), "{note}");
    }
    assert!(cheap.runs() && dear.runs(), "what Tare did not start it does not end");
    let started: Vec<Value> =
        journal(&shop.path().join("out")).into_iter().filter(|line| line["kind"] == "started").collect();
    assert!(!started.is_empty() && started.iter().all(|line| line["start_up_ns"].is_null()), "{started:?}");
    let resumed = shop.tare(&["run", "--resume", "out"]).expect(1);
    assert!(resumed.stderr.contains("a run of a server that ran already is not resumed"), "{resumed}");
}
