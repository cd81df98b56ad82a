//! Bodies of requests, and the flow control of the peer.

use tare_base::http2::{DATA, RST_STREAM};

use super::*;
use crate::http2::{FRAME_BYTES_MAX, OUT_BYTES_MAX};

const WINDOW: u16 = 4;

#[test]
fn a_body_goes_as_far_as_the_windows_allow() {
    // The window of the stream, and the bytes then sent.
    for (window, goes) in [(0, 0), (1, 1), (99, 99), (100, 100), (1_000, 100)] {
        let mut client = Client::ready(1, vec![post(100)], &[(WINDOW, window)]);
        let sums = client.uploaded();
        let expected = if goes == 0 { vec![] } else { vec![(1, goes, goes == 100)] };
        assert_eq!(sums, expected, "window {window}");
        client.take(&window_update(1, 1_000)).unwrap();
        let rest = if goes == 100 { vec![] } else { vec![(1, 100 - goes, true)] };
        assert_eq!(client.uploaded(), rest, "window {window}");
    }
}

#[test]
fn the_window_of_the_connection_is_of_all_streams_together() {
    let mut client = Client::ready(3, vec![post(40_000)], &[]);
    let sum: usize = client.uploaded().iter().map(|(_, bytes, _)| bytes).sum();
    assert_eq!(sum, 65_535);
    client.take(&window_update(1, 1_000_000)).unwrap();
    assert_eq!(client.uploaded(), [], "it is the connection that is full");
    client.take(&window_update(0, 1_000_000)).unwrap();
    let sum: usize = client.uploaded().iter().map(|(_, bytes, _)| bytes).sum();
    assert_eq!(sum, 120_000 - 65_535);
}

#[test]
fn a_window_grows_and_shrinks_by_settings_even_below_nothing() {
    let mut client = Client::ready(1, vec![post(1_000)], &[(WINDOW, 600)]);
    assert_eq!(client.uploaded(), [(1, 600, false)]);
    // 600 bytes of a window of 100 are used: 500 too many.
    client.take(&settings_frame(&[(WINDOW, 100)])).unwrap();
    client.take(&window_update(1, 500)).unwrap();
    assert_eq!(client.uploaded(), []);
    client.take(&window_update(1, 1)).unwrap();
    assert_eq!(client.uploaded(), [(1, 1, false)]);
    client.take(&settings_frame(&[(WINDOW, 400)])).unwrap();
    assert_eq!(client.uploaded(), [(1, 300, false)]);
    client.take(&settings_frame(&[(WINDOW, 10_000)])).unwrap();
    assert_eq!(client.uploaded(), [(1, 99, true)]);
}

#[test]
fn a_stream_begins_with_the_window_that_was_set_last() {
    let mut client = Client::new(1, vec![post(500)], 2);
    client.take(&settings_frame(&[(WINDOW, 1_000)])).unwrap();
    assert_eq!(client.uploaded(), [(1, 500, true)]);
    client.take(&settings_frame(&[(WINDOW, 3)])).unwrap();
    client.take(&answer(1, "")).unwrap();
    assert_eq!(client.uploaded(), [(3, 3, false)]);
}

#[test]
fn an_early_answer_cancels_the_rest_of_a_body() {
    let mut client = Client::new(1, vec![post(500)], 2);
    client.take(&settings_frame(&[(WINDOW, 10)])).unwrap();
    client.take(&answer(1, "enough")).unwrap();
    assert_eq!(client.outcome(), [answered(0, "enough")]);
    let frames: Vec<(u8, u32)> =
        client.sent_frames().iter().map(|(head, _)| (head.kind, head.stream)).collect();
    assert!(frames.contains(&(RST_STREAM, 1)), "{frames:?}");
    client.take(&window_update(1, 1_000)).unwrap();
    client.take(&rst(1, ErrorCode::NO_ERROR)).unwrap();
    client.take(&window_update(3, 1_000)).unwrap();
    assert_eq!(client.uploaded(), [(3, 490, true)], "of the second one, and none of the first");
}

#[test]
fn uploads_that_are_ended_again_and_again_leave_nothing_behind() {
    let mut client = Client::new(2, vec![post(500)], usize::MAX);
    client.take(&settings_frame(&[(WINDOW, 0)])).unwrap();
    for nth in 0..1_000 {
        client.take(&rst(2 * nth + 1, ErrorCode::CANCEL)).unwrap();
    }
    assert!(client.connection.uploads_waiting() <= 2, "{}", client.connection.uploads_waiting());
}

#[test]
fn a_long_body_does_not_pile_up_where_it_waits_to_be_sent() {
    // Like nginx, the peer allows the longest frames and windows.
    let settings = [(WINDOW, (1 << 31) - 1), (5, (1 << 24) - 1)];
    let mut client = Client::new(1, vec![post(20_000_000)], 1);
    let bytes = [settings_frame(&settings), window_update(0, 1 << 30)].concat();
    let mut rest = &bytes[..];
    let mut most = 0;
    while let Some(event) = client.connection.receive(&mut rest).unwrap() {
        client.see(event);
        client.fill();
        client.connection.pump(&client.requests);
        most = most.max(client.connection.outgoing().len());
    }
    assert!(most <= OUT_BYTES_MAX + 2 * FRAME_BYTES_MAX, "{most}");
    client.drain();
    assert_eq!(client.uploaded(), [(1, 20_000_000, true)]);
}

#[test]
fn updates_that_let_an_upload_go_on_are_no_flood() {
    let mut client = Client::ready(1, vec![post(30_000)], &[(WINDOW, 0)]);
    for _ in 0..30_000 {
        client.take(&window_update(1, 1)).unwrap();
    }
    assert_eq!(client.uploaded(), [(1, 30_000, true)]);
    let updates = window_update(1, 1).repeat(20_000);
    assert_eq!(client.take(&updates), Err(Http2Error::Flood), "nothing waits for them any more");
}

#[test]
fn pings_between_the_parts_of_a_body_are_no_flood() {
    let mut client = Client::ready(1, vec![get()], &[]);
    client.take(&headers(1, 0, &[(":status", "200")])).unwrap();
    for _ in 0..30_000 {
        client.take(&[data(1, 0, b"x"), frame(http2::PING, 0, 0, &[0; 8])].concat()).unwrap();
    }
}

#[test]
fn the_peer_is_given_more_before_its_windows_are_used_up() {
    let mut client = Client::ready(1, vec![get()], &[]);
    client.sent_frames();
    client.take(&headers(1, 0, &[(":status", "200")])).unwrap();
    let mut given =
        [65_535_i64 + i64::from(super::super::WINDOW_BYTES) - 65_535, i64::from(super::super::WINDOW_BYTES)];
    let part = data(1, 0, &[7; FRAME_BYTES_MAX]);
    for _ in 0..100_000 {
        client.take(&part).unwrap();
        client.seen.truncate(1);
        given.iter_mut().for_each(|window| *window -= FRAME_BYTES_MAX as i64);
        for (head, payload) in client.sent_frames() {
            assert_ne!(head.kind, DATA);
            let by = u32::from_be_bytes(payload.try_into().unwrap());
            given[head.stream as usize] += i64::from(by);
        }
        assert!(given.iter().all(|window| (1..1 << 31).contains(window)), "{given:?}");
    }
}

#[test]
fn many_requests_at_once_are_no_flood_of_the_peer() {
    let heavy = Http2Request { fields: vec![field("cookie", &"c".repeat(2_000))], body: Vec::new() };
    let mut client = Client::new(2_000, vec![heavy], 2_000);
    let bytes = [settings_frame(&[(1, 0)]), frame(http2::PING, 0, 0, &[0; 8])].concat();
    client.take(&bytes).unwrap();
    for _ in 0..100 {
        client.fill();
        client.drain();
    }
    assert_eq!(client.connection.busy(), 2_000);
}
