//! One batch on a Slurm cluster whose node, controller and jobs are killed: each job counts exactly once, or
//! is reported as missing.

use std::{fs, path::Path};

use rustix::process::Signal;
use serde_json::Value;

use super::site::{PATIENCE, Site, attempts_on, is, of_class, on_node};
use crate::support::{carrying, send, within};

#[test]
fn whatever_is_killed_each_job_counts_once_or_is_named() {
    let Some(site) = Site::new("a batch on Slurm") else { return };
    let batch = site.submit("tiny", "--seeds 2 --seed 5", "--selftest honest,cache");
    // On a busy machine the first job may have ended before the last one measures.
    site.wait(&batch, "all nodes have a job, and a large one measures", |jobs| {
        jobs.iter().filter(|job| is(job, "running")).count() >= 3 && of_class(jobs, "large").any(measures)
    });

    let lost = cut_off_a_large_node(&site, &batch);
    restart_the_controller(&site, &batch);
    let killed = kill_a_small_job(&site, &batch);

    // Slurm notices the lost node, and runs its job on the other one.
    site.wait(&batch, "the job of the lost node is done", |jobs| {
        of_class(jobs, "large").all(|job| is(job, "arrived"))
    });
    come_back(&site, &batch, lost);
    site.wait(&batch, "nothing runs", |jobs| jobs.iter().all(|job| is(job, "arrived") || is(job, "missing")));

    let collected = collect(&site, &batch, 5);
    assert_eq!((count(&collected, "collected"), count(&collected, "missing")), (3, 1));
    assert_eq!(collected["missing"][0]["job"], killed.as_str());
    let reason = collected["missing"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("was cut off while") && reason.contains(" on n1"), "{reason}");

    // Only missing jobs are submitted again.
    let again = site
        .expect("cluster submit jobs.ndjson --engine slurm --store store --selftest honest,cache --json", 0);
    let again: Value = serde_json::from_str(&again).unwrap();
    assert_eq!((&again["submitted"], &again["done"]), (&Value::from(vec![killed]), &Value::from(3)));
    site.expect(&format!("cluster status {} --wait 1m", batch.display()), 0);

    let collected = collect(&site, &batch, 0);
    let jobs: Vec<&str> =
        list(&collected, "collected").iter().map(|job| job["job"].as_str().unwrap()).collect();
    assert_eq!(jobs.len(), 4);
    let new = list(&collected, "collected").iter().filter(|job| job["is_new"] == true).count();
    assert_eq!(new, 1, "the others were checked before");
    let later: usize = list(&collected, "collected").iter().map(|job| list(job, "later").len()).sum();
    assert_eq!(later, 1, "the bundle of the attempt that came back is kept aside: {collected:#}");
    check_bundles(&site, &batch, &collected);
    clean_up(&site, &batch);
}

fn measures(job: &Value) -> bool {
    is(job, "running") && job["detail"] == "measuring"
}

/// Kills the node's daemon and stops its processes, as if it were cut off. Returns the node and its
/// processes.
fn cut_off_a_large_node(site: &Site, batch: &Path) -> (String, Vec<u32>) {
    let mut stopped = None;
    assert!(within(PATIENCE, || {
        stopped = of_class(&site.jobs(batch), "large").filter(|job| measures(job)).find_map(|job| {
            let node = job["node"].as_str().unwrap();
            Some((node.to_owned(), stop_all_on(node)?))
        });
        stopped.is_some()
    }));
    let (node, processes) = stopped.unwrap();
    site.slurm.cluster.signal(&node, Signal::KILL).unwrap();
    (node, processes)
}

/// `None` if one of them holds the lock of a build: the nodes share a checkout, so all other jobs would wait.
fn stop_all_on(node: &str) -> Option<Vec<u32>> {
    let processes = on_node(node);
    processes.iter().for_each(|pid| send(*pid, Signal::STOP));
    // A process that began in the meantime must be stopped too, or the node is not cut off.
    let is_all = on_node(node) == processes;
    if !processes.is_empty() && is_all && !processes.iter().any(|pid| has_a_lock(*pid)) {
        return Some(processes);
    }
    processes.iter().for_each(|pid| send(*pid, Signal::CONT));
    None
}

fn has_a_lock(pid: u32) -> bool {
    let Ok(descriptors) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    let mut files = descriptors.flatten().filter_map(|descriptor| fs::read_link(descriptor.path()).ok());
    files.any(|file| file.extension().is_some_and(|extension| extension == "lock"))
}

/// While it is down, the states of jobs without a bundle are unknown, which is no error.
fn restart_the_controller(site: &Site, batch: &Path) {
    site.slurm.cluster.signal("slurmctld", Signal::KILL).unwrap();
    let output = site.tare(&format!("cluster status {} --json", batch.display()));
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    let error = status["engine_error"].as_str().unwrap();
    assert!(error.starts_with("Slurm does not answer: "), "{error}");
    assert!(status["jobs"].as_array().unwrap().iter().any(|job| is(job, "unknown")), "{status:#}");
    site.slurm.cluster.start_controller().unwrap();
    site.wait(batch, "the controller answers", |jobs| jobs.iter().all(|job| !is(job, "unknown")));
}

/// Two jobs may run side by side, because their partition shares its nodes. Returns the name of the job.
fn kill_a_small_job(site: &Site, batch: &Path) -> String {
    let mut found = None;
    assert!(within(PATIENCE, || {
        found = attempts_on("n1").first().copied();
        found.is_some()
    }));
    let pid = found.unwrap();
    let [position, job] = ["SLURM_ARRAY_TASK_ID", "SLURM_JOB_ID"].map(|name| variable(pid, name));
    send(pid, Signal::KILL);
    let left = || {
        carrying(&format!("SLURM_JOB_ID={job}")).into_iter().filter(|pid| on_node("n1").contains(pid)).count()
    };
    assert!(within(PATIENCE, || left() == 0), "what it had started runs on");
    site.jobs(batch)[position.parse::<usize>().unwrap()]["name"].as_str().unwrap().to_owned()
}

/// A variable in the environment of a process.
fn variable(pid: u32, name: &str) -> String {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap();
    let entries =
        environment.split(|byte| *byte == 0).map(|entry| String::from_utf8_lossy(entry).into_owned());
    let start = format!("{name}=");
    let found = entries.filter_map(|entry| entry.strip_prefix(&start).map(str::to_owned)).next();
    found.unwrap_or_else(|| panic!("process {pid} has no {name}"))
}

/// Continues the cut-off node: its attempt proceeds, and finds that another one was first.
fn come_back(site: &Site, batch: &Path, (node, processes): (String, Vec<u32>)) {
    processes.iter().for_each(|pid| send(*pid, Signal::CONT));
    let later = || fs::read_dir(batch.join("later")).unwrap().count();
    assert!(within(PATIENCE, || later() == 1), "{}", site.slurm.cluster.status());
    let number: usize = node.trim_start_matches('n').parse().unwrap();
    site.slurm.cluster.start_node(number).unwrap();
}

fn collect(site: &Site, batch: &Path, status: i32) -> Value {
    serde_json::from_str(&site.expect(&format!("cluster collect {} --json", batch.display()), status))
        .unwrap()
}

fn list<'v>(value: &'v Value, key: &str) -> &'v Vec<Value> {
    value[key].as_array().unwrap_or_else(|| panic!("no list {key:?}: {value:#}"))
}

fn count(value: &Value, key: &str) -> usize {
    list(value, key).len()
}

fn check_bundles(site: &Site, batch: &Path, collected: &Value) {
    for job in list(collected, "collected") {
        let run = Path::new(job["run"].as_str().unwrap());
        let head: Value = serde_json::from_slice(&fs::read(run.join("run.json")).unwrap()).unwrap();
        assert_eq!(head["plan"]["seed"], job["seed"]);
        let bundle: Value = serde_json::from_slice(&fs::read(run.join("../bundle.json")).unwrap()).unwrap();
        assert_eq!(bundle["is_certified"], true, "{bundle:#}");
        let is_exclusive = job["class"] == "large";
        assert_eq!(bundle["received"]["is_exclusive"], is_exclusive, "{bundle:#}");
        let findings = list(job, "findings").iter().map(|finding| finding.as_str().unwrap());
        let shared =
            findings.filter(|finding| finding.contains("may run other jobs on the same CPUs")).count();
        assert_eq!(shared, usize::from(!is_exclusive), "{job:#}");
        site.expect(&format!("report {} --format json --out shown.json", run.display()), 0);
    }
    // One certificate per node, not per job.
    let certificates = fs::read_dir(batch.join("../certificates")).unwrap().count();
    assert!((2..=3).contains(&certificates), "{certificates}");
    let runs = site.expect(&format!("cluster collect {}", batch.display()), 0);
    assert_eq!(runs.lines().count(), 4);
}

fn clean_up(site: &Site, batch: &Path) {
    fs::create_dir(batch.join("incoming/left-by-a-killed-job")).unwrap();
    let printed = site.expect(&format!("cluster cancel {} --clean-up --json", batch.display()), 0);
    let status: Value = serde_json::from_str(&printed).unwrap();
    assert!(status["jobs"].as_array().unwrap().iter().all(|job| is(job, "collected")), "{status:#}");
    assert_eq!(fs::read_dir(batch.join("incoming")).unwrap().count(), 0);
}

#[test]
fn a_batch_is_cancelled_and_what_was_cut_off_is_no_result() {
    let Some(site) = Site::new("cancelling a batch on Slurm") else { return };
    let batch = site.submit("long", "--seeds 2 --seed 5", "--selftest none");
    site.wait(&batch, "it measures", |jobs| jobs.iter().any(|job| job["detail"] == "measuring"));
    site.expect(&format!("cluster cancel {} --clean-up", batch.display()), 0);
    let jobs = site.jobs(&batch);
    assert!(jobs.iter().all(|job| is(job, "missing")), "{jobs:#?}");
    let cut_off = jobs.iter().filter(|job| job["detail"].as_str().unwrap().contains("ended by signal 15"));
    assert!(cut_off.count() >= 1, "{jobs:#?}");
    assert_eq!(fs::read_dir(batch.join("bundles")).unwrap().count(), 0);
    let left = || ["n1", "n2", "n3"].iter().any(|node| !on_node(node).is_empty());
    assert!(within(PATIENCE, || !left()), "processes of jobs are left");
}
