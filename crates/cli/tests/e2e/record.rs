//! `record/`: the stored runs can still be read, and still give their tables.

use std::fs;

use tare_report::document::ANSWER_WORDS_MAX;

use crate::support::{Workspace, real_root};

#[test]
fn kept_runs_give_their_tables_and_pages() {
    let workspace = Workspace::new(&[]);
    let record = real_root().join("record");
    let folders = fs::read_dir(&record).unwrap().map(|entry| entry.unwrap().path());
    let runs: Vec<_> = folders.filter(|path| path.join("run.json").is_file()).collect();
    assert!(runs.len() >= 5, "{runs:?}");
    for run in runs {
        let run = run.to_str().unwrap();
        let shown = workspace.tare(&["show", run, "--recompute"]);
        // In these runs a service left requests unanswered, so their status is always 2.
        let is_failed = ["/all", "/bodies"].iter().any(|name| run.ends_with(name));
        let shown = if is_failed { shown.expect(2) } else { shown.expect_measured() };
        assert!(shown.stderr.ends_with("to the last digit\n"), "{run}: {}", shown.stderr);
        let document = workspace.tare(&["report", run, "--format", "json"]).expect(0).json();
        assert_eq!(document["damage"].as_array().map(Vec::len), Some(0), "{run}");
        assert_eq!(document["status"], "complete", "{run}");
        let answer = document["answer"].as_str().unwrap();
        assert!(answer.split_whitespace().count() <= ANSWER_WORDS_MAX, "{run}: {answer}");
        let page = fs::read_to_string(format!("{run}/report.html")).unwrap();
        assert!(page.contains(document["title"].as_str().unwrap()), "{run}");
    }
}
