//! Runs every command in the documents. A fence that is not run has a line above it with the reason. A golden
//! file lists these fences, so that their number cannot grow unnoticed.

mod fences;
mod place;

use std::fmt::Write;

use fences::{Fence, of_examples, of_repository};
use place::Place;

#[test]
fn the_commands_of_documents_run() {
    // Services in documents use node, and one document uses benchstat.
    if !["node", "benchstat"].iter().all(|program| tare_host::fixture::has_program("documents", program)) {
        return;
    }
    let place = Place::new();
    let (run, marked): (Vec<Fence>, Vec<Fence>) =
        of_repository().into_iter().chain(of_examples()).partition(|fence| fence.not_run.is_none());
    assert!(run.len() > 20, "{} fences", run.len());
    let failed: Vec<String> = run.iter().filter_map(|fence| place.run(fence).err()).collect();
    assert!(failed.is_empty(), "{} of {} fences:\n{}", failed.len(), run.len(), failed.join("\n"));
    let mut listed = String::new();
    for Fence { file, text, not_run, .. } in &marked {
        let first = text.lines().next().unwrap_or_default().trim_end();
        writeln!(listed, "{file}: {first}\n    {}", not_run.as_deref().unwrap_or_default()).unwrap();
    }
    insta::assert_snapshot!(listed);
}
