//! Servers that listen on Unix sockets, in every command that takes a URL.

use std::{
    fs,
    os::unix::net::UnixListener,
    path::Path,
    process::{Child, Command, Stdio},
};

use crate::support::{Ended, USUAL, rows, start, within};

/// A server that listens at the given path, or at an abstract name.
const SERVER: &str = "\
import http.server, socketserver, sys
class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        self.send_response(200)
        self.send_header('Content-Length', '5')
        self.end_headers()
        self.wfile.write(b'hello')
    def log_message(self, *words): pass
class Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    request_queue_size = 64
path = sys.argv[1]
Server('\\0' + path[1:] if path[0] == '@' else path, Answer).serve_forever()
";

struct Server(Child);

impl Server {
    fn start(folder: &Path, at: &str) -> Server {
        let mut command = Command::new("python3");
        command.args(["-c", SERVER, at]).current_dir(folder).stdin(Stdio::null());
        Server(command.spawn().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn tare(folder: &Path, words: &[&str]) -> Ended {
    start(folder, words).end()
}

fn has_python() -> bool {
    tare_host::fixture::has_program("servers that listen on Unix sockets", "python3")
}

/// Whether the server listens, tested by a load.
fn listens(folder: &Path, at: &str) -> bool {
    let words = ["load", "--unix", at, "-c", "1", "-n", "5", "--quiet", "http://shop.example/"];
    within(USUAL, || tare(folder, &words).code() != Some(1))
}

#[test]
fn a_server_on_a_unix_socket_is_verified_and_recorded_and_its_process_is_found() {
    if !has_python() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = folder.join("shop.sock").display().to_string();
    let name = format!("@tare-shop-{}", std::process::id());
    // The first server is named by a relative path, and loaded by its full path.
    for (bound, asked) in [("shop.sock", &path), (name.as_str(), &name)] {
        let server = Server::start(folder, bound);
        assert!(listens(folder, asked), "{asked}");
        let verified = tare(folder, &["verify", "--unix", asked, "http://shop.example/a"]).expect(0);
        let found =
            format!("runs already at unix:{asked}: CPU time and memory of process {} (", server.0.id());
        assert!(verified.stderr.contains(&found), "{verified}");
        let recorded = tare(folder, &["record", "--unix", asked, "http://shop.example/a"]).expect(0);
        assert!(recorded.stdout.contains("body = \"hello\""), "{recorded}");
    }
}

#[test]
fn two_sockets_of_one_url_are_two_servers_that_are_compared_by_their_cpu_time() {
    if !has_python() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let _servers = ["old.sock", "new.sock"].map(|name| Server::start(folder, name));
    assert!(listens(folder, "old.sock") && listens(folder, "new.sock"));
    let url = "http://shop.example/";
    let words = ["compare", "--unix", "old.sock", "--unix", "new.sock", url, url];
    let ended =
        tare(folder, &[&words[..], &["--connections", "1", "--budget", "5s", "--out", "out"]].concat());
    let title = format!("{url}#candidate against {url}#baseline");
    assert!(ended.stdout.starts_with(&title), "{ended}");
    for (row, socket) in [("baseline", "old.sock"), ("candidate", "new.sock")] {
        let found = format!("{url}#{row} runs already at unix:{socket}: CPU time and memory of process");
        assert!(ended.stderr.contains(&found), "{ended}");
    }
    let document = tare(folder, &["show", "out", "--format", "json"]).json();
    let metrics = rows(&document, "metrics");
    let cpu = metrics.iter().find(|row| row["metric"] == "CPU/request").unwrap();
    assert!(
        ["baseline", "candidate"].iter().all(|key| cpu[*key].as_f64().is_some_and(|ns| ns > 0.0)),
        "{cpu}"
    );
    // One socket stands for both URLs: a server compared with itself.
    let dry = ["compare", "--unix", "old.sock", url, url, "--dry-run"];
    assert!(tare(folder, &dry).expect(0).stdout.contains(&format!("{url}@2")));
}

#[test]
fn what_is_no_socket_to_connect_to_is_refused_with_the_fix() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("file"), "").unwrap();
    drop(UnixListener::bind(folder.join("left.sock")).unwrap());
    let long = format!("{}/a.sock", "x".repeat(120));
    let url = "http://localhost/";
    let refused = |words: &[&str]| tare(folder, words).expect(1).stderr.clone();
    for command in ["load", "verify", "record", "slo", "compare"] {
        let urls: &[&str] = if command == "compare" { &[url, url] } else { &[url] };
        let more: &[&str] = if command == "slo" { &["--slo", "p99=50ms"] } else { &[] };
        let error = |sockets: &[&str]| {
            let sockets = sockets.iter().flat_map(|path| ["--unix", path]);
            let words: Vec<&str> = [command].into_iter().chain(sockets).chain(urls.iter().copied()).collect();
            refused(&[&words[..], more].concat())
        };
        for (path, expected) in [
            ("none.sock", "nothing listens on unix:none.sock: start the server first"),
            ("@tare-no-such-name", "nothing listens on unix:@tare-no-such-name: start the server first"),
            ("left.sock", "nothing listens on unix:left.sock: start the server first"),
            ("file", "no connection to unix:file: it is no socket"),
            (".", "no connection to unix:.: it is no socket"),
            (&long, "--unix: the path of a Unix socket has 108 bytes at most, and "),
        ] {
            let error = error(&[path]);
            assert!(error.contains(expected), "{command} {path}: {error}");
        }
        let many = error(&["a", "b", "c"]);
        assert!(
            many.contains("--unix: 3 given for ") && many.contains("give one for all, or one for each"),
            "{many}"
        );
    }
    let started = refused(&["compare", "--unix", "file", "sleep 5", "sleep 6"]);
    assert!(started.contains("what Tare starts listens on the port in PORT"), "{started}");
    let by_url = refused(&["verify", "http+unix://%2Frun%2Fa.sock/"]);
    assert!(by_url.contains("--unix PATH http://localhost/"), "{by_url}");
}
