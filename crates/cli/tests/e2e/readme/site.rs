//! A site of all runs, for links.

use std::fs;

use super::catalogue::tare;
use crate::{
    site::{files, no_dead_links},
    support::real_root,
};

#[test]
fn a_site_has_a_page_of_each_run_and_no_dead_link() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("public");
    let done = tare(&["site", out.to_str().unwrap(), "record", "--json"]).expect(0).json();
    let runs: Vec<_> = fs::read_dir(real_root().join("record")).unwrap().flatten().collect();
    let runs: Vec<String> = runs
        .iter()
        .filter(|entry| entry.path().join("run.json").is_file())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    assert_eq!((&done["runs"], &done["runs_read"]), (&runs.len().into(), &runs.len().into()));
    let files = files(&out);
    let mut pages: Vec<String> = runs.iter().map(|run| format!("run/{run}/index.html")).collect();
    // Services, claims, pairs of services, badges and a feed.
    pages.extend(
        ["service/axum/index.html", "claims/index.html", "badge/quick/axum.svg", "feed.xml"]
            .map(str::to_owned),
    );
    for page in pages {
        assert!(files.contains_key(&page), "{page}");
    }
    assert!(files.keys().any(|name| name.starts_with("vs/")));
    no_dead_links(&files);
}
