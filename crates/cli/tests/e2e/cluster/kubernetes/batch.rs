//! A batch whose store is shared by all nodes.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::process::Signal;
use serde_json::Value;

use super::{super::site::is, Bench, count};
use crate::support::{carrying, real_root, send, within};

/// Kills the kubelet of a node, the container runtime of another, the API server, its store, and a job.
pub(super) fn whatever_is_killed_each_job_counts_once_or_is_named(bench: &Bench) {
    let plan = "cluster plan experiments/tiny.toml --on nodes.toml --seeds 3 --seed 5 --output jobs.ndjson";
    bench.expect(plan, 0);
    let submit =
        "cluster submit jobs.ndjson --engine kubernetes --store store --trust --selftest honest,cache";
    let batch = submit_with_the_role_of_the_guide(bench, submit);
    bench.wait(&batch, "all nodes work", |jobs| {
        jobs.iter().all(|job| is(job, "running") && !job["detail"].as_str().unwrap_or_default().is_empty())
    });
    let nodes = bench.nodes(&batch);
    let on = |node: &str| nodes.iter().find(|(_, at)| at == node).expect("a job on each node").0.clone();
    let killed = on("n2");
    on("n1");
    on("n3");

    bench.kubernetes.cluster.signal("kubelet-n1", Signal::KILL).unwrap();
    bench.kubernetes.cluster.signal("containerd-n3", Signal::KILL).unwrap();
    kill_the_api_server(bench, &batch);
    bench.kubernetes.cluster.start_runtime(3).unwrap();
    kill_the_store(bench, &batch);
    kill_a_job("n2");
    bench.wait(&batch, "the killed job is missing, the others have arrived", |jobs| {
        jobs.iter().all(|job| match job["name"].as_str() == Some(&killed) {
            true => is(job, "missing"),
            false => is(job, "arrived"),
        })
    });
    bench.kubernetes.cluster.start_node(1).unwrap();
    bench.kubernetes.cluster.wait(3).unwrap();

    let collected = bench.json(&format!("cluster collect {}", batch.display()), 5);
    assert_eq!((count(&collected, "collected"), count(&collected, "missing")), (2, 1), "{collected:#}");
    assert_eq!(collected["missing"][0]["job"], killed.as_str());
    let reason = collected["missing"][0]["reason"].as_str().unwrap();
    assert!(reason.contains(" on n2"), "{reason}");

    // Only missing jobs are submitted again.
    let again = bench.json(submit, 0);
    assert_eq!((&again["submitted"], &again["done"]), (&Value::from(vec![killed]), &Value::from(2)));
    bench.expect(&format!("cluster status {} --wait 3m", batch.display()), 0);
    let collected = bench.json(&format!("cluster collect {}", batch.display()), 0);
    check(&collected);
    clean_up(bench, &batch);
}

/// Submits as a user with only the permissions from the guide.
fn submit_with_the_role_of_the_guide(bench: &Bench, submit: &str) -> PathBuf {
    let refused = bench.tare(submit);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("does not permit to list jobs") && said.contains("alice"), "{said}");
    let roles = real_root().join("docs/examples/kubernetes-role.yaml");
    bench.kubernetes.cluster.grant(&roles).unwrap();
    PathBuf::from(bench.expect(submit, 0).trim_end())
}

/// While it is down, the states of jobs without a bundle are unknown, which is no error.
fn kill_the_api_server(bench: &Bench, batch: &Path) {
    let cluster = &bench.kubernetes.cluster;
    cluster.signal("kube-apiserver", Signal::KILL).unwrap();
    let mut error = String::new();
    let said = within(Duration::from_secs(10), || {
        error = bench.status(batch)["engine_error"].as_str().unwrap_or_default().to_owned();
        !error.is_empty()
    });
    assert!(said && error.starts_with("Kubernetes does not answer"), "{error}");
    cluster.start_api_server().unwrap();
    cluster.wait(0).unwrap();
    bench.wait(batch, "the API answers", |jobs| jobs.iter().all(|job| !is(job, "unknown")));
}

/// Jobs that the API server does not know meanwhile do not become missing.
fn kill_the_store(bench: &Bench, batch: &Path) {
    let cluster = &bench.kubernetes.cluster;
    cluster.signal("etcd", Signal::KILL).unwrap();
    std::thread::sleep(Duration::from_secs(1));
    cluster.start_store().unwrap();
    cluster.wait(0).unwrap();
    bench.wait(batch, "the API has its store again", |jobs| {
        jobs.iter().all(|job| !is(job, "unknown") && !is(job, "missing"))
    });
}

/// Kills the first process of the job's container.
fn kill_a_job(node: &str) {
    let is_job = |pid: &u32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).any(|word| word == b"job")
    };
    let on_node = || carrying(&format!("TARE_JOB_NODE={node}"));
    let jobs: Vec<u32> = on_node().into_iter().filter(is_job).collect();
    assert_eq!(jobs.len(), 1, "{jobs:?}");
    send(jobs[0], Signal::KILL);
    assert!(within(Duration::from_secs(30), || on_node().is_empty()), "what it had started runs on");
}

/// Checks that each job counts once, on a CPU of its own.
fn check(collected: &Value) {
    assert_eq!(count(collected, "collected"), 3, "{collected:#}");
    let mut seeds: Vec<u64> = Vec::new();
    for job in collected["collected"].as_array().unwrap() {
        seeds.push(job["seed"].as_u64().unwrap());
        let run = Path::new(job["run"].as_str().unwrap());
        let head: Value = serde_json::from_slice(&fs::read(run.join("run.json")).unwrap()).unwrap();
        assert_eq!(head["plan"]["seed"], job["seed"]);
        let bundle: Value = serde_json::from_slice(&fs::read(run.join("../bundle.json")).unwrap()).unwrap();
        assert_eq!(bundle["is_certified"], true, "{bundle:#}");
        assert_eq!(bundle["received"]["is_exclusive"], true, "{bundle:#}");
        assert_eq!(bundle["received"]["cpus"].as_array().map(Vec::len), Some(1), "{bundle:#}");
    }
    seeds.sort_unstable();
    assert_eq!(seeds, [5, 6, 7]);
}

fn clean_up(bench: &Bench, batch: &Path) {
    let status = bench.json(&format!("cluster cancel {} --clean-up", batch.display()), 0);
    assert!(status["jobs"].as_array().unwrap().iter().all(|job| is(job, "collected")), "{status:#}");
    bench.wait_until_nothing_is_left();
}
