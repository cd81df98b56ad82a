use std::{cell::Cell, fs};

use proptest::prelude::*;

use super::*;
use crate::{
    bundle::Committed,
    fixture::{batch, commit},
};

fn fine(_: &Path) -> Result<(), String> {
    Ok(())
}

#[test]
fn each_job_counts_once_and_what_came_later_is_kept_aside_and_named() {
    let store = tempfile::tempdir().unwrap();
    let batch = batch(store.path(), 1);
    let [first, second] = &batch.list.jobs[..] else { panic!("two jobs") };
    assert_eq!(commit(&batch, first, "1-0.0"), Committed::First);
    assert_eq!(commit(&batch, first, "1-0.1"), Committed::Later);
    let computed = Cell::new(0);
    let recompute = |run: &Path| {
        computed.set(computed.get() + 1);
        if run.join("journal.ndjson").is_file() { Ok(()) } else { Err("no run".to_owned()) }
    };
    let found = collect(&batch, &recompute).unwrap();
    assert_eq!((found.jobs.len(), found.missing, found.rejected.len()), (1, vec![second.clone()], 0));
    assert_eq!(
        (found.jobs[0].bundle.attempt.as_str(), found.jobs[0].is_new, found.jobs[0].later.len()),
        ("1-0.0", true, 1)
    );
    let again = collect(&batch, &recompute).unwrap();
    assert_eq!((again.jobs.len(), again.jobs[0].is_new, computed.get()), (1, false, 1), "it is checked once");
}

#[test]
fn a_damaged_bundle_is_rejected_and_the_next_whole_one_counts() {
    let store = tempfile::tempdir().unwrap();
    let batch = batch(store.path(), 1);
    let job = &batch.list.jobs[0];
    for attempt in ["1-0.0", "1-0.1", "2-0.0"] {
        commit(&batch, job, attempt);
    }
    let journal = batch.bundle_folder(job).join("run/journal.ndjson");
    fs::write(&journal, "{\"changed\": true}").unwrap();
    let later = batch.later_folder(job, "1-0.1").join("run/extra");
    fs::write(later, "a file that was not written by the job").unwrap();
    let found = collect(&batch, &fine).unwrap();
    assert_eq!((found.jobs.len(), found.jobs[0].bundle.attempt.as_str()), (1, "2-0.0"));
    let reasons: Vec<&str> = found.rejected.iter().map(|rejected| rejected.reason.as_str()).collect();
    insta::assert_snapshot!(reasons.join("\n"), @r#"
    "run/journal.ndjson" is not as it was written: it had 0 bytes, and has 17 bytes with other content
    it has 6 files, and 5 were written
    "#);
    assert!(found.jobs[0].later.is_empty());
    assert_eq!(collect(&batch, &fine).unwrap().rejected, found.rejected, "they are named again");
}

#[test]
fn what_does_not_recompute_is_not_taken_and_the_job_is_missing() {
    let store = tempfile::tempdir().unwrap();
    let batch = batch(store.path(), 1);
    let job = &batch.list.jobs[0];
    commit(&batch, job, "1-0.0");
    let found = collect(&batch, &|_| Err("figures differ".to_owned())).unwrap();
    assert_eq!(
        (found.jobs.len(), found.missing.len(), found.rejected[0].reason.as_str()),
        (0, 2, "figures differ")
    );
    assert!(!batch.has_bundle(job), "there is room for another");
    assert_eq!(commit(&batch, job, "2-0.0"), Committed::First);
    assert_eq!(collect(&batch, &fine).unwrap().jobs.len(), 1);
}

#[test]
fn a_bundle_of_another_job_or_without_a_head_is_damaged() {
    let store = tempfile::tempdir().unwrap();
    let batch = batch(store.path(), 1);
    let [first, second] = &batch.list.jobs[..] else { panic!("two jobs") };
    commit(&batch, first, "1-0.0");
    fs::rename(batch.bundle_folder(first), batch.bundle_folder(second)).unwrap();
    fs::create_dir(batch.bundle_folder(first)).unwrap();
    let found = collect(&batch, &fine).unwrap();
    assert_eq!((found.jobs.len(), found.rejected.len()), (0, 2));
    assert!(found.rejected[1].reason.contains("it is the bundle of job"), "{found:?}");
    assert!(found.rejected[0].reason.contains("bundle.json"), "{found:?}");
}

#[test]
fn a_bundle_of_another_seed_is_not_the_jobs() {
    let store = tempfile::tempdir().unwrap();
    let batch = batch(store.path(), 2);
    let job = batch.list.jobs.iter().find(|job| job.seed == 8).unwrap();
    // The run of the fixture has seed 7.
    commit(&batch, job, "1-0.0");
    let found = collect(&batch, &fine).unwrap();
    assert_eq!(found.rejected[0].reason, "its run has seed 7, and the job has seed 8");
}

/// Events of a batch, in any order.
#[derive(Debug, Clone)]
enum Event {
    /// An attempt leaves a bundle of this job.
    Commit(usize),
    /// An attempt is killed while it writes a bundle.
    Killed(usize),
    /// A file is damaged in the bundle of this job, or in one kept aside.
    Damage(usize, bool),
    Collect,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        3 => (0..4_usize).prop_map(Event::Commit),
        1 => (0..4_usize).prop_map(Event::Killed),
        2 => (0..4_usize, any::<bool>()).prop_map(|(job, aside)| Event::Damage(job, aside)),
        1 => Just(Event::Collect),
    ];
    prop::collection::vec(event, 0..14)
}

fn apply(batch: &Batch, event: &Event, attempt: usize) -> usize {
    let attempt = format!("{attempt}-0.0");
    // All have the seed of the fixture's run.
    let jobs: Vec<&PlannedJob> = batch.list.jobs.iter().collect();
    match event {
        Event::Commit(job) => {
            commit(batch, jobs[*job], &attempt);
            return 1;
        }
        Event::Killed(job) => {
            let folder = batch.incoming().join(format!("{}.{attempt}", jobs[*job].name()));
            fs::create_dir_all(folder.join("run")).unwrap();
        }
        Event::Damage(job, aside) => {
            let later = batch.aside("later", jobs[*job]).into_iter().next().map(|(_, path)| path);
            let folder = later.filter(|_| *aside).unwrap_or_else(|| batch.bundle_folder(jobs[*job]));
            let unchecked = !batch.checked_path(jobs[*job]).exists();
            if folder.exists() && (unchecked || *aside) {
                fs::write(folder.join("environment.json"), "damaged").unwrap();
            }
        }
        Event::Collect => drop(collect(batch, &fine).unwrap()),
    }
    0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn whatever_happens_a_job_counts_once_or_is_missing_and_no_bundle_vanishes(events in events()) {
        let store = tempfile::tempdir().unwrap();
        let batch = crate::fixture::batch_of_seed_7(store.path(), 4);
        let committed: usize = events.iter().enumerate().map(|(number, event)| apply(&batch, event, number)).sum();
        let found = collect(&batch, &fine).unwrap();
        prop_assert_eq!(found.jobs.len() + found.missing.len(), 4);
        let mut ids: Vec<&str> = found.jobs.iter().map(|job| job.bundle.job.id.as_str()).collect();
        ids.extend(found.missing.iter().map(|job| job.id.as_str()));
        ids.sort_unstable();
        ids.dedup();
        prop_assert_eq!(ids.len(), 4, "each of them once");
        let later: usize = batch.list.jobs.iter().map(|job| batch.aside("later", job).len()).sum();
        prop_assert_eq!(found.jobs.len() + found.rejected.len() + later, committed);
        for job in &found.missing {
            prop_assert!(batch.aside("later", job).is_empty(), "a whole bundle is left aside, and its job is missing");
        }
    }
}
