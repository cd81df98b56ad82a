//! Loads whose agents and whose service are pods.

use std::{
    collections::BTreeSet,
    fs,
    time::{Duration, Instant},
};

use rustix::process::Signal;
use serde_json::Value;

use super::Bench;
use crate::support::{Running, USUAL, carrying, send, within};

/// The environment variable with the token.
const TOKEN: &str = "TARE_AGENT_TOKEN=";
/// The time limit for the end of all processes after an agent or the controller is gone.
const SECONDS: Duration = Duration::from_secs(25);
const LOAD: &str = "load --engine kubernetes --on nodes.toml --generators node:2 --service raw-socket --token-file token \
    -c 4 -R 300 --seed 3 --json http://service:8080/ -d";

impl Bench {
    fn token(&self) -> String {
        fs::read_to_string(self.workspace.root().join("token")).unwrap().trim().to_owned()
    }

    fn load(&self, lasts: &str) -> Running {
        self.start_within(&format!("{LOAD} {lasts}"))
    }

    /// One that sends requests.
    #[track_caller]
    fn long_load(&self) -> Running {
        let mut load = self.load("1m");
        let loads = |load: &Running| load.printed("stderr").contains("left");
        assert!(within(USUAL, || loads(&load) || load.has_ended()));
        assert!(loads(&load), "{}", load.printed("stderr"));
        load
    }
}

/// Live agents whose command line contains `word`.
fn agents(word: &str) -> Vec<u32> {
    let is_one = |pid: &u32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = words.split(|byte| *byte == 0).collect();
        words.get(1) == Some(&b"agent".as_slice()) && words.contains(&word.as_bytes())
    };
    carrying(TOKEN).into_iter().filter(is_one).collect()
}

pub(super) fn two_agents_load_a_service_in_a_third_pod(bench: &Bench) {
    bench.expect("agent --new-token token", 0);
    let manifests = bench.expect(&format!("{} 3s --dry-run", LOAD.replace(" --json", "")), 0);
    let manifests: Value = serde_json::from_str(&manifests).unwrap();
    assert_eq!(manifests["items"].as_array().map(Vec::len), Some(2));
    bench
        .kubernetes
        .cluster
        .make_secret("tare-load", "token", &bench.workspace.root().join("token"))
        .unwrap();
    let mut load = bench.load("3s");
    assert!(within(USUAL, || load.printed("stderr").contains("left") || load.has_ended()), "it loads");
    no_process_shows(&bench.token());

    // All pods share a CPU, so the load may be invalid.
    let ended = load.end().expect_measured();
    let found = ended.json();
    assert_eq!(found["agents"].as_array().map(Vec::len), Some(2), "{found:#}");
    assert_eq!(found["totals"]["failed"], 0, "{found:#}");
    assert!(found["totals"]["answered"].as_u64() > Some(800), "{found:#}");
    assert_eq!(found["what"], "GET /");
    assert!(
        found["check"].as_str().is_some_and(|check| check.starts_with("every response is compared")),
        "{found:#}"
    );
    assert!(found["service_cpu"]["ns_per_answer"].as_f64() > Some(100.0), "{found:#}");
    let on = ended.stderr.lines().filter(|line| line.contains(" is tare-load-"));
    let nodes: BTreeSet<&str> = on.filter_map(|line| line.split(' ').next_back()).collect();
    assert_eq!(nodes, BTreeSet::from(["n1", "n2", "n3"]), "{ended}");
    assert!(!ended.stderr.contains(&bench.token()) && !ended.stdout.contains(&bench.token()));
    bench.wait_until_nothing_is_left();
}

/// Checks that no process shows the token, and that the environment of the service does not contain it.
fn no_process_shows(token: &str) {
    let entries =
        fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let (mut agents, mut services) = (0, 0);
    for pid in entries.filter(|name| name.parse::<u32>().is_ok()) {
        let read = |name: &str| {
            String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default()).into_owned()
        };
        let words = read("cmdline");
        assert!(!words.contains(token), "{words}");
        let has_it = read("environ").contains(token);
        agents += usize::from(has_it && words.contains("\0agent\0"));
        let is_service = words.contains("\0raw-socket\0") && !words.contains("\0agent\0");
        services += usize::from(is_service);
        assert!(!(is_service && has_it), "{words}");
    }
    assert!(agents >= 3 && services >= 1, "{agents} agents, {services} services");
}

pub(super) fn an_agent_that_is_killed_leaves_no_figure_and_no_pod(bench: &Bench) {
    let load = bench.long_load();
    let generators = agents("--target");
    assert_eq!(generators.len(), 2, "{generators:?}");
    send(generators[1], Signal::KILL);
    let ended = load.end_within(SECONDS).expect(4);
    assert_eq!(ended.stdout, "", "no figure");
    assert!(ended.stderr.contains(":7070 is lost") && ended.stderr.contains("there is no result"), "{ended}");
    let lost = ended.line_of_stderr("pod tare-load-");
    assert!(lost.contains("-generators-1-") && lost.contains(": it was killed"), "{ended}");
    assert!(within(SECONDS, || carrying(TOKEN).is_empty()), "agents run on");
    bench.wait_until_nothing_is_left();
}

pub(super) fn an_interrupt_ends_the_load_and_removes_the_pods(bench: &Bench) {
    let load = bench.long_load();
    send(load.pid(), Signal::INT);
    let ended = load.end_within(SECONDS).expect(130);
    // The measurements so far are printed, as by any other load.
    let found: Value = ended.json();
    assert_eq!(found["totals"]["failed"], 0, "{found:#}");
    bench.wait_until_nothing_is_left();
    // While pods start, nothing has been measured.
    let mut load = bench.load("1m");
    assert!(within(USUAL, || load.printed("stderr").contains("waits for the service") || load.has_ended()));
    send(load.pid(), Signal::INT);
    let ended = load.end_within(SECONDS).expect(130);
    assert!(ended.stderr.contains("interrupted before the load") && ended.stdout.is_empty(), "{ended}");
    bench.wait_until_nothing_is_left();
}

pub(super) fn without_its_controller_everything_ends(bench: &Bench) {
    let load = bench.long_load();
    let began = Instant::now();
    send(load.pid(), Signal::KILL);
    assert_eq!(load.end_within(SECONDS).code(), None);
    assert!(within(SECONDS, || carrying(TOKEN).is_empty()), "{}", bench.kubernetes.cluster.status());
    assert!(began.elapsed() < SECONDS);
}
