//! Runs on many machines: the commands without an engine, and with a real Slurm and a real Kubernetes whose
//! daemons are killed.

mod kubernetes;
mod lost;
mod pushed;
mod relay;
pub mod site;

use std::fs;

use insta::assert_snapshot;

use crate::support::Workspace;
use site::{EXPERIMENT, MACHINES};

/// A checkout with an experiment of the built-in server only, and classes of machines.
fn workspace() -> Workspace {
    let workspace = Workspace::new(&[]);
    workspace.write("experiments/tiny.toml", EXPERIMENT);
    workspace.write("experiments/long.toml", &site::long());
    workspace.write("machines.toml", MACHINES);
    workspace.write("short.toml", &MACHINES.replace("5m", "1m"));
    workspace
}

#[test]
fn a_plan_is_a_list_of_jobs_and_the_same_again() {
    let workspace = workspace();
    let plan = "cluster plan experiments/tiny.toml --on machines.toml --seeds 2 --seed 5";
    let words: Vec<&str> = plan.split(' ').collect();
    let planned = workspace.tare(&words).expect(0);
    let (head, jobs) = planned.stdout.split_once('\n').unwrap();
    let head: serde_json::Value = serde_json::from_str(head).unwrap();
    assert_eq!((&head["format"], &head["expected_s"]), (&"1.0".into(), &2.into()));
    assert_eq!(head["classes"][1]["slurm"]["constraint"], "large");
    assert_snapshot!(jobs, @r#"
    {"id":"32678b73f801a356","class":"small","seed":5}
    {"id":"26adc06bee5d1439","class":"large","seed":5}
    {"id":"f8cddd9bc11e4282","class":"small","seed":6}
    {"id":"2161c86552caa7c6","class":"large","seed":6}
    "#);
    assert_snapshot!(planned.stderr, @"4 jobs on 2 classes of machines, each about 2 s of measuring");
    let file = workspace.tare(&[&words[..], &["--output", "jobs.ndjson"]].concat()).expect(0);
    assert_eq!(file.stdout, "");
    assert_eq!(fs::read_to_string(workspace.root().join("jobs.ndjson")).unwrap(), planned.stdout);
    let other = workspace.tare(&[&words[..], &["--", "--connections", "2"]].concat()).expect(0);
    assert!(other.stdout.contains("\"options\":[\"--connections\",\"2\"]") && other.stdout != planned.stdout);
}

#[test]
fn a_history_is_a_job_for_each_set_of_revisions() {
    let workspace = workspace();
    let root = workspace.root();
    workspace.service("mine", &crate::support::manifest("mine", "correct"));
    let git = |words: &[&str]| crate::support::git(root, words);
    git(&["init", "--quiet", "--initial-branch=main"]);
    for number in 0..14 {
        workspace.write("services/fake/mine/number", &number.to_string());
        git(&["add", "services"]);
        git(&["commit", "--quiet", "-m", &number.to_string()]);
    }
    let plan = "cluster plan experiments/tiny.toml --on machines.toml --service mine --revisions HEAD~13..HEAD --seed 1";
    let planned = workspace.tare(&plan.split(' ').collect::<Vec<_>>()).expect(0);
    let lines: Vec<serde_json::Value> =
        planned.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        lines[0]["options"],
        serde_json::json!(["--contract", "hello", "--connections", "1", "--threads", "1"])
    );
    let revisions: Vec<usize> =
        lines[1..].iter().map(|job| job["revisions"].as_array().unwrap().len()).collect();
    assert_eq!(revisions, [7, 7, 8, 8], "two sets on two classes");
}

#[test]
fn mistakes_are_found_before_anything_is_submitted() {
    let workspace = workspace();
    let line = |words: &str| {
        let ended = workspace.tare(&words.split(' ').collect::<Vec<_>>()).expect(1);
        assert_eq!((ended.stdout.as_str(), ended.stderr.lines().count()), ("", 1), "{}", ended.stderr);
        workspace.redact(ended.stderr.trim_end())
    };
    assert_snapshot!(line("cluster plan experiments/tiny.toml --on no.toml"), @"error: no.toml: cannot be read: No such file or directory (os error 2)");
    assert_snapshot!(line("cluster plan experiments/tiny.toml --on machines.toml --seeds 0"), @"error: --seeds: 0 is not 1 to 1000");
    assert_snapshot!(line("cluster plan experiments/tiny.toml --on machines.toml -- --seed 3"), @"error: --seed: a job has this from its list, or cannot have it");
    assert_snapshot!(line("cluster plan experiments/tiny.toml --on machines.toml -- --services rwa-socket"), @r#"error: --services: unknown service "rwa-socket"; did you mean "raw-socket"?"#);
    assert_snapshot!(line("cluster plan experiments/long.toml --on short.toml"), @r#"error: class "small": its time limit of 1 min 00 s is over before a job has measured for about 2 min 02 s"#);
    assert_snapshot!(line("cluster plan experiments/tiny.toml --on machines.toml --revisions a..b"), @"error: --revisions: ROOT: is in no git repository");
    assert_snapshot!(line("cluster submit machines.toml --engine slurm --store store"), @"error: machines.toml:1: is no head of a job list: expected ident");
    assert_snapshot!(line("cluster status ."), @r#"error: .: not the folder of a batch (it has no readable "batch.json"): No such file or directory (os error 2)"#);
    assert_snapshot!(line("cluster collect no/such/batch"), @r#"error: no/such/batch: not the folder of a batch (it has no readable "batch.json"): No such file or directory (os error 2)"#);
    let refused =
        workspace.tare(&["cluster", "submit", "jobs.ndjson", "--engine", "nomad", "--store", "s"]).expect(1);
    assert!(refused.stderr.contains("[possible values: kubernetes, slurm]"), "{}", refused.stderr);
}

/// Runs without the programs of the engine in PATH.
#[test]
fn a_missing_program_is_named_with_its_package() {
    let workspace = workspace();
    let plan = "cluster plan experiments/tiny.toml --on machines.toml --seed 5 --output jobs.ndjson";
    workspace.tare(&plan.split(' ').collect::<Vec<_>>()).expect(0);
    let words = ["cluster", "submit", "jobs.ndjson", "--engine", "slurm", "--store", "store"];
    let refused =
        crate::support::start_under(&["env", "PATH=/nonexistent"], workspace.root(), &words).end().expect(1);
    assert_snapshot!(refused.stderr.trim_end(), @"error: squeue is not installed here: Debian's package slurm-client provides it");
}
