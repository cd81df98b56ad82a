//! Checks for services over TLS: `tls` and `alpn`.

use tare_load::Protocol;

use super::CheckId;
use super::bench::Bench;
use super::talk::Talk;
use super::transcript::{CheckResult, Failure, Tried};
use crate::client::{AskError, ClientConnection, Deadline, Secured};

/// The type of a handshake record, and the message that accepts the client (RFC 5246, 6.2.1 and 7.4).
const HANDSHAKE: u8 = 22;
const SERVER_HELLO: u8 = 2;
const HTTP_1_1: &[u8] = b"http/1.1";
const H2: &[u8] = b"h2";

pub(super) fn tls(bench: &mut Bench<'_>) -> Vec<CheckResult> {
    let newest = of_1_3(bench);
    let older = of_1_2(bench);
    vec![CheckResult::of(CheckId::Tls, "TLS 1.3", newest), CheckResult::of(CheckId::Tls, "TLS 1.2", older)]
}

fn of_1_3(bench: &mut Bench<'_>) -> Tried {
    let alpn: Vec<&[u8]> = bench.options.channel.protocol.alpn().into_iter().collect();
    let connection = connect(bench, &alpn)?;
    let Secured { version, leaf, .. } = secured(&connection);
    if version != Some(rustls::ProtocolVersion::TLSv1_3) {
        return Err(Failure::without_wire(format!("expected TLS 1.3, got {version:?}")));
    }
    let given = bench.options.channel.certificates().map(|files| files.leaf().to_vec());
    match leaf == given {
        true => Ok(None),
        false => Err(Failure::without_wire("another certificate than that in TLS_CERT")),
    }
}

/// TLS 1.2 may work or not; the result is a note. The client of the other checks lacks TLS 1.2.
fn of_1_2(bench: &mut Bench<'_>) -> Tried {
    let deadline = Deadline::after(bench.patience.timeouts.connect);
    let opened = ClientConnection::open(&bench.target, deadline);
    let mut connection = opened.map_err(|error| bench.cannot_connect(&error))?;
    let deadline = Deadline::after(bench.patience.for_answer());
    let mut answer = Vec::new();
    let _ = connection.send(&hello_of_1_2(bench.options.channel.protocol), deadline);
    // Type, version, length, and the type of the first message.
    while answer.len() < 6 {
        match connection.receive(&mut answer, deadline) {
            Ok(0) | Err(AskError::Io(_)) => break,
            Ok(_) => {}
            Err(_) => return Ok(Some("neither answered nor refused".to_owned())),
        }
    }
    let is_taken = answer.first() == Some(&HANDSHAKE) && answer.get(5) == Some(&SERVER_HELLO);
    Ok(Some(if is_taken { "works too" } else { "is refused" }.to_owned()))
}

/// A ClientHello for TLS 1.2 only (RFC 5246, 7.4.1.2): ECDHE with ECDSA, and the protocol's ALPN.
fn hello_of_1_2(protocol: Protocol) -> Vec<u8> {
    let counted = |bytes: &[u8]| [&(bytes.len() as u16).to_be_bytes()[..], bytes].concat();
    let extension = |kind: u16, bytes: &[u8]| [&kind.to_be_bytes()[..], &counted(bytes)].concat();
    let names: Vec<u8> =
        protocol.alpn().into_iter().flat_map(|name| [&[name.len() as u8], name].concat()).collect();
    let extensions = [
        extension(10, &counted(&[0, 0x1d, 0, 0x17])),
        extension(11, &[1, 0]),
        extension(13, &counted(&[4, 3, 5, 3, 8, 4, 4, 1])),
        extension(16, &counted(&names)),
    ]
    .concat();
    let ciphers = counted(&[0xc0, 0x2b, 0xc0, 0x2c, 0xcc, 0xa9]);
    let body = [&[3, 3][..], &[7; 32], &[0], &ciphers, &[1, 0], &counted(&extensions)].concat();
    let message = [&[1, 0][..], &counted(&body)].concat();
    [&[HANDSHAKE, 3, 1][..], &counted(&message)].concat()
}

pub(super) fn alpn(bench: &mut Bench<'_>) -> Vec<CheckResult> {
    let offers: &[(&str, &[&[u8]])] = match bench.options.channel.protocol.is_http2() {
        true => &[("h2 and http/1.1", &[H2, HTTP_1_1]), ("http/1.1 alone", &[HTTP_1_1])],
        false => &[("http/1.1 alone", &[HTTP_1_1]), ("no ALPN", &[]), ("h2 and http/1.1", &[H2, HTTP_1_1])],
    };
    let mut one = |(name, alpn): &(&str, &[&[u8]])| {
        let tried = match bench.options.channel.protocol.is_http2() {
            true => of_h2(bench, alpn),
            false => of_http1(bench, alpn),
        };
        CheckResult::of(CheckId::Alpn, *name, tried)
    };
    offers.iter().map(&mut one).collect()
}

/// An h2 port must choose h2 if offered. Whether it supports HTTP/1.1 as well is up to the framework.
fn of_h2(bench: &mut Bench<'_>, alpn: &[&[u8]]) -> Tried {
    let offers_h2 = alpn.contains(&H2);
    let connection = match handshake(bench, alpn)? {
        Ok(connection) => connection,
        Err(_) if !offers_h2 => return Ok(Some("is refused".to_owned())),
        Err(error) => return Err(Failure::without_wire(error.to_string())),
    };
    let chosen = secured(&connection).alpn;
    match chosen.as_deref() {
        Some(H2) if offers_h2 => Ok(None),
        Some(HTTP_1_1) if !offers_h2 => Ok(Some("http/1.1 is offered beside h2".to_owned())),
        None if !offers_h2 => Ok(Some("is taken without a choice".to_owned())),
        chosen => Err(Failure::without_wire(format!("chose {} instead of h2", named(chosen)))),
    }
}

/// An HTTP/1.1 port must serve clients that offer http/1.1, and those without ALPN.
fn of_http1(bench: &mut Bench<'_>, alpn: &[&[u8]]) -> Tried {
    let connection = connect(bench, alpn)?;
    let chosen = secured(&connection).alpn;
    match chosen.as_deref() {
        Some(H2) if alpn.contains(&H2) => return Ok(Some("h2 is chosen where it is offered".to_owned())),
        Some(HTTP_1_1) | None => {}
        chosen => return Err(Failure::without_wire(format!("chose {} instead of http/1.1", named(chosen)))),
    }
    let Some(request) = bench.first() else { return Ok(None) };
    let asked = bench.any(request, &mut bench.rng(CheckId::Alpn));
    let mut talk = Talk::of(connection, &bench.patience);
    talk.send(&asked.filled.bytes(&bench.host));
    asked.right_answer(&mut talk).map(|_| None)
}

fn named(alpn: Option<&[u8]>) -> String {
    alpn.map_or_else(|| "nothing".to_owned(), |name| String::from_utf8_lossy(name).into_owned())
}

fn secured(connection: &ClientConnection) -> Secured {
    connection.secured().unwrap_or(Secured { alpn: None, version: None, leaf: None })
}

fn connect(bench: &mut Bench<'_>, alpn: &[&[u8]]) -> Result<ClientConnection, Failure> {
    handshake(bench, alpn)?.map_err(|error| Failure::without_wire(error.to_string()))
}

/// A connection with this ALPN; the inner error is the handshake's.
fn handshake(bench: &mut Bench<'_>, alpn: &[&[u8]]) -> Result<Result<ClientConnection, AskError>, Failure> {
    let Some(certificates) = bench.options.channel.certificates().cloned() else {
        return Err(Failure::without_wire("there is no certificate to trust"));
    };
    let deadline = Deadline::after(bench.patience.timeouts.connect);
    let opened = ClientConnection::open(&bench.target, deadline);
    let opened = opened.map_err(|error| bench.cannot_connect(&error))?;
    let deadline = Deadline::after(bench.patience.for_answer());
    Ok(opened.secure(certificates.client(alpn), bench.options.channel.server_name(), deadline))
}
