//! Results that others published, and our own, are held to the same arithmetic.

use std::fs;

use crate::support::{Workspace, real_root};

#[test]
fn figures_of_others_are_held_to_arithmetic() {
    let workspace = Workspace::new(&[]);
    let data = real_root().join("crates/audit/data");
    let arena = data.join("http-arena").display().to_string();
    let ended = workspace.tare(&["audit", &arena, "--page", "audit.html"]).expect(4);
    assert!(ended.stdout.contains("Audit of HttpArena"), "{ended}");
    assert!(ended.stdout.contains("p99 is the mean, to the last digit (23.2 ms)"), "{ended}");
    let page = fs::read_to_string(workspace.root().join("audit.html")).unwrap();
    assert!(page.contains("CPUs were busy, and the server had 64"));
    let suites = data.join("techempower/results.json").display().to_string();
    let mixed = workspace.tare(&["audit", &arena, &suites]).expect(1);
    assert!(mixed.stderr.contains("is of TechEmpower, and the files before it are of HttpArena"), "{mixed}");
    let other = workspace.tare(&["audit", "tare.toml"]).expect(1);
    assert!(other.stderr.contains("tare.toml: it is neither the results of a suite"), "{other}");
}

#[test]
fn no_rule_speaks_against_a_kept_run() {
    let workspace = Workspace::new(&[]);
    let record = real_root().join("record");
    let folders = fs::read_dir(&record).unwrap().map(|entry| entry.unwrap().path());
    for run in folders.filter(|path| path.join("run.json").is_file()) {
        let ended = workspace.tare(&["audit", run.to_str().unwrap()]).expect(0);
        assert!(ended.stdout.contains("No rule speaks against any of the "), "{ended}");
    }
}
