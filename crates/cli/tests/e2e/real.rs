//! Real services of this repository, one of every language: built, proved, and a few of them measured.

use serde_json::Value;

use crate::support::{BUILD, alone, real_root, row, start, state};

/// True where the service is built. Where its toolchain is not on this machine the test is skipped by name, which
/// TARE_TEST_ALL=1 forbids.
fn build(name: &str) -> bool {
    let built = start(&real_root(), &["build", name, "--json"]).end_within(BUILD);
    let line = &built.json()[0];
    let reason = line["reason"].as_str().unwrap_or_default();
    if line["result"] == "missing" {
        assert!(std::env::var("TARE_TEST_ALL").as_deref() != Ok("1"), "{name}: {reason}");
        // Not by `eprintln!`, which the test harness keeps to itself where nothing fails.
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            format!("skipped: {name}: {reason}\n").as_bytes(),
        );
        return false;
    }
    built.expect(0);
    true
}

fn honours_its_contracts(name: &str) {
    if !build(name) {
        return;
    }
    let verified = start(&real_root(), &["verify", name]).end().expect(0);
    assert!(verified.stdout.contains("\n4 passed, 0 failed, 0 not on this machine; seed "));
}

#[test]
fn rust_hyper() {
    honours_its_contracts("hyper");
}

#[test]
fn go_net_http() {
    honours_its_contracts("net-http");
}

#[test]
fn node_node_http() {
    honours_its_contracts("node-http");
}

#[test]
fn python_aiohttp() {
    honours_its_contracts("aiohttp");
}

#[test]
fn cpp_restinio() {
    honours_its_contracts("restinio");
}

#[test]
fn the_quick_experiment_measures_real_services() {
    if !(build("hyper") && build("node-http")) {
        return;
    }
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let services = ["--services", "hyper,node-http", "--budget", "1s", "--seed", "1"];
    let kept = ["--json", "--out", out.to_str().unwrap()];
    let words = [&["run", "experiments/quick.toml"][..], &services, &kept].concat();
    let ran = start(&real_root(), &words).end();
    let report = ran.json();
    assert_eq!(report["rows"].as_array().unwrap().len(), 3);
    for label in ["pivot", "hyper", "node-http"] {
        assert_eq!(state(&report, label), "measured", "{label}");
        assert_eq!(row(&report, label)["blocks"], 6, "{label}");
    }
    // A generator without optimisation is slower than hyper: its row is measured, but says that its throughput is not
    // its own, and so does the exit status.
    let doubtful =
        report["rows"].as_array().unwrap().iter().any(|row| row["throughput_doubt"] != Value::Null);
    assert_eq!(ran.code(), Some(if doubtful { 4 } else { 0 }));
}
