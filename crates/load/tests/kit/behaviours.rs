//! Unusual HTTP/2 servers that a client must cope with: rare but allowed behaviour, forbidden behaviour, and
//! behaviour that takes endless time and memory. This is the one list of them.

use super::peer::Peer;
use super::wire::*;

/// The expected outcome of a behaviour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meant {
    /// The behaviour is allowed: every request has the correct answer.
    Fine,
    /// No request has a correct answer: the client finds an error, or the server reports one.
    Fails,
    /// A correct answer may arrive before the error, which ends the connection once the client finds it.
    Ends,
    /// The server never ends the exchange. The client's own limits, of time or of other kinds, end it, and
    /// its memory does not grow meanwhile.
    Endless,
    /// Some requests have the correct answer and some are refused; new connections help.
    Some,
}

#[derive(Clone, Copy)]
pub struct Hostile {
    pub name: &'static str,
    pub meant: Meant,
    /// Serves one connection.
    pub behave: fn(Peer),
}

const NO_ERROR: u32 = 0;
const REFUSED_STREAM: u32 = 7;
const CANCEL: u32 = 8;
/// The number of streams on a connection before GOAWAY.
pub const STREAMS_OF_GOAWAY: usize = 10;

const fn of(name: &'static str, meant: Meant, behave: fn(Peer)) -> Hostile {
    Hostile { name, meant, behave }
}

pub const ALL: &[Hostile] = &[
    of("honest", Meant::Fine, |peer| always(peer, answer)),
    // Allowed, but rare.
    of("padding", Meant::Fine, |peer| always(peer, padded)),
    of("trailers", Meant::Fine, |peer| always(peer, with_trailers)),
    of("informational heads", Meant::Fine, |peer| always(peer, after_informational)),
    of("a status cut by CONTINUATION", Meant::Fine, |peer| always(peer, cut_in_its_status)),
    of("a body in single bytes", Meant::Fine, |peer| always(peer, body_in_single_bytes)),
    of("frames of unknown types", Meant::Fine, |peer| always(peer, among_unknown)),
    of("a dynamic table", Meant::Fine, |peer| always(peer, through_the_table)),
    of("an end in an empty frame", Meant::Fine, |peer| always(peer, ended_later)),
    of("one stream at a time", Meant::Fine, one_at_a_time),
    of("late SETTINGS", Meant::Fine, late_settings),
    of("a small window that is given back", Meant::Fine, small_window),
    of("GOAWAY after some streams", Meant::Some, goaway_after_some),
    of("an error after some streams", Meant::Some, error_after_some),
    of("HTTP/1.1", Meant::Fails, |mut peer| peer.once("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")),
    of("no SETTINGS", Meant::Fails, |peer| with(peer, b"", |http2| http2.always(answer))),
    of("SETTINGS out of range", Meant::Fails, |peer| {
        with(peer, &settings_frame(&[(INITIAL_WINDOW_SIZE, 1 << 31)]), |http2| http2.always(answer));
    }),
    of("frames of no size", Meant::Fails, |peer| {
        with(peer, &settings_frame(&[(MAX_FRAME_SIZE, 0)]), |http2| http2.always(answer));
    }),
    of("reset of every stream", Meant::Fails, |peer| {
        greeted(
            peer,
            |http2| while http2.opened().is_some_and(|stream| http2.send(rst_stream(stream, CANCEL))) {},
        );
    }),
    of("refusal of every stream", Meant::Fails, |peer| {
        greeted(peer, |http2| {
            while http2.opened().is_some_and(|stream| http2.send(rst_stream(stream, REFUSED_STREAM))) {}
        });
    }),
    of("a push that was refused", Meant::Ends, |peer| always(peer, pushed)),
    of("DATA on a stream that is over", Meant::Ends, |peer| {
        always(peer, |stream| [answer(stream), frame(DATA, END_STREAM, stream, BODY)].concat().repeat(2));
    }),
    of("HEADERS on a stream that is over", Meant::Ends, |peer| {
        always(peer, |stream| answer(stream).repeat(2))
    }),
    of("DATA before HEADERS", Meant::Fails, |peer| {
        always(peer, |stream| frame(DATA, END_STREAM, stream, BODY))
    }),
    of("an answer on a stream that is not open", Meant::Fails, |peer| {
        always(peer, |stream| answer(stream + 1000))
    }),
    of("an answer on a stream of the server", Meant::Fails, |peer| always(peer, |stream| answer(stream + 1))),
    of("HEADERS of no stream", Meant::Fails, |peer| always(peer, |_| answer(0))),
    of("a frame that is too long", Meant::Fails, |peer| {
        always(peer, |stream| frame(DATA, END_STREAM, stream, &[b'x'; 16_385]));
    }),
    of("a frame within a header block", Meant::Fails, |peer| {
        always(peer, |stream| [frame(HEADERS, 0, stream, BLOCK), frame(PING, 0, 0, &[0; 8])].concat());
    }),
    of("padding longer than the frame", Meant::Fails, |peer| {
        always(peer, |stream| frame(HEADERS, END_HEADERS | PADDED, stream, &[9, 0x88]));
    }),
    of("a header block of no sense", Meant::Fails, |peer| {
        always(peer, |stream| frame(HEADERS, END_HEADERS | END_STREAM, stream, &[0xff; 20]));
    }),
    of("an index beyond the table", Meant::Fails, |peer| {
        always(peer, |stream| frame(HEADERS, END_HEADERS | END_STREAM, stream, &[0x88, 0x80 | 70]));
    }),
    of("a head without a status", Meant::Fails, |peer| {
        always(peer, |stream| frame(HEADERS, END_HEADERS | END_STREAM, stream, &literal("a", b"b")));
    }),
    of("a header name in capitals", Meant::Fails, |peer| {
        always(peer, |stream| with_headers(stream, &literal("Upper", b"b")));
    }),
    of("a header of a connection", Meant::Fails, |peer| {
        always(peer, |stream| with_headers(stream, &literal("connection", b"close")));
    }),
    of("a body that is too long", Meant::Fails, |peer| {
        always(peer, |stream| with_body(stream, b"Hello world!!"))
    }),
    of("a body that is too short", Meant::Fails, |peer| {
        always(peer, |stream| with_body(stream, b"Hello world"))
    }),
    of("a window that grows by nothing", Meant::Fails, |peer| always(peer, |_| window_update(0, 0))),
    of("a window that grows too far", Meant::Fails, |peer| {
        always(peer, |_| [window_update(0, 0x7fff_ffff), window_update(0, 0x7fff_ffff)].concat());
    }),
    of("an acknowledgement of nothing with a payload", Meant::Fails, |peer| {
        always(peer, |_| frame(SETTINGS, ACK, 0, &[0; 6]));
    }),
    of("a close in a frame", Meant::Fails, |peer| {
        greeted(peer, |http2| {
            http2.request().map(|stream| http2.send(&answer(stream)[..20]));
        });
    }),
    of("a close in a header block", Meant::Fails, |peer| {
        greeted(peer, |http2| {
            http2.request().map(|stream| http2.send(frame(HEADERS, 0, stream, &BLOCK[..3])));
        });
    }),
    // More than a client may have to keep.
    of("a header block of 70 KB", Meant::Fails, |peer| always(peer, |stream| long_block(stream, 70_000))),
    of("a header block of 10 MB", Meant::Fails, |peer| always(peer, |stream| long_block(stream, 10_000_000))),
    of("a header block that grows when it is decoded", Meant::Fails, |peer| always(peer, bomb)),
    of("a body beyond the windows", Meant::Fails, |peer| {
        after_request(peer, |http2, stream| {
            http2.send(frame(HEADERS, END_HEADERS, stream, &[0x88]));
            http2.flood(&frame(DATA, 0, stream, &[b'x'; 16_384]));
        });
    }),
    // Without an end.
    of("endless CONTINUATION", Meant::Endless, |peer| endless_block(peer, b"")),
    of("endless CONTINUATION with headers", Meant::Fails, |peer| {
        endless_block(peer, &literal("x", &[b'y'; 100]))
    }),
    of("endless SETTINGS", Meant::Endless, |peer| {
        after_request(peer, |http2, _| http2.flood(&settings_frame(&[])))
    }),
    of("SETTINGS that change for ever", Meant::Endless, |peer| {
        let both =
            [settings_frame(&[(HEADER_TABLE_SIZE, 0)]), settings_frame(&[(HEADER_TABLE_SIZE, u32::MAX)])]
                .concat();
        after_request(peer, |http2, _| http2.flood(&both));
    }),
    of("endless PING", Meant::Endless, |peer| {
        after_request(peer, |http2, _| http2.flood(&frame(PING, 0, 0, &[7; 8])))
    }),
    of("endless empty DATA", Meant::Endless, |peer| {
        after_request(peer, |http2, stream| {
            http2.send(frame(HEADERS, END_HEADERS, stream, &[0x88]));
            http2.flood(&frame(DATA, 0, stream, b""));
        });
    }),
    of("endless informational heads", Meant::Endless, |peer| {
        after_request(peer, |http2, stream| http2.flood(&informational(stream)));
    }),
    of("endless frames of unknown types", Meant::Endless, |peer| {
        after_request(peer, |http2, stream| http2.flood(&frame(0x42, 0xff, stream, &[0; 100])));
    }),
    of("no answer", Meant::Endless, |peer| greeted(peer, |http2| while http2.receive().is_some() {})),
    of("half an answer", Meant::Endless, |peer| {
        always(peer, |stream| frame(HEADERS, END_HEADERS, stream, BLOCK));
    }),
    of("no streams at all", Meant::Endless, |peer| {
        with(
            peer,
            &settings_frame(&[(MAX_CONCURRENT_STREAMS, 0)]),
            |http2| while http2.receive().is_some() {},
        );
    }),
];

/// Only a request with a body meets it: no window is ever opened.
pub const NO_WINDOW: Hostile = of("a window of zero", Meant::Endless, |peer| {
    let closed = settings_frame(&[(INITIAL_WINDOW_SIZE, 0)]);
    with(peer, &closed, |http2| http2.always(answer));
});

fn with(peer: Peer, first: &[u8], act: impl FnOnce(&mut Http2)) {
    if let Some(mut http2) = Http2::begin(peer, first) {
        act(&mut http2);
    }
}

fn greeted(peer: Peer, act: impl FnOnce(&mut Http2)) {
    with(peer, &settings_frame(&[]), act);
}

fn always(peer: Peer, answer: impl Fn(u32) -> Vec<u8>) {
    greeted(peer, |http2| http2.always(answer));
}

fn after_request(peer: Peer, act: impl FnOnce(&mut Http2, u32)) {
    greeted(peer, |http2| {
        if let Some(stream) = http2.request() {
            act(http2, stream);
        }
    });
}

fn with_body(stream: u32, body: &[u8]) -> Vec<u8> {
    [frame(HEADERS, END_HEADERS, stream, BLOCK), frame(DATA, END_STREAM, stream, body)].concat()
}

fn with_headers(stream: u32, more: &[u8]) -> Vec<u8> {
    let head = frame(HEADERS, END_HEADERS, stream, &[BLOCK, more].concat());
    [head, frame(DATA, END_STREAM, stream, BODY)].concat()
}

fn padded(stream: u32) -> Vec<u8> {
    let padded = |bytes: &[u8]| [&[200][..], bytes, &[0; 200]].concat();
    let head = frame(HEADERS, END_HEADERS | PADDED, stream, &padded(BLOCK));
    let nothing = frame(DATA, PADDED, stream, &padded(b""));
    [head, nothing, frame(DATA, END_STREAM | PADDED, stream, &padded(BODY))].concat()
}

fn with_trailers(stream: u32) -> Vec<u8> {
    let trailers = frame(HEADERS, END_HEADERS | END_STREAM, stream, &literal("grpc-status", b"0"));
    [frame(HEADERS, END_HEADERS, stream, BLOCK), frame(DATA, 0, stream, BODY), trailers].concat()
}

/// `:status: 103`, with a header.
fn informational(stream: u32) -> Vec<u8> {
    let block = [&[0x08, 3, b'1', b'0', b'3'][..], &literal("link", b"</a>")].concat();
    frame(HEADERS, END_HEADERS, stream, &block)
}

fn after_informational(stream: u32) -> Vec<u8> {
    [informational(stream), informational(stream), answer(stream)].concat()
}

/// A status that is spelled out and cut after its first digit, after an empty frame.
fn cut_in_its_status(stream: u32) -> Vec<u8> {
    let block = [&[0x08, 3, b'2', b'0', b'0'][..], &BLOCK[1..]].concat();
    let head = frame(HEADERS, 0, stream, b"");
    let (digit, rest) =
        (frame(CONTINUATION, 0, stream, &block[..3]), frame(CONTINUATION, 0, stream, &block[3..4]));
    let last = frame(CONTINUATION, END_HEADERS, stream, &block[4..]);
    [head, digit, rest, last, frame(DATA, END_STREAM, stream, BODY)].concat()
}

fn body_in_single_bytes(stream: u32) -> Vec<u8> {
    let parts = BODY.iter().map(|byte| frame(DATA, 0, stream, &[*byte]));
    let end = frame(DATA, END_STREAM, stream, b"");
    [vec![frame(HEADERS, END_HEADERS, stream, BLOCK)], parts.collect(), vec![end]].concat().concat()
}

fn among_unknown(stream: u32) -> Vec<u8> {
    let unknown = || frame(0x42, 0xff, stream, b"unknown");
    let (head, body) = (frame(HEADERS, END_HEADERS, stream, BLOCK), frame(DATA, END_STREAM, stream, BODY));
    [unknown(), head, unknown(), frame(0x43, 0, 0, b""), body, unknown()].concat()
}

/// Each answer puts two headers into the table, and names both again by their indices.
fn through_the_table(stream: u32) -> Vec<u8> {
    let number = stream.to_string();
    let added =
        [indexed_literal("x-stream", number.as_bytes()), indexed_literal("x-long", &[b'y'; 300])].concat();
    with_headers(stream, &[&added[..], &[0x80 | 62, 0x80 | 63]].concat())
}

fn ended_later(stream: u32) -> Vec<u8> {
    let (head, body) = (frame(HEADERS, END_HEADERS, stream, BLOCK), frame(DATA, 0, stream, BODY));
    [head, body, frame(DATA, END_STREAM, stream, b"")].concat()
}

/// A push that the client has disabled by its SETTINGS: `GET /`, on stream 2.
fn pushed(stream: u32) -> Vec<u8> {
    let promise = [&2_u32.to_be_bytes()[..], &[0x82, 0x84, 0x86]].concat();
    [frame(PUSH_PROMISE, END_HEADERS, stream, &promise), answer(stream), answer(2)].concat()
}

/// Refuses a second concurrent stream, after a moment in which an honest client opens none.
fn one_at_a_time(peer: Peer) {
    with(peer, &settings_frame(&[(MAX_CONCURRENT_STREAMS, 1)]), |http2| {
        // Streams that were sent before the SETTINGS arrived are no fault.
        let mut is_known = false;
        let mut open: Option<u32> = None;
        while let Some(received) = http2.receive() {
            is_known |= received.kind == SETTINGS && received.flags & ACK != 0;
            let reply = match (received.kind, open) {
                (HEADERS, Some(_)) if is_known => goaway(received.stream, 1),
                (HEADERS, Some(_)) => rst_stream(received.stream, REFUSED_STREAM),
                (HEADERS, None) => {
                    open = Some(received.stream);
                    frame(PING, 0, 0, b"answered")
                }
                // Frames that the client sent before this acknowledgement would have arrived by now.
                (PING, Some(stream)) if received.flags & ACK != 0 => {
                    open = None;
                    answer(stream)
                }
                _ => continue,
            };
            if !http2.send(reply) {
                return;
            }
        }
    });
}

/// The answers are sent before the client's own SETTINGS are acknowledged.
fn late_settings(peer: Peer) {
    greeted(peer, |http2| {
        http2.is_polite = false;
        if let Some(stream) = http2.request() {
            http2.send(answer(stream));
            http2.send(frame(SETTINGS, ACK, 0, b""));
            http2.is_polite = true;
            http2.always(answer);
        }
    });
}

/// A request with a body passes slowly; SETTINGS close the window again and again.
fn small_window(peer: Peer) {
    with(peer, &settings_frame(&[(INITIAL_WINDOW_SIZE, 10)]), |http2| http2.always(answer));
}

fn goaway_after_some(peer: Peer) {
    leave_after_some(peer, NO_ERROR);
}

fn error_after_some(peer: Peer) {
    const ENHANCE_YOUR_CALM: u32 = 11;
    leave_after_some(peer, ENHANCE_YOUR_CALM);
}

/// Streams opened before GOAWAY are answered; later ones are ignored.
fn leave_after_some(peer: Peer, code: u32) {
    greeted(peer, |http2| {
        for number in 1..=STREAMS_OF_GOAWAY {
            let Some(stream) = http2.request() else { return };
            if number == STREAMS_OF_GOAWAY && !http2.send(goaway(stream, code)) {
                return;
            }
            if !http2.send(answer(stream)) {
                return;
            }
        }
        while http2.receive().is_some() {}
    });
}

/// A correct answer with `bytes` of additional headers.
fn long_block(stream: u32, bytes: usize) -> Vec<u8> {
    let header = literal("x", &[b'y'; 1000]);
    let block = [BLOCK, &header.repeat(bytes.div_ceil(header.len()))].concat();
    let parts: Vec<&[u8]> = block.chunks(16_384).collect();
    let mut frames = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let flags = if index + 1 == parts.len() { END_HEADERS } else { 0 };
        frames.extend(frame(if index == 0 { HEADERS } else { CONTINUATION }, flags, stream, part));
    }
    frames.extend(frame(DATA, END_STREAM, stream, BODY));
    frames
}

/// A header of 4,000 bytes in the table, and its index 16,000 times: 64 MB.
fn bomb(stream: u32) -> Vec<u8> {
    let block = [BLOCK, &indexed_literal("x", &[b'y'; 4000])].concat();
    let head = frame(HEADERS, 0, stream, &block);
    let rest = frame(CONTINUATION, END_HEADERS, stream, &[0x80 | 62; 16_000]);
    [head, rest, frame(DATA, END_STREAM, stream, BODY)].concat()
}

fn endless_block(peer: Peer, part: &[u8]) {
    after_request(peer, |http2, stream| {
        http2.send(frame(HEADERS, 0, stream, BLOCK));
        http2.flood(&frame(CONTINUATION, 0, stream, part));
    });
}
