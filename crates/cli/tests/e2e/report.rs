//! `tare report`: a run in all formats, from its folder alone.

use std::{fs, path::Path};

use crate::support::{Workspace, experiment, real_root};

/// A run of three rows, one of which answers incorrectly.
fn ran(blocks: usize) -> Workspace {
    let workspace = Workspace::new(&[("honest", "correct"), ("wrong", "wrong-body")]);
    workspace.write("experiments/tiny.toml", &experiment(&["honest", "wrong"], blocks));
    let ran = workspace.tare(&["run", "experiments/tiny.toml"]).expect(2);
    let page = workspace.run().join("report.html");
    assert!(ran.stderr.contains(&format!("the page is {}\n", page.display())), "{}", ran.stderr);
    workspace
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_run_in_every_form() {
    let workspace = ran(2);
    let run = workspace.run();
    let report = |words: &[&str]| workspace.tare(&[&["report"], words].concat());

    // The page stored by the run equals the page made from its folder.
    let left = fs::read_to_string(run.join("report.html")).unwrap();
    assert_eq!(report(&["--out", "-"]).expect(0).stdout, left, "the newest run, if none is named");
    fs::remove_file(run.join("report.html")).unwrap();
    report(&[run.to_str().unwrap()]).expect(0);
    assert_eq!(fs::read_to_string(run.join("report.html")).unwrap(), left);

    let document = report(&["--format", "json"]).expect(0).json();
    assert_eq!((&document["kind"], &document["format"]), (&"interleaved".into(), &"1.4".into()));
    let markdown = report(&["--format", "markdown"]).expect(0).stdout.clone();
    assert!(markdown.starts_with("## Tiny\n\nDoes it run?\n"), "{markdown}");

    report(&["--format", "csv"]).expect(0);
    report(&["--format", "parquet", "--out", "notebook"]).expect(0);
    let sections =
        document["sections"].as_array().unwrap().iter().filter(|section| !section["table"].is_null());
    let ids: Vec<&str> = sections.map(|section| section["id"].as_str().unwrap()).collect();
    for (folder, end, more) in
        [(run.join("csv"), "csv", 1), (workspace.root().join("notebook"), "parquet", 0)]
    {
        let names = names(&folder);
        assert_eq!(names.len(), ids.len() + more, "{names:?}");
        assert!(ids.iter().all(|id| names.contains(&format!("{id}.{end}"))), "{names:?}");
    }
    let table = report(&["--format", "csv", "--section", "ranks"]).expect(0).stdout.clone();
    assert_eq!(table, fs::read_to_string(run.join("csv/ranks.csv")).unwrap());

    report(&["--format", "hgrm"]).expect(0);
    assert_eq!(names(&run.join("hgrm")), ["honest.hgrm", "raw-socket.hgrm"]);
}

#[test]
fn several_runs_are_told_of_in_the_folder_of_the_last_one_that_is_compared() {
    let workspace = Workspace::new(&[("honest", "correct")]);
    workspace.write("experiments/tiny.toml", &experiment(&["honest"], 1));
    for run in ["one", "two"] {
        workspace.tare(&["run", "experiments/tiny.toml", "--out", run]).expect_measured();
    }
    workspace.write("other/run.json", "{\"format\":\"9.0\"}");
    let told = workspace.tare(&["report", "two", "one", "other"]).expect(0);
    assert!(told.stderr.contains("damaged: other: the run folder has format \"9.0\", newer than"), "{told}");
    assert!(told.stderr.ends_with("written to one/history.html\n"), "{told}");
    assert!(workspace.root().join("one/history.html").is_file());
    assert_eq!(names(&workspace.root().join("other")), ["run.json"]);
    workspace.tare(&["report", "two", "one", "other", "--format", "csv"]).expect(0);
    assert!(workspace.root().join("one/history-csv").is_dir());
}

#[test]
fn a_gate_ends_as_the_run_did() {
    let workspace = ran(1);
    let gate = workspace.tare(&["report", "--format", "junit"]).expect(2);
    assert!(gate.stdout.contains("<testcase name=\"wrong\""), "{}", gate.stdout);
    assert!(gate.stdout.contains("failures=\"1\""), "{}", gate.stdout);
    // Only the format that is a gate reports it by its status.
    workspace.tare(&["report", "--format", "markdown"]).expect(0);
}

#[test]
fn what_cannot_be_done_is_a_sentence() {
    let workspace = ran(1);
    let refused = |words: &[&str]| {
        let ended = workspace.tare(&[&["report"], words].concat()).expect(1);
        workspace.redact(&ended.stderr)
    };
    assert_eq!(
        refused(&["--format", "csv", "--section", "rnaks"]),
        "error: the report has no section \"rnaks\"; did you mean \"ranks\"?\n"
    );
    assert_eq!(
        refused(&["--section", "ranks"]),
        "error: --section: only for --format markdown, csv and parquet\n"
    );
    assert_eq!(
        refused(&["--format", "csv", "--out", "-"]),
        "error: --out -: this form is several files; name a folder, or one table by --section\n"
    );
    assert_eq!(
        refused(&["--out", "/dev/full"]),
        "error: cannot write /dev/full: No space left on device (os error 28)\n"
    );
    assert_eq!(
        refused(&["--out", "no/such/folder.html"]),
        "error: cannot write no/such/folder.html: No such file or directory (os error 2)\n"
    );
    assert_eq!(
        refused(&["--out", "experiments"]),
        "error: experiments: is a folder; --out names a file here\n"
    );
    assert!(refused(&["experiments"]).starts_with("error: experiments: not a run folder"));
    assert_eq!(names(&workspace.root().join("experiments")), ["tiny.toml"], "nothing is left half-written");
}

#[test]
fn the_schema_is_the_published_one() {
    let workspace = Workspace::new(&[]);
    let schema = fs::read_to_string(real_root().join("crates/report/schema/document.schema.json")).unwrap();
    assert_eq!(workspace.tare(&["report", "--schema"]).expect(0).stdout, schema);
    let none = workspace.tare(&["report"]).expect(1);
    assert_eq!(
        workspace.redact(&none.stderr),
        "error: ROOT/.tare/runs: no runs yet: No such file or directory (os error 2)\n"
    );
}
