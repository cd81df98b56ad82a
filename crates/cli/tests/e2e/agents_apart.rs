//! Agents that are not on one machine: two network namespaces with a pair of Ethernet devices between them.

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

use crate::support::{Ended, Running, USUAL, Workspace, alone, free_port, send, start_under, within};

/// Private addresses (RFC 1918) that only these namespaces have.
const ADDRESSES: [&str; 2] = ["10.79.53.1", "10.79.53.2"];

/// Two namespaces, gone with their value.
struct Apart {
    names: [String; 2],
}

fn ip(words: &str) -> Result<(), String> {
    let output = Command::new("ip").args(words.split(' ')).output().map_err(|error| error.to_string())?;
    let reason = || format!("ip {words}: {}", String::from_utf8_lossy(&output.stderr).trim());
    output.status.success().then_some(()).ok_or_else(reason)
}

impl Apart {
    fn new() -> Result<Apart, String> {
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

    /// Starts `tare WORDS` at one end.
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

    /// A server at the first end, on all of its addresses; its threads end with the test.
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
    let _alone = alone();
    let apart = match Apart::new() {
        Ok(apart) => apart,
        Err(reason) => return tare_host::fixture::skip_always("agents in two networks", &reason),
    };
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

    // For the first of them the server is its own machine; the other lacks the permission.
    let agents = [apart.agent(0, &folder, &[]), apart.agent(1, &folder, &[])];
    let refused = load([&agents[0].1, &agents[1].1], &["-d", "1s", &url]).expect(1);
    let expected = format!("the agent at {}: {server} is not the agent's machine", agents[1].1);
    assert!(refused.stderr.contains(&expected), "{refused}");
    let [(one, _), (other, _)] = agents;
    ended([one, other]);

    // Each has a server of this name.
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
