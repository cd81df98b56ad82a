//! For tests: servers that send without end, and the client's reaction to them.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::Arc,
    time::{Duration, Instant},
};

use tare_base::{
    Endpoint,
    http2::{
        ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PADDED, PING, PRIORITY,
        PUSH_PROMISE, RST_STREAM, SETTINGS, WINDOW_UPDATE,
    },
};
use tare_load::{Exchange, Expected, ExpectedBody, Protocol, http1::ParseError};

use super::{
    ANSWER_BYTES_MAX, AskError, Channel, ClientHttp2Error, Deadline, PREFACE, Trusts, ask_in, front,
};
use crate::certificate::Certificates;

const PATIENCE: Duration = Duration::from_millis(300);
/// Upper limit of an attempt on a busy machine. None of these servers ends by itself.
const SOON: Duration = Duration::from_secs(20);
/// Every flood sends more than this in that time, and a silent server sends less.
const FLOOD_BYTES: usize = 1_000;

/// The field `:status: 200` (RFC 7541, appendix A).
const OK: &[u8] = &[0x88];
/// The stream of the first request.
const FIRST: u32 = 1;

/// What the server sends after a request: `begin` once, then `more` for ever, with pauses.
#[derive(Clone)]
struct Flood {
    begin: Vec<u8>,
    more: Vec<u8>,
    pause: Duration,
}

fn flood(begin: impl Into<Vec<u8>>, more: impl AsRef<[u8]>) -> Flood {
    let more = more.as_ref();
    Flood { begin: begin.into(), more: more.repeat(1 + 60_000 / more.len()), pause: Duration::ZERO }
}

fn drip(begin: impl Into<Vec<u8>>, more: impl Into<Vec<u8>>) -> Flood {
    Flood { begin: begin.into(), more: more.into(), pause: Duration::from_millis(20) }
}

impl Flood {
    fn send(self, mut stream: TcpStream) -> io::Result<()> {
        stream.write_all(&self.begin)?;
        loop {
            std::thread::sleep(self.pause);
            stream.write_all(&self.more)?;
        }
    }
}

/// A server that waits as `is_asked` does and then floods each client.
fn server(is_asked: fn(&mut TcpStream) -> io::Result<()>, flood: Flood, reads: bool) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, flood) = (stream.unwrap(), flood.clone());
            std::thread::spawn(move || {
                is_asked(&mut stream)?;
                if reads {
                    let mut replies = stream.try_clone()?;
                    std::thread::spawn(move || io::copy(&mut replies, &mut io::sink()));
                }
                flood.send(stream)
            });
        }
    });
    address
}

/// Waits for any bytes, such as an HTTP/1.1 request or a ClientHello.
fn anything(stream: &mut TcpStream) -> io::Result<()> {
    stream.read(&mut [0; 4096]).map(drop)
}

/// Sends SETTINGS, then reads the preface and frames up to the head of a request.
fn request(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(&[frame(SETTINGS, 0, 0, b""), frame(SETTINGS, ACK, 0, b"")].concat())?;
    stream.read_exact(&mut vec![0; PREFACE[0].len()])?;
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

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

pub(super) fn exchange() -> Exchange {
    Exchange {
        request: b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        is_head: false,
        expected: Expected { status: 200, body: ExpectedBody::Any },
        name: "root".to_owned(),
        step: None,
    }
}

/// The error of a request, which must come soon.
fn refused(name: &str, server: impl Into<Endpoint>, channel: &Channel) -> AskError {
    let began = Instant::now();
    let asked = ask_in(&server.into(), channel, &exchange(), Deadline::after(PATIENCE));
    assert!(began.elapsed() < SOON, "{name}: {:?}", began.elapsed());
    asked.map(|response| response.status).expect_err(name)
}

/// Whether the request's own limits ended it.
fn is_out_of_bounds(error: &AskError) -> bool {
    match error {
        AskError::TooLong => true,
        AskError::TooLate { within, bytes, .. } => *within == PATIENCE && *bytes > FLOOD_BYTES,
        _ => false,
    }
}

/// Frames that `h2` alone would read for ever; the clock or the number of bytes must end them.
fn endless_frames() -> Vec<(&'static str, Flood)> {
    let head = || frame(HEADERS, END_HEADERS, FIRST, OK);
    let interim = frame(HEADERS, END_HEADERS, FIRST, b"\x08\x03103");
    vec![
        ("interim heads", flood("", interim)),
        ("WINDOW_UPDATE of the stream", flood("", frame(WINDOW_UPDATE, 0, FIRST, &[0, 0, 0, 1]))),
        ("WINDOW_UPDATE of the connection", flood("", frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]))),
        ("PRIORITY", flood("", frame(PRIORITY, 0, FIRST, &[0, 0, 0, 0, 1]))),
        ("PING", flood("", frame(PING, 0, 0, b"12345678"))),
        ("answers to PING", flood("", frame(PING, ACK, 0, b"12345678"))),
        ("SETTINGS", flood("", frame(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0]))),
        ("GOAWAY", flood("", frame(GOAWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0]))),
        ("frames of an unknown type", flood("", frame(99, 0, 0, &[b'x'; 16_384]))),
        ("a body within its window", flood(head(), frame(DATA, 0, FIRST, &[b'x'; 1_000]))),
    ]
}

#[test]
fn frames_without_end_have_one_deadline_and_one_size() {
    let channel = Channel { protocol: Protocol::H2c, ..Channel::default() };
    for (name, flood) in endless_frames() {
        // The client reopens the body's window, but a server may ignore it and overrun it.
        let is_of_flow = |error: &AskError| {
            let AskError::Http2(ClientHttp2Error::Refused(code)) = error else { return false };
            **code == *"FLOW_CONTROL_ERROR"
        };
        let error = refused(name, server(request, flood, true), &channel);
        assert!(is_out_of_bounds(&error) || is_of_flow(&error), "{name}: {error}");
    }
}

#[test]
fn frames_that_no_answer_has_are_errors() {
    let channel = Channel { protocol: Protocol::H2c, ..Channel::default() };
    let head = || frame(HEADERS, END_HEADERS, FIRST, OK);
    let literal = [&[0, 1, b'a', 100][..], &[b'b'; 100]].concat();
    // An HPACK bomb: a field of 3,900 bytes in the table, and 12,000 references to it.
    let bomb = [OK, &[0x40, 1, b'a', 0x7f, 0xbd, 0x1d], &[b'v'; 3_900], &[0xbe; 12_000]].concat();
    let bomb = frame(HEADERS, END_HEADERS | END_STREAM, FIRST, &bomb);
    let floods = [
        ("heads", flood("", head())),
        ("DATA without data", flood(head(), frame(DATA, 0, FIRST, b""))),
        ("padding alone", flood(head(), frame(DATA, PADDED, FIRST, &[&[255][..], &[0; 255]].concat()))),
        ("CONTINUATION", flood(frame(HEADERS, 0, FIRST, OK), frame(CONTINUATION, 0, FIRST, b""))),
        (
            "a head without an end",
            flood(frame(HEADERS, 0, FIRST, OK), frame(CONTINUATION, 0, FIRST, &literal)),
        ),
        ("pushes", flood("", frame(PUSH_PROMISE, END_HEADERS, FIRST, &[0, 0, 0, 2, 0x88]))),
        ("a head that grows when it is decoded", flood(bomb, frame(PING, ACK, 0, b"12345678"))),
        ("resets", flood("", frame(RST_STREAM, 0, FIRST, &[0, 0, 0, 7]))),
        ("no SETTINGS but HTTP/1.1", flood("HTTP/1.1 200 OK\r\n\r\n", "x")),
    ];
    for (name, flood) in floods {
        let error = refused(name, server(request, flood, true), &channel);
        let is_named = match &error {
            AskError::Http2(ClientHttp2Error::Reset(code)) => name == "resets" && **code == *"REFUSED_STREAM",
            AskError::Http2(ClientHttp2Error::Refused(_)) => name != "resets",
            _ => false,
        };
        assert!(is_named, "{name}: {error}");
    }
}

#[test]
fn a_server_of_http_2_that_reads_no_replies_or_says_nothing_is_not_waited_for() {
    let channel = Channel { protocol: Protocol::H2c, ..Channel::default() };
    let silent = frame(SETTINGS, 0, 0, b"");
    for (name, flood) in [
        ("PING", flood("", frame(PING, 0, 0, b"12345678"))),
        ("SETTINGS", flood("", frame(SETTINGS, 0, 0, b""))),
        ("a drip", drip("", frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]))),
        ("nothing but SETTINGS", Flood { pause: SOON, ..drip(silent, b"") }),
    ] {
        let error = refused(name, server(request, flood, false), &channel);
        assert!(
            matches!(error, AskError::TooLate { within: PATIENCE, .. } | AskError::TooLong),
            "{name}: {error}"
        );
    }
}

#[test]
fn heads_chunks_and_trailers_have_limits() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let status = "HTTP/1.1 200 OK\r\n";
    for (name, flood, expected) in [
        ("headers", flood(status, "X: y\r\n"), ParseError::TooManyHeaders),
        ("one header", flood([status, "X: "].concat(), "x"), ParseError::HeadTooLong),
        ("an extension of a chunk", flood([chunked, "2;"].concat(), "x"), ParseError::ChunkSize),
        ("zeros of a size", flood(chunked, "0"), ParseError::ChunkSize),
        ("trailers", flood([chunked, "2\r\nok\r\n0\r\n"].concat(), "A: b\r\n"), ParseError::Trailers),
    ] {
        match refused(name, server(anything, flood, true), &Channel::default()) {
            AskError::NotHttp(malformed) => assert_eq!(malformed.error, expected, "{name}"),
            other => panic!("{name}: {other}"),
        }
    }
}

#[test]
fn a_body_that_cannot_be_read_whole_is_refused_by_what_it_announces() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let of_length = |bytes: u64| format!("HTTP/1.1 200 OK\r\nContent-Length: {bytes}\r\n\r\n");
    let limit = ANSWER_BYTES_MAX as u64;
    // Nothing follows, so only the announced length can end it before the deadline.
    let said = |begin: String| {
        let silent = Flood { pause: SOON, ..drip(begin.clone(), b"") };
        refused(&begin, server(anything, silent, true), &Channel::default())
    };
    for (begin, bytes) in [
        (of_length(limit + 1), limit + 1),
        (of_length(1 << 40), 1 << 40),
        (format!("{chunked}2\r\nok\r\n3B9ACA00\r\n"), 1_000_000_002),
    ] {
        assert!(matches!(said(begin), AskError::Announced(found) if found == bytes), "{bytes}");
    }
    for begin in [of_length(u64::MAX), format!("{chunked}FFFFFFFFFFFFFFFF\r\n")] {
        let error = said(begin);
        let AskError::NotHttp(malformed) = &error else { panic!("{error}") };
        assert_eq!(malformed.error, ParseError::BodyTooLong { bytes: u64::MAX });
    }
    assert!(matches!(said(of_length(limit)), AskError::TooLate { within: PATIENCE, .. }));
    let channel = Channel { protocol: Protocol::H2c, ..Channel::default() };
    // The static name of `content-length` with a literal value.
    let head = [OK, &[0x0f, 0x0d, 8], b"16777217"].concat();
    let begin = frame(HEADERS, END_HEADERS, FIRST, &head);
    let silent = Flood { pause: SOON, ..drip(begin, b"") };
    let error = refused("HTTP/2", server(request, silent, true), &channel);
    assert!(matches!(error, AskError::Announced(16_777_217)), "{error}");
}

#[test]
fn a_handshake_has_the_deadline_of_its_question() {
    let folder = tempfile::tempdir().unwrap();
    let trusts = Trusts::Run(Arc::new(Certificates::make(folder.path()).unwrap()));
    let record =
        |kind: u8, bytes: &[u8]| [&[kind, 3, 3], &(bytes.len() as u16).to_be_bytes()[..], bytes].concat();
    let long = [&[2, 0xff, 0xff, 0xff][..], &[b'a'; 16_000]].concat();
    for protocol in [Protocol::Http1Tls, Protocol::H2] {
        let channel = Channel { protocol, trusts: trusts.clone() };
        for (name, flood) in [
            ("nothing", Flood { pause: SOON, ..drip("", b"") }),
            ("a drip", drip(record(22, &[2; 122])[..5].to_vec(), [2])),
            ("warnings", flood("", record(21, &[1, 90]))),
            ("changes of the cipher", flood("", record(20, &[1]))),
            ("empty records", flood("", record(22, b""))),
            ("a message without end", flood("", record(22, &long))),
        ] {
            let error = refused(name, server(anything, flood, true), &channel);
            let is_late = matches!(error, AskError::TooLate { within: PATIENCE, .. });
            assert!(is_late || matches!(error, AskError::Tls(_)), "{name}: {error}");
        }
    }
}

#[test]
fn an_answer_over_tls_has_the_same_limits() {
    let folder = tempfile::tempdir().unwrap();
    let certificates = Arc::new(Certificates::make(folder.path()).unwrap());
    let channel = |protocol| Channel { protocol, trusts: Trusts::Run(Arc::clone(&certificates)) };
    let chunks = flood("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n");
    let before = |upstream: SocketAddr, alpn: &[u8]| front::before(upstream, &certificates, &[alpn]);
    let server_1 = before(server(anything, chunks, true), b"http/1.1");
    let error = refused("chunks", server_1, &channel(Protocol::Http1Tls));
    assert!(is_out_of_bounds(&error), "{error}");
    for (name, flood) in endless_frames().into_iter().take(4) {
        let server_2 = before(server(request, flood, true), b"h2");
        let error = refused(name, server_2, &channel(Protocol::H2));
        assert!(is_out_of_bounds(&error), "{name}: {error}");
    }
}
