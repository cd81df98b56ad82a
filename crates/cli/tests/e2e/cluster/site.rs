//! A checkout, a Slurm cluster on this machine, and the command in both.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::Duration,
};

use serde_json::Value;
use tare_engines::{Guarded, SlurmCluster};

use crate::support::{Workspace, home, within};

/// One or two seconds of measuring: the reference and its twin.
pub const EXPERIMENT: &str = r#"format   = "1.0"
title    = "Tiny"
question = "Does it run?"
contract = "hello"
reference    = "raw-socket"
twin     = false
services = ["raw-socket", "raw-socket@2"]
[load]
connections = 1
threads     = 1
[service]
threads = 1
[schedule]
budget           = "0s"
slice            = "30ms"
slices-per-block = 2
warm-up          = "50ms"
blocks-min       = 3
blocks-max       = 3
"#;

/// Two minutes of measuring.
pub fn long() -> String {
    let slices = EXPERIMENT.replace("slices-per-block = 2", "slices-per-block = 10");
    slices.replace("slice            = \"30ms\"", "slice            = \"2s\"")
}

/// One node is small, in a partition that always shares it; the others are large.
pub const MACHINES: &str = r#"format = "1.0"

[[class]]
name       = "small"
cpus       = 1
time-limit = "5m"
slurm      = { partition = "shared", constraint = "small" }

[[class]]
name       = "large"
cpus       = 1
time-limit = "5m"
slurm      = { partition = "bench", constraint = "large" }
"#;

/// The longest wait for a state of a job.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub struct Site {
    pub workspace: Workspace,
    pub slurm: Guarded<SlurmCluster>,
}

impl Site {
    /// A site with three nodes; `None`, with a message, if Slurm is not installed.
    pub fn new(test: &str) -> Option<Site> {
        let missing = SlurmCluster::missing();
        if !missing.is_empty() {
            tare_host::fixture::skip(
                test,
                &format!("{} is not installed: make setup installs it", missing.join(" ")),
            );
            return None;
        }
        let workspace = super::workspace();
        let slurm = SlurmCluster::up_guarded(&workspace.root().join("slurm"), 3).unwrap();
        Some(Site { workspace, slurm })
    }

    /// Runs `tare WORDS`. Unlike in other tests, submitted jobs outlive it and inherit its environment.
    pub fn tare(&self, words: &str) -> Output {
        let root = self.workspace.root();
        let mut command = Command::new(env!("CARGO_BIN_EXE_tare"));
        for steering in ["TARE_ROOT", "PORT", "THREADS", "DELAY_MS"] {
            command.env_remove(steering);
        }
        command.args(words.split(' ')).current_dir(root).stdin(Stdio::null());
        command.env("TARE_HOME", home(root)).env("TARE_TRUST", "1");
        command.env("TARE_CPU_REALM", format!("cluster-{}", std::process::id()));
        command.env("SLURM_CONF", self.slurm.cluster.config()).output().unwrap()
    }

    /// The output, if the command ends with this status.
    #[track_caller]
    pub fn expect(&self, words: &str, status: i32) -> String {
        let output = self.tare(words);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(
            output.status.code(),
            Some(status),
            "{words}: {}{}",
            text(&output.stdout),
            text(&output.stderr)
        );
        text(&output.stdout)
    }

    /// Plans and submits with these arguments; returns the folder of the batch.
    pub fn submit(&self, experiment: &str, plan: &str, submit: &str) -> PathBuf {
        self.expect(
            &format!(
                "cluster plan experiments/{experiment}.toml --on machines.toml --output jobs.ndjson {plan}"
            ),
            0,
        );
        self.expect(&format!("cluster submit jobs.ndjson --engine slurm --store store {submit}"), 0)
            .trim_end()
            .into()
    }

    /// The jobs of a batch, as `tare cluster status --json` prints them.
    pub fn jobs(&self, batch: &Path) -> Vec<Value> {
        let output = self.tare(&format!("cluster status {} --json", batch.display()));
        let status: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
            panic!("{error}: {}", String::from_utf8_lossy(&output.stderr));
        });
        status["jobs"].as_array().unwrap().clone()
    }

    /// Waits until the jobs satisfy `yes`.
    #[track_caller]
    pub fn wait(&self, batch: &Path, what: &str, yes: impl Fn(&[Value]) -> bool) {
        let mut last = Vec::new();
        let done = within(PATIENCE, || {
            last = self.jobs(batch);
            std::thread::sleep(Duration::from_millis(100));
            yes(&last)
        });
        assert!(done, "{what}: {last:#?}\n{}{}", self.slurm.cluster.status(), logs(batch));
    }
}

/// Live processes of jobs on a node.
pub fn on_node(node: &str) -> Vec<u32> {
    crate::support::carrying(&format!("SLURMD_NODENAME={node}"))
}

/// The `tare job` processes on a node.
pub fn attempts_on(node: &str) -> Vec<u32> {
    let is_one = |pid: &u32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).any(|word| word == b"job")
    };
    on_node(node).into_iter().filter(is_one).collect()
}

pub fn of_class<'v>(jobs: &'v [Value], class: &'v str) -> impl Iterator<Item = &'v Value> {
    jobs.iter().filter(move |job| job["class"] == class)
}

pub fn is(job: &Value, state: &str) -> bool {
    job["state"] == state
}

fn logs(batch: &Path) -> String {
    let entries = fs::read_dir(batch.join("logs")).into_iter().flatten().flatten();
    entries.map(|entry| fs::read_to_string(entry.path()).unwrap_or_default()).collect()
}
