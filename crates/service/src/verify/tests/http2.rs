//! Verification over TLS and HTTP/2, against hand-written servers: a correct one, and others with one fault
//! each.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread;

use insta::assert_snapshot;
use tare_base::http2::{
    ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PING, RST_STREAM, SETTINGS,
};
use tare_load::Protocol;

use super::*;
use crate::certificate::Certificates;
use crate::client::{Channel, PREFACE, front};
use crate::verify::frames::{Fields, encoded, frame, parsed};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum H2Fault {
    None,
    NoSettings,
    NeverAcknowledges,
    NamesInCapitals,
    SaysKeepAlive,
    StatusLast,
    WantsHost,
    OneAtATime,
    RefusesTrailers,
    SpeaksHttp1,
    ResetsStreams,
    WrongBody,
    GoesAwayWithAnError,
    AnswersHeadWithABody,
    FloodsHeads,
    FloodsInterimHeads,
    FloodsPings,
    HeadThatGrows,
}

/// A server of the contract `hello` over h2c.
fn serve(fault: H2Fault) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            thread::spawn(move || Peer::new(stream, fault).serve());
        }
    });
    address
}

struct Peer {
    stream: TcpStream,
    fault: H2Fault,
    input: Vec<u8>,
    decoder: loona_hpack::Decoder<'static>,
    /// Heads of incomplete requests.
    open: BTreeMap<u32, Fields>,
}

impl Peer {
    fn new(stream: TcpStream, fault: H2Fault) -> Peer {
        let (input, open) = (Vec::new(), BTreeMap::new());
        Peer { stream, fault, input, decoder: loona_hpack::Decoder::new(), open }
    }

    fn read(&mut self) -> Option<()> {
        let mut buffer = [0; 4096];
        match self.stream.read(&mut buffer) {
            Ok(0) | Err(_) => None,
            Ok(count) => {
                self.input.extend_from_slice(&buffer[..count]);
                Some(())
            }
        }
    }

    fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Option<()> {
        self.stream.write_all(&frame(kind, flags, stream, payload)).ok()
    }

    fn serve(mut self) -> Option<()> {
        while self.input.len() < PREFACE[0].len() {
            self.read()?;
        }
        if !self.input.starts_with(PREFACE[0]) {
            return self.of_http1();
        }
        self.input.drain(..PREFACE[0].len());
        if self.fault != H2Fault::NoSettings {
            self.send(SETTINGS, 0, 0, &[])?;
        }
        if self.fault == H2Fault::GoesAwayWithAnError {
            self.send(GOAWAY, 0, 0, &[0, 0, 0, 0, 0, 0, 0, 11])?;
            // Reads all remaining bytes, so that the close is not a reset.
            self.stream.shutdown(Shutdown::Write).ok()?;
            while self.read().is_some() {}
            return None;
        }
        loop {
            while let Some(frame) = parsed(&mut self.input).ok()? {
                let ends = frame.flags & END_STREAM != 0;
                match frame.kind {
                    SETTINGS if frame.flags & ACK == 0 && self.fault != H2Fault::NeverAcknowledges => {
                        self.send(SETTINGS, ACK, 0, &[])?;
                    }
                    HEADERS if self.open.contains_key(&frame.stream) => {
                        let _trailers = self.decoder.decode(&frame.payload).ok()?;
                        match self.fault {
                            H2Fault::RefusesTrailers => {
                                self.send(RST_STREAM, 0, frame.stream, &[0, 0, 0, 1])?
                            }
                            _ => self.answer(frame.stream)?,
                        }
                    }
                    HEADERS => {
                        let head = self.decoder.decode(&frame.payload).ok()?;
                        self.open.insert(frame.stream, head);
                        if ends {
                            self.answer(frame.stream)?;
                        }
                    }
                    DATA if ends => self.answer(frame.stream)?,
                    _ => {}
                }
            }
            self.read()?;
        }
    }

    fn answer(&mut self, stream: u32) -> Option<()> {
        if self.fault == H2Fault::OneAtATime && self.open.len() > 1 && stream != *self.open.keys().next()? {
            return Some(());
        }
        let request = self.open.remove(&stream)?;
        let of = |name: &[u8]| request.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_slice());
        let (status, body) = match (of(b":method")?, of(b":path")?) {
            _ if self.fault == H2Fault::WantsHost && of(b"host").is_none() => ("400", "no host"),
            (b"GET" | b"HEAD", b"/") => ("200", "Hello world!"),
            (_, b"/") => ("405", ""),
            _ => ("404", ""),
        };
        if self.fault == H2Fault::ResetsStreams {
            return self.send(RST_STREAM, 0, stream, &[0, 0, 0, 2]);
        }
        match self.fault {
            H2Fault::FloodsHeads => return self.flood(&frame(HEADERS, END_HEADERS, stream, &[0x88])),
            // The block is `:status: 103`.
            H2Fault::FloodsInterimHeads => {
                return self.flood(&frame(HEADERS, END_HEADERS, stream, b"\x08\x03103"));
            }
            H2Fault::FloodsPings => return self.flood(&frame(PING, 0, 0, b"12345678")),
            H2Fault::HeadThatGrows => {
                // A field of 3,900 bytes in the table, and 20 references to it.
                let field = [&[0x40, 1, b'a', 0x7f, 0xbd, 0x1d][..], &[b'v'; 3_900]].concat();
                let block = [&[0x88][..], &field, &[0xbe; 20]].concat();
                return self.send(HEADERS, END_HEADERS | END_STREAM, stream, &block);
            }
            _ => {}
        }
        let body = if self.fault == H2Fault::WrongBody { "Hello!" } else { body };
        let length = body.len().to_string();
        let mut head = vec![(":status", status), ("content-type", "text/plain; charset=utf-8")];
        match self.fault {
            H2Fault::NamesInCapitals => head.push(("Content-Length", &length)),
            _ => head.push(("content-length", &length)),
        }
        match self.fault {
            H2Fault::SaysKeepAlive => head.push(("keep-alive", "timeout=5")),
            H2Fault::StatusLast => head.rotate_left(1),
            _ => {}
        }
        let is_head = of(b":method")? == b"HEAD" && self.fault != H2Fault::AnswersHeadWithABody;
        // Split into two frames, like long heads.
        let block = encoded(&head);
        let (first, second) = block.split_at(block.len() / 2);
        let ends = if is_head || body.is_empty() { END_STREAM } else { 0 };
        self.send(HEADERS, ends, stream, first)?;
        self.send(CONTINUATION, END_HEADERS, stream, second)?;
        if ends == 0 {
            self.send(DATA, END_STREAM, stream, body.as_bytes())?;
        }
        Some(())
    }

    /// Sends a frame repeatedly without reading.
    fn flood(&mut self, frame: &[u8]) -> Option<()> {
        let many = frame.repeat(1_000);
        loop {
            self.stream.write_all(&many).ok()?;
        }
    }

    /// The reaction to an HTTP/1.1 client.
    fn of_http1(&mut self) -> Option<()> {
        if self.fault == H2Fault::SpeaksHttp1 {
            while !self.input.windows(4).any(|window| window == b"\r\n\r\n") {
                self.read()?;
            }
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nHello world!";
            self.stream.write_all(answer.as_bytes()).ok()?;
        }
        None
    }
}

/// The test's folder keeps the certificates.
fn channel(protocol: Protocol, folder: &Path) -> Channel {
    let certificates = protocol.is_tls().then(|| Arc::new(Certificates::make(folder).unwrap()));
    Channel { protocol, trusts: certificates.into() }
}

fn verified(protocol: Protocol, address: SocketAddr, channel: Channel) -> Transcript {
    assert_eq!(channel.protocol, protocol);
    let options = VerifyOptions { channel, ..options() };
    verify(&without("hello", &[CheckId::Date]), &address.into(), &options)
}

fn h2c(fault: H2Fault) -> String {
    let folder = tempfile::tempdir().unwrap();
    complaints(&verified(Protocol::H2c, serve(fault), channel(Protocol::H2c, folder.path())))
}

/// Names of the executed and of the skipped checks.
fn names(transcript: &Transcript) -> [String; 2] {
    let is_made = |result: &&CheckResult| !matches!(result.outcome, CheckOutcome::Skipped(_));
    let (made, skipped): (Vec<_>, Vec<_>) = transcript.checks.iter().partition(is_made);
    [made, skipped].map(|results| {
        let mut names: Vec<&str> = results.iter().map(|result| result.check.name()).collect();
        names.dedup();
        names.join(" ")
    })
}

/// The notes on the TLS of a passing service.
fn notes(transcript: &Transcript) -> String {
    let note = |result: &CheckResult| {
        Some(format!("{} {}: {}", result.check, result.request, result.note.as_ref()?))
    };
    let of_tls =
        transcript.checks.iter().filter(|result| matches!(result.check, CheckId::Tls | CheckId::Alpn));
    of_tls.filter_map(note).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_right_service_passes_in_http_2_without_tls() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = verified(Protocol::H2c, serve(H2Fault::None), channel(Protocol::H2c, folder.path()));
    assert_eq!(complaints(&transcript), "", "{transcript}");
    let [made, skipped] = names(&transcript);
    assert_snapshot!(made, @r#"response keep-alive head not-found wrong-method h2c-only h2-settings h2-headers h2-authority h2-streams h2-trailers alive"#);
    assert_snapshot!(skipped, @r#"fresh fragments request-forms pipelined connection-close http-1-0 bad-input date"#);
}

#[test]
fn a_right_service_passes_in_http_2_over_tls() {
    let folder = tempfile::tempdir().unwrap();
    let channel = channel(Protocol::H2, folder.path());
    let certificates = Arc::clone(channel.certificates().unwrap());
    let front = front::before(serve(H2Fault::None), &certificates, &[b"h2", b"http/1.1"]);
    let transcript = verified(Protocol::H2, front, channel);
    assert_eq!(complaints(&transcript), "", "{transcript}");
    assert_snapshot!(names(&transcript)[0], @r#"response keep-alive head not-found wrong-method tls alpn h2-settings h2-headers h2-authority h2-streams h2-trailers alive"#);
    assert_snapshot!(notes(&transcript), @r#"
tls TLS 1.2: is refused
alpn http/1.1 alone: http/1.1 is offered beside h2
"#);
}

#[test]
fn a_right_service_passes_in_http_1_over_tls() {
    let folder = tempfile::tempdir().unwrap();
    let channel = channel(Protocol::Http1Tls, folder.path());
    let certificates = Arc::clone(channel.certificates().unwrap());
    let server = Server::start(Fault::None);
    let front = front::before(server.address, &certificates, &[b"http/1.1"]);
    let options = VerifyOptions { channel, ..options() };
    let transcript = verify(&without("hello", &[CheckId::Date, CheckId::Fragments]), &front.into(), &options);
    assert_eq!(complaints(&transcript), "", "{transcript}");
    let [made, skipped] = names(&transcript);
    assert_snapshot!(made, @r#"response request-forms keep-alive pipelined connection-close http-1-0 head not-found wrong-method tls alpn alive"#);
    assert_snapshot!(skipped, @r#"fresh fragments bad-input date"#);
    assert_snapshot!(notes(&transcript), @r#"tls TLS 1.2: is refused"#);
}

#[test]
fn what_the_tls_of_a_service_can_do_wrong() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let channel = channel(Protocol::H2, folder.path());
    let own = Arc::clone(channel.certificates().unwrap());
    let wrong = |shown: &Certificates, alpn: &[&[u8]]| {
        let front = front::before(serve(H2Fault::None), shown, alpn);
        let found = complaints(&verified(Protocol::H2, front, channel.clone()));
        found.replace(&front.to_string(), "ADDRESS")
    };
    let foreign = Certificates::make(other.path()).unwrap();
    assert_snapshot!(wrong(&foreign, &[b"h2"]), @r#"
response hello: cannot connect to "ADDRESS": the TLS handshake failed: the certificate of the server is not signed with the key of its authority: one that is trusted has its name, and another key
tls TLS 1.3: the TLS handshake failed: the certificate of the server is not signed with the key of its authority: one that is trusted has its name, and another key
alpn h2 and http/1.1: the TLS handshake failed: the certificate of the server is not signed with the key of its authority: one that is trusted has its name, and another key
h2-settings the first frames: cannot connect to "ADDRESS": the TLS handshake failed: the certificate of the server is not signed with the key of its authority: one that is trusted has its name, and another key
h2-headers hello: cannot connect to "ADDRESS": the TLS handshake failed: the certificate of the server is not signed with the key of its authority: one that is trusted has its name, and another key
"#);
    assert_snapshot!(wrong(&own, &[b"http/1.1"]), @r#"
response hello: cannot connect to "ADDRESS": the TLS handshake failed: the server ended the connection with the TLS alert no_application_protocol (120): it speaks none of the protocols that are offered by ALPN
tls TLS 1.3: the TLS handshake failed: the server ended the connection with the TLS alert no_application_protocol (120): it speaks none of the protocols that are offered by ALPN
alpn h2 and http/1.1: chose http/1.1 instead of h2
h2-settings the first frames: cannot connect to "ADDRESS": the TLS handshake failed: the server ended the connection with the TLS alert no_application_protocol (120): it speaks none of the protocols that are offered by ALPN
h2-headers hello: cannot connect to "ADDRESS": the TLS handshake failed: the server ended the connection with the TLS alert no_application_protocol (120): it speaks none of the protocols that are offered by ALPN
"#);
    assert_snapshot!(wrong(&own, &[]), @r#"
response hello: cannot connect to "ADDRESS": the server did not choose "h2" by ALPN, but nothing
alpn h2 and http/1.1: chose nothing instead of h2
h2-settings the first frames: cannot connect to "ADDRESS": the server did not choose "h2" by ALPN, but nothing
h2-headers hello: cannot connect to "ADDRESS": the server did not choose "h2" by ALPN, but nothing
"#);
}

#[test]
fn what_frames_can_say_wrong() {
    assert_snapshot!(h2c(H2Fault::NoSettings), @r#"h2-settings the first frames: the first frame is not SETTINGS, as RFC 9113, 3.4 demands"#);
    assert_snapshot!(h2c(H2Fault::NeverAcknowledges), @r#"h2-settings the first frames: sent no frame within 500ms instead of acknowledging SETTINGS"#);
    assert_snapshot!(h2c(H2Fault::NamesInCapitals), @r#"
response hello: the answer cannot be read: HTTP/2: the server sent what RFC 9113 forbids, or too much of what it allows: PROTOCOL_ERROR
h2-headers hello: the header name "Content-Length" is not in lower case
"#);
    assert_snapshot!(h2c(H2Fault::SaysKeepAlive), @r#"
response hello: the answer cannot be read: HTTP/2: the server sent what RFC 9113 forbids, or too much of what it allows: PROTOCOL_ERROR
h2-headers hello: the header "keep-alive" is about one connection, which HTTP/2 forbids
"#);
    assert_snapshot!(h2c(H2Fault::StatusLast), @r#"
response hello: the answer cannot be read: HTTP/2: the server sent what RFC 9113 forbids, or too much of what it allows: PROTOCOL_ERROR
h2-headers hello: the head does not begin with ":status" as its only pseudo-header
"#);
}

#[test]
fn what_streams_can_do_wrong() {
    assert_snapshot!(h2c(H2Fault::WantsHost), @r#"
response hello: expected status 200, got 400 with the body "no host"
not-found GET /tare-0mrZKkcyQeoPUDNQ: expected status 404 for a path that the contract does not know, got 400 with the body "no host"
not-found GET /tare-1C2fe0ilUYUCvXn2/snfq359nbip5ns8y: expected status 404 for a path that the contract does not know, got 400 with the body "no host"
wrong-method DELETE /: expected status 405 or 404 for a method that the contract does not know, got 400 with the body "no host"
"#);
    assert_snapshot!(h2c(H2Fault::OneAtATime), @r#"h2-streams hello: a second request, while the first waits for its body: sent no frame within 500ms instead of answering"#);
    assert_snapshot!(h2c(H2Fault::RefusesTrailers), @r#"(h2-trailers) hello: a request with a trailer: reset the stream instead of answering: PROTOCOL_ERROR"#);
    assert_snapshot!(h2c(H2Fault::ResetsStreams), @r#"
response hello: the answer cannot be read: HTTP/2: the server ended the request by RST_STREAM with INTERNAL_ERROR
h2-headers hello: reset the stream instead of answering: INTERNAL_ERROR
"#);
    assert_snapshot!(h2c(H2Fault::WrongBody), @r#"response hello: the body differs at byte 5: expected "Hello world!" (12 bytes), got "Hello!" (6 bytes)"#);
    assert_snapshot!(h2c(H2Fault::GoesAwayWithAnError), @r#"
response hello: the answer cannot be read: HTTP/2: the server ended the connection by GOAWAY with ENHANCE_YOUR_CALM
h2-settings the first frames: closed the connection instead of acknowledging SETTINGS
h2-headers hello: ended the connection instead of answering: GOAWAY ENHANCE_YOUR_CALM
"#);
    assert_snapshot!(h2c(H2Fault::AnswersHeadWithABody), @r#"(head) hello: the answer cannot be read: HTTP/2: the server sent what RFC 9113 forbids, or too much of what it allows: PROTOCOL_ERROR"#);
}

#[test]
fn what_has_no_end_is_neither_awaited_nor_kept() {
    assert_snapshot!(h2c(H2Fault::HeadThatGrows), @r#"
response hello: the answer cannot be read: HTTP/2: the server sent what RFC 9113 forbids, or too much of what it allows: PROTOCOL_ERROR
h2-headers hello: sent a head of more than 65536 bytes instead of answering
"#);
    assert_snapshot!(h2c(H2Fault::FloodsHeads), @r#"
response hello: the answer cannot be read: HTTP/2: the server sent what RFC 9113 forbids, or too much of what it allows: PROTOCOL_ERROR
h2-headers hello: sent a third head on one stream instead of answering
"#);
    for fault in [H2Fault::FloodsInterimHeads, H2Fault::FloodsPings] {
        let began = std::time::Instant::now();
        let complaints = h2c(fault);
        assert!(began.elapsed() < Duration::from_secs(30), "{fault:?}: {:?}", began.elapsed());
        // Either limit, of time or of number, may come first.
        let checks: Vec<&str> = complaints.lines().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(checks, ["response", "h2-headers"], "{fault:?}: {complaints}");
    }
}

#[test]
fn http_1_on_a_port_of_http_2() {
    assert_snapshot!(h2c(H2Fault::SpeaksHttp1), @r#"h2c-only hello: HTTP/1.1 was answered with 200 on a port that is asked in h2c"#);
    let known_failures = vec![(CheckId::H2cOnly, "its documented way serves both".to_owned())];
    let channel = Channel { protocol: Protocol::H2c, ..Channel::default() };
    let options = VerifyOptions { channel, known_failures, ..options() };
    let transcript =
        verify(&without("hello", &[CheckId::Date]), &serve(H2Fault::SpeaksHttp1).into(), &options);
    assert!(
        transcript.passed()
            && complaints(&transcript).ends_with("(known failure: its documented way serves both)")
    );
}

#[test]
fn how_a_connection_ends_on_sigterm() {
    let of = |says: &[u8], resets: bool| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, says) = (listener.local_addr().unwrap(), says.to_vec());
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut preface = vec![0; PREFACE.concat().len()];
            stream.read_exact(&mut preface).unwrap();
            stream.write_all(&[frame(SETTINGS, 0, 0, &[]), frame(SETTINGS, ACK, 0, &[])].concat()).unwrap();
            // Its acknowledgement of SETTINGS.
            stream.read_exact(&mut [0; 9]).unwrap();
            stream
        });
        let channel = Channel { protocol: Protocol::H2c, ..Channel::default() };
        let (contract, options) = (contract("hello"), VerifyOptions { channel, ..options() });
        let farewell = Farewell::open(&contract, &address.into(), &options).unwrap();
        let mut stream = server.join().unwrap();
        stream.write_all(&says).unwrap();
        if resets {
            let _ = rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO));
        }
        drop(stream);
        let result = farewell.result(&contract, &options);
        let note = result.note.unwrap_or_default();
        match result.outcome {
            CheckOutcome::Pass => format!("pass: {note}"),
            outcome => format!("{outcome:?}"),
        }
    };
    let goaway = |code: u8| frame(GOAWAY, 0, 0, &[0, 0, 0, 0, 0, 0, 0, code]);
    assert_eq!(of(&goaway(0), false), "pass: GOAWAY");
    assert_eq!(of(&[], false), "pass: closed without GOAWAY");
    assert_snapshot!(of(&[], true), @r#"Warn("on SIGTERM the service reset the connection instead of GOAWAY or a close")"#);
    assert_snapshot!(of(&goaway(2), false), @r#"Warn("on SIGTERM the service said GOAWAY INTERNAL_ERROR instead of GOAWAY or a close")"#);
}
