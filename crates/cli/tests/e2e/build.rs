//! `tare build`: the cache shared by checkouts, and a build that is killed.

use std::{fs, path::PathBuf};

use rustix::process::Signal;

use crate::support::{Ended, USUAL, Workspace, manifest, send, within};

/// Checkouts that share a cache, with one service whose build waits for a file.
struct Bench {
    checkouts: [Workspace; 2],
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let wait =
            format!("touch begun; until [ -e {} ]; do sleep 0.02; done", folder.path().join("go").display());
        let step = format!("[[build]]\ncommand = [\"sh\", \"-c\", \"{wait}\"]\n[run]");
        let manifest = manifest("slow", "correct").replace("[run]", &step);
        let checkouts = [(), ()].map(|()| {
            let checkout = Workspace::new(&[]);
            checkout.service("slow", &manifest);
            checkout
        });
        Bench { checkouts, folder }
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn words(&self) -> [String; 5] {
        ["build", "slow", "--json", "--home", self.home().to_str().unwrap()].map(str::to_owned)
    }

    fn start(&self, checkout: usize) -> crate::support::Running {
        let words = self.words();
        self.checkouts[checkout].start(&words.each_ref().map(String::as_str))
    }

    fn allow(&self) {
        fs::write(self.folder.path().join("go"), "").unwrap();
    }

    /// The number of builds that have begun.
    fn begun(&self) -> usize {
        let folders =
            |path: PathBuf| fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
        folders(self.home().join("builds"))
            .flat_map(folders)
            .filter(|path| path.join("begun").exists())
            .count()
    }
}

fn result(ended: &Ended) -> (String, PathBuf) {
    let line = ended.json()[0].clone();
    (line["result"].as_str().unwrap().to_owned(), line["folder"].as_str().unwrap().into())
}

#[test]
fn a_build_that_is_killed_leaves_no_process_and_nothing_that_is_taken_for_a_build() {
    let bench = Bench::new();
    let tare = bench.start(0);
    assert!(within(USUAL, || bench.begun() == 1));
    send(tare.pid(), Signal::KILL);
    // `end` checks that no process is left.
    assert_eq!(tare.end().code(), None);
    bench.allow();
    let (built, folder) = result(&bench.start(0).end().expect(0));
    assert_eq!(built, "built");
    assert!(folder.join("begun").is_file() && folder.starts_with(bench.home().canonicalize().unwrap()));
    assert_eq!(result(&bench.start(1).end().expect(0)), ("current".to_owned(), folder));
}

#[test]
fn two_checkouts_at_once_build_once_and_who_waits_can_be_interrupted() {
    let bench = Bench::new();
    let builder = bench.start(0);
    assert!(within(USUAL, || bench.begun() == 1));
    let interrupted = bench.start(1);
    // The command installs its signal handlers before it takes this lock.
    assert!(within(USUAL, || bench.checkouts[1].root().join(".tare/builds/slow.lock").exists()));
    send(interrupted.pid(), Signal::INT);
    assert_eq!(interrupted.end().code(), Some(130));
    let waiting = bench.start(1);
    bench.allow();
    let (built, waited) = (result(&builder.end().expect(0)), result(&waiting.end().expect(0)));
    assert_eq!((built.0.as_str(), waited.0.as_str()), ("built", "current"));
    assert_eq!((built.1, bench.begun()), (waited.1, 1));
}

#[test]
fn what_is_cached_can_be_pruned() {
    let bench = Bench::new();
    bench.allow();
    bench.start(0).end().expect(0);
    let home = bench.home();
    let prune = |option: &str| {
        let words = ["cache", option, "--json", "--home", home.to_str().unwrap()];
        bench.checkouts[0].tare(&words).expect(0).json()["removed"].as_u64().unwrap()
    };
    assert_eq!((prune("--prune"), prune("--prune=0"), prune("--prune=0")), (0, 1, 0));
}
