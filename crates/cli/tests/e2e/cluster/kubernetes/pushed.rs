//! A batch whose nodes share no folder: pods get the token from a Secret, and push their bundles to a
//! collector in another network.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::Value;
use tare_engines::KubernetesCluster;

use super::{super::site::is, Bench, IMAGE, PATIENCE, count};
use crate::support::within;

const PORT: u16 = 7071;

/// No node has a store.
const MACHINES: &str = r#"format = "1.0"

[[class]]
name       = "node"
cpus       = 1
time-limit = "5m"
kubernetes = { image = "IMAGE", memory = "1Gi" }
"#;

pub(super) fn a_node_that_is_cut_off_pushes_its_bundle_when_it_is_back(bench: &Bench) {
    let cluster = &bench.kubernetes.cluster;
    bench.workspace.write("pushing.toml", &MACHINES.replace("IMAGE", IMAGE));
    bench.expect(
        "cluster plan experiments/tiny.toml --on pushing.toml --seeds 3 --seed 21 --output pushed.ndjson",
        0,
    );
    let address = format!("{}:{PORT}", KubernetesCluster::ADDRESS);
    let submit = format!(
        "cluster submit pushed.ndjson --engine kubernetes --store batches --trust --selftest none --push http://{address}"
    );
    let batch = PathBuf::from(bench.expect(&submit, 0).trim_end());
    bench.wait(&batch, "pods wait for the Secret", |jobs| {
        jobs.iter().all(|job| job["detail"].as_str().is_some_and(|why| why.contains("not found")))
    });
    let collector =
        bench.start_within(&format!("cluster collect {} --listen {address} --json", batch.display()));
    let name = format!("tare-{}", batch.file_name().unwrap().to_str().unwrap());
    cluster.make_secret(&name, "token", &batch.join("token")).unwrap();

    let mut cut = String::new();
    assert!(within(PATIENCE, || measuring_on(&batch, "n2").is_some_and(|job| {
        cut = job;
        true
    })));
    cluster.set_connected(2, false).unwrap();
    bench.wait(&batch, "the others have arrived", |jobs| {
        jobs.iter().all(|job| (job["name"].as_str() == Some(&cut)) != has_arrived(job))
    });
    // Longer than a job measures.
    std::thread::sleep(Duration::from_secs(4));
    assert_eq!(
        bench.status(&batch)["jobs"].as_array().unwrap().iter().filter(|job| has_arrived(job)).count(),
        2
    );
    cluster.set_connected(2, true).unwrap();

    let collected = collector.end().expect(0).json();
    assert_eq!((count(&collected, "collected"), count(&collected, "rejected")), (3, 0), "{collected:#}");
    let mut seeds: Vec<u64> = Vec::new();
    for job in collected["collected"].as_array().unwrap() {
        assert_eq!(count(job, "later"), 0, "{job:#}");
        seeds.push(job["seed"].as_u64().unwrap());
    }
    seeds.sort_unstable();
    assert_eq!(seeds, [21, 22, 23]);
    cluster.wait(3).unwrap();
    bench.expect(&format!("cluster cancel {} --clean-up", batch.display()), 0);
    bench.wait_until_nothing_is_left();
}

fn has_arrived(job: &Value) -> bool {
    is(job, "arrived") || is(job, "collected")
}

/// The name of the job that has begun to measure on this node.
fn measuring_on(batch: &Path, node: &str) -> Option<String> {
    let folders = fs::read_dir(batch.join("attempts")).ok()?.flatten();
    folders.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten()).find_map(|file| {
        let attempt: Value = serde_json::from_slice(&fs::read(file.path()).ok()?).ok()?;
        let is_one = attempt["node"] == node && attempt["phase"] == "measuring";
        is_one.then(|| file.path().parent()?.file_name()?.to_str().map(str::to_owned))?
    })
}
