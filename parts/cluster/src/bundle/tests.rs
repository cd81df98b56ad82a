use std::{
    env,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use super::*;
use crate::fixture::{batch, commit, run};

/// The variable with the store into which the child of a test commits its bundle.
const STORE: &str = "TARE_TEST_COMMIT_INTO";

#[test]
fn a_bundle_is_whole_in_its_place_and_has_no_links() {
    let store = tempfile::tempdir().unwrap();
    let batch = batch(store.path(), 1);
    let job = &batch.list.jobs[0];
    assert!(!batch.has_bundle(job));
    assert_eq!(commit(&batch, job, "1-0.0"), Committed::First);
    let bundle = Bundle::open(&batch.bundle_folder(job)).unwrap();
    bundle.check(job).unwrap();
    let paths: Vec<&str> = bundle.head.files.iter().map(|file| file.path.as_str()).collect();
    assert!(paths.contains(&"run/run.json") && paths.contains(&"run/services/stdout.txt"), "{paths:?}");
    assert!(!bundle.run().join("services/link").exists());
    assert_eq!(fs::read_dir(batch.incoming()).unwrap().count(), 0);
}

#[test]
fn whatever_is_changed_in_a_bundle_is_found() {
    let store = tempfile::tempdir().unwrap();
    let batch = batch(store.path(), 1);
    let job = &batch.list.jobs[0];
    let changes: [fn(&Path); 5] = [
        |folder| fs::write(folder.join("run/run.json"), "{}").unwrap(),
        |folder| fs::remove_file(folder.join("run/journal.ndjson")).unwrap(),
        |folder| fs::write(folder.join("run/more"), "").unwrap(),
        |folder| {
            let text = fs::read_to_string(folder.join(HEAD)).unwrap();
            fs::write(folder.join(HEAD), text.replace("run/run.json", "../../../../../../etc/hostname"))
                .unwrap();
        },
        |folder| {
            let text = fs::read_to_string(folder.join(HEAD)).unwrap();
            fs::write(folder.join(HEAD), text.replacen("\"seed\": 7", "\"seed\": 8", 1)).unwrap();
        },
    ];
    for (place, change) in changes.into_iter().enumerate() {
        commit(&batch, job, "1-0.0");
        let folder = batch.bundle_folder(job);
        Bundle::open(&folder).unwrap().check(job).unwrap();
        change(&folder);
        assert!(Bundle::open(&folder).and_then(|bundle| bundle.check(job)).is_err(), "change {place}");
        fs::remove_dir_all(&folder).unwrap();
    }
}

#[test]
fn a_bundle_that_cannot_be_stored_is_not_there() {
    let store = tempfile::tempdir().unwrap();
    let batch = batch(store.path(), 1);
    let job = &batch.list.jobs[0];
    let mut staging = Staging::new(&batch, job, "1-0.0").unwrap();
    assert!(staging.add_run(Path::new("/no/such/run")).is_err());
    drop(staging);
    assert_eq!((batch.has_bundle(job), fs::read_dir(batch.incoming()).unwrap().count()), (false, 0));
}

#[test]
fn of_many_that_commit_at_once_one_is_first_and_the_others_lie_aside() {
    let store = tempfile::tempdir().unwrap();
    let batch = batch(store.path(), 1);
    let job = &batch.list.jobs[0];
    let attempts: Vec<String> = (0..8).map(|number| format!("{number}-0.0")).collect();
    let committed: Vec<Committed> = thread::scope(|scope| {
        let threads: Vec<_> =
            attempts.iter().map(|attempt| scope.spawn(|| commit(&batch, job, attempt))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(committed.iter().filter(|how| **how == Committed::First).count(), 1);
    assert_eq!(batch.aside("later", job).len(), 7);
    for (_, folder) in batch.aside("later", job) {
        Bundle::open(&folder).unwrap().check(job).unwrap();
    }
}

/// Prints a line of its own: the harness has begun one.
fn say(word: &str) {
    let mut out = std::io::stdout();
    out.write_all(format!("\n{word}\n").as_bytes()).and_then(|()| out.flush()).unwrap();
}

/// No independent test: [`a_writer_that_is_killed_leaves_a_whole_bundle_or_none`] starts and kills it.
#[test]
fn the_writer_that_is_killed() {
    let Some(store) = env::var_os(STORE) else { return };
    let run = run();
    let large = vec![b'x'; 200_000];
    for number in 0..40 {
        fs::write(run.path().join(format!("services/{number}")), &large).unwrap();
    }
    let batch = batch(Path::new(&store), 1);
    let job = &batch.list.jobs[0];
    say("begins");
    let mut staging = Staging::new(&batch, job, "1-0.0").unwrap();
    staging.add_run(run.path()).unwrap();
    let time = "2026-01-02T03:04:05Z".to_owned();
    staging.commit(BundleHead::new(&batch, job, ("1-0.0", "n1"), time.clone(), time)).unwrap();
    say("ended");
}

#[test]
fn a_writer_that_is_killed_leaves_a_whole_bundle_or_none() {
    let (mut with, mut without) = (0, 0);
    for trial in 0..24_u32 {
        let store = tempfile::tempdir().unwrap();
        let mut writer = Command::new(env::current_exe().unwrap())
            .args(["--exact", "bundle::tests::the_writer_that_is_killed", "--nocapture"])
            .env(STORE, store.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(writer.stdout.take().unwrap()).lines();
        let mut wait_for =
            |word: &str| assert!(out.any(|line| line.unwrap() == word), "it never said {word:?}");
        wait_for("begins");
        match trial {
            0..20 => thread::sleep(Duration::from_millis(u64::from(trial) * 2)),
            _ => wait_for("ended"),
        }
        let _ = writer.kill();
        writer.wait().unwrap();
        let batch = batch(store.path(), 1);
        let job = &batch.list.jobs[0];
        if batch.has_bundle(job) {
            Bundle::open(&batch.bundle_folder(job)).unwrap().check(job).unwrap();
            with += 1;
        } else {
            without += 1;
        }
        // Files left by the killed attempt do not disturb the next one.
        let expected = if batch.has_bundle(job) { Committed::Later } else { Committed::First };
        assert_eq!(commit(&batch, job, "1-0.1"), expected);
        batch.sweep().unwrap();
        assert_eq!(fs::read_dir(batch.incoming()).unwrap().count(), 0);
    }
    assert!(with > 0 && without > 0, "{with} with a bundle, {without} without");
}
