//! Agents on different networks: two network namespaces with a pair of Ethernet devices between them.

use std::{
    fs::File,
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    os::fd::AsFd,
    path::Path,
    process::Command,
    sync::mpsc,
};

use rustix::{
    process::Signal,
    thread::{LinkNameSpaceType, move_into_link_name_space},
};
use tare_host::fixture::skip_always;

use crate::{
    agents_in_experiments::{generator_cpus, of_kind},
    support::{
        Ended, Running, USUAL, Workspace, experiment, fact, free_port, journal, row, send, start_under,
        within,
    },
};

/// Private addresses (RFC 1918) that only these namespaces have.
const ADDRESSES: [&str; 2] = ["10.79.53.1", "10.79.53.2"];

/// Two namespaces, removed when this value is dropped.
struct Apart {
    names: [String; 2],
}

fn ip(words: &str) -> Result<(), String> {
    let output = Command::new("ip").args(words.split(' ')).output().map_err(|error| error.to_string())?;
    let reason = || format!("ip {words}: {}", String::from_utf8_lossy(&output.stderr).trim());
    output.status.success().then_some(()).ok_or_else(reason)
}

impl Apart {
    /// `None` on a machine that does not allow namespaces.
    fn new() -> Option<Apart> {
        Apart::made().map_err(|reason| skip_always("agents in two networks", &reason)).ok()
    }

    fn made() -> Result<Apart, String> {
        let number = std::process::id();
        let names = ["a", "b"].map(|end| format!("tare-{end}-{number}"));
        let apart = Apart { names };
        let [one, other] = &apart.names;
        ip(&format!("netns add {one}"))?;
        ip(&format!("netns add {other}"))?;
        ip(&format!("link add tare0 netns {one} type veth peer name tare0 netns {other}"))?;
        for (name, address) in apart.names.iter().zip(ADDRESSES) {
            ip(&format!("-n {name} addr add {address}/24 dev tare0"))?;
            ip(&format!("-n {name} link set tare0 up"))?;
            ip(&format!("-n {name} link set lo up"))?;
        }
        Ok(apart)
    }

    fn path(&self, end: usize) -> String {
        format!("/run/netns/{}", self.names[end])
    }

    /// Starts `tare WORDS` in one of the namespaces.
    fn start(&self, end: usize, folder: &Path, words: &[&str]) -> Running {
        start_under(&["nsenter", &format!("--net={}", self.path(end))], folder, words)
    }

    fn agent(&self, end: usize, folder: &Path, words: &[&str]) -> (Running, String) {
        let listen = format!("{}:0", ADDRESSES[end]);
        let words = [&["agent", "--token-file", "token", "--listen", &listen], words].concat();
        let mut agent = self.start(end, folder, &words);
        assert!(within(USUAL, || agent.printed("stdout").contains('\n') || agent.has_ended()));
        let address = agent.printed("stdout").trim().replace("listening on ", "");
        (agent, address)
    }

    /// A server in the first namespace, on all of its addresses; its threads end with the test.
    fn serve(&self) -> SocketAddr {
        let (sends, address) = mpsc::channel();
        let namespace = File::open(self.path(0)).unwrap();
        std::thread::spawn(move || {
            move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
            let listener = TcpListener::bind((ADDRESSES[0], 0)).unwrap();
            sends.send(listener.local_addr().unwrap()).unwrap();
            for stream in listener.incoming().flatten() {
                std::thread::spawn(move || answer(stream));
            }
        });
        address.recv().unwrap()
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        for name in &self.names {
            let _was_not_made = ip(&format!("netns del {name}"));
        }
    }
}

fn answer(stream: TcpStream) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            if !matches!(reader.read_line(&mut line), Ok(1..)) {
                return;
            }
        }
        if reader.get_mut().write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() {
            return;
        }
    }
}

fn ended(agents: [Running; 2]) -> [Ended; 2] {
    agents.map(Running::end)
}

#[test]
fn two_networks_load_one_server_if_both_sides_permit_it() {
    let Some(apart) = Apart::new() else { return };
    let workspace = Workspace::new(&[]);
    workspace.tare(&["agent", "--new-token", "token"]).expect(0);
    let (folder, server) = (workspace.root().to_owned(), apart.serve());
    let (target, url) = (server.to_string(), format!("http://{server}/"));
    let load = |agents: [&str; 2], words: &[&str]| {
        let agents = agents.join(",");
        let first = ["load", "--agents", &agents, "--token-file", "token", "-c", "4", "--json"];
        apart.start(1, &folder, &[&first, words].concat()).end()
    };
    let permit = ["--target", target.as_str()];
    let agents = [apart.agent(0, &folder, &permit), apart.agent(1, &folder, &permit)];
    let names = [agents[0].1.as_str(), agents[1].1.as_str()];
    let found =
        load(names, &["-R", "400", "-d", "1s", "--i-may-load", ADDRESSES[0], &url]).expect_measured().json();
    assert_eq!(found["totals"]["failed"], 0, "{found}");
    for (agent, name) in found["agents"].as_array().unwrap().iter().zip(names) {
        assert_eq!(agent["agent"], name);
        assert!(agent["answered"].as_u64() > Some(50), "{found}");
    }
    let [(one, _), (other, _)] = agents;
    ended([one, other]).into_iter().for_each(|agent| drop(agent.expect(0)));

    // For the first agent the server is on its own machine; the second lacks the permission.
    let agents = [apart.agent(0, &folder, &[]), apart.agent(1, &folder, &[])];
    let refused = load([&agents[0].1, &agents[1].1], &["-d", "1s", &url]).expect(1);
    let expected = format!("the agent at {}: {server} is not the agent's machine", agents[1].1);
    assert!(refused.stderr.contains(&expected), "{refused}");
    let [(one, _), (other, _)] = agents;
    ended([one, other]);

    // Each namespace has a server at this address.
    let port = free_port().to_string();
    let servers = [0, 1].map(|end| apart.start(end, &folder, &["raw-socket", "--port", &port]));
    let agents = [apart.agent(0, &folder, &[]), apart.agent(1, &folder, &[])];
    let names = [agents[0].1.as_str(), agents[1].1.as_str()];
    let loopback = format!("http://127.0.0.1:{port}/");
    let listens = |end| {
        let (net, connect) =
            (format!("--net={}", apart.path(end)), format!("exec 3<>/dev/tcp/127.0.0.1/{port}"));
        let bash = Command::new("nsenter").args([&net, "bash", "-c", &connect]).output();
        bash.is_ok_and(|output| output.status.success())
    };
    assert!(within(USUAL, || listens(0) && listens(1)));
    let refused = load(names, &["-d", "1s", &loopback]).expect(1);
    assert!(refused.stderr.contains("is another server for the agent at"), "{refused}");
    let [(one, _), (other, _)] = agents;
    ended([one, other]);
    for server in servers {
        send(server.pid(), Signal::TERM);
        server.end();
    }
}

/// The protocols in which agents of another network load the services of a run.
const ROWS: [&str; 4] = ["raw-socket", "raw-socket+tls", "raw-socket+h2", "raw-socket+h2c"];

/// Each service listens on an address that the other network reaches, and two agents load it there.
#[test]
fn services_of_a_run_are_asked_from_another_network_in_every_protocol() {
    let Some(apart) = Apart::new() else { return };
    let workspace = Workspace::new(&[]);
    let text = experiment(&ROWS, 1)
        .replace("connections = 1", "connections = 4")
        .replace("\"30ms\"", "\"1s\"")
        .replace("slices-per-block = 2", "slices-per-block = 1");
    workspace.write("experiments/tiny.toml", &text);
    workspace.tare(&["agent", "--new-token", "token"]).expect(0);
    let words = ["--keep", "--target", ADDRESSES[0], "--cpus", &generator_cpus()];
    let agents = [0, 1].map(|_| apart.agent(1, workspace.root(), &words));
    let names = agents.each_ref().map(|(_, name)| name.as_str()).join(",");
    let words = ["run", "experiments/tiny.toml", "--agents", &names, "--token-file", "token", "--json"];
    let served = ["--serve-on", ADDRESSES[0], "--i-may-load", ADDRESSES[0]];
    let ended = apart.start(0, workspace.root(), &[&words[..], &served].concat()).end();
    // On a busy machine a row with so few slices may have no figures.
    assert!(matches!(ended.code(), Some(0 | 4)), "{ended}");
    let report = ended.json();
    assert!(fact(&report, "Load from").starts_with("2 agents: 10.79.53.2:"), "{report}");
    let records = journal(&workspace.run());
    assert!(!of_kind(&records, "sample").is_empty(), "{records:?}");
    for label in ROWS {
        assert_eq!(row(&report, label)["errors"], 0, "{label}: {report}");
        let is_loaded = |record: &&serde_json::Value| {
            record["label"] == label
                && (record["kind"] == "discarded" || record["load"]["answered"].as_u64() > Some(50))
        };
        assert!(records.iter().any(|record| is_loaded(&record)), "{label}: {records:?}");
    }
    let [(one, _), (other, _)] = agents;
    for agent in [one, other] {
        send(agent.pid(), Signal::TERM);
        let ended = agent.end();
        assert!(ended.stderr.contains("is complete"), "{ended}");
    }
}
