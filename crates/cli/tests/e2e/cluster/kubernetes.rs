//! One batch on a Kubernetes of three nodes, whose kubelet, API server and jobs are killed: each job counts exactly once, or is named as
//! missing. The image of its jobs has the command and a small repository.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::Duration,
};

use rustix::process::Signal;
use serde_json::Value;
use tare_engines::{Guarded, KubernetesCluster, Programs, pack_image};

use super::site::is;
use crate::support::{Workspace, alone, carrying, real_root, send, within};

const TEST: &str = "a batch on Kubernetes";
/// No state of a job is waited for any longer: three jobs have one CPU together.
const PATIENCE: Duration = Duration::from_secs(180);
const IMAGE: &str = "localhost/tare:1";

/// The store is a folder of this machine, at the same path in every node.
const MACHINES: &str = r#"format = "1.0"

[[class]]
name       = "node"
cpus       = 1
time-limit = "5m"
kubernetes = { image = "IMAGE", host-path = "STORE", memory = "1Gi" }
"#;

struct Bench {
    workspace: Workspace,
    kubernetes: Guarded<KubernetesCluster>,
}

/// The programs of a cluster; nothing if there can be none here, which is then said. They are built only if that is asked for, since it
/// takes ten minutes.
fn programs() -> Option<Programs> {
    let programs = Programs::cached().unwrap();
    let asks = std::env::var_os("TARE_TEST_KUBERNETES").is_some_and(|value| value == "1");
    if !programs.are_built() && !asks {
        tare_host::fixture::skip_always(
            TEST,
            "Kubernetes is not built: TARE_TEST_KUBERNETES=1 builds it, in ten minutes",
        );
        return None;
    }
    let missing = KubernetesCluster::missing();
    if !missing.is_empty() {
        tare_host::fixture::skip(TEST, &missing.join("; "));
        return None;
    }
    programs.build().unwrap();
    Some(programs)
}

impl Bench {
    fn new() -> Option<Bench> {
        let programs = programs()?;
        let workspace = super::workspace();
        let root = workspace.root();
        fs::create_dir(root.join("store")).unwrap();
        let machines = MACHINES.replace("IMAGE", IMAGE);
        workspace.write("nodes.toml", &machines.replace("STORE", root.join("store").to_str().unwrap()));
        let kubernetes = KubernetesCluster::up_guarded(&root.join("kubernetes"), 3, &programs).unwrap();
        let bench = Bench { workspace, kubernetes };
        bench.load_image();
        Some(bench)
    }

    /// The command with its libraries, and the checkout.
    fn load_image(&self) {
        let root = self.workspace.root();
        let image = root.join("image");
        for folder in ["usr/local/bin", "repository/services", "tmp", "etc"] {
            fs::create_dir_all(image.join(folder)).unwrap();
        }
        let program = env!("CARGO_BIN_EXE_tare");
        let inside = image.join("usr/local/bin/tare");
        let stripped = Command::new("strip").arg("-o").arg(&inside).arg(program).status();
        if !stripped.is_ok_and(|status| status.success()) {
            fs::copy(program, &inside).unwrap();
        }
        let libraries = Command::new("ldd").arg(program).output().unwrap();
        let libraries = String::from_utf8(libraries.stdout).unwrap();
        for library in libraries.split_whitespace().filter(|word| word.starts_with('/')) {
            let place = image.join(library.trim_start_matches('/'));
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::copy(library, place).unwrap();
        }
        for part in ["tare.toml", "contracts", "experiments"] {
            let copied =
                Command::new("cp").arg("-r").arg(root.join(part)).arg(image.join("repository")).status();
            assert!(copied.unwrap().success());
        }
        let archive = root.join("image.tar");
        pack_image(&image, IMAGE, &["/usr/local/bin/tare"], &archive).unwrap();
        self.kubernetes.cluster.load_image(&archive).unwrap();
    }

    fn tare(&self, words: &str) -> Output {
        let root = self.workspace.root();
        let mut command = Command::new(env!("CARGO_BIN_EXE_tare"));
        for steering in ["TARE_ROOT", "PORT", "THREADS", "DELAY_MS", "HTTPS_PROXY", "https_proxy"] {
            command.env_remove(steering);
        }
        command.args(words.split(' ')).current_dir(root).stdin(Stdio::null());
        command.env("TARE_HOME", root.join(".tare/home")).env("TARE_TRUST", "1");
        command.env("KUBECONFIG", self.kubernetes.cluster.guest_kubeconfig()).output().unwrap()
    }

    #[track_caller]
    fn expect(&self, words: &str, status: i32) -> String {
        let output = self.tare(words);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let said = format!("{words}: {}{}", text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(status), "{said}");
        text(&output.stdout)
    }

    fn json(&self, words: &str, status: i32) -> Value {
        serde_json::from_str(&self.expect(&format!("{words} --json"), status)).unwrap()
    }

    /// Its exit status says whether a job is missing.
    fn status(&self, batch: &Path) -> Value {
        let output = self.tare(&format!("status {} --json", batch.display()));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(0 | 5)), "{said}");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
    }

    #[track_caller]
    fn wait(&self, batch: &Path, what: &str, yes: impl Fn(&[Value]) -> bool) {
        let mut last = Value::Null;
        let done = within(PATIENCE, || {
            last = self.status(batch);
            std::thread::sleep(Duration::from_millis(200));
            yes(last["jobs"].as_array().unwrap())
        });
        assert!(done, "{what}: {last:#}\n{}", self.kubernetes.cluster.status());
    }

    /// On which node each job runs.
    fn nodes(&self, batch: &Path) -> Vec<(String, String)> {
        let status = self.status(batch);
        let text = |job: &Value, key: &str| job[key].as_str().unwrap_or_default().to_owned();
        let jobs = status["jobs"].as_array().unwrap();
        jobs.iter().map(|job| (text(job, "name"), text(job, "node"))).collect()
    }
}

#[test]
fn whatever_is_killed_of_a_kubernetes_each_job_counts_once_or_is_named() {
    let _alone = alone();
    let Some(bench) = Bench::new() else { return };
    let plan = "plan experiments/tiny.toml --on nodes.toml --seeds 3 --seed 5 --output jobs.ndjson";
    bench.expect(plan, 0);
    let submit = "submit jobs.ndjson --engine kubernetes --store store --trust --selftest honest,cache";
    let batch = submit_with_the_role_of_the_guide(&bench, submit);
    bench.wait(&batch, "all nodes work", |jobs| {
        jobs.iter().all(|job| is(job, "running") && !job["detail"].as_str().unwrap_or_default().is_empty())
    });
    let nodes = bench.nodes(&batch);
    let on = |node: &str| nodes.iter().find(|(_, at)| at == node).expect("a job on each node").0.clone();
    let killed = on("n2");
    on("n1");
    on("n3");

    bench.kubernetes.cluster.signal("kubelet-n1", Signal::KILL).unwrap();
    kill_the_api_server(&bench, &batch);
    kill_a_job("n2");
    bench.wait(&batch, "the killed job is missing, the others have arrived", |jobs| {
        jobs.iter().all(|job| match job["name"].as_str() == Some(&killed) {
            true => is(job, "missing"),
            false => is(job, "arrived"),
        })
    });
    bench.kubernetes.cluster.start_node(1).unwrap();
    bench.kubernetes.cluster.wait(3).unwrap();

    let collected = bench.json(&format!("collect {}", batch.display()), 5);
    assert_eq!((count(&collected, "collected"), count(&collected, "missing")), (2, 1), "{collected:#}");
    assert_eq!(collected["missing"][0]["job"], killed.as_str());
    let reason = collected["missing"][0]["reason"].as_str().unwrap();
    assert!(reason.contains(" on n2"), "{reason}");

    // What is missing is submitted again, and nothing else.
    let again = bench.json(submit, 0);
    assert_eq!((&again["submitted"], &again["done"]), (&Value::from(vec![killed]), &Value::from(2)));
    bench.expect(&format!("status {} --wait 3m", batch.display()), 0);
    let collected = bench.json(&format!("collect {}", batch.display()), 0);
    check(&collected);
    clean_up(&bench, &batch);
}

/// All is done by a user that may do what the guide says, and nothing else.
fn submit_with_the_role_of_the_guide(bench: &Bench, submit: &str) -> PathBuf {
    let refused = bench.tare(submit);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("does not permit to list jobs") && said.contains("alice"), "{said}");
    let roles = real_root().join("docs/examples/kubernetes-role.yaml");
    bench.kubernetes.cluster.grant(&roles).unwrap();
    PathBuf::from(bench.expect(submit, 0).trim_end())
}

/// In the meantime nothing is known of jobs without a bundle, which is no error.
fn kill_the_api_server(bench: &Bench, batch: &Path) {
    let cluster = &bench.kubernetes.cluster;
    cluster.signal("kube-apiserver", Signal::KILL).unwrap();
    let mut error = String::new();
    let said = within(Duration::from_secs(10), || {
        error = bench.status(batch)["engine_error"].as_str().unwrap_or_default().to_owned();
        !error.is_empty()
    });
    assert!(said && error.starts_with("Kubernetes does not answer"), "{error}");
    cluster.start_api_server().unwrap();
    cluster.wait(0).unwrap();
    bench.wait(batch, "the API answers", |jobs| jobs.iter().all(|job| !is(job, "unknown")));
}

/// The first process of its container.
fn kill_a_job(node: &str) {
    let is_job = |pid: &u32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).any(|word| word == b"job")
    };
    let on_node = || carrying(&format!("TARE_JOB_NODE={node}"));
    let jobs: Vec<u32> = on_node().into_iter().filter(is_job).collect();
    assert_eq!(jobs.len(), 1, "{jobs:?}");
    send(jobs[0], Signal::KILL);
    assert!(within(Duration::from_secs(30), || on_node().is_empty()), "what it had started runs on");
}

fn count(value: &Value, key: &str) -> usize {
    value[key].as_array().unwrap_or_else(|| panic!("no list {key:?}: {value:#}")).len()
}

/// Each job once, on a CPU of its own.
fn check(collected: &Value) {
    assert_eq!(count(collected, "collected"), 3, "{collected:#}");
    let mut seeds: Vec<u64> = Vec::new();
    for job in collected["collected"].as_array().unwrap() {
        seeds.push(job["seed"].as_u64().unwrap());
        let run = Path::new(job["run"].as_str().unwrap());
        let head: Value = serde_json::from_slice(&fs::read(run.join("run.json")).unwrap()).unwrap();
        assert_eq!(head["plan"]["seed"], job["seed"]);
        let bundle: Value = serde_json::from_slice(&fs::read(run.join("../bundle.json")).unwrap()).unwrap();
        assert_eq!(bundle["is_certified"], true, "{bundle:#}");
        assert_eq!(bundle["received"]["is_exclusive"], true, "{bundle:#}");
        assert_eq!(bundle["received"]["cpus"].as_array().map(Vec::len), Some(1), "{bundle:#}");
    }
    seeds.sort_unstable();
    assert_eq!(seeds, [5, 6, 7]);
}

fn clean_up(bench: &Bench, batch: &Path) {
    let status = bench.json(&format!("cancel {} --clean-up", batch.display()), 0);
    assert!(status["jobs"].as_array().unwrap().iter().all(|job| is(job, "collected")), "{status:#}");
    let pods = || bench.kubernetes.cluster.status();
    assert!(within(PATIENCE, || !pods().contains("\npod ")), "{}", pods());
}
