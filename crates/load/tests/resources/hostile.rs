//! HTTP/2 servers that attack the client. Each ends in a known failure, in time, and takes little memory.

use std::sync::Arc;
use std::time::Instant;

use crate::kit::alone::{alone, in_own_process};
use crate::kit::http2::*;
use crate::kit::load::*;
use crate::kit::peer::serve;
use crate::kit::process::rss_bytes;
use crate::kit::tls::speaking;
use crate::kit::wire::*;
use tare_load::{
    DriverChoice, Exchange, ExchangePool, ExpectedBody, Failure, Generator, GeneratorSettings, Load,
    Protocol, Stop,
};

use Failure::*;

const MIB: u64 = 1 << 20;

struct Case {
    name: &'static str,
    behave: fn(&mut Http2Peer<'_>, Asked),
    allowed: &'static [Failure],
    uploads: bool,
}

fn case(name: &'static str, allowed: &'static [Failure], behave: fn(&mut Http2Peer<'_>, Asked)) -> Case {
    Case { name, behave, allowed, uploads: false }
}

/// Sends the same bytes again and again, until the client is gone.
fn endless(peer: &mut Http2Peer<'_>, bytes: &[u8]) {
    let many = bytes.repeat(1 + 60_000 / bytes.len());
    while peer.send(&many) {}
}

/// A literal that is added to the table.
fn adding(name: &str, value_bytes: usize) -> Vec<u8> {
    let mut block = vec![0x40, name.len() as u8];
    block.extend(name.as_bytes());
    // An integer of 7 bits and more.
    block.extend([127, (value_bytes - 127) as u8 | 0x80, ((value_bytes - 127) >> 7) as u8]);
    block.extend(vec![b'v'; value_bytes]);
    block
}

fn block_frames(stream: u32, block: &[u8]) -> Vec<u8> {
    let mut parts = block.chunks(16_384).enumerate().peekable();
    let mut out = Vec::new();
    while let Some((index, part)) = parts.next() {
        let flags = if parts.peek().is_none() { END_HEADERS } else { 0 };
        out.extend(frame(if index == 0 { HEADERS } else { CONTINUATION }, flags, stream, part));
    }
    out
}

/// Cases that repeat the same frames endlessly.
fn floods() -> Vec<Case> {
    vec![
        case("endless SETTINGS", &[Malformed], |peer, _| endless(peer, &settings_frame(&[(4, 70_000)]))),
        case("endless PING", &[Malformed], |peer, _| endless(peer, &frame(PING, 0, 0, &[0; 8]))),
        case("endless WINDOW_UPDATE", &[Malformed], |peer, _| {
            endless(peer, &frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]));
        }),
        case("endless empty DATA", &[Malformed], |peer, asked| {
            peer.send(frame(HEADERS, END_HEADERS, asked.stream, &[0x88]));
            endless(peer, &frame(DATA, 0, asked.stream, &[]));
        }),
        case("endless CONTINUATION", &[Malformed], |peer, asked| {
            peer.send(frame(HEADERS, 0, asked.stream, &[0x88]));
            endless(peer, &frame(CONTINUATION, 0, asked.stream, &[0; 1_000]));
        }),
        case("endless empty CONTINUATION", &[Malformed], |peer, asked| {
            peer.send(frame(HEADERS, 0, asked.stream, &[0x88]));
            endless(peer, &frame(CONTINUATION, 0, asked.stream, &[]));
        }),
        case("endless interim answers", &[Malformed], |peer, asked| {
            endless(peer, &frame(HEADERS, END_HEADERS, asked.stream, &[8, 3, b'1', b'0', b'3']));
        }),
        case("resets of all streams, those to come too", &[StreamReset, Malformed], |peer, asked| {
            for nth in 0.. {
                if !peer.send(rst_stream(asked.stream + 2 * nth, 7)) {
                    return;
                }
            }
        }),
        case("a reset for each request", &[StreamReset], |peer, asked| {
            let mut stream = asked.stream;
            while peer.send(rst_stream(stream, 7)) {
                let Some(asked) = peer.request() else { return };
                stream = asked.stream;
            }
        }),
    ]
}

/// Header blocks that are long, or expand to long fields.
fn blocks() -> Vec<Case> {
    vec![
        case("a header block of 80 KiB", &[Malformed], |peer, asked| {
            let block: Vec<u8> = [0x88].into_iter().chain((0..20).flat_map(|_| adding("x", 4_050))).collect();
            peer.send(block_frames(asked.stream, &block));
            endless(peer, &frame(PING, ACK, 0, &[0; 8]));
        }),
        case("an HPACK bomb", &[Malformed], |peer, asked| {
            let mut stream = asked.stream;
            // 4 KiB of headers for each byte: 240 MB.
            let bomb = |stream| {
                block_frames(stream, &[adding("x", 4_000), vec![0x80 | 62; 60_000], vec![0x88]].concat())
            };
            while peer.send(bomb(stream)) {
                let Some(asked) = peer.request() else { return };
                stream = asked.stream;
            }
        }),
        case("thousands of short strings by Huffman's code", &[Malformed], |peer, asked| {
            let mut stream = asked.stream;
            // A name and a value of one letter each, both compressed.
            let block = [0, 0x81, 0x1f, 0x81, 0x1f].repeat(12_000);
            while peer.send(block_frames(stream, &block)) {
                let Some(asked) = peer.request() else { return };
                stream = asked.stream;
            }
        }),
    ]
}

/// Violations of the protocol, and misuse of what it allows.
fn violations() -> Vec<Case> {
    vec![
        case("PUSH_PROMISE", &[Malformed], |peer, asked| {
            peer.send(frame(PUSH_PROMISE, END_HEADERS, asked.stream, &[0, 0, 0, 2, 0x88]));
            while peer.frame().is_some() {}
        }),
        case("data on an idle stream", &[Malformed], |peer, _| {
            peer.send(frame(DATA, 0, 99_999, b"x"));
            while peer.frame().is_some() {}
        }),
        case("data on a closed stream", &[Malformed], |peer, asked| {
            peer.send(answer(asked.stream));
            peer.send(frame(DATA, 0, asked.stream, b"x"));
            while peer.frame().is_some() {}
        }),
        case("a frame that is too long", &[Malformed], |peer, asked| {
            peer.send(frame(DATA, 0, asked.stream, &[0; 16_385]));
            while peer.frame().is_some() {}
        }),
        case("endless data", &[Mismatch, Malformed], |peer, asked| {
            peer.send(frame(HEADERS, END_HEADERS, asked.stream, &[0x88]));
            endless(peer, &frame(DATA, 0, asked.stream, &[b'x'; 16_384]));
        }),
        case("GOAWAY right after the beginning", &[ClosedBeforeResponse], |peer, _| {
            peer.send(goaway(0, 0));
            while peer.frame().is_some() {}
        }),
        case("answers to requests that are then not taken", &[], |peer, asked| {
            peer.send([answer(asked.stream), goaway(0, 0)].concat());
            while peer.frame().is_some() {}
        }),
        Case {
            uploads: true,
            ..case("a window of nothing", &[ResponseTimeout], |peer, _| while peer.frame().is_some() {})
        },
        Case {
            uploads: true,
            ..case("a window of nothing, and resets", &[StreamReset], |peer, _| {
                while let Some((kind, _, stream, _)) = peer.frame() {
                    if kind == HEADERS && !peer.send(rst_stream(stream, 7)) {
                        return;
                    }
                }
            })
        },
    ]
}

fn upload() -> Exchange {
    let sent = "u".repeat(100_000);
    let request = format!("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{sent}", sent.len());
    Exchange { request: request.into_bytes(), ..exchange(ExpectedBody::Any) }
}

#[test]
fn each_attack_ends_in_its_failure_in_time_and_in_little_memory() {
    in_own_process("hostile::each_attack_ends_in_its_failure_in_time_and_in_little_memory", attacks);
}

fn attacks() {
    let (window, drain) = (ms(300), ms(200));
    for driver in drivers() {
        for protocol in [Protocol::H2c, Protocol::H2] {
            for case in floods().into_iter().chain(blocks()).chain(violations()) {
                let behave = case.behave;
                let (uploads, settings): (_, &[_]) =
                    (case.uploads, if case.uploads { &[(4, 0)] } else { &[] });
                let target = serve_http2(protocol, settings, move |mut peer| {
                    // An upload never arrives completely.
                    let asked = if uploads { Some(Asked::default()) } else { peer.request() };
                    if let Some(asked) = asked {
                        behave(&mut peer, asked);
                    }
                });
                let exchange = if case.uploads { upload() } else { hello() };
                let settings = speaking(protocol, target, 2, 1, 3);
                let settings = GeneratorSettings { driver: DriverChoice::Only(driver), ..settings };
                let mut generator =
                    Generator::new(settings, Arc::new(ExchangePool::new(vec![exchange]))).unwrap();
                generator.open(2, seconds(5)).unwrap();
                let before = rss_bytes();
                let load = Load { response_timeout: ms(150), stop: Stop::after(window, drain), ..load(0, 0) };
                let begun = Instant::now();
                let report = generator.run(&load, &Arc::default()).unwrap();
                let (took, grown) = (begun.elapsed(), rss_bytes().saturating_sub(before));
                prove(&report);
                let tally = &report.total.tally;
                let what = format!(
                    "{}, {protocol}, {}: {tally:?}, {took:?}, {} MiB more",
                    case.name,
                    driver.name(),
                    grown / MIB
                );
                println!("{what}");
                assert!(took < window + drain + seconds(1), "{what}");
                assert!(grown < 64 * MIB, "{what}");
                let found: Vec<Failure> = tally.failed.iter().map(|(failure, _)| failure).collect();
                // If only one stream is faulty, the requests behind it may time out, or be closed with it.
                let beside = [ResponseTimeout, ClosedBeforeResponse, Reset];
                let allowed = |failure: &Failure| case.allowed.contains(failure) || beside.contains(failure);
                assert!(
                    case.allowed.is_empty() || found.iter().any(|failure| case.allowed.contains(failure)),
                    "{what}"
                );
                assert!(found.iter().all(allowed), "{what}");
            }
        }
    }
}

#[test]
fn whoever_speaks_no_http_2_fails_the_connection() {
    let _alone = alone();
    for driver in drivers() {
        for said in [
            "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            "SSH-2.0-OpenSSH\r\n",
        ] {
            let target = serve(move |mut peer| {
                peer.send(said);
                peer.stall();
            });
            let settings = GeneratorSettings {
                driver: DriverChoice::Only(driver),
                ..speaking(Protocol::H2c, target, 2, 1, 3)
            };
            let mut generator = generator_of(settings, hello());
            let error = generator.open(2, seconds(5)).unwrap_err();
            assert_eq!((error.failure, error.open), (Malformed, 0), "{error}");
            let tally = run(&mut generator, &load(60, 100)).total.tally;
            assert!(tally.connection_failed.get(Malformed) > 0 && tally.sent == 0, "{tally:?}");
        }
    }
}

#[test]
fn a_server_that_never_sends_its_settings_is_not_waited_for() {
    let _alone = alone();
    for driver in drivers() {
        let settings = GeneratorSettings {
            driver: DriverChoice::Only(driver),
            ..speaking(Protocol::H2c, serve(crate::kit::peer::Peer::stall), 2, 1, 3)
        };
        let mut generator = generator_of(settings, hello());
        let error = generator.open(2, ms(200)).unwrap_err();
        assert_eq!(error.failure, ConnectTimeout, "{error}");
        let tally = run(&mut generator, &Load { connect_timeout: ms(50), ..load(200, 100) }).total.tally;
        assert!(tally.connection_failed.get(ConnectTimeout) > 0 && tally.sent == 0, "{tally:?}");
    }
}
