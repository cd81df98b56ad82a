use std::fs;

use super::*;

/// The programs, if this machine can run a cluster; otherwise prints the reason.
fn programs_here() -> Option<Programs> {
    let programs = Programs::cached().unwrap();
    let asks = std::env::var_os("TARE_TEST_KUBERNETES").is_some_and(|value| value == "1");
    if !asks && !programs.are_built() {
        eprintln!("skipped: Kubernetes is not built: TARE_TEST_KUBERNETES=1 builds it, in ten minutes");
        return None;
    }
    let missing = KubernetesCluster::missing();
    let is_asked = asks || std::env::var_os("TARE_TEST_ALL").is_some_and(|all| all == "1");
    assert!(missing.is_empty() || !is_asked, "{missing:?}");
    if !missing.is_empty() {
        eprintln!("skipped: Kubernetes: {}", missing.join("; "));
        return None;
    }
    programs.build().unwrap();
    Some(programs)
}

/// Processes that work in the folder or have it mounted.
fn left(folder: &Path) -> Vec<PathBuf> {
    let text = folder.to_string_lossy().into_owned();
    let entries = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let is_in = |path: &PathBuf| {
        let mounts = fs::read_to_string(path.join("mounts")).unwrap_or_default();
        let place = fs::read_link(path.join("cwd")).unwrap_or_default();
        mounts.contains(&text) || place.starts_with(folder)
    };
    entries.filter(is_in).collect()
}

fn wait_for(what: &str, yes: impl Fn() -> bool) {
    let began = Instant::now();
    while !yes() {
        assert!(began.elapsed() < READY_WITHIN, "{what}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// State that a cluster must not change: interfaces, mounts, and kernel settings that a kubelet would set.
fn machine_state() -> (Vec<String>, String, Vec<String>) {
    let settings = ["vm/overcommit_memory", "kernel/panic", "kernel/panic_on_oops", "net/ipv4/ip_forward"];
    let setting = |name: &&str| fs::read_to_string(format!("/proc/sys/{name}")).unwrap();
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    (interfaces(), mounts, settings.iter().map(setting).collect())
}

fn interfaces() -> Vec<String> {
    let entries = fs::read_dir("/sys/class/net").unwrap().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_cluster_is_ended_with_its_pods_and_leaves_nothing() {
    let Some(programs) = programs_here() else { return };
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().canonicalize().unwrap().join("kubernetes");
    let before = machine_state();
    let guarded = KubernetesCluster::up_guarded(&folder, 2, &programs).unwrap();
    let cluster = &guarded.cluster;
    let again = KubernetesCluster::up(&folder, 2, &programs).unwrap_err().to_string();
    assert!(again.contains("there is a cluster already"), "{again}");
    let text = cluster.status();
    // Three machines, five programs of the control plane, and two of each node.
    assert_eq!(text.matches(" runs as process ").count(), 12, "{text}");
    assert!(text.contains("node n1 is ready") && text.contains("node n2 is ready"), "{text}");
    assert!(!left(&folder).is_empty() && !cgroups::all(&cgroups::prefix(&folder)).is_empty());
    assert_eq!(machine_state(), before);

    // The API server is killed and restarted, and a node is disconnected and connected again.
    cluster.signal("kube-apiserver", Signal::KILL).unwrap();
    cluster.start_api_server().unwrap();
    cluster.set_connected(2, false).unwrap();
    wait_for("the node is found lost", || cluster.status().contains("node n2 is not ready"));
    cluster.set_connected(2, true).unwrap();
    cluster.wait(2).unwrap();

    // As another process would do it.
    KubernetesCluster::open(&folder).unwrap().down().unwrap();
    assert_eq!((left(&folder), folder.exists()), (Vec::new(), false));
    assert_eq!(cgroups::all(&cgroups::prefix(&folder)), Vec::<PathBuf>::new());
    assert_eq!(machine_state(), before);
    assert!(KubernetesCluster::open(&folder).is_err());
}

#[test]
fn a_guard_ends_what_its_owner_could_not() {
    let Some(programs) = programs_here() else { return };
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().canonicalize().unwrap().join("kubernetes");
    let mut guarded = KubernetesCluster::up_guarded(&folder, 1, &programs).unwrap();
    assert!(!left(&folder).is_empty());
    // As if this process had been killed.
    drop(guarded.guard.stdin.take());
    guarded.guard.wait().unwrap();
    wait_for("nothing is left", || left(&folder).is_empty());
    assert!(!folder.exists());
    assert_eq!(cgroups::all(&cgroups::prefix(&folder)), Vec::<PathBuf>::new());
}
