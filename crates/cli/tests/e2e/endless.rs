//! Servers whose first answer has no end: what is asked before a load ends in time and in little memory.

use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use rustix::process::Signal;

use crate::support::{Running, Workspace, send, within};

/// Twice two questions of a second each, on a busy machine.
const IN_TIME: Duration = Duration::from_secs(30);
const PEAK_KIB_MAX: u64 = 120 * 1024;

/// What is sent first, what then again and again, and the pause between.
type Answer = (&'static [u8], Vec<u8>, Duration);

/// A server that answers everybody so, and how many it has answered. It lives as long as the tests.
fn server((begin, more, pause): Answer) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let answer = move |mut stream: TcpStream| {
        let _request = stream.read(&mut [0; 4096]);
        let mut sent = stream.write_all(begin);
        count.fetch_add(1, Ordering::Relaxed);
        while sent.is_ok() {
            std::thread::sleep(pause);
            sent = stream.write_all(&more);
        }
    };
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let answer = answer.clone();
            std::thread::spawn(move || answer(stream));
        }
    });
    (port, asked)
}

fn load(workspace: &Workspace, port: u16, timeout: &str) -> Running {
    workspace.start(&["load", &format!("http://127.0.0.1:{port}/"), "--timeout", timeout, "-d", "1s"])
}

/// The most memory that the process has had so far; 0 once it has ended.
fn peak_kib(tare: &Running) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", tare.pid())).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
}

#[test]
fn a_load_is_refused_by_an_answer_that_has_no_end() {
    let workspace = Workspace::new(&[]);
    let (none, second) = (Duration::ZERO, Duration::from_millis(200));
    let length = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n";
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let answers: [(&str, Answer); 5] = [
        ("of a length without end", (length, vec![b'x'; 1 << 16], none)),
        ("until a close that never comes", (b"HTTP/1.1 200 OK\r\n\r\n", vec![b'x'; 1 << 16], none)),
        ("chunks", (chunked, b"1\r\nx\r\n".repeat(1 << 13), none)),
        ("interim heads", (b"", b"HTTP/1.1 100 Continue\r\n\r\n".repeat(1 << 11), none)),
        ("byte by byte", (b"HTTP/1.1 200 OK\r\nX: ", b"x".to_vec(), second)),
    ];
    for (what, answer) in answers {
        let (port, _) = server(answer);
        let mut tare = load(&workspace, port, "1s");
        let mut peak = 0;
        let ended = within(IN_TIME, || {
            peak = peak.max(peak_kib(&tare));
            tare.has_ended()
        });
        assert!(ended, "{what}: did not end within {IN_TIME:?}");
        let told = tare.end().expect(1);
        assert!(told.stderr.contains("has no answer from"), "{what}: {told}");
        assert!(peak < PEAK_KIB_MAX, "{what}: {peak} KiB");
    }
}

#[test]
fn an_interrupt_ends_a_question() {
    let workspace = Workspace::new(&[]);
    for pause in [Duration::ZERO, Duration::from_millis(200)] {
        let (port, asked) =
            server((b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n".to_vec(), pause));
        let mut tare = load(&workspace, port, "90s");
        assert!(within(IN_TIME, || asked.load(Ordering::Relaxed) > 0));
        send(tare.pid(), Signal::INT);
        assert!(within(Duration::from_secs(10), || tare.has_ended()), "the first interrupt is not obeyed");
        tare.end().expect(130);
    }
}
