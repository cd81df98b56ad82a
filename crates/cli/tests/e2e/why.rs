//! Why one service costs more than another: a slowdown is planted in a function, and that function must be named. Skipped by name where
//! the kernel refuses to sample, or a toolchain is missing.

use std::{fs, path::Path, process::Command};

use serde_json::Value;
use tare_host::fixture::{has_program, skip_always};

use crate::support::{Ended, checkout, git, start, start_under};

/// A server that answers each request after a checksum of this number of rounds.
const C: &str = r#"
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
static volatile unsigned sink;
__attribute__((noinline)) static unsigned checksum(const char *p, int n) {
  unsigned h = 2166136261u;
  for (int round = 0; round < ROUNDS; round++)
    for (int i = 0; i < n; i++) h = (h ^ (unsigned char)p[i]) * 16777619u;
  return h;
}
__attribute__((noinline)) static void answer(int fd, const char *request) {
  static const char out[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: text/plain\r\n\r\nhello";
  sink = checksum(request, 32);
  if (write(fd, out, sizeof out - 1) < 0) exit(1);
}
int main(void) {
  int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(getenv("PORT")))};
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listener, (void *)&at, sizeof at) || listen(listener, 512)) return 1;
  int epoll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[64];
  epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    int count = epoll_wait(epoll, events, 64, -1);
    for (int i = 0; i < count; i++) {
      int fd = events[i].data.fd;
      char buffer[4096];
      if (fd == listener) {
        int client = accept(listener, 0, 0);
        if (client < 0) continue;
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        event.data.fd = client;
        epoll_ctl(epoll, EPOLL_CTL_ADD, client, &event);
        continue;
      }
      long length = read(fd, buffer, sizeof buffer);
      if (length == 0) close(fd);
      for (long at = 0; at + 3 < length; at++) if (!memcmp(buffer + at, "\r\n\r\n", 4)) answer(fd, buffer);
    }
  }
}
"#;

const GO: &str = r#"package main

import (
    "crypto/sha256"
    "net/http"
    "os"
)

//go:noinline
func signBody(body []byte) [32]byte {
    sum := sha256.Sum256(body)
    for i := 1; i < ROUNDS; i++ {
        sum = sha256.Sum256(sum[:])
    }
    return sum
}

func main() {
    http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
        sum := signBody([]byte("hello"))
        w.Write(sum[:0])
        w.Write([]byte("hello"))
    })
    http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil)
}
"#;

const NODE: &str = r#"
const http = require('http');
http.createServer(function answerRequest(request, response) {
  let x = 1;
  for (let i = 0; i < ROUNDS; i++) x = (x * 31 + i) % 1000003;
  response.end(x < 0 ? 'never' : 'hello');
}).listen(process.env.PORT, '127.0.0.1');
"#;

/// A thread for each connection. Its compiler's own linker lets segments of code begin within a page.
const RUST: &str = r#"
use std::{io::{Read, Write}, net::TcpListener};
#[inline(never)]
fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = 2166136261_u32;
    for _ in 0..ROUNDS {
        for byte in bytes { sum = (sum ^ u32::from(*byte)).wrapping_mul(16777619); }
    }
    sum
}
fn answer(request: &[u8]) -> String {
    let body = format!("{}", std::hint::black_box(checksum(&request[..16])) % 1);
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}
fn main() {
    let port = std::env::var("PORT").unwrap().parse().unwrap();
    for stream in TcpListener::bind(("127.0.0.1", port)).unwrap().incoming() {
        let mut stream = stream.unwrap();
        stream.set_nodelay(true).unwrap();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length) = stream.read(&mut buffer) {
                let ends = buffer[..length].windows(4).filter(|window| window == b"\r\n\r\n").count();
                if length == 0 || (0..ends).any(|_| stream.write_all(answer(&buffer).as_bytes()).is_err()) { return; }
            }
        });
    }
}
"#;

/// The method is so short that HotSpot compiles it into its caller.
const JAVA: &str = r#"
import com.sun.net.httpserver.*;
import java.net.*;
public class Shop {
  static volatile int sink;
  static int checksum(byte[] bytes) {
    int sum = 1;
    for (int round = 0; round < ROUNDS; round++) for (byte one : bytes) sum = (sum ^ one) * 16777619;
    return sum;
  }
  public static void main(String[] words) throws Exception {
    byte[] body = "hello, this is a shop".getBytes();
    var server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(System.getenv("PORT"))), 512);
    server.createContext("/", exchange -> {
      sink = checksum(body);
      exchange.getResponseHeaders().set("content-type", "text/plain");
      exchange.sendResponseHeaders(200, body.length);
      try (var out = exchange.getResponseBody()) { out.write(body); }
    });
    server.start();
  }
}
"#;

const PYTHON: &str = r#"
import http.server, os
def checksum(text):
    total = 1
    for _ in range(ROUNDS):
        for letter in text:
            total = (total * 31 + ord(letter)) % 1000003
    return total
class Shop(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        checksum('hello')
        self.send_response(200)
        self.send_header('Content-Type', 'text/plain')
        self.send_header('Content-Length', '5')
        self.end_headers()
        self.wfile.write(b'hello')
    def log_message(self, *words):
        pass
http.server.ThreadingHTTPServer(('127.0.0.1', int(os.environ['PORT'])), Shop).serve_forever()
"#;

/// Starts a program to which the kernel says of `perf_event_open` what it says in a container.
const REFUSING: &str = r#"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int count, char **words) {
  struct sock_filter code[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 99;
  return count > 1 ? execvp(words[1], words + 1) : 98;
}
"#;

/// What differs between two commands of this folder; `None`, and a word of it, if the kernel refuses.
fn why(folder: &Path, what: &str, services: [&str; 2]) -> Option<Value> {
    let [baseline, candidate] = services;
    let words = ["why", baseline, candidate, "--get", "/", "--budget", "9s", "--json"];
    let ended: Ended = start(folder, &words).end();
    let refusals = ["sample programs", "perf_event_open is denied", "no perf events"];
    if refusals.iter().any(|refusal| ended.stderr.contains(refusal)) {
        skip_always(what, ended.stderr.trim());
        return None;
    }
    assert_eq!(ended.code(), Some(0), "{ended}");
    Some(ended.json())
}

/// The names of the functions in the answer.
fn named(report: &Value) -> Vec<String> {
    let functions = report["functions"].as_array().unwrap();
    let place =
        |place: &Value| functions[place.as_u64().unwrap() as usize]["name"].as_str().unwrap().to_owned();
    report["answer"].as_array().unwrap().iter().map(place).collect()
}

/// A few lines for a failed test.
fn told(report: &Value) -> String {
    let functions = report["functions"].as_array().unwrap().iter().take(25);
    let line = |function: &Value| {
        format!("{} {} {}\n", function["name"], function["all_ns"], function["all_difference"])
    };
    format!("{} {}\n{}", report["subjects"], report["notes"], functions.map(line).collect::<String>())
}

/// The planted function is named, whichever of its callers or callees beside it, and belongs to this package.
fn names_it(folder: &Path, what: &str, services: [&str; 2], planted: (&str, &str)) {
    // A machine that is busy with other tests may have too few samples the first time.
    for attempt in 1..=2 {
        let Some(report) = why(folder, what, services) else { return };
        if is_named(&report, planted) {
            return;
        }
        assert!(attempt < 2, "{:?}\n{}", named(&report), told(&report));
    }
}

/// Whether this function is in the answer. If so, it belongs to this package, which has a row.
fn is_named(report: &Value, (function, package): (&str, &str)) -> bool {
    if !named(report).iter().any(|name| name.contains(function)) {
        return false;
    }
    let is_it = |one: &&Value| one["name"].as_str().unwrap().contains(function);
    let found = report["functions"].as_array().unwrap().iter().find(is_it).unwrap();
    assert_eq!(found["package"], package, "{found}");
    let packages = report["packages"].as_array().unwrap();
    assert!(packages.iter().any(|one| one["name"] == package), "{packages:?}");
    true
}

#[test]
fn a_checksum_in_c_is_named_and_between_two_of_one_build_nothing_is() {
    const WHAT: &str = "why a server in C costs more";
    if !has_program(WHAT, "cc") {
        return;
    }
    let folder = two_in_c();
    if let Some(report) = why(folder.path(), WHAT, ["./old", "./old"]) {
        // One comparison in twenty may name something: a function that then differs by little.
        let answer = named(&report);
        let difference = report["difference"]["mean"].as_f64().unwrap().abs();
        let cost = report["subjects"][0]["cpu_ns"].as_f64().unwrap();
        assert!(answer.is_empty() || difference < 0.1 * cost, "{answer:?}\n{}", told(&report));
    }
    let words = [
        "compare", "./old", "./new", "--get", "/", "--metric", "cpu", "--delta", "5%", "--budget", "20s",
        "--why",
    ];
    let failed = start(folder.path(), &words).end();
    assert_eq!(failed.code(), Some(3), "the verdict is as before: {failed}");
    let is_explained = failed.stdout.contains("checksum") || failed.stderr.contains("no answer to why");
    assert!(is_explained, "{failed}");
    let again = start(folder.path(), &["why", "--format", "collapsed"]).end();
    if again.code() == Some(0) {
        assert!(again.stdout.lines().any(|line| line.contains(";checksum")), "{again}");
        let report = start(folder.path(), &["why", "--json"]).end().expect(0).json();
        assert!(named(&report).iter().any(|name| name.contains("checksum")), "{}", told(&report));
        // Its loops are there.
        let lines = report["source_lines"].as_array().unwrap();
        assert!(lines.iter().any(|line| matches!(line["line"].as_u64(), Some(12..=13))), "{lines:?}");
        seen(folder.path());
    }
}

/// A folder with the programs `old`, and `new` that does more in a function.
fn two_in_c() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("server.c"), C).unwrap();
    for (name, rounds) in [("old", "-DROUNDS=20"), ("new", "-DROUNDS=220")] {
        compile(folder.path(), &["-g", rounds, "-o", name, "server.c"]);
    }
    folder
}

fn compile(folder: &Path, words: &[&str]) {
    assert!(Command::new("cc").arg("-O2").args(words).current_dir(folder).status().unwrap().success());
}

#[test]
fn a_kernel_that_refuses_to_sample_leaves_the_verdict_as_it_is_and_says_what_would_allow_it() {
    if !has_program("why where the kernel refuses", "cc") {
        return;
    }
    let folder = two_in_c();
    fs::write(folder.path().join("refusing.c"), REFUSING).unwrap();
    compile(folder.path(), &["-o", "refusing", "refusing.c"]);
    let refusing = folder.path().join("refusing");
    let compare = ["compare", "./old", "./new", "--get", "/", "--metric", "cpu", "--budget", "10s", "--why"];
    let refused = start_under(&[refusing.to_str().unwrap()], folder.path(), &compare).end();
    assert_eq!(refused.code(), Some(3), "{refused}");
    assert!(refused.stdout.contains("FAIL after"), "{refused}");
    let reason = refused.stderr.lines().find(|line| line.contains("no answer to why: "));
    let advice = ["--cap-add PERFMON", "sudo sysctl kernel.perf_event_paranoid=2"];
    assert!(reason.is_some_and(|line| advice.iter().any(|words| line.contains(words))), "{refused}");
}

#[test]
fn what_a_request_of_each_row_of_a_run_consists_of_is_in_its_table_and_page() {
    const WHAT: &str = "what a request of a server in C consists of";
    if !has_program(WHAT, "cc") {
        return;
    }
    let folder = two_in_c();
    let words = ["run", "--service", "./new", "--get", "/", "--budget", "5s", "--why", "--out", "run"];
    let ended = start(folder.path(), &words).end();
    if ended.stderr.contains("no answer to why: ") {
        return skip_always(WHAT, ended.stderr.trim());
    }
    assert!(matches!(ended.code(), Some(0 | 4)), "{ended}");
    assert!(ended.stdout.contains("What a request consists of"), "{ended}");
    let page = fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(page.contains("./new by function") && page.contains("checksum"), "its functions are in the page");
    let all = start(folder.path(), &["why", "run", "--json"]).end().expect(0).json();
    let profiles = all["profiles"].as_array().unwrap();
    assert_eq!(profiles.len(), 2, "the raw socket, which has no second row here, and the service: {all}");
    let stacks = ["why", "run", "--format", "collapsed"];
    let which = start(folder.path(), &stacks).end().expect(1);
    assert!(which.stderr.contains("choose one by `--row`"), "{which}");
    let one = start(folder.path(), &[&stacks[..], &["--row", "./new"]].concat()).end().expect(0);
    assert!(one.stdout.lines().any(|line| line.contains(";checksum")), "{one}");
    let none = start(folder.path(), &["why", "run", "--row", "old"]).end().expect(1);
    assert!(none.stderr.contains("no row \"old\" was profiled in this run; these were: "), "{none}");
}

/// A loop in Node.js is named by its handler, at the end of a history and of a bisection.
#[test]
fn the_change_that_a_history_or_a_bisection_finds_is_explained() {
    const WHAT: &str = "why a commit costs more";
    if !has_program(WHAT, "node") || !has_program(WHAT, "git") {
        return;
    }
    let (_folder, root) = checkout("shop");
    git(&root, &["init", "--quiet", "--initial-branch=main"]);
    for rounds in ["10", "20_000"] {
        fs::write(root.join("server.js"), NODE.replace("ROUNDS", rounds)).unwrap();
        git(&root, &["add", "."]);
        git(&root, &["commit", "--quiet", "-m", rounds]);
    }
    git(&root, &["tag", "old", "HEAD~1"]);
    git(&root, &["remote", "add", "origin", "git@github.com:o/shop.git"]);
    let history = ["history", "node server.js", "old..HEAD", "--get", "/", "--budget", "20s", "--why"];
    let ended = start(&root, &history).end().expect_measured();
    if ended.stderr.contains("no answer to why: ") {
        return skip_always(WHAT, ended.stderr.trim());
    }
    let report = start(&root, &["why", "--json"]).end().expect(0).json();
    assert!(is_named(&report, ("answerRequest", "own code")), "{}", told(&report));
    let pages =
        report["functions"].as_array().unwrap().iter().filter_map(|function| function["page"].as_str());
    let is_file =
        |page: &str| page.starts_with("https://github.com/o/shop/blob/") && page.ends_with("/server.js");
    assert!(pages.clone().count() > 0 && pages.clone().all(is_file), "{:?}", pages.collect::<Vec<_>>());
    let bisect =
        ["bisect", "old", "HEAD", "node server.js", "--get", "/", "--budget", "40s", "--why", "--json"];
    let found = start(&root, &bisect).end().expect_measured().json();
    assert!(found["why"].as_str().unwrap().contains("answerRequest"), "{found}");
}

/// What was explained has a flame graph in its page, and goes to other tools.
fn seen(folder: &Path) {
    let runs = fs::read_dir(folder.join(".tare/runs")).unwrap().map(|entry| entry.unwrap().path());
    let run =
        runs.filter(|run| run.join("why.json").exists() && run.join("run.json").exists()).max().unwrap();
    let page = fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.contains("globalThis.tareFlame = flame") && page.contains("\"shape\":\"flame\""));
    let words = |format: &'static str| vec!["why", run.to_str().unwrap(), "--format", format];
    let firefox = start(folder, &words("firefox")).end().expect(0).json();
    assert_eq!(firefox["threads"].as_array().map(Vec::len), Some(2));
    let pprof = Command::new(env!("CARGO_BIN_EXE_tare")).args(words("pprof")).output().unwrap();
    assert!(pprof.status.success() && pprof.stdout.starts_with(&[0x1f, 0x8b]), "it is gzipped");
}

#[test]
fn more_hashes_in_go_are_named_by_their_function() {
    const WHAT: &str = "why a server in Go costs more";
    if !has_program(WHAT, "go") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (name, rounds) in [("old", 1), ("new", 40)] {
        let own = folder.path().join("src").join(name);
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("go.mod"), "module shop\n\ngo 1.20\n").unwrap();
        fs::write(own.join("main.go"), GO.replace("ROUNDS", &rounds.to_string())).unwrap();
        let to = folder.path().join(name);
        let built = Command::new("go").arg("build").arg("-o").arg(to).arg(".").current_dir(&own).status();
        assert!(built.unwrap().success());
    }
    names_it(folder.path(), WHAT, ["./old", "./new"], ("signBody", "own code"));
}

#[test]
fn a_checksum_in_rust_is_named() {
    const WHAT: &str = "why a server in Rust costs more";
    if !has_program(WHAT, "rustc") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (name, rounds) in [("old", "8"), ("new", "400")] {
        let source = format!("{name}.rs");
        fs::write(folder.path().join(&source), RUST.replace("ROUNDS", rounds)).unwrap();
        let words = ["-O", "--edition=2021", "-o", name, source.as_str()];
        let built = Command::new("rustc").args(words).current_dir(&folder).status();
        assert!(built.unwrap().success());
    }
    names_it(folder.path(), WHAT, ["./old", "./new"], ("checksum", "own code"));
}

#[test]
fn a_method_in_java_is_named_although_it_is_compiled_into_its_caller() {
    const WHAT: &str = "why a server in Java costs more";
    if !has_program(WHAT, "javac") || !has_program(WHAT, "java") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (name, rounds) in [("old", "20"), ("new", "6000")] {
        let own = folder.path().join(name);
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("Shop.java"), JAVA.replace("ROUNDS", rounds)).unwrap();
        assert!(Command::new("javac").arg("Shop.java").current_dir(&own).status().unwrap().success());
    }
    names_it(folder.path(), WHAT, ["java -cp old Shop", "java -cp new Shop"], ("Shop.checksum", "own code"));
}

/// Python names its functions from 3.12 on. What an older one spends in its interpreter is no answer.
#[test]
fn a_function_in_python_is_named_or_the_answer_is_withheld() {
    const WHAT: &str = "why a server in Python costs more";
    if !has_program(WHAT, "python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (name, rounds) in [("old.py", "2"), ("new.py", "200")] {
        fs::write(folder.path().join(name), PYTHON.replace("ROUNDS", rounds)).unwrap();
    }
    let services = ["python3 old.py", "python3 new.py"];
    let version =
        Command::new("python3").args(["-c", "import sys; print(sys.version_info >= (3, 12))"]).output();
    if String::from_utf8_lossy(&version.unwrap().stdout).trim() == "True" {
        return names_it(folder.path(), WHAT, services, ("checksum", "own code"));
    }
    let Some(report) = why(folder.path(), WHAT, services) else { return };
    let withheld = report["withheld"].as_str().unwrap_or_default();
    assert!(withheld.contains("Python") && withheld.contains("3.12"), "{}", told(&report));
}
