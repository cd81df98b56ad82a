//! Every error that ends a connection, and that none of them takes much memory.

use proptest::prelude::*;

use super::*;
use crate::http2::{FRAME_BYTES_MAX, IDLE_FRAMES_MAX};
use tare_base::http2::{
    ACK, CONTINUATION, DATA, GOAWAY, HAS_PRIORITY, HEADERS, PADDED, PING, PRIORITY, PUSH_PROMISE, RST_STREAM,
    SETTINGS, WINDOW_UPDATE,
};

/// The bytes that a peer sends, and the expected error.
type Case = (Vec<u8>, Http2Error);

/// Frames with an invalid length or stream, sent after the settings to a client with requests on streams 1
/// and 3, of which 1 is answered.
fn heads() -> Vec<Case> {
    let long = FrameHead { length: FRAME_BYTES_MAX + 1, kind: DATA, flags: 0, stream: 3 };
    let mut too_long = Vec::new();
    long.write(&mut too_long);
    let lengths = |kind, bytes| Http2Error::FrameLength { kind, bytes };
    let streams = |kind, stream| Http2Error::FrameStream { kind, stream };
    vec![
        (too_long, Http2Error::FrameTooLong { bytes: FRAME_BYTES_MAX + 1 }),
        (frame(PING, 0, 0, &[0; 7]), lengths(PING, 7)),
        (frame(SETTINGS, 0, 0, &[0; 7]), lengths(SETTINGS, 7)),
        (frame(SETTINGS, ACK, 0, &[0; 6]), lengths(SETTINGS, 6)),
        (frame(RST_STREAM, 0, 3, &[0; 5]), lengths(RST_STREAM, 5)),
        (frame(WINDOW_UPDATE, 0, 0, &[0; 3]), lengths(WINDOW_UPDATE, 3)),
        (frame(GOAWAY, 0, 0, &[0; 7]), lengths(GOAWAY, 7)),
        (frame(PRIORITY, 0, 3, &[0; 4]), lengths(PRIORITY, 4)),
        (frame(HEADERS, END_HEADERS | HAS_PRIORITY, 3, &[0; 4]), lengths(HEADERS, 4)),
        (frame(PING, 0, 1, &[0; 8]), streams(PING, 1)),
        (
            settings_frame(&[])
                .iter()
                .enumerate()
                .map(|(at, byte)| if at == 8 { 1 } else { *byte })
                .collect(),
            streams(SETTINGS, 1),
        ),
        (frame(GOAWAY, 0, 1, &[0; 8]), streams(GOAWAY, 1)),
        (data(0, 0, b"x"), streams(DATA, 0)),
        (data(2, 0, b"x"), streams(DATA, 2)),
        (data(5, 0, b"x"), streams(DATA, 5)),
        (headers(5, 0, &[(":status", "200")]), streams(HEADERS, 5)),
        (headers(0, 0, &[(":status", "200")]), streams(HEADERS, 0)),
        (rst(5, ErrorCode::CANCEL), streams(RST_STREAM, 5)),
        (rst(0, ErrorCode::CANCEL), streams(RST_STREAM, 0)),
        (rst(2, ErrorCode::CANCEL), streams(RST_STREAM, 2)),
        (window_update(2, 1), streams(WINDOW_UPDATE, 2)),
        (window_update(5, 1), streams(WINDOW_UPDATE, 5)),
    ]
}

/// Frames with invalid contents or in an invalid order.
fn contents() -> Vec<Case> {
    let endless = |size: usize, count: usize| {
        let mut bytes = frame(HEADERS, 0, 3, &vec![0; size]);
        (0..count).for_each(|_| bytes.extend(frame(CONTINUATION, 0, 3, &vec![0; size])));
        bytes
    };
    vec![
        (frame(DATA, PADDED, 3, &[]), Http2Error::Padding),
        (frame(DATA, PADDED, 3, &[5, 0, 0, 0, 0]), Http2Error::Padding),
        (frame(HEADERS, PADDED | END_HEADERS, 3, &[]), Http2Error::Padding),
        (frame(HEADERS, PADDED | END_HEADERS, 3, &[3, 0, 0]), Http2Error::Padding),
        (data(1, 0, b"x"), Http2Error::ClosedStream(1)),
        (headers(1, 0, &[(":status", "200")]), Http2Error::ClosedStream(1)),
        (frame(PUSH_PROMISE, END_HEADERS, 3, &[0, 0, 0, 2, 0x88]), Http2Error::Push),
        ([frame(HEADERS, 0, 3, &[]), frame(PING, 0, 0, &[0; 8])].concat(), Http2Error::Interrupted),
        ([frame(HEADERS, 0, 3, &[]), data(3, 0, b"x")].concat(), Http2Error::Interrupted),
        (
            [frame(HEADERS, 0, 3, &[]), frame(HEADERS, END_HEADERS, 3, &[0x88])].concat(),
            Http2Error::Interrupted,
        ),
        (
            [frame(HEADERS, 0, 3, &[]), frame(CONTINUATION, END_HEADERS, 1, &[0x88])].concat(),
            Http2Error::Interrupted,
        ),
        (frame(CONTINUATION, END_HEADERS, 3, &[0x88]), Http2Error::Continuation),
        (endless(FRAME_BYTES_MAX, 4), Http2Error::BlockTooLong),
        (endless(0, 64), Http2Error::BlockFrames),
        (endless(1, 64), Http2Error::BlockFrames),
        (frame(HEADERS, END_HEADERS, 3, &[0x80]), Http2Error::Hpack),
        (frame(HEADERS, END_HEADERS, 3, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), Http2Error::Hpack),
        (frame(HEADERS, END_HEADERS, 3, &[0, 1, b'a', 0x81, 0]), Http2Error::Hpack),
        (settings_frame(&[(2, 2)]), Http2Error::Setting { id: 2, value: 2 }),
        (settings_frame(&[(5, 16_383)]), Http2Error::Setting { id: 5, value: 16_383 }),
        (settings_frame(&[(5, 1 << 24)]), Http2Error::Setting { id: 5, value: 1 << 24 }),
        (settings_frame(&[(4, 1 << 31)]), Http2Error::WindowOverflow),
        (window_update(0, (1 << 31) - 1), Http2Error::WindowOverflow),
        (window_update(3, (1 << 31) - 1), Http2Error::WindowOverflow),
        ([window_update(3, 1), settings_frame(&[(4, (1 << 31) - 1)])].concat(), Http2Error::WindowOverflow),
        (window_update(0, 0), Http2Error::EmptyWindowUpdate),
        (window_update(3, 0), Http2Error::EmptyWindowUpdate),
    ]
}

/// A client in the state that the table assumes.
fn client() -> Client {
    let mut client = Client::ready(2, vec![get()], &[]);
    client.take(&answer(1, "first")).unwrap();
    client
}

#[test]
fn each_error_has_its_case_and_the_peer_is_informed() {
    for (bytes, error) in heads().into_iter().chain(contents()) {
        let mut client = client();
        let shown = &bytes[..bytes.len().min(40)];
        let taken = client.take(&bytes);
        assert_eq!(taken, Err(error), "{shown:?}");
        let (head, payload) = client.sent_frames().pop().expect("something was sent");
        assert_eq!((head.kind, head.stream), (GOAWAY, 0), "{shown:?}");
        assert_eq!(payload[4..], error.code().0.to_be_bytes(), "{error}");
    }
}

#[test]
fn what_is_no_settings_frame_comes_from_no_server_of_http_2() {
    let first: [&[u8]; 6] = [
        b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        &frame(PING, 0, 0, &[0; 8]),
        &frame(SETTINGS, ACK, 0, &[]),
        &data(1, 0, b"x"),
        &headers(1, 0, &[(":status", "200")]),
    ];
    for bytes in first {
        assert_eq!(Client::new(1, vec![get()], 1).take(bytes), Err(Http2Error::NoSettings), "{bytes:?}");
    }
}

#[test]
fn frames_that_bring_no_answer_nearer_are_too_many_at_some_point() {
    let interim = headers(3, 0, &[(":status", "103")]);
    let floods = [
        frame(PING, 0, 0, &[0; 8]),
        frame(PING, ACK, 0, &[0; 8]),
        settings_frame(&[]),
        settings_frame(&[(4, 70_000)]),
        frame(SETTINGS, ACK, 0, &[]),
        window_update(0, 1),
        window_update(3, 1),
        frame(PRIORITY, 0, 3, &[0; 5]),
        frame(0xbe, 0, 0, b"unknown"),
        goaway(u32::MAX, ErrorCode::NO_ERROR),
        rst(1, ErrorCode::NO_ERROR),
        data(3, 0, b""),
        data(3, PADDED, &[0]),
        interim,
    ];
    for (index, flood) in floods.iter().enumerate() {
        let mut client = client();
        let needs_head = flood[3] == DATA;
        if needs_head {
            client.take(&headers(3, 0, &[(":status", "200")])).unwrap();
        }
        client.take(&flood.repeat(100)).unwrap_or_else(|error| panic!("{index}: {error}"));
        client
            .take(&answer(3, "")[if needs_head { headers(3, 0, &[(":status", "200")]).len() } else { 0 }..])
            .unwrap();

        let mut client = self::client();
        if needs_head {
            client.take(&headers(3, 0, &[(":status", "200")])).unwrap();
        }
        let many = flood.repeat(IDLE_FRAMES_MAX as usize + 2);
        assert_eq!(client.take(&many), Err(Http2Error::Flood), "{index}");
    }
}

#[test]
fn a_peer_that_reads_nothing_cannot_pile_up_answers_to_pings() {
    let mut connection = Http2Connection::new(1);
    connection.receive(&mut &settings_frame(&[])[..]).unwrap();
    let pings = frame(PING, 0, 0, &[0; 8]).repeat(IDLE_FRAMES_MAX as usize + 1);
    let mut rest = &pings[..];
    assert_eq!(connection.receive(&mut rest), Err(Http2Error::Flood));
    assert!(connection.outgoing().len() < 1_000_000);
}

#[test]
fn resets_without_end_pile_up_nothing_while_nothing_is_sent() {
    // The peer reads nothing, so the output stays here. For each ended request, one more is sent.
    let heavy = Http2Request { fields: vec![field("cookie", &"c".repeat(2_000))], body: Vec::new() };
    let mut client = Client::new(1, vec![heavy], usize::MAX);
    let mut bytes = settings_frame(&[]);
    (0..50_000).for_each(|nth| bytes.extend(rst(2 * nth + 1, ErrorCode::CANCEL)));
    let mut rest = &bytes[..];
    while let Ok(Some(event)) = client.connection.receive(&mut rest) {
        client.see(event);
        client.fill();
    }
    let waiting = client.connection.outgoing().len();
    assert!(waiting < 2_000_000, "{waiting} bytes wait to be sent");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Random bytes and senseless frames: nothing panics, and little is kept.
    #[test]
    fn arbitrary_bytes_end_in_an_error_or_wait_for_more(
        frames in prop::collection::vec((0_u8..12, any::<u8>(), 0_u32..8, prop::collection::vec(any::<u8>(), 0..40)), 0..20),
        noise in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let mut client = Client::ready(3, vec![get(), post(100_000)], &[]);
        let bytes: Vec<u8> = frames.iter().flat_map(|(kind, flags, stream, payload)| frame(*kind, *flags, *stream, payload)).collect();
        let _ended = client.take(&[bytes, noise].concat());
    }
}
