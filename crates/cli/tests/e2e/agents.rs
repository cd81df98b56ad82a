//! One load from several generators: real agents and a real controller on this machine, and the load when one
//! of them is killed, stopped or not authorised.

use std::{
    fs,
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Ended, PROGRAM, Running, USUAL, Workspace, free_port, send, start, within};

/// The time limit for the end of all processes after one side is gone.
const SECONDS: Duration = Duration::from_secs(15);

/// A checkout with a token in it.
pub struct Ground {
    workspace: Workspace,
}

impl Ground {
    pub fn new() -> Ground {
        let workspace = Workspace::new(&[]);
        workspace.tare(&["agent", "--new-token", "token"]).expect(0);
        Ground { workspace }
    }

    pub fn agent(&self, words: &[&str]) -> Agent {
        let words = [&["agent", "--token-file", "token"], words].concat();
        Agent::of(self.workspace.start(&words))
    }

    /// Starts the controller of a load on the server at this port.
    fn load(&self, agents: &[&Agent], port: u16, words: &str) -> Running {
        self.load_path(agents, port, "/", words)
    }

    pub fn load_path(&self, agents: &[&Agent], port: u16, path: &str, words: &str) -> Running {
        let addresses: Vec<&str> = agents.iter().map(|agent| agent.address.as_str()).collect();
        let (addresses, url) = (addresses.join(","), format!("http://127.0.0.1:{port}{path}"));
        let words: Vec<&str> = ["load", "--agents", &addresses, "--token-file", "token", &url]
            .into_iter()
            .chain(words.split_whitespace())
            .collect();
        self.workspace.start(&words)
    }
}

pub struct Agent {
    process: Running,
    address: String,
}

impl Agent {
    fn of(mut process: Running) -> Agent {
        let listens = |process: &Running| process.printed("stdout").contains('\n');
        assert!(within(USUAL, || listens(&process) || process.has_ended()));
        let address = process.printed("stdout");
        let address =
            address.trim().strip_prefix("listening on ").expect("it says where it listens").to_owned();
        Agent { process, address }
    }

    fn pid(&self) -> u32 {
        self.process.pid()
    }

    pub fn end(self) -> Ended {
        self.process.end_within(SECONDS)
    }
}

struct RawServer {
    process: Running,
    port: u16,
}

impl RawServer {
    fn start(ground: &Ground) -> RawServer {
        let port = free_port();
        let mut process = ground.workspace.start(&["raw-socket", "--port", &port.to_string()]);
        let listens = || TcpStream::connect(("127.0.0.1", port)).is_ok();
        assert!(within(USUAL, || listens() || process.has_ended()));
        RawServer { process, port }
    }

    fn end(self) {
        send(self.process.pid(), Signal::TERM);
        self.process.end().expect(0);
    }
}

/// A service with a contract of its own.
struct FakeServer {
    child: Child,
    port: u16,
}

impl FakeServer {
    fn start(mode: &str) -> FakeServer {
        let port = free_port();
        let mut command = Command::new(&*PROGRAM);
        command.env("FAKE", mode).env("PORT", port.to_string());
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        assert!(within(USUAL, || TcpStream::connect(("127.0.0.1", port)).is_ok()));
        FakeServer { child, port }
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn u64_of(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("{pointer} of {value}"))
}

pub fn sum(document: &Value, key: &str) -> u64 {
    let agents = document["agents"].as_array().unwrap();
    agents.iter().map(|agent| u64_of(agent, &format!("/{key}"))).sum()
}

/// Three generators together send what one generator would send with this seed.
#[test]
fn the_requests_of_an_open_loop_are_those_of_one_generator() {
    let ground = Ground::new();
    let server = RawServer::start(&ground);
    let words = "-c 6 -R 700 --arrivals poisson -d 1s --seed 11 --json";
    let agents = [ground.agent(&[]), ground.agent(&[]), ground.agent(&[])];
    let together = ground.load(&agents.each_ref(), server.port, words).end().expect_measured().json();
    agents.into_iter().for_each(|agent| drop(agent.end().expect(0)));
    let url = format!("http://127.0.0.1:{}/", server.port);
    let alone: Vec<&str> =
        ["load", &url, "--max-interference", "100%"].into_iter().chain(words.split(' ')).collect();
    let alone = ground.workspace.tare(&alone).expect_measured().json();
    let due = |found: &Value| u64_of(found, "/totals/sent") + u64_of(found, "/totals/unsent");
    assert_eq!(due(&together), due(&alone));
    assert_eq!(alone["agents"], Value::Null);
    server.end();
}

#[test]
fn each_agent_checks_the_answers_of_a_contract() {
    let ground = Ground::new();
    for (mode, outcome) in [("correct", None), ("wrong-body", Some(1))] {
        let server = FakeServer::start(mode);
        let agents = [ground.agent(&[]), ground.agent(&[])];
        let load = ground.load(&agents.each_ref(), server.port, "--contract rest -c 2 -d 500ms --json");
        match outcome {
            None => {
                let found = load.end().expect_measured().json();
                assert_eq!(u64_of(&found, "/totals/failed"), 0, "{found}");
                assert!(found["what"].as_str().unwrap().starts_with("contract rest ("), "{found}");
                assert!(
                    found["agents"].as_array().unwrap().iter().all(|agent| u64_of(agent, "/answered") > 10)
                );
            }
            Some(code) => {
                let ended = load.end().expect(code);
                assert!(ended.stderr.contains("the contract rest is not honoured"), "{ended}");
            }
        }
        for agent in agents {
            agent.end();
        }
    }
}

/// A contract of the repository is sent as its text. The agent would read referenced files on its own
/// machine.
#[test]
fn a_contract_of_the_repository_is_sent_as_text() {
    let ground = Ground::new();
    let rest = include_str!("../../../../contracts/rest.toml");
    ground.workspace.write("contracts/mine.toml", &rest.replace("\"rest\"", "\"mine\""));
    let server = FakeServer::start("correct");
    // A folder without contracts.
    let elsewhere = tempfile::tempdir().unwrap();
    let token = ground.workspace.root().join("token");
    let words = ["agent", "--token-file", token.to_str().unwrap()];
    let agents = [Agent::of(start(elsewhere.path(), &words)), Agent::of(start(elsewhere.path(), &words))];
    let load = ground.load(
        &agents.each_ref(),
        server.port,
        "--contract mine --only status=3,label -c 2 -d 300ms --json",
    );
    let found = load.end().expect_measured().json();
    assert_eq!(
        (u64_of(&found, "/totals/failed"), found["what"].as_str()),
        (0, Some("contract mine (2 requests)"))
    );
    agents.into_iter().for_each(|agent| drop(agent.end().expect(0)));

    ground.workspace.write("contracts/names.csv", "name\nanna\n");
    let table = format!("{}\n[data.names]\nfile = \"names.csv\"\n", rest.replace("\"rest\"", "\"tabled\""));
    ground.workspace.write("contracts/tabled.toml", &table);
    let agent = ground.agent(&[]);
    let refused = ground.load(&[&agent], server.port, "--contract tabled -d 1s").end().expect(1);
    assert!(
        refused.stderr.contains("needs the file \"names.csv\", and agents have only its text"),
        "{refused}"
    );
    agent.end();
}

#[test]
fn an_agent_that_is_killed_is_named_and_there_is_no_figure() {
    let ground = Ground::new();
    let server = RawServer::start(&ground);
    let agents = [ground.agent(&[]), ground.agent(&[])];
    let mut load = ground.load(&agents.each_ref(), server.port, "-c 4 -R 500 -d 1m --json");
    assert!(within(USUAL, || load.printed("stderr").contains("left") || load.has_ended()), "it loads");
    let began = Instant::now();
    send(agents[1].pid(), Signal::KILL);
    let ended = load.end_within(SECONDS).expect(4);
    assert!(began.elapsed() < SECONDS);
    let expected = format!("the agent at {} is lost", agents[1].address);
    assert!(ended.stderr.contains(&expected) && ended.stderr.contains("there is no result"), "{ended}");
    assert_eq!(ended.stdout, "", "no figure");
    let [one, other] = agents;
    let ended = one.end().expect(4);
    assert!(ended.stderr.contains("the load was ended"), "{ended}");
    assert_eq!(other.end().code(), None, "it was killed");
    server.end();
}

#[test]
fn agents_end_within_seconds_when_their_controller_is_killed() {
    let ground = Ground::new();
    let server = RawServer::start(&ground);
    let agents = [ground.agent(&[]), ground.agent(&[])];
    let mut load = ground.load(&agents.each_ref(), server.port, "-c 4 -d 1m");
    assert!(within(USUAL, || load.printed("stderr").contains("left") || load.has_ended()), "it loads");
    send(load.pid(), Signal::KILL);
    assert_eq!(load.end_within(SECONDS).code(), None);
    for agent in agents {
        let ended = agent.end().expect(4);
        assert!(ended.stderr.contains("the controller is gone"), "{ended}");
    }
    server.end();
}

#[test]
fn an_agent_starts_the_service_that_it_watches_and_ends_it_whatever_happens() {
    let ground = Ground::new();
    let port = free_port();
    let number = port.to_string();
    let service = ["--", env!("CARGO_BIN_EXE_tare"), "raw-socket", "--port", &number];
    let listens = || TcpStream::connect(("127.0.0.1", port)).is_ok();
    let (watcher, agent) = (ground.agent(&service), ground.agent(&[]));
    assert!(within(USUAL, listens));
    let load = ground.load(&[&agent, &watcher], port, "-c 2 -R 400 -d 1s --json");
    let found = load.end().expect_measured().json();
    assert!(found["service_cpu"]["ns_per_answer"].as_f64().unwrap() > 100.0, "{found}");
    [agent, watcher].into_iter().for_each(|agent| drop(agent.end().expect(0)));
    assert!(!listens(), "it has ended with its agent");

    // No process of a command may outlive it.
    let watcher = ground.agent(&service);
    assert!(within(USUAL, listens));
    send(watcher.pid(), Signal::KILL);
    assert_eq!(watcher.end().code(), None);
    assert!(!listens(), "it has ended with its agent");

    let ended = ground.agent(&["--", "sh", "-c", "exit 3"]).end().expect(2);
    assert!(ended.stderr.contains("the service ended by itself: exit status 3"), "{ended}");
    let refused =
        ground.workspace.tare(&["agent", "--token-file", "token", "--", "no-such-program"]).expect(1);
    assert!(refused.stderr.contains("no-such-program"), "{refused}");
}

/// An agent that is stopped for two seconds: its answers are late by as much, and its verdict reports that.
#[test]
fn an_agent_that_is_stopped_makes_the_load_invalid() {
    let ground = Ground::new();
    let server = RawServer::start(&ground);
    for words in ["-c 4 -d 4s --json", "-c 4 -R 500 -d 4s --json"] {
        let agents = [ground.agent(&[]), ground.agent(&[])];
        let mut load = ground.load(&agents.each_ref(), server.port, words);
        assert!(within(USUAL, || load.printed("stderr").contains("left") || load.has_ended()), "it loads");
        send(agents[1].pid(), Signal::STOP);
        std::thread::sleep(Duration::from_secs(2));
        send(agents[1].pid(), Signal::CONT);
        let ended = load.end().expect(4);
        let found = ended.json();
        let about = |name: &str| {
            let doubts = found["doubts"].as_array().unwrap().iter();
            doubts.filter(|doubt| doubt["name"] == name).any(|doubt| doubt["agent"] == *agents[1].address)
        };
        assert!(about("silent"), "{words}: {}", found["doubts"]);
        if words.contains("-R") {
            assert!(about("agent"), "{words}: {}", found["doubts"]);
            assert!(
                found["agents"][1]["verdict"].as_str().unwrap().contains("late"),
                "{}",
                found["agents"][1]["verdict"]
            );
        }
        agents.into_iter().for_each(|agent| drop(agent.end().expect(0)));
    }
    server.end();
}

#[test]
fn no_port_is_opened_without_a_token_and_a_wrong_one_is_refused() {
    let ground = Ground::new();
    let none = ground.workspace.tare(&["agent"]).expect(1);
    assert!(none.stderr.contains("no token: give --token-file FILE") && none.stdout.is_empty(), "{none}");
    fs::write(ground.workspace.root().join("short"), "secret").unwrap();
    let short = ground.workspace.tare(&["agent", "--token-file", "short"]).expect(1);
    assert!(short.stderr.contains("the token has 6 characters") && short.stdout.is_empty(), "{short}");
    assert!(short.stderr.contains("make one by `tare agent --new-token FILE`"), "{short}");
    assert!(!short.stderr.contains("secret"), "{short}");

    ground.workspace.tare(&["agent", "--new-token", "other"]).expect(0);
    ground.workspace.tare(&["agent", "--new-token", "other"]).expect(1);
    let agent = ground.agent(&[]);
    let words = ["load", "--agents", &agent.address, "--token-file", "other", "http://127.0.0.1:9/"];
    let refused = ground.workspace.tare(&words).expect(1);
    assert!(
        refused.stderr.contains(&format!("the agent at {}: it has another token", agent.address)),
        "{refused}"
    );
    assert!(within(USUAL, || agent.process.printed("stderr").contains("(1 refused so far)")));
    let token = fs::read_to_string(ground.workspace.root().join("token")).unwrap();
    let words = fs::read(format!("/proc/{}/cmdline", agent.pid())).unwrap();
    assert!(!String::from_utf8_lossy(&words).contains(token.trim()), "`ps` does not show it");
    send(agent.pid(), Signal::TERM);
    let ended = agent.end();
    assert!(!ended.stdout.contains(token.trim()) && !ended.stderr.contains(token.trim()), "{ended}");
}

#[test]
fn strangers_that_say_nothing_keep_no_controller_away() {
    let ground = Ground::new();
    let server = RawServer::start(&ground);
    let agent = ground.agent(&[]);
    let silent: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(&agent.address).unwrap()).collect();
    let load = ground.load(&[&agent], server.port, "-c 2 -R 200 -d 500ms --json");
    let found = load.end().expect_measured().json();
    assert!(u64_of(&found, "/totals/answered") > 10, "{found}");
    agent.end().expect(0);
    drop(silent);
    server.end();
}

#[test]
fn two_versions_of_tare_are_refused_and_both_are_named() {
    let ground = Ground::new();
    let agents = [ground.agent(&[]), ground.agent(&["--as-version", "0.0.9"])];
    let ended = ground.load(&agents.each_ref(), 9, "-d 1s").end().expect(1);
    let ours = env!("CARGO_PKG_VERSION");
    let expected = format!(
        "the agent at {}: it is Tare 0.0.9, and this is Tare {ours}: use the same version on all machines",
        agents[1].address
    );
    assert!(ended.stderr.contains(&expected), "{ended}");
    let [one, other] = agents;
    one.end().expect(4);
    send(other.pid(), Signal::TERM);
    other.end();
}

/// 192.0.2.0/24 is an example network (RFC 5737). Nothing is sent to it: both permissions are checked first.
#[test]
fn another_machine_takes_the_permission_of_both_sides() {
    let ground = Ground::new();
    let url = "http://192.0.2.1:8080/";
    let refusal = |agents: &[&Agent], words: &[&str]| {
        let addresses: Vec<&str> = agents.iter().map(|agent| agent.address.as_str()).collect();
        let addresses = addresses.join(",");
        let all = [&["load", "--agents", &addresses, "--token-file", "token", url], words].concat();
        ground.workspace.tare(&all).expect(1).stderr.clone()
    };
    let permitted = ["--target", "192.0.2.1:8080"];
    let plain = ground.agent(&[]);
    let refused = refusal(&[&plain], &[]);
    assert!(refused.contains("start the agent with --target 192.0.2.1:8080"), "{refused}");
    plain.end();
    let agent = ground.agent(&permitted);
    let refused = refusal(&[&agent], &[]);
    assert!(refused.contains("if you may, use --i-may-load 192.0.2.1"), "{refused}");
    agent.end();
    let agents = [ground.agent(&permitted), ground.agent(&["--target", "192.0.2.1:80"])];
    let refused = refusal(&agents.each_ref(), &["--i-may-load", "192.0.2.1"]);
    let expected =
        format!("the agent at {} may not load 192.0.2.1:8080: start every agent", agents[1].address);
    assert!(refused.contains(&expected), "{refused}");
    agents.into_iter().for_each(|agent| drop(agent.end()));
    let agent = ground.agent(&permitted);
    let refused = refusal(&[&agent], &["--i-may-load", "192.0.2.2"]);
    assert!(refused.contains("both must be the same"), "{refused}");
    agent.end();
}

#[test]
fn what_has_no_common_window_is_no_load_of_agents() {
    let ground = Ground::new();
    for words in [["-n", "10"], ["--requests-each", "5"], ["--connections-total", "5"], ["--cpus", "0"]] {
        let all = [
            &["load", "--agents", "127.0.0.1:9", "--token-file", "token", "http://127.0.0.1:9/"],
            &words[..],
        ]
        .concat();
        let refused = ground.workspace.tare(&all).expect(1);
        assert!(refused.stderr.contains("cannot be used with"), "{refused}");
    }
    let words = ["load", "--agents", "127.0.0.1:9", "--token-file", "token", "http://127.0.0.1:9/"];
    let refused = ground.workspace.tare(&words).expect(1);
    assert!(refused.stderr.contains("no connection to the agent at 127.0.0.1:9"), "{refused}");
}
