//! Servers whose first answer never ends: the requests before a load still end in time, with little memory.

use std::{
    fs,
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use rustix::process::Signal;

use crate::support::{Running, Workspace, send, within};

/// Twice two requests of a second each, on a busy machine.
const IN_TIME: Duration = Duration::from_secs(30);
const PEAK_KIB_MAX: u64 = 64 * 1024;

/// The first bytes, the bytes that are repeated, and the pause between.
type Answer = (&'static [u8], Vec<u8>, Duration);

/// A server with this answer, and the number of its answers. It lives as long as the tests.
fn server(answer: Answer) -> (u16, Arc<AtomicUsize>) {
    server_after(|stream| stream.read(&mut [0; 4096]).map(drop), answer)
}

/// The same, with a function that reads the request.
fn server_after(
    hear: fn(&mut TcpStream) -> io::Result<()>,
    (begin, more, pause): Answer,
) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let answer = move |mut stream: TcpStream| {
        let _request = hear(&mut stream);
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

fn load(workspace: &Workspace, port: u16, timeout: &str, more: &[&str]) -> Running {
    let url = format!("http://127.0.0.1:{port}/");
    workspace.start(&[&["load", &url, "--timeout", timeout, "-d", "1s"], more].concat())
}

/// Expects that the command fails by itself, in time and with little memory. Returns its message.
fn refused(what: &str, mut tare: Running) -> String {
    let mut peak = 0;
    let ended = within(IN_TIME, || {
        peak = peak.max(peak_kib(&tare));
        tare.has_ended()
    });
    assert!(ended, "{what}: did not end within {IN_TIME:?}");
    assert!(peak < PEAK_KIB_MAX, "{what}: {peak} KiB");
    tare.end().expect(1).stderr.clone()
}

/// The process's peak memory in KiB without that of its executable, which is large in a test build; 0 once
/// the process has ended.
fn peak_kib(tare: &Running) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", tare.pid())).unwrap_or_default();
    let kib = |name: &str| {
        let value = status.lines().find_map(|line| line.strip_prefix(name));
        value.and_then(|value| value.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0_u64)
    };
    kib("VmHWM:").saturating_sub(kib("RssFile:"))
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
        let said = refused(what, load(&workspace, port, "1s", &[]));
        assert!(said.contains("has no answer from"), "{what}: {said}");
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Sends SETTINGS, and reads the preface and frames up to the head of a request.
fn hear_http2(stream: &mut TcpStream) -> io::Result<()> {
    const PREFACE_BYTES: usize = 24;
    const HEADERS: u8 = 1;
    stream.write_all(&frame(4, 0, 0, b""))?;
    stream.read_exact(&mut [0; PREFACE_BYTES])?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head)?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        stream.read_exact(&mut vec![0; length as usize])?;
        if head[3] == HEADERS {
            return Ok(());
        }
    }
}

#[test]
fn a_load_in_http_2_is_refused_by_frames_that_have_no_end() {
    let workspace = Workspace::new(&[]);
    let flood = |frame: Vec<u8>| frame.repeat(1_000);
    for (what, more) in [
        ("interim heads", flood(frame(1, 4, 1, b"\x08\x03103"))),
        ("heads", flood(frame(1, 4, 1, &[0x88]))),
        ("WINDOW_UPDATE", flood(frame(8, 0, 1, &[0, 0, 0, 1]))),
        ("PRIORITY", flood(frame(2, 0, 1, &[0, 0, 0, 0, 1]))),
        ("PING, of which no reply is read", flood(frame(6, 0, 0, b"12345678"))),
    ] {
        let (port, _) = server_after(hear_http2, (b"", more, Duration::ZERO));
        let said = refused(what, load(&workspace, port, "1s", &["--h2c"]));
        assert!(said.contains("has no answer from"), "{what}: {said}");
    }
}

#[test]
fn a_length_that_nobody_sends_is_refused_by_its_value() {
    let workspace = Workspace::new(&[]);
    for (begin, value) in [
        (&b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\nok"[..], "18446744073709551615"),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n",
            "18446744073709551615",
        ),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\nok", "50000000"),
    ] {
        let (port, _) = server((begin, b"x".to_vec(), Duration::from_secs(60)));
        // Waiting for it would take longer than the test does.
        let said = refused(value, load(&workspace, port, "90s", &[]));
        assert!(said.contains(&format!("{value} bytes")) && !said.contains("--timeout"), "{said}");
    }
}

#[test]
fn a_silent_server_is_waited_for_as_long_as_was_asked_for() {
    let workspace = Workspace::new(&[]);
    // It never accepts: connections stay in the queue, without an answer.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let [http, https] = ["http", "https"].map(|scheme| format!("{scheme}://{address}/"));
    for words in [
        &["load", &https, "-k", "--no-check", "--timeout", "200ms"][..],
        &["load", &https, "-k", "--timeout", "200ms"],
        &["record", &http, "--timeout", "200ms"],
        &["record", &http, "--get", "/a", "--timeout", "200ms"],
    ] {
        let began = Instant::now();
        refused(&words.join(" "), workspace.start(words));
        // With the default it takes 5 s or more.
        assert!(began.elapsed() < Duration::from_secs(5), "{words:?}: {:?}", began.elapsed());
    }
}

#[test]
fn an_interrupt_ends_a_question() {
    let workspace = Workspace::new(&[]);
    for pause in [Duration::ZERO, Duration::from_millis(200)] {
        let (port, asked) =
            server((b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n".to_vec(), pause));
        let mut tare = load(&workspace, port, "90s", &[]);
        assert!(within(IN_TIME, || asked.load(Ordering::Relaxed) > 0));
        send(tare.pid(), Signal::INT);
        assert!(within(Duration::from_secs(10), || tare.has_ended()), "the first interrupt is not obeyed");
        tare.end().expect(130);
    }
}
