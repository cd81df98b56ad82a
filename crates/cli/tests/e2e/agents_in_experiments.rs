//! Experiments whose load comes from agents: two real agents on this machine, and the slices and runs in
//! which one of them is killed or stopped.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use rustix::process::Signal;
use serde_json::Value;
use tare_host::cpus::{Pinning, available};

use crate::support::{Ended, Running, USUAL, Workspace, experiment, fact, free_port, journal, send, within};

/// The rows, each with a slice of a second in each round.
const LABELS: [&str; 2] = ["raw-socket", "honest"];
const OPEN: &str = "[latency]\nrate = \"200/s\"\nslice = \"1s\"\nslices-per-block = 1\n";

/// A checkout with an experiment and a token.
struct Ground {
    workspace: Workspace,
}

impl Ground {
    fn new(blocks: usize, rounds: usize, more: &str) -> Ground {
        let workspace = Workspace::new(&[("honest", "correct")]);
        let text = experiment(&LABELS, blocks).replace("connections = 1", "connections = 4");
        let text = text.replace("slices-per-block = 2", &format!("slices-per-block = {rounds}"));
        let text = text.replace("\"30ms\"", "\"1s\"") + more;
        workspace.write("experiments/tiny.toml", &text);
        workspace.tare(&["agent", "--new-token", "token"]).expect(0);
        Ground { workspace }
    }

    /// Starts an agent on the generator's CPUs, as a run requires for agents on its machine.
    fn agent(&self, port: u16) -> Agent {
        let (listen, cpus) = (format!("127.0.0.1:{port}"), generator_cpus());
        self.agent_with(&["--keep", "--cpus", &cpus, "--listen", &listen])
    }

    fn agent_with(&self, words: &[&str]) -> Agent {
        let mut process = self.workspace.start(&[&["agent", "--token-file", "token"], words].concat());
        let listens = |process: &Running| process.printed("stdout").contains('\n');
        assert!(within(USUAL, || listens(&process) || process.has_ended()));
        let address = process.printed("stdout").trim().replace("listening on ", "");
        Agent { process, address }
    }

    fn words(agents: &[&Agent]) -> Vec<String> {
        let addresses: Vec<&str> = agents.iter().map(|agent| agent.address.as_str()).collect();
        let words =
            ["run", "experiments/tiny.toml", "--agents", &addresses.join(","), "--token-file", "token"];
        words.map(str::to_owned).to_vec()
    }

    fn start(&self, agents: &[&Agent], more: &[&str]) -> Running {
        let words = Ground::words(agents);
        let words: Vec<&str> = words.iter().map(String::as_str).chain(more.iter().copied()).collect();
        self.workspace.start(&words)
    }
}

struct Agent {
    process: Running,
    address: String,
}

impl Agent {
    fn kill(self) -> u16 {
        send(self.process.pid(), Signal::KILL);
        self.process.end();
        self.address.rsplit(':').next().unwrap().parse().unwrap()
    }

    fn stop(self) -> Ended {
        send(self.process.pid(), Signal::TERM);
        self.process.end()
    }
}

pub fn generator_cpus() -> String {
    let cpus = Pinning::choose(&available(), 1, 1).generator;
    cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

pub fn of_kind<'a>(records: &'a [Value], kind: &str) -> Vec<&'a Value> {
    records.iter().filter(|record| record["kind"] == kind).collect()
}

/// Waits until this number of slices is stored.
fn until_slices(run: &mut Running, folder: &Path, count: usize) {
    let slices = || {
        let runs = fs::read_dir(folder).map(|runs| runs.flatten().map(|run| run.path()).collect::<Vec<_>>());
        runs.unwrap_or_default()
            .iter()
            .map(|run| journal(run))
            .map(|records| of_kind(&records, "sample").len())
            .sum::<usize>()
    };
    assert!(within(USUAL, || slices() >= count || run.has_ended()), "{}", run.printed("stderr"));
    assert!(!run.has_ended(), "{}", run.printed("stderr"));
}

/// Expects a complete run. On a busy machine a row with so few slices may have no figures.
fn expect_a_run(ended: Ended) -> Ended {
    assert!(matches!(ended.code(), Some(0 | 4 | 5)), "{ended}");
    ended
}

fn u64_of(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("{pointer} of {value}"))
}

/// Checks the properties of every slice with figures.
fn check_sample(sample: &Value, addresses: &[&str]) {
    let fleet = &sample["fleet"];
    let agents = fleet["agents"].as_array().unwrap_or_else(|| panic!("{sample}"));
    let named: Vec<&str> = agents.iter().map(|agent| agent["address"].as_str().unwrap()).collect();
    assert_eq!(named, addresses);
    let sum = |key: &str| agents.iter().map(|agent| u64_of(agent, &format!("/{key}"))).sum::<u64>();
    assert_eq!(sum("answered"), u64_of(sample, "/load/answered"), "{sample}");
    assert_eq!(sum("answered_in_window"), u64_of(sample, "/load/answered_in_window"), "{sample}");
    assert!(agents.iter().all(|agent| u64_of(agent, "/answered") > 0), "each of them loaded: {sample}");
    let window_ns = u64_of(fleet, "/to_ns") - u64_of(fleet, "/from_ns");
    assert_eq!(window_ns, u64_of(sample, "/load/window_ns"), "{sample}");
    assert!((300_000_000..1_000_000_000).contains(&window_ns), "{sample}");
    assert!(u64_of(sample, "/host/server_cpu_ns") > 0, "{sample}");
    assert_eq!(u64_of(sample, "/load/latency/count"), u64_of(sample, "/load/answered"));
}

/// Agents reach the services at another address than 127.0.0.1. The raw socket listens there and a fake
/// service does not.
#[test]
fn two_agents_load_an_experiment_with_open_and_closed_loops() {
    let ground = Ground::new(1, 1, OPEN);
    let agents = [ground.agent(0), ground.agent(0)];
    let words = ["--json", "--serve-on", "127.0.0.2", "--services", "raw-socket,raw-socket@2,honest"];
    let ended = ground.start(&agents.each_ref(), &words).end().expect(2);
    let addresses = agents.each_ref().map(|agent| agent.address.as_str());
    let run = ground.workspace.run();
    let records = journal(&run);
    let (samples, discarded) = (of_kind(&records, "sample"), of_kind(&records, "discarded"));
    // An agent may be late because of other programs. Its slice then says so, and has no figures.
    assert_eq!(samples.len() + discarded.len(), 2 + 2, "{records:?}");
    assert!(!samples.is_empty(), "{discarded:?}");
    samples.iter().for_each(|sample| check_sample(sample, &addresses));
    for slice in discarded {
        assert!(
            slice["reasons"][0].as_str().unwrap().contains("127.0.0.1:") && slice["load"].is_null(),
            "{slice}"
        );
    }
    let failed = of_kind(&records, "failed");
    let reason = failed[0]["reason"].as_str().unwrap();
    assert_eq!((failed.len(), &failed[0]["label"]), (1, &Value::from("honest")));
    assert!(reason.contains("it is asked at 127.0.0.2:") && reason.contains("SERVE_ON"), "{reason}");
    let head: Value = serde_json::from_str(&fs::read_to_string(run.join("run.json")).unwrap()).unwrap();
    assert_eq!(head["plan"]["agents"]["addresses"], serde_json::json!(addresses));
    let report = ended.json();
    assert!(fact(&report, "Load from").starts_with("2 agents: 127.0.0.1:"), "{}", fact(&report, "Load from"));
    let answered: u64 = samples.iter().map(|sample| u64_of(sample, "/load/answered")).sum();
    assert!(answered > 0, "{report}");
    for agent in agents {
        let ended = agent.stop();
        assert!(ended.stderr.contains("is complete"), "{ended}");
    }
}

/// The service of a row answers one of 1,500 requests incorrectly, which its proof does not notice.
#[test]
fn a_wrong_answer_is_found_where_it_arrives() {
    let ground = Ground::new(1, 1, "");
    let manifest = crate::support::manifest("honest", "wrong-in-1500");
    ground.workspace.service("honest", &manifest);
    let agents = [ground.agent(0), ground.agent(0)];
    let ended = ground.start(&agents.each_ref(), &[]).end();
    assert!(matches!(ended.code(), Some(2 | 4)), "{ended}");
    assert!(ended.stdout.contains("wrong") || ended.stderr.contains("wrong"), "{ended}");
    agents.into_iter().for_each(|agent| drop(agent.stop()));
}

#[test]
fn a_killed_agent_spoils_its_slice_and_the_run_goes_on_once_it_is_back() {
    let ground = Ground::new(1, 2, "");
    let port = free_port();
    let [one, other] = [ground.agent(0), ground.agent(port)];
    let mut run = ground.start(&[&one, &other], &[]);
    let runs = ground.workspace.root().join(".tare/runs");
    until_slices(&mut run, &runs, 1);
    // Wait until the slice has begun: the connections are made first, then the slice lasts a second.
    std::thread::sleep(Duration::from_millis(900));
    let (address, port) = (other.address.clone(), other.kill());
    let other = ground.agent(port);
    let ended = expect_a_run(run.end());
    let records = journal(&ground.workspace.run());
    let discarded = of_kind(&records, "discarded");
    assert!(ended.stderr.contains("discarded") || discarded.is_empty(), "{ended}");
    for slice in &discarded {
        assert_eq!(slice["is_lost"], true, "{slice}");
        assert!(slice["reasons"][0].as_str().unwrap().contains(&address), "{slice}");
        assert!(slice["load"].is_null(), "no figure");
    }
    assert_eq!(of_kind(&records, "sample").len() + discarded.len(), 2 * 2, "{records:?}");
    assert_eq!(of_kind(&records, "ended").len(), 1);
    assert!(discarded.is_empty() || ended.stdout.contains("were discarded and have no figures"), "{ended}");
    [one, other].into_iter().for_each(|agent| drop(agent.stop()));
}

#[test]
fn a_run_whose_agents_stay_away_is_cut_off_and_can_be_resumed() {
    // An interrupted block is not repeated, so only the third one is left.
    let ground = Ground::new(3, 1, "");
    let port = free_port();
    let [one, other] = [ground.agent(0), ground.agent(port)];
    let mut run = ground.start(&[&one, &other], &[]);
    until_slices(&mut run, &ground.workspace.root().join(".tare/runs"), 1);
    let port = other.kill();
    let began = Instant::now();
    let ended = run.end().expect(4);
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    assert!(ended.stderr.contains("3 slices one after the other had no agents"), "{ended}");
    assert!(ended.stderr.contains("tare run --resume"), "{ended}");
    let folder = ground.workspace.run();
    let before = journal(&folder);
    assert!(of_kind(&before, "ended").is_empty() && of_kind(&before, "discarded").len() == 2, "{before:?}");
    let other = ground.agent(port);
    let path = folder.to_str().unwrap();
    expect_a_run(ground.workspace.tare(&["run", "--resume", path, "--token-file", "token"]));
    let after = journal(&folder);
    assert_eq!(of_kind(&after, "ended").len(), 1);
    assert!(of_kind(&after, "sample").len() > of_kind(&before, "sample").len(), "the rest was measured");
    [one, other].into_iter().for_each(|agent| drop(agent.stop()));
}

#[test]
fn an_agent_that_is_stopped_for_a_while_spoils_its_slice() {
    let ground = Ground::new(1, 1, "");
    let text = fs::read_to_string(ground.workspace.root().join("experiments/tiny.toml")).unwrap();
    ground.workspace.write("experiments/tiny.toml", &text.replace("\"1s\"", "\"2s\""));
    let agents = [ground.agent(0), ground.agent(0)];
    let mut run = ground.start(&agents.each_ref(), &[]);
    until_slices(&mut run, &ground.workspace.root().join(".tare/runs"), 1);
    std::thread::sleep(Duration::from_millis(1_000));
    send(agents[1].process.pid(), Signal::STOP);
    std::thread::sleep(Duration::from_millis(1_500));
    send(agents[1].process.pid(), Signal::CONT);
    let ended = expect_a_run(run.end());
    let records = journal(&ground.workspace.run());
    let discarded = of_kind(&records, "discarded");
    assert!(!discarded.is_empty(), "{ended}");
    let reason = discarded[0]["reasons"].to_string();
    assert!(reason.contains(&agents[1].address), "{reason}");
    let named = ["silent", "clocks", "unaligned", "too late", "late", "inconsistent"];
    assert!(named.iter().any(|name| reason.contains(name)), "{reason}");
    assert!(ended.stdout.contains("were discarded and have no figures"), "{ended}");
    agents.into_iter().for_each(|agent| drop(agent.stop()));
}

#[test]
fn what_agents_cannot_load_is_refused_before_anything_is_built() {
    let ground = Ground::new(1, 1, "");
    let refusal = |words: &[&str]| ground.workspace.tare(words).expect(1).stderr.clone();
    let base = ["run", "experiments/tiny.toml", "--agents", "127.0.0.1:9", "--token-file", "token"];
    let with = |more: &[&str]| refusal(&[&base, more].concat());
    assert!(with(&[]).contains("no connection to the agent at 127.0.0.1:9"));
    assert!(with(&["--isolate"]).contains("--isolate gives each service a network that no agent reaches"));
    assert!(
        with(&["--connections", "1", "--agents", "127.0.0.1:8"]).contains("1 connections are less than one")
    );
    assert!(with(&["--serve-on", "192.0.2.1"]).contains("is not an address of this machine"));
    let by = |agent: &Agent| {
        refusal(&["run", "experiments/tiny.toml", "--agents", &agent.address, "--token-file", "token"])
    };
    let once = ground.agent_with(&[]);
    let refused = by(&once);
    assert!(refused.contains("start it with --keep"), "{refused}");
    once.process.end();
    if Pinning::choose(&available(), 1, 1).apart() {
        let anywhere = ground.agent_with(&["--keep"]);
        let refused = by(&anywhere);
        assert!(refused.contains("start it with --cpus"), "{refused}");
        anywhere.stop();
    }
}
