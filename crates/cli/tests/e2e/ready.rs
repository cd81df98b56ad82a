//! Services that do not start, or start slowly: the messages during the wait, and the end of the wait.

use std::{fs, path::Path};

use rustix::process::Signal;

use crate::{
    load::serve,
    support::{Running, USUAL, checkout, send, start, within, wrong_of},
};

/// The number of services that are tested in parallel.
const AT_ONCE: usize = 8;

/// A program that serves in its own way; `serve(handler)` serves correctly.
const PRELUDE: &str = r#"
import os, socket, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
PORT = int(os.environ["PORT"])
class Hello(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def status(self):
        return 200
    def do_GET(self):
        body = b"hello"
        self.send_response(self.status())
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *words):
        pass
def serve(handler=Hello):
    ThreadingHTTPServer(("127.0.0.1", PORT), handler).serve_forever()
def listen(family, address):
    listener = socket.socket(family)
    listener.bind(address)
    listener.listen(16)
    return listener
def forever():
    while True: time.sleep(60)
"#;

/// A service's behaviour, and the expected message, where ASKED is the port that it is asked at.
const HINDERED: [(&str, &str); 11] = [
    (
        "listener = listen(socket.AF_INET6, ('::1', PORT)); forever()",
        "it listens on [::1]:ASKED, and not on 127.0.0.1:ASKED, where it is asked: let it listen on 127.0.0.1 or on all addresses",
    ),
    (
        "listener = socket.socket(socket.AF_INET6)\n\
         listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)\n\
         listener.bind(('::', PORT)); listener.listen(); forever()",
        "it listens on [::]:ASKED, and not on 127.0.0.1:ASKED, where it is asked: let it listen on 127.0.0.1 or on all addresses",
    ),
    (
        "listener = listen(socket.AF_INET, ('127.0.0.2', PORT)); forever()",
        "it listens on 127.0.0.2:ASKED, and not on 127.0.0.1:ASKED, where",
    ),
    (
        "listener = listen(socket.AF_INET, ('127.0.0.1', 0)); forever()",
        ", where it is asked: let it take its port from the variable PORT, or write {port} in its command",
    ),
    // A child process listens.
    (
        "if os.fork() == 0: listener = listen(socket.AF_INET, ('0.0.0.0', 0))\nforever()",
        "it listens on 0.0.0.0:",
    ),
    (
        "taker = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); taker.bind(('127.0.0.1', PORT)); forever()",
        "it listens on 127.0.0.1:ASKED by UDP, and not on 127.0.0.1:ASKED, where it is asked: let it listen on 127.0.0.1:$PORT by TCP",
    ),
    (
        "listener = listen(socket.AF_UNIX, sys.argv[0] + '.sock'); forever()",
        ".sock, and not on 127.0.0.1:ASKED, where it is asked: let it listen on 127.0.0.1:$PORT",
    ),
    (
        "listener = listen(socket.AF_INET, ('127.0.0.1', PORT)); forever()",
        "it listens at 127.0.0.1:ASKED and accepts no connection (",
    ),
    (
        "listener, all = listen(socket.AF_INET, ('127.0.0.1', PORT)), []\nwhile True: all.append(listener.accept())",
        "it listens at 127.0.0.1:ASKED, and has answered nothing for ",
    ),
    (
        "print('no database yet', file=sys.stderr, flush=True); forever()",
        "it listens on no port yet, and its stderr ends: no database yet",
    ),
    ("os.kill(os.getpid(), 19)", "is stopped, as one is that reads from a terminal in the background"),
];

fn has_python() -> bool {
    tare_host::fixture::has_program("services that do not come up", "python3")
}

/// The command of a service with this behaviour, whose program is in `folder`.
fn service(folder: &Path, name: &str, does: &str) -> String {
    let path = folder.join(format!("{name}.py"));
    fs::write(&path, format!("{PRELUDE}{does}\n")).unwrap();
    format!("python3 {}", path.display())
}

/// The message with the port of the running service, which differs by start; `None` while no service runs.
fn asked(tare: &Running, what: &str) -> Option<String> {
    let port_of = |pid: u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
        let port = environment.split(|byte| *byte == 0).find_map(|entry| entry.strip_prefix(b"PORT="))?;
        Some(String::from_utf8_lossy(port).into_owned())
    };
    let port = tare.carrying("PORT=").into_iter().find_map(port_of)?;
    Some(what.replace("ASKED", &port))
}

/// Starts `tare`, waits for the message about its service, and interrupts it. Returns the error, if any.
fn wrong_with(folder: &Path, words: &[&str], what: &str) -> Option<String> {
    let mut tare = start(folder, words);
    let is_said = within(USUAL, || {
        let expected = asked(&tare, what);
        tare.has_ended() || expected.is_some_and(|what| tare.printed("stderr").contains(&what))
    });
    let waiting = tare.printed("stderr");
    if !is_said || tare.has_ended() || !waiting.contains("; waiting until 60s after its start") {
        return Some(format!("{words:?}: {what:?} is not said while it waits: {waiting}"));
    }
    send(tare.pid(), Signal::INT);
    let ended = tare.end();
    // The interrupt must not lose the finding.
    let right = ended.code() == Some(130) && ended.stderr.contains("interrupted before it answered: it");
    (!right).then(|| format!("{words:?}: the interrupt hides what was known: {ended}"))
}

#[test]
fn what_hinders_a_service_is_said_while_it_is_waited_for_and_at_an_interrupt() {
    if !has_python() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let numbered: Vec<(usize, (&str, &str))> = HINDERED.into_iter().enumerate().collect();
    let mut cases: Vec<(String, &str)> = numbered
        .into_iter()
        .map(|(number, (does, what))| (service(folder.path(), &format!("service-{number}"), does), what))
        .collect();
    cases.push(("sleep 600 | cat".to_owned(), "(\"cat\") waits for input on its stdin, and gets none"));
    let check = |(command, what): &(String, &str)| {
        wrong_with(folder.path(), &["verify", command, "--get", "/"], what)
    };
    let wrong = wrong_of(&cases, AT_ONCE, check);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_command_that_starts_a_service_says_what_hinders_it() {
    if !has_python() {
        return;
    }
    let (_folder, root) = checkout("shop");
    let (does, what) = HINDERED[0];
    let command = &service(&root, "service", does);
    let commands: [&[&str]; 4] = [
        &["compare", command, command],
        &["run", "--service", command, "--get", "/"],
        &["slo", command, "--slo", "p99=50ms"],
        &["init", "--command", command],
    ];
    let wrong = wrong_of(&commands, AT_ONCE, |words| wrong_with(&root, words, what));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn a_service_that_answers_that_it_starts_is_waited_for() {
    if !has_python() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // The last service answers only a part of its paths while it starts.
    let starting = [
        ("503", "True"),
        ("502", "True"),
        ("504", "True"),
        ("425", "True"),
        ("429", "True"),
        ("503", "self.path != '/'"),
    ];
    let numbered: Vec<(usize, (&str, &str))> = starting.into_iter().enumerate().collect();
    let check = |&(number, (status, is_late)): &(usize, (&str, &str))| {
        let does = format!(
            "BEGAN = time.time()\nclass Late(Hello):\n    def status(self):\n        \
             return {status} if {is_late} and time.time() - BEGAN < 2 else 200\nserve(Late)"
        );
        let command = service(folder.path(), &format!("late-{number}"), &does);
        let ended = start(folder.path(), &["verify", &command, "--get", "/", "--get", "/late"]).end();
        // The duration depends on the start of its interpreter; the rest of the sentence is known.
        let said = ended.stderr.lines().any(|line| {
            line.contains(&format!(" with status {status}, for "))
                && line.ends_with(" s so far; waiting until 60s after its start")
        });
        let right = ended.code() == Some(0) && said;
        (!right).then(|| format!("{status}: {ended}"))
    };
    let wrong = wrong_of(&numbered, AT_ONCE, check);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn a_service_that_never_comes_up_is_waited_for_until_its_time_is_over() {
    if !has_python() {
        return;
    }
    let (_folder, root) = checkout("shop");
    let starting = service(
        &root,
        "starting",
        "class Never(Hello):\n    def status(self):\n        return 503\nserve(Never)",
    );
    let elsewhere = service(&root, "elsewhere", HINDERED[0].0);
    let manifest = |name: &str, command: &str| {
        format!("[service.{name}]\ncommand = {command:?}\nready-timeout = \"2s\"\n")
    };
    let file =
        format!("format = \"1.0\"\n{}{}", manifest("starting", &starting), manifest("elsewhere", &elsewhere));
    fs::write(root.join("tare.toml"), file).unwrap();
    let ended = start(&root, &["verify", "starting", "--get", "/"]).end().expect(1);
    // The time counts from the first answer, whose delay depends on the interpreter.
    let seconds = ended.stderr.lines().find_map(|line| {
        let rest = line.strip_prefix("starting: it answers GET / with status 503, for ")?;
        rest.strip_suffix(" s so far; waiting until 2s after its start")?.parse::<f64>().ok()
    });
    assert!(seconds.is_some_and(|seconds| 0.0 < seconds && seconds < 2.0), "{ended}");
    let within = "gave no correct answer within 2s of its start: it answers GET / with status 503, for ";
    assert!(ended.stderr.contains(within), "{ended}");
    assert!(ended.stderr.contains(" s so far; if it needs more time, raise `ready-timeout`"), "{ended}");
    let ended = start(&root, &["compare", "starting", "starting", "--get", "/"]).end().expect(1);
    assert!(ended.stderr.contains(within), "{ended}");
    let ended = start(&root, &["verify", "elsewhere", "--get", "/"]).end().expect(1);
    assert!(
        ended.stderr.contains("gave no correct answer within 2s of its start: it listens on [::1]:"),
        "{ended}"
    );
    assert!(!ended.stderr.contains("raise `ready-timeout`"), "{ended}");
}

/// A part of the answer arrives.
#[test]
fn a_server_whose_answer_is_not_whole_is_not_called_silent() {
    let url = serve(|_| "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc".to_owned());
    let folder = tempfile::tempdir().unwrap();
    let ended = start(folder.path(), &["verify", &url]).end().expect(1);
    assert!(ended.stderr.contains(": it gives no whole answer, for 1."), "{ended}");
    assert!(!ended.stderr.contains("has answered nothing"), "{ended}");
    let came = "that is whole within 10s: status 200 and 3 of 100 bytes of the body came";
    assert!(ended.stderr.contains(came), "{ended}");
}

/// Waiting longer would not help.
#[test]
fn a_service_that_ends_is_waited_for_no_longer() {
    if !has_python() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let daemon = service(folder.path(), "daemon", "if os.fork() == 0: time.sleep(2); serve()");
    let cases = [
        (daemon.as_str(), "ended before it was ready: exit status 0, and left process "),
        (
            "cat -",
            "ended before it was ready: exit status 0: a service runs until it is stopped, and its stdin is empty",
        ),
    ];
    for (command, expected) in cases {
        let ended = start(folder.path(), &["verify", command, "--get", "/"]).end().expect(1);
        assert!(ended.stderr.contains(expected), "{expected:?} is not in {ended}");
    }
}
