//! HTTP/2 without sockets: the client's bytes in, the server's bytes out. Frames are written and read by
//! other code than the server's.

use proptest::prelude::*;

use super::{
    super::{faults::Faulty, slower::AllAdded, worker::Speech},
    *,
};

const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
/// `:status: 200` and `content-length: 2`.
const BLOCK: &[u8] = &[0x88, 0x0f, 0x0d, 1, b'2'];

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

fn setting(name: u16, value: u32) -> Vec<u8> {
    frame(SETTINGS, 0, 0, &[&name.to_be_bytes()[..], &value.to_be_bytes()].concat())
}

fn window(stream: u32, by: u32) -> Vec<u8> {
    frame(WINDOW_UPDATE, 0, stream, &by.to_be_bytes())
}

/// A request without a body.
fn get(stream: u32) -> Vec<u8> {
    frame(HEADERS, 5, stream, &[0x82])
}

/// A frame sent by the server.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Sent {
    kind: u8,
    flags: u8,
    stream: u32,
    payload: Vec<u8>,
}

fn sent(mut bytes: &[u8]) -> Vec<Sent> {
    let mut frames = Vec::new();
    while !bytes.is_empty() {
        let length = usize::from(bytes[1]) << 8 | usize::from(bytes[2]) | usize::from(bytes[0]) << 16;
        let stream = u32::from_be_bytes(bytes[5..9].try_into().unwrap());
        let payload = bytes[9..9 + length].to_vec();
        frames.push(Sent { kind: bytes[3], flags: bytes[4], stream, payload });
        bytes = &bytes[9 + length..];
    }
    frames
}

/// A server with one connection.
struct Peer {
    http2: Http2<Faulty>,
    session: Session,
    out: Vec<u8>,
}

impl Peer {
    /// Sends the preface and empty SETTINGS.
    fn new(response: &[u8]) -> Peer {
        Peer::faulty(response, "slower=1%")
    }

    fn faulty(response: &[u8], fault: &str) -> Peer {
        let http2 =
            Http2::new(response, Faulty::new(fault.parse().unwrap(), 0, AllAdded::default())).unwrap();
        let session = http2.open().unwrap();
        let mut peer = Peer { http2, session, out: Vec::new() };
        let greeting = peer.takes(&[PREFACE, &frame(SETTINGS, 0, 0, b"")].concat());
        let kinds: Vec<_> = greeting.iter().map(|sent| (sent.kind, sent.flags)).collect();
        assert_eq!(kinds, [(SETTINGS, 0), (WINDOW_UPDATE, 0), (SETTINGS, 1)]);
        peer
    }

    /// The frames sent in reply, and whether the connection continues.
    fn reply(&mut self, bytes: &[u8]) -> (Vec<Sent>, bool) {
        match self.http2.take(&mut self.session, bytes, &mut self.out) {
            Reply::Send(bytes) => (sent(bytes), true),
            Reply::Last(bytes) => (sent(bytes), false),
        }
    }

    fn takes(&mut self, bytes: &[u8]) -> Vec<Sent> {
        let (sent, goes_on) = self.reply(bytes);
        assert!(goes_on, "{sent:?}");
        sent
    }

    fn more(&mut self) -> Vec<Sent> {
        match self.http2.more(&mut self.session, &mut self.out) {
            Reply::Send(bytes) => sent(bytes),
            Reply::Last(_) => panic!("it goes on"),
        }
    }
}

fn answer(stream: u32, body: &[u8]) -> [Sent; 2] {
    [
        Sent { kind: HEADERS, flags: 4, stream, payload: BLOCK.to_vec() },
        Sent { kind: DATA, flags: 1, stream, payload: body.to_vec() },
    ]
}

/// Stream, length and end-of-stream flag of each DATA frame.
fn bodies(sent: &[Sent]) -> Vec<(u32, usize, bool)> {
    let data = sent.iter().filter(|sent| sent.kind == DATA);
    data.map(|sent| (sent.stream, sent.payload.len(), sent.flags == 1)).collect()
}

fn of_length(bytes: usize) -> Vec<u8> {
    [format!("HTTP/1.1 200 OK\r\nContent-Length: {bytes}\r\n\r\n").into_bytes(), vec![b'x'; bytes]].concat()
}

#[test]
fn all_requests_of_one_read_are_answered_in_one_piece() {
    let sent = Peer::new(RESPONSE).takes(&[get(1), get(3), get(9)].concat());
    assert_eq!(sent, [answer(1, b"ok"), answer(3, b"ok"), answer(9, b"ok")].concat());
}

#[test]
fn a_request_is_answered_when_it_has_ended_and_not_before() {
    let mut peer = Peer::new(RESPONSE);
    let body = frame(HEADERS, 4, 1, b"x");
    assert_eq!(peer.takes(&[body, frame(DATA, 0, 1, b"some")].concat()), []);
    assert_eq!(peer.takes(&frame(DATA, 1, 1, b"")), answer(1, b"ok"));
    // With padding and priority, split into three frames.
    let (head, rest) =
        (frame(HEADERS, 0x29, 3, &[1, 0, 0, 0, 0, 9, b'x', 0]), frame(CONTINUATION, 0, 3, b"y"));
    assert_eq!(peer.takes(&[head, rest].concat()), []);
    assert_eq!(peer.takes(&frame(CONTINUATION, 4, 3, b"z")), answer(3, b"ok"));
    // With trailers.
    assert_eq!(peer.takes(&[frame(HEADERS, 4, 5, b""), frame(DATA, 0, 5, b"a")].concat()), []);
    assert_eq!(peer.takes(&frame(HEADERS, 5, 5, b"t")), answer(5, b"ok"));
}

#[test]
fn settings_and_pings_are_acknowledged_and_the_rest_is_passed_over() {
    let mut peer = Peer::new(RESPONSE);
    let ack = |kind, payload: &[u8]| Sent { kind, flags: 1, stream: 0, payload: payload.to_vec() };
    assert_eq!(peer.takes(&setting(1, 0)), [ack(SETTINGS, b"")]);
    assert_eq!(peer.takes(&frame(PING, 0, 0, b"12345678")), [ack(PING, b"12345678")]);
    let silent = [
        frame(SETTINGS, 1, 0, b""),
        frame(PING, 1, 0, b"12345678"),
        frame(2, 0, 7, &[0; 5]),
        frame(0x42, 255, 7, b"unknown"),
        frame(GOAWAY, 0, 0, &[0; 8]),
        window(0, 1),
    ];
    assert_eq!(peer.takes(&silent.concat()), []);
    assert_eq!(peer.takes(&get(1)), answer(1, b"ok"), "it goes on after all of that, GOAWAY too");
}

#[test]
fn what_does_not_begin_as_http2_is_closed_without_a_word() {
    for bytes in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"PRI * HTTP/1.1\r\n", b"\x16\x03\x01"] {
        let http2 =
            Http2::new(RESPONSE, Faulty::new("slower=1%".parse().unwrap(), 0, AllAdded::default())).unwrap();
        let mut peer = Peer { session: http2.open().unwrap(), http2, out: Vec::new() };
        assert_eq!(peer.reply(bytes), (vec![], false));
    }
}

#[test]
fn what_a_client_may_not_do_ends_the_connection() {
    let [protocol, flow, closed, size] = [1, 3, 5, 6];
    for (what, frames, code) in [
        ("DATA on no stream", frame(DATA, 0, 0, b""), protocol),
        ("DATA on a stream that is not open yet", frame(DATA, 0, 1, b""), protocol),
        ("padding longer than the frame", frame(HEADERS, 0x0c, 1, &[2, 0]), protocol),
        ("HEADERS on a stream of the server", frame(HEADERS, 5, 2, b""), protocol),
        ("HEADERS on a stream that is over", [get(1), get(1)].concat(), closed),
        ("trailers without an end", frame(HEADERS, 4, 1, b"").repeat(2), protocol),
        ("a frame within a header block", [frame(HEADERS, 1, 1, b""), window(0, 1)].concat(), protocol),
        (
            "a header block of two streams",
            [frame(HEADERS, 1, 1, b""), frame(CONTINUATION, 4, 3, b"")].concat(),
            protocol,
        ),
        ("CONTINUATION of nothing", frame(CONTINUATION, 4, 1, b""), protocol),
        ("a promise", frame(5, 4, 1, &[0; 4]), protocol),
        ("PRIORITY of no stream", frame(2, 0, 0, &[0; 5]), protocol),
        ("RST_STREAM of a stream that is not open yet", frame(RST_STREAM, 0, 1, &[0; 4]), protocol),
        ("RST_STREAM of another length", [get(1), frame(RST_STREAM, 0, 1, &[0; 5])].concat(), size),
        ("SETTINGS of a stream", frame(SETTINGS, 0, 1, b""), protocol),
        ("SETTINGS of another length", frame(SETTINGS, 0, 0, &[0; 5]), size),
        ("an acknowledgement with a payload", frame(SETTINGS, 1, 0, &[0; 6]), size),
        ("a push that is neither on nor off", setting(2, 2), protocol),
        ("a window beyond all", setting(4, 1 << 31), flow),
        ("frames that are too small", setting(5, 16_383), protocol),
        ("PING of another length", frame(PING, 0, 0, &[0; 7]), size),
        ("PING of a stream", frame(PING, 0, 1, &[0; 8]), protocol),
        ("a window that grows by nothing", window(0, 0), protocol),
        ("a window that grows too far", window(0, 0x7fff_ffff), flow),
        ("WINDOW_UPDATE of another length", frame(WINDOW_UPDATE, 0, 0, &[0; 3]), size),
        ("GOAWAY of a stream", frame(GOAWAY, 0, 1, &[0; 8]), protocol),
        ("a frame that is too long", frame(DATA, 0, 1, &[0; 16_385]), size),
    ] {
        let (sent, goes_on) = Peer::new(RESPONSE).reply(&frames);
        let last = sent.last().expect(what);
        assert_eq!((goes_on, last.kind, last.payload[7]), (false, GOAWAY, code), "{what}");
    }
}

#[test]
fn what_a_client_may_not_do_on_a_stream_ends_the_stream() {
    let reset = |stream, code| Sent { kind: RST_STREAM, flags: 0, stream, payload: vec![0, 0, 0, code] };
    let open = |stream| frame(HEADERS, 4, stream, b"");
    for (what, frames, code) in [
        ("DATA after its end", [get(1), frame(DATA, 0, 1, b"x")].concat(), 5),
        ("a window that grows by nothing", [open(1), window(1, 0)].concat(), 1),
        ("a window that grows too far", [open(1), window(1, 0x7fff_ffff)].concat(), 3),
        ("PRIORITY of another length", frame(2, 0, 1, &[0; 4]), 6),
    ] {
        let mut peer = Peer::new(RESPONSE);
        assert_eq!(peer.takes(&frames).last(), Some(&reset(1, code)), "{what}");
        assert_eq!(peer.takes(&get(3)), answer(3, b"ok"), "{what}: the others go on");
    }
}

#[test]
fn more_streams_than_were_agreed_are_refused() {
    let mut peer = Peer::new(RESPONSE);
    let open: Vec<u8> = (0..1024).flat_map(|index| frame(HEADERS, 4, 2 * index + 1, b"")).collect();
    assert_eq!(peer.takes(&open), []);
    let refused = peer.takes(&get(2049));
    assert_eq!((refused[0].kind, refused[0].payload[3]), (RST_STREAM, 7));
    assert_eq!(peer.takes(&frame(RST_STREAM, 0, 1, &[0; 4])), []);
    assert_eq!(peer.takes(&get(2051)), answer(2051, b"ok"));
}

#[test]
fn an_upload_is_given_back_on_its_stream_and_on_the_connection() {
    let mut peer = Peer::new(RESPONSE);
    peer.takes(&frame(HEADERS, 4, 1, b""));
    let part = frame(DATA, 0, 1, &[0; 16_384]);
    let (mut of_stream, mut of_connection) = (0, 0);
    for _ in 0..1000 {
        for sent in peer.takes(&part) {
            let granted = u32::from_be_bytes(sent.payload.try_into().unwrap());
            *if sent.stream == 1 { &mut of_stream } else { &mut of_connection } += granted;
        }
    }
    let missing = 1000 * 16_384 - of_stream;
    assert!(missing <= 1 << 19 && of_connection > 8 << 20, "{missing} {of_connection}");
    assert_eq!(peer.takes(&frame(DATA, 1, 1, b"")), answer(1, b"ok"));
}

#[test]
fn an_answer_larger_than_the_window_waits_for_it() {
    let mut peer = Peer::new(&of_length(100_000));
    let sent = peer.takes(&get(1));
    assert_eq!(
        bodies(&sent),
        [(1, 16_384, false), (1, 16_384, false), (1, 16_384, false), (1, 16_383, false)]
    );
    assert_eq!(peer.takes(&window(1, 100_000)), [], "the connection has no window");
    assert_eq!(bodies(&peer.takes(&window(0, 10))), [(1, 10, false)]);
    assert_eq!(bodies(&peer.takes(&get(3))), [], "neither has another stream");
    let sent = bodies(&peer.takes(&window(0, 200_000)));
    assert_eq!(
        sent.iter().map(|(stream, bytes, _)| if *stream == 1 { *bytes } else { 0 }).sum::<usize>(),
        34_455
    );
    assert!(
        sent.contains(&(1, 34_455 - 2 * 16_384, true)) && sent.last() == Some(&(3, 16_383, false)),
        "{sent:?}"
    );
}

#[test]
fn a_window_of_zero_is_respected_and_settings_change_those_of_open_streams() {
    let mut peer = Peer::new(RESPONSE);
    peer.takes(&setting(4, 0));
    let head = peer.takes(&get(1));
    assert_eq!(head, answer(1, b"ok")[..1]);
    assert_eq!(bodies(&peer.takes(&setting(4, 1))), [(1, 1, false)]);
    assert_eq!(bodies(&peer.takes(&setting(4, 0))), [], "its window is below zero");
    assert_eq!(bodies(&peer.takes(&window(1, 1))), []);
    assert_eq!(bodies(&peer.takes(&window(1, 1))), [(1, 1, true)]);
}

#[test]
fn a_stream_that_is_reset_gets_nothing_more() {
    let mut peer = Peer::new(RESPONSE);
    peer.takes(&[setting(4, 0), get(1)].concat());
    assert_eq!(peer.takes(&frame(RST_STREAM, 0, 1, &[0, 0, 0, 8])), []);
    assert_eq!(bodies(&peer.takes(&[window(1, 9), setting(4, 9)].concat())), []);
}

#[test]
fn no_more_is_made_ahead_than_the_socket_takes() {
    let mut peer = Peer::new(&of_length(1 << 20));
    peer.takes(&[setting(4, 0x7fff_ffff), window(0, 0x7f00_0000)].concat());
    let requests: Vec<u8> = (0..100).flat_map(|index| get(2 * index + 1)).collect();
    let mut sent = bodies(&peer.takes(&requests));
    loop {
        let bytes: usize = sent.iter().map(|(_, bytes, _)| bytes).sum();
        assert!(bytes <= (128 << 10) + 16_384, "{bytes}");
        let more = bodies(&peer.more());
        if more.is_empty() {
            break;
        }
        sent = more;
    }
    assert_eq!(sent.last(), Some(&(199, 16_384, true)));
}

#[test]
fn faults_are_of_single_streams() {
    let four = |fault| {
        let (sent, goes_on) = Peer::faulty(RESPONSE, fault).reply(&[get(1), get(3), get(5), get(7)].concat());
        let last = |sent: &Sent| (sent.stream, String::from_utf8(sent.payload.clone()).unwrap());
        let answers = sent.iter().filter(|sent| sent.kind == DATA).map(last).collect::<Vec<_>>();
        let texts: Vec<_> = answers.iter().map(|(stream, body)| format!("{stream} {body}")).collect();
        (texts.join(", "), goes_on)
    };
    let (text, goes_on) = four("wrong-body=50%");
    assert_eq!((text.as_str(), goes_on), ("1 ok, 3 oj, 5 ok, 7 oj", true));
    assert_eq!(four("wrong-length=50%").0, "1 ok, 3 ok!, 5 ok, 7 ok!");
    assert_eq!(four("unanswered=50%").0, "1 ok, 5 ok");
    assert_eq!(four("mixed-up=50%").0, "1 ok, 1 ok, 5 ok, 5 ok");
    assert_eq!(four("drops=50%"), ("1 ok".to_owned(), false));
}

proptest! {
    #[test]
    fn cutting_changes_nothing(
        bodies in prop::collection::vec(0_usize..200, 0..20),
        cuts in prop::collection::vec(0_usize..5000, 0..20),
    ) {
        let requests: Vec<u8> = bodies.iter().enumerate().flat_map(|(index, body)| match body {
            0 => get(2 * index as u32 + 1),
            _ => {
                let stream = 2 * index as u32 + 1;
                let (head, rest) = (frame(HEADERS, 0, stream, b"a"), frame(CONTINUATION, 4, stream, b"b"));
                [head, rest, frame(DATA, 1, stream, &vec![0; *body]), window(0, 7)].concat()
            }
        }).collect();
        let whole = Peer::new(RESPONSE).takes(&requests);
        prop_assert_eq!(whole.len(), 2 * bodies.len());
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(requests.len())).collect();
        cuts.extend([0, requests.len()]);
        cuts.sort_unstable();
        let mut peer = Peer::new(RESPONSE);
        let parts: Vec<Sent> = cuts.windows(2).flat_map(|cut| peer.takes(&requests[cut[0]..cut[1]])).collect();
        prop_assert_eq!(parts, whole);
    }

    #[test]
    fn no_frames_are_too_much(
        frames in prop::collection::vec((0_u8..11, any::<u8>(), 0_u32..8, prop::collection::vec(any::<u8>(), 0..12)), 0..40),
    ) {
        let mut peer = Peer::new(&of_length(70_000));
        for (kind, flags, stream, payload) in frames {
            let (sent, goes_on) = peer.reply(&frame(kind, flags, stream, &payload));
            if !goes_on {
                prop_assert_eq!(sent.last().map(|sent| sent.kind), Some(GOAWAY));
                break;
            }
        }
    }
}
