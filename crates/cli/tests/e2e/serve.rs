//! `tare serve`: runs in a browser on this machine only.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
};

use rustix::process::Signal;

use crate::support::{Running, USUAL, Workspace, experiment, send, within};

struct Server {
    tare: Running,
    port: u16,
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

fn serve(workspace: &Workspace) -> Server {
    let mut tare = workspace.start(&["serve", "--port", "0"]);
    assert!(within(USUAL, || tare.printed("stdout").ends_with("/\n") || tare.has_ended()));
    let line = tare.printed("stdout");
    let port = line.strip_prefix("http://127.0.0.1:").and_then(|rest| rest.strip_suffix("/\n"));
    let port = port.unwrap_or_else(|| panic!("{line:?}")).parse().unwrap();
    Server { tare, port }
}

impl Server {
    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        stream.set_read_timeout(Some(USUAL)).unwrap();
        stream
    }

    /// Sends a raw request, and reads to the end.
    fn send(&self, request: &str) -> Answer {
        let mut stream = self.connect();
        // A request that is refused early may find the connection closed.
        let _ = stream.write_all(request.as_bytes());
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    fn ask(&self, method: &str, path: &str, host: &str) -> Answer {
        self.send(&format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))
    }

    fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &format!("127.0.0.1:{}", self.port))
    }

    /// Opens a stream of events, and reads its head.
    fn events(&self, path: &str) -> (u16, BufReader<TcpStream>) {
        let mut stream = self.connect();
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", self.port);
        stream.write_all(request.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let status = line.split(' ').nth(1).unwrap().parse().unwrap();
        while line != "\r\n" {
            line.clear();
            assert_ne!(reader.read_line(&mut line).unwrap(), 0);
        }
        (status, reader)
    }

    fn end(self) {
        send(self.tare.pid(), Signal::INT);
        self.tare.end().expect(0);
    }
}

/// The names and data of events up to the wanted one.
fn until(reader: &mut impl BufRead, wanted: &str) -> Vec<(String, String)> {
    let mut events: Vec<(String, String)> = Vec::new();
    let mut line = String::new();
    loop {
        line.clear();
        assert_ne!(reader.read_line(&mut line).unwrap(), 0, "ended before {wanted:?}: {events:?}");
        if let Some(name) = line.trim_end().strip_prefix("event: ") {
            events.push((name.to_owned(), String::new()));
        } else if let Some(data) = line.trim_end().strip_prefix("data: ") {
            data.clone_into(&mut events.last_mut().unwrap().1);
        } else if line == "\n" && events.last().is_some_and(|(_, data)| data.is_empty()) {
            panic!("a browser ignores an event without data: {events:?}");
        } else if line == "\n" && events.last().is_some_and(|(name, _)| name == wanted) {
            return events;
        }
    }
}

fn workspace() -> Workspace {
    let workspace = Workspace::new(&[("honest", "correct")]);
    let endless = experiment(&["raw-socket", "honest"], 1000).replace("\"0s\"", "\"1h\"");
    workspace.write("experiments/endless.toml", &endless);
    workspace.write("experiments/tiny.toml", &experiment(&["raw-socket", "honest"], 1));
    workspace
}

/// The path of the only run of the list.
fn link(list: &str) -> Option<&str> {
    let (_, rest) = list.split_once("href=\"/run/")?;
    let (name, _) = rest.split_once('"')?;
    Some(name)
}

#[test]
fn a_run_is_listed_shown_while_it_goes_on_and_told_to_be_over() {
    let workspace = workspace();
    let server = serve(&workspace);
    assert!(server.get("/").body.contains("There are no runs yet"));

    let mut list = server.events("/events").1;
    let mut tare = workspace.start(&["run", "experiments/endless.toml"]);
    until(&mut list, "list");
    let is_live = || server.get("/").body.contains("status running");
    assert!(within(USUAL, || is_live() || tare.has_ended()));
    let body = server.get("/").body;
    let run = format!("/run/{}", link(&body).unwrap());

    let page = server.get(&run);
    assert_eq!(page.status, 200);
    assert!(page.body.contains(&format!("data-events=\"{run}/events\"")), "no events");
    assert!(page.body.contains("This run is being measured by the machine that shows it."));
    let (status, mut events) = server.events(&format!("{run}/events"));
    assert_eq!(status, 200);
    let first = until(&mut events, "document");
    let progress = first.iter().find(|(name, _)| name == "progress").unwrap();
    let progress: serde_json::Value = serde_json::from_str(&progress.1).unwrap();
    assert!(progress["share"].as_f64().is_some_and(|share| (0.0..=1.0).contains(&share)), "{progress}");
    assert!(progress["left"].as_str().unwrap().ends_with(" left"), "{progress}");
    send(tare.pid(), Signal::INT);
    until(&mut events, "done");
    tare.end().expect(130);

    let page = server.get(&run);
    assert!(page.body.contains("status interrupted") && !page.body.contains("data-events=\"/run"));
    let report: serde_json::Value =
        serde_json::from_str(&server.get(&format!("{run}/report.json")).body).unwrap();
    assert_eq!((&report["title"], &report["status"]), (&"Tiny".into(), &"interrupted".into()));
    let table = server.get(&format!("{run}/ranks.csv"));
    assert!(table.head.contains("content-type: text/csv") && table.body.contains("honest"), "{}", table.body);
    let unknown = server.get(&format!("{run}/rank.csv"));
    assert_eq!(
        (unknown.status, unknown.body.contains("did you mean \"ranks\"?")),
        (404, true),
        "{}",
        unknown.body
    );
    assert_eq!(until(&mut server.events(&format!("{run}/events")).1, "done").len(), 2);
    assert!(within(USUAL, || server.get("/").body.contains("stopped by the user")));
    server.end();
}

#[test]
fn a_run_that_was_cut_off_is_not_taken_for_one_that_goes_on() {
    let workspace = workspace();
    workspace.tare(&["run", "experiments/tiny.toml", "--out", ".tare/runs/one"]).expect_measured();
    let journal = workspace.root().join(".tare/runs/one/journal.ndjson");
    let text = fs::read_to_string(&journal).unwrap();
    let cut: String = text.split_inclusive('\n').filter(|line| !line.contains("\"ended\"")).collect();
    fs::write(&journal, cut).unwrap();
    workspace.write("record/broken/run.json", "{\"format\":\"9.0\"}");
    workspace.write("record/empty/notes.txt", "");
    let server = serve(&workspace);
    // What takes longer than a reader waits is read for the next request.
    assert!(within(USUAL, || !server.get("/").body.contains("status unread")), "not read");
    let list = server.get("/").body;
    assert!(list.contains("status cut-off") && !list.contains("status running"), "{list}");
    assert!(list.contains("status broken") && list.contains("9.0"), "{list}");
    assert!(server.get("/run/one").body.contains("status cut-off"));
    assert!(server.get("/run/broken").body.contains("class=\"damage\""));
    let empty = server.get("/run/empty");
    assert_eq!((empty.status, empty.body.contains("not a run folder")), (422, true), "{}", empty.body);
    server.end();
}

#[test]
fn what_does_not_belong_here_is_refused() {
    let workspace = Workspace::new(&[]);
    workspace.write(".tare/runs/one/run.json", "{}");
    workspace.write("secret/run.json", "{}");
    let server = serve(&workspace);
    let here = format!("127.0.0.1:{}", server.port);
    for path in [
        "/run/..%2fsecret",
        "/run/../secret",
        "/run/%2e%2e",
        "/run/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "/run//etc/passwd",
        "/run/one/../../secret",
        "/run/one/run.json",
        "/run/one%00",
        "/run/",
        "/../../etc/passwd",
        "/run/%ff",
    ] {
        let answer = server.get(path);
        assert!([400, 404].contains(&answer.status), "{path}: {}", answer.status);
        assert!(!answer.body.contains("root:"), "{path}");
    }
    for host in ["evil.example", &format!("evil.example:{}", server.port), "127.0.0.1", "127.0.0.1:1"] {
        let answer = server.ask("GET", "/", host);
        assert_eq!(answer.status, 421, "{host}");
        assert!(answer.body.contains(&format!("open http://{here}/")), "{}", answer.body);
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
        let answer = server.ask(method, "/", &here);
        assert_eq!(answer.status, 405, "{method}");
        assert!(answer.head.contains("\r\nallow: get, head"), "{}", answer.head);
    }
    let huge = "x".repeat(1 << 20);
    assert_eq!(server.send(&format!("GET / HTTP/1.1\r\nHost: {here}\r\nX: {huge}\r\n\r\n")).status, 431);
    assert_eq!(server.send("GET / HTTP/1.0\r\n\r\n").status, 400);
    let head = server.ask("HEAD", "/", &here);
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    for header in ["default-src 'none'", "frame-ancestors 'none'", "nosniff", "cache-control: no-store"] {
        assert!(head.head.contains(header), "{header}: {}", head.head);
    }
    assert!(!head.head.contains("access-control"), "{}", head.head);
    server.end();
}

#[test]
fn streams_are_counted_and_readers_that_have_gone_are_not() {
    let workspace = Workspace::new(&[]);
    let server = serve(&workspace);
    let mut streams: Vec<_> = (0..32).map(|_| server.events("/events")).collect();
    assert!(streams.iter().all(|(status, _)| *status == 200));
    let refused = server.get("/events");
    assert_eq!(refused.status, 503);
    assert!(refused.body.contains("32 pages are being kept up to date already; close one"));
    // No browser reads the streams, and the list still works.
    assert_eq!(server.get("/").status, 200);
    streams.truncate(31);
    assert!(
        within(USUAL, || server.events("/events").0 == 200),
        "the place of a reader that has gone is lost"
    );
    // It ends even with waiting readers.
    server.end();
}

#[test]
fn a_port_that_is_taken_is_named_with_the_way_out() {
    let workspace = Workspace::new(&[]);
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let refused = workspace.tare(&["serve", "--port", &port]).expect(1);
    let told = format!(
        "error: cannot listen on 127.0.0.1:{port}; choose another port with --port, or any free one with --port 0: "
    );
    assert!(refused.stderr.starts_with(&told), "{}", refused.stderr);
    assert_eq!(refused.stdout, "");
    let nowhere = workspace.tare(&["serve", "--port", "0", "--runs", "nowhere"]).expect(1);
    assert_eq!(nowhere.stderr, "error: --runs: nowhere: no such folder\n");
}

#[test]
fn a_connection_that_asks_nothing_is_not_waited_for() {
    let workspace = Workspace::new(&[]);
    let server = serve(&workspace);
    let mut half = server.connect();
    half.write_all(b"GET / HT").unwrap();
    // More connections than the limit: the others are accepted once these are closed.
    let idle: Vec<TcpStream> = (0..300).map(|_| server.connect()).collect();
    assert_eq!(server.get("/").status, 200);
    let end = half.read_to_end(&mut Vec::new());
    let waited_on = |error: &std::io::Error| error.kind() == std::io::ErrorKind::WouldBlock;
    assert!(!end.as_ref().is_err_and(waited_on), "half a request line is waited for: {end:?}");
    drop(idle);
    server.end();
}
