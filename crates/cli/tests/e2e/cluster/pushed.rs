//! Jobs that push their bundles to a collector without a shared folder. Collectors and jobs are killed during
//! a push, and the network breaks. Each job counts exactly once, or is reported as missing.

use std::{fs, path::Path, time::Duration};

use rustix::process::Signal;
use serde_json::Value;
use tare_cluster::{Batch, BatchHead, EngineName, JobList, Selftest};

use super::{
    relay::{Fault, Relay},
    site::{PATIENCE, Site, is},
    workspace,
};
use crate::support::{Running, Workspace, carrying, free_port, send, start_under, within};

const TOKEN: &str = "TARE_PUSH_TOKEN";

/// A batch of four jobs, its collector, and the relay between them.
struct Pushed {
    workspace: Workspace,
    batch: Batch,
    relay: Relay,
}

impl Pushed {
    /// Makes the batch as `tare cluster submit` does.
    fn new() -> Pushed {
        let workspace = workspace();
        let plan =
            "cluster plan experiments/tiny.toml --on machines.toml --seeds 2 --seed 5 --output jobs.ndjson";
        workspace.tare(&plan.split(' ').collect::<Vec<_>>()).expect(0);
        let list = JobList::load(&workspace.root().join("jobs.ndjson")).unwrap();
        let relay = Relay::start();
        let head = BatchHead {
            format: BatchHead::FORMAT.to_owned(),
            tare: "0.1.0".to_owned(),
            submitted: "2026-01-02T03:04:05Z".to_owned(),
            engine: EngineName::Slurm,
            program: env!("CARGO_BIN_EXE_tare").into(),
            root: workspace.root().to_owned(),
            globals: Vec::new(),
            selftest: Selftest::None,
            certificate_days: 7,
            push: Some(relay.url.clone()),
        };
        let batch = Batch::make(&workspace.root().join("batches"), list, head).unwrap();
        batch.make_token().unwrap();
        Pushed { workspace, batch, relay }
    }

    fn folder(&self) -> &str {
        self.batch.folder.to_str().unwrap()
    }

    /// Starts a collector on a port of its own, which jobs reach through the relay.
    fn collector(&self) -> Running {
        let collector =
            self.workspace.start(&["cluster", "collect", self.folder(), "--listen", "127.0.0.1:0", "--json"]);
        let mut port = None;
        assert!(within(PATIENCE, || {
            let printed = collector.printed("stderr");
            port = printed.lines().find_map(|line| line.rsplit_once("http://127.0.0.1:")?.1.parse().ok());
            port.is_some()
        }));
        self.relay.to(port.unwrap());
        collector
    }

    /// Runs a job as Slurm would, with this token.
    fn job_with(&self, token: &str, place: usize, array: usize) -> Running {
        let variables = [
            format!("{TOKEN}={token}"),
            format!("SLURM_ARRAY_JOB_ID={array}"),
            format!("SLURM_ARRAY_TASK_ID={place}"),
            "SLURMD_NODENAME=n1".to_owned(),
            "SLURM_JOB_ID=1".to_owned(),
        ];
        let mut wrapper = vec!["env"];
        wrapper.extend(variables.iter().map(String::as_str));
        let root = self.workspace.root().to_str().unwrap();
        let words = ["--root", root, "job", "--push", &self.relay.url, "--engine", "slurm"];
        // Engines start a job in the repository.
        start_under(&wrapper, self.workspace.root(), &words)
    }

    fn job(&self, place: usize, array: usize) -> Running {
        self.job_with(self.batch.token().unwrap().reveal(), place, array)
    }

    fn has_bundle(&self, place: usize) -> bool {
        self.batch.has_bundle(&self.batch.list.jobs[place])
    }

    fn count(&self, folder: &str) -> usize {
        fs::read_dir(self.batch.folder.join(folder)).unwrap().count()
    }

    fn collected(&self, status: i32) -> Value {
        self.workspace.tare(&["cluster", "collect", self.folder(), "--json"]).expect(status).json()
    }
}

fn count(value: &Value, key: &str) -> usize {
    value[key].as_array().unwrap().len()
}

/// Kills it with SIGKILL, so that it cannot clean up.
fn kill(running: Running) {
    send(running.pid(), Signal::KILL);
    assert_eq!(running.end().code(), None);
}

#[test]
fn whatever_breaks_on_the_way_each_bundle_counts_once_or_its_job_is_missing() {
    let pushed = Pushed::new();
    let collector = a_collector_is_killed_in_the_middle_of_a_bundle(&pushed);
    a_job_is_killed_in_the_middle_of_its_bundle(&pushed);
    a_wrong_token_is_refused_before_anything_is_measured(&pushed);
    what_is_damaged_on_the_way_is_sent_again(&pushed);
    of_two_attempts_the_first_bundle_counts(&pushed);
    an_answer_that_is_lost_is_no_error(&pushed);

    let missing = pushed.collected(5);
    assert_eq!((count(&missing, "collected"), count(&missing, "missing")), (3, 1));
    assert_eq!(missing["missing"][0]["job"], pushed.batch.list.jobs[3].name().as_str());
    pushed.job(3, 9).end().expect(0);

    // It ends by itself once each job has left a bundle.
    let ended = collector.end().expect(0);
    let collected = ended.json();
    assert_eq!((count(&collected, "collected"), count(&collected, "rejected")), (4, 0));
    let later: usize = collected["collected"].as_array().unwrap().iter().map(|job| count(job, "later")).sum();
    assert_eq!(later, 1, "{collected:#}");
    for job in collected["collected"].as_array().unwrap() {
        let run: Value = serde_json::from_slice(
            &fs::read(Path::new(job["run"].as_str().unwrap()).join("run.json")).unwrap(),
        )
        .unwrap();
        assert_eq!(run["plan"]["seed"], job["seed"]);
    }
    assert_eq!((pushed.count("incoming"), pushed.count("later")), (0, 1));
    no_token_is_written(&pushed, &ended.stderr);
}

fn a_collector_is_killed_in_the_middle_of_a_bundle(pushed: &Pushed) -> Running {
    let collector = pushed.collector();
    let second =
        pushed.workspace.tare(&["cluster", "collect", pushed.folder(), "--listen", "127.0.0.1:0"]).expect(1);
    assert!(second.stderr.contains("another `tare cluster collect --listen`"), "{}", second.stderr);

    pushed.relay.next(Fault::Stall);
    let job = pushed.job(0, 1);
    let mut seen = 0;
    assert!(within(PATIENCE, || {
        seen += what_is_measured_has_no_token(&job);
        pushed.relay.is_stalled()
    }));
    assert!(seen > 3, "processes of the job were looked at {seen} times");
    assert!(within(PATIENCE, || pushed.count("incoming") == 1));
    kill(collector);
    pushed.relay.cut();
    assert!(!pushed.has_bundle(0));
    // The collector stays away for a while.
    std::thread::sleep(Duration::from_secs(2));

    let collector = pushed.collector();
    let ended = job.end().expect(0);
    assert!(ended.stderr.contains("it is tried again in"), "{}", ended.stderr);
    assert!(pushed.has_bundle(0) && pushed.count("incoming") == 0 && pushed.count("later") == 0);
    collector
}

/// Checks that only Tare's non-measuring processes of a job have the token. Returns the other processes'
/// number.
fn what_is_measured_has_no_token(job: &Running) -> usize {
    let mut others = 0;
    for pid in job.carrying("TARE_TEST_COMMAND=") {
        // Read in this order: between fork and exec a process has the arguments and environment of the job.
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let has = |part: &[u8], of: &[u8]| of.windows(part.len()).any(|found| found == part);
        let is_own = has(b"--push", &words) || has(b"watchdog", &words) || has(b"scontrol", &words);
        if !is_own && !words.is_empty() {
            others += 1;
            let words = String::from_utf8_lossy(&words);
            assert!(!has(TOKEN.as_bytes(), &environment), "process {pid} has the token: {words}");
        }
    }
    others
}

fn a_job_is_killed_in_the_middle_of_its_bundle(pushed: &Pushed) {
    pushed.relay.next(Fault::Stall);
    let job = pushed.job(1, 1);
    assert!(within(PATIENCE, || pushed.relay.is_stalled() && pushed.count("incoming") == 1));
    kill(job);
    pushed.relay.cut();
    assert!(within(PATIENCE, || pushed.count("incoming") == 0), "what was cut off is removed");
    assert!(!pushed.has_bundle(1));
    assert_eq!(count(&pushed.collected(5), "missing"), 3);
}

fn a_wrong_token_is_refused_before_anything_is_measured(pushed: &Pushed) {
    let other = "8f6ab1c09d3e2f7755aa01c4e8d9b360f2174c9bd85e33a6c0917f2be4d86a15";
    let refused = pushed.job_with(other, 1, 2).end().expect(1);
    assert!(refused.stderr.contains("does not have the token of this batch"), "{}", refused.stderr);
    let none = pushed.job_with("", 1, 2).end().expect(1);
    assert!(none.stderr.contains("no token: TARE_PUSH_TOKEN is not in the environment"), "{}", none.stderr);
    assert!(!pushed.has_bundle(1));
}

fn what_is_damaged_on_the_way_is_sent_again(pushed: &Pushed) {
    pushed.relay.next(Fault::Change);
    let ended = pushed.job(1, 3).end().expect(0);
    assert!(pushed.relay.is_done());
    assert!(ended.stderr.contains("is not as it was written"), "{}", ended.stderr);
    assert!(pushed.has_bundle(1) && pushed.count("incoming") == 0);
    // Another attempt has nothing to do.
    let needless = pushed.job(1, 4).end().expect(0);
    assert!(!needless.stderr.contains("the bundle is there"), "{}", needless.stderr);
}

fn of_two_attempts_the_first_bundle_counts(pushed: &Pushed) {
    pushed.relay.next(Fault::Stall);
    let first = pushed.job(2, 5);
    assert!(within(PATIENCE, || pushed.relay.is_done()));
    let bundles = pushed.count("bundles");
    // It began before there was a bundle, and therefore measures too.
    let second = pushed.job(2, 6);
    let ended = second.end().expect(0);
    assert!(ended.stderr.contains("the bundle is there"), "{}", ended.stderr);
    assert_eq!(pushed.count("bundles"), bundles + 1);
    pushed.relay.cut();
    let ended = first.end().expect(0);
    assert!(ended.stderr.contains("another attempt was first"), "{}", ended.stderr);
    assert_eq!((pushed.count("bundles"), pushed.count("later")), (bundles + 1, 1));
}

/// The attempt's bundle is kept aside, because the batch has enough: the next attempt is its last.
fn an_answer_that_is_lost_is_no_error(pushed: &Pushed) {
    // Without its bundle the job measures again.
    let own = pushed.batch.bundle_folder(&pushed.batch.list.jobs[0]);
    fs::remove_dir_all(&own).unwrap();
    pushed.relay.next(Fault::LoseAnswer);
    let ended = pushed.job(0, 7).end().expect(0);
    assert!(pushed.relay.is_done() && own.is_dir());
    assert!(ended.stderr.contains("it is tried again in"), "{}", ended.stderr);
    assert_eq!(pushed.count("later"), 1, "the same bundle again is none of another attempt");
}

/// Checks that no file except its own contains the token.
fn no_token_is_written(pushed: &Pushed, printed: &str) {
    let token = pushed.batch.token().unwrap().reveal().to_owned();
    assert!(!printed.contains(&token));
    let mut folders = vec![pushed.workspace.root().to_owned()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path != pushed.batch.folder.join("token") && path.is_file() {
                let bytes = fs::read(&path).unwrap();
                assert!(
                    !bytes.windows(token.len()).any(|part| part == token.as_bytes()),
                    "{}",
                    path.display()
                );
            }
        }
    }
}

#[test]
fn on_slurm_jobs_push_and_need_no_folder() {
    let Some(site) = Site::new("a batch on Slurm that pushes") else { return };
    let port = free_port();
    let submit = format!("--selftest none --push http://127.0.0.1:{port}");
    let batch = site.submit("tiny", "--seeds 1 --seed 5", &submit);
    let listen = format!("127.0.0.1:{port}");
    let collector =
        site.workspace.start(&["cluster", "collect", batch.to_str().unwrap(), "--listen", &listen]);
    // No user of the machine can read the token in the list of processes.
    let token = fs::read_to_string(batch.join("token")).unwrap();
    let jobs = std::cell::Cell::new(0);
    site.wait(&batch, "both have arrived", |all| {
        for pid in carrying(&format!("{TOKEN}=")) {
            jobs.set(jobs.get() + 1);
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            assert!(!String::from_utf8_lossy(&words).contains(token.trim()));
        }
        all.iter().all(|job| is(job, "arrived") || is(job, "collected"))
    });
    assert!(jobs.get() > 0, "Slurm gave it to jobs by their environment");
    let script = fs::read_to_string(batch.join("job.sh")).unwrap();
    assert!(!script.contains(token.trim()) && !script.contains(batch.to_str().unwrap()), "{script}");
    // The jobs belong to a user of this machine who has not set the variables of the collector.
    let ended = collector.end().expect(0);
    assert_eq!(ended.stdout.lines().count(), 2, "{ended}");
    let name = batch.file_name().unwrap().to_str().unwrap().to_owned();
    for entry in fs::read_dir("/tmp").unwrap().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&format!("{name}-")) {
            fs::remove_dir_all(entry.path()).unwrap();
        }
    }
}
