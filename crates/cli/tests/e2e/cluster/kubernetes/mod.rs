//! Batches and loads on a Kubernetes cluster of three nodes, whose parts are killed or cut off one after the
//! other. Each job counts exactly once, or is reported as missing; a load has a figure of all its agents or
//! none. All tests share one cluster. The image of its pods has the command and a small repository.

mod batch;
mod group;
mod pushed;

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
    time::Duration,
};

use serde_json::Value;
use tare_engines::{Guarded, KubernetesCluster, Programs, pack_image};

use crate::support::{Running, Workspace, home, start_under, within};

const TEST: &str = "batches and loads on Kubernetes";
/// The longest wait for a state of a job: three jobs share one CPU.
const PATIENCE: Duration = Duration::from_secs(180);
const IMAGE: &str = "localhost/tare:1";

/// The store is a local folder with the same path in every node.
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

/// The programs of a cluster; `None`, with a message, if this machine cannot run one. They are built only on
/// request, because that takes ten minutes.
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

    /// Makes the image: the command with its libraries, and the checkout.
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

    /// Starts the command in the network of the pods, as the user from the guide.
    fn start_within(&self, words: &str) -> Running {
        let cluster = &self.kubernetes.cluster;
        let config = format!("KUBECONFIG={}", cluster.inner_guest_kubeconfig().display());
        let mut wrapper = cluster.within_network().unwrap();
        wrapper.extend(["env", "-u", "HTTPS_PROXY", "-u", "https_proxy", &config].map(str::to_owned));
        let wrapper: Vec<&str> = wrapper.iter().map(String::as_str).collect();
        start_under(&wrapper, self.workspace.root(), &words.split(' ').collect::<Vec<_>>())
    }

    #[track_caller]
    fn wait_until_nothing_is_left(&self) {
        let left = || self.kubernetes.cluster.status();
        let is_left = |text: &str| text.contains("\npod ") || text.contains("\njob ");
        assert!(within(PATIENCE, || !is_left(&left())), "{}", left());
    }

    fn tare(&self, words: &str) -> Output {
        let root = self.workspace.root();
        let mut command = Command::new(env!("CARGO_BIN_EXE_tare"));
        for steering in ["TARE_ROOT", "PORT", "THREADS", "DELAY_MS", "HTTPS_PROXY", "https_proxy"] {
            command.env_remove(steering);
        }
        command.args(words.split(' ')).current_dir(root).stdin(Stdio::null());
        command.env("TARE_HOME", home(root)).env("TARE_TRUST", "1");
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

    /// The exit status of `tare cluster status` shows whether a job is missing.
    fn status(&self, batch: &Path) -> Value {
        let output = self.tare(&format!("cluster status {} --json", batch.display()));
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

    fn nodes(&self, batch: &Path) -> Vec<(String, String)> {
        let status = self.status(batch);
        let text = |job: &Value, key: &str| job[key].as_str().unwrap_or_default().to_owned();
        let jobs = status["jobs"].as_array().unwrap();
        jobs.iter().map(|job| (text(job, "name"), text(job, "node"))).collect()
    }
}

#[test]
fn whatever_breaks_of_a_kubernetes_each_job_counts_once_and_each_load_has_all_of_its_agents() {
    let Some(bench) = Bench::new() else { return };
    batch::whatever_is_killed_each_job_counts_once_or_is_named(&bench);
    pushed::a_node_that_is_cut_off_pushes_its_bundle_when_it_is_back(&bench);
    group::two_agents_load_a_service_in_a_third_pod(&bench);
    group::an_agent_that_is_killed_leaves_no_figure_and_no_pod(&bench);
    group::an_interrupt_ends_the_load_and_removes_the_pods(&bench);
    group::without_its_controller_everything_ends(&bench);
}

fn count(value: &Value, key: &str) -> usize {
    value[key].as_array().unwrap_or_else(|| panic!("no list {key:?}: {value:#}")).len()
}
