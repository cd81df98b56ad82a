//! `tare merge`: runs of one experiment on several machines.

use std::{fs, path::Path};

use tare_machines::fixture::{self, Simulated, five};

use crate::support::Workspace;

/// Writes one bundle per run below `folder`, as jobs deliver them.
fn bundles(workspace: &Workspace, folder: &str, runs: &[Simulated]) {
    for run in runs {
        let job = format!("{folder}/{}-{}", run.machine, run.seed);
        fixture::write(&run.stored(), &workspace.root().join(&job).join("run")).unwrap();
        let label = format!(r#"{{"machine": "node-{}", "job": 7}}"#, run.machine);
        workspace.write(&format!("{job}/job.json"), &label);
    }
}

#[test]
fn bundles_of_five_machines_become_one_table() {
    let workspace = Workspace::new(&[]);
    bundles(&workspace, "collected", &five());
    let ended = workspace.tare(&["merge", "collected"]).expect(0);
    assert!(ended.stdout.contains("Over 5 machines: asio has "), "{ended}");
    let json = workspace.tare(&["merge", "collected", "--json"]).expect(0).json();
    assert_eq!(json["kind"], "machines");
    let names = json.to_string();
    assert!(names.contains("node-a") && names.contains("node-e"), "{names}");
    let whole = workspace.tare(&["merge", "collected", "--long"]).expect(0);
    assert!(
        whole.stdout.contains("Without each machine") && whole.stdout.contains("How machines differ"),
        "{whole}"
    );
}

#[test]
fn a_merged_folder_is_shown_reported_and_published_as_a_run_is() {
    let workspace = Workspace::new(&[]);
    bundles(&workspace, "collected", &five());
    let first = workspace.tare(&["merge", "collected", "--output", "collected", "--json"]).expect(0);
    let root = workspace.root();
    let folder = root.join("collected");
    for name in ["report.html", "report.md", "merge.json"] {
        assert!(folder.join(name).is_file(), "{name}");
    }
    assert_eq!(fs::read_to_string(folder.join("report.json")).unwrap(), first.stdout);
    let again = workspace.tare(&["show", "collected", "--json", "--recompute"]).expect(0);
    assert_eq!(again.stdout, first.stdout);
    let csv = workspace.tare(&["report", "collected", "--format", "csv", "--section", "pooled"]).expect(0);
    assert!(csv.stdout.starts_with("row,throughput_of_reference,"), "{csv}");
    // The site has the merged run as one entry, beside a run of one machine.
    fixture::write(&five()[0].stored(), &root.join("alone")).unwrap();
    let site = workspace.tare(&["site", "out", "collected", "alone", "--json"]).expect(0).json();
    assert_eq!(site["runs"], 2);
    let page = fs::read_to_string(root.join("out/run/collected/index.html")).unwrap();
    assert!(page.contains("over 5 machines") && page.contains("mean of all machines"));
    let index = fs::read_to_string(root.join("out/index.html")).unwrap();
    assert!(index.contains("run/collected/"), "{index}");
}

#[test]
fn a_report_elsewhere_is_no_merged_folder() {
    let workspace = Workspace::new(&[]);
    bundles(&workspace, "collected", &five()[..3]);
    workspace.tare(&["merge", "collected", "--output", "reports/today"]).expect(0);
    let folder = workspace.root().join("reports/today");
    assert!(folder.join("report.html").is_file() && !folder.join("merge.json").exists());
    let run = "collected/a-1/run";
    let ended = workspace.tare(&["merge", "collected", "--output", run]).expect(1);
    assert!(ended.stderr.contains("is a run folder, which has a report of its own"), "{ended}");
    assert!(!workspace.root().join(run).join("report.json").exists());
}

#[test]
fn what_cannot_be_merged_says_why_and_ends_so() {
    let workspace = Workspace::new(&[]);
    bundles(&workspace, "collected", &five()[..3]);
    let alone = workspace.tare(&["merge", "collected/a-1"]).expect(5);
    assert!(alone.stdout.contains("Nothing is pooled: one machine counts."), "{alone}");
    let nothing = workspace.tare(&["merge", "tare.toml"]).expect(1);
    assert!(nothing.stderr.contains("there is no run to merge: tare.toml: is no run folder"), "{nothing}");
    let root = workspace.root();
    let mut other = five()[3].clone();
    other.rows = vec![("asio", 0.99)];
    fixture::write(&other.stored(), &root.join("other")).unwrap();
    let refused = workspace.tare(&["merge", "collected", "other"]).expect(1);
    assert!(refused.stderr.contains("not runs of one experiment: services: "), "{refused}");
    // A copy with truncated records does not count as the same run.
    copy(&root.join("collected/b-2/run"), &root.join("copy"));
    workspace.tare(&["merge", "collected", "copy"]).expect(0);
    let journal = root.join("copy/journal.ndjson");
    let text = fs::read_to_string(&journal).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    fs::write(&journal, lines[..lines.len() - 1].join("\n") + "\n").unwrap();
    let refused = workspace.tare(&["merge", "collected", "copy"]).expect(1);
    assert!(refused.stderr.contains("two contents of one run (quick of 2026-01-02T03:02:00"), "{refused}");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for name in ["run.json", "journal.ndjson"] {
        fs::copy(from.join(name), to.join(name)).unwrap();
    }
}

#[test]
fn a_machine_whose_selftest_failed_is_left_out() {
    let workspace = Workspace::new(&[]);
    bundles(&workspace, "collected", &five()[..3]);
    let certificate = serde_json::json!({
        "environment": five()[0].stored().header.environment,
        "trials": [{"name": "twins", "outcome": "not-seen"}],
    });
    workspace.write("collected/a-1/selftest/certificate.json", &certificate.to_string());
    let ended = workspace.tare(&["merge", "collected"]).expect(0);
    assert!(ended.stdout.contains("1 machine is left out, with its reason."), "{ended}");
    assert!(ended.stdout.contains("`tare selftest` did not see 1 fault there: twins"), "{ended}");
}
