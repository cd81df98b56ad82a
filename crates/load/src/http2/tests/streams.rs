//! The life of streams: answers in any order, all kinds of ends, and connections that end.

use super::*;
use crate::http2::encoder::TableState;
use tare_base::http2::{CONTINUATION, HEADERS, PADDED, RST_STREAM};

#[test]
fn answers_come_in_any_order() {
    let mut client = Client::ready(4, vec![get()], &[]);
    client.take(&[answer(7, "d"), answer(1, "a"), answer(5, "c"), answer(3, "b")].concat()).unwrap();
    let seen = [answered(3, "d"), answered(0, "a"), answered(2, "c"), answered(1, "b")];
    assert_eq!(client.outcome(), seen);
    assert_eq!(client.connection.busy(), 0);
}

#[test]
fn a_head_alone_can_be_a_whole_answer() {
    let mut client = Client::ready(1, vec![get()], &[]);
    client.take(&headers(1, END_STREAM, &[(":status", "204")])).unwrap();
    assert_eq!(client.outcome(), [Seen::Answer { place: 0, status: 204, body: vec![], is_end: true }]);
}

#[test]
fn interim_answers_and_trailers_are_not_the_answer() {
    let mut client = Client::ready(1, vec![get()], &[]);
    let bytes = [
        headers(1, 0, &[(":status", "100")]),
        headers(1, 0, &[(":status", "103"), ("link", "x")]),
        headers(1, 0, &[(":status", "200"), ("content-length", "2")]),
        data(1, PADDED, &[3, b'h', b'i', 0, 0, 0]),
        headers(1, END_STREAM, &[("grpc-status", "0")]),
    ];
    client.take(&bytes.concat()).unwrap();
    assert_eq!(client.outcome(), [answered(0, "hi")]);
}

#[test]
fn what_no_answer_can_be_ends_its_stream_alone() {
    let status = (":status", "200");
    let table = [
        (data(1, 0, b"early"), HeadError::Order, true),
        (data(1, END_STREAM, b"early"), HeadError::Order, false),
        (headers(1, END_STREAM, &[(":status", "103")]), HeadError::Order, false),
        (headers(1, 0, &[("x", "y")]), HeadError::Status, true),
        (headers(1, END_STREAM, &[status, ("content-length", "1")]), HeadError::BodyLength, false),
        (
            [headers(1, 0, &[status, ("content-length", "2")]), data(1, END_STREAM, b"abc")].concat(),
            HeadError::BodyLength,
            false,
        ),
        (
            [headers(1, 0, &[status, ("content-length", "4")]), data(1, END_STREAM, b"abc")].concat(),
            HeadError::BodyLength,
            false,
        ),
        ([headers(1, 0, &[status]), headers(1, 0, &[("x", "y")])].concat(), HeadError::Order, true),
        (
            [headers(1, 0, &[status]), headers(1, END_STREAM, &[status])].concat(),
            HeadError::PseudoHeader,
            false,
        ),
        (
            [headers(1, 0, &[(":status", "204")]), data(1, END_STREAM, b"abc")].concat(),
            HeadError::BodyLength,
            false,
        ),
        (
            [headers(1, 0, &[(":status", "304"), ("content-length", "9")]), data(1, END_STREAM, b"abc")]
                .concat(),
            HeadError::BodyLength,
            false,
        ),
        (
            headers(1, 0, &[status, ("content-length", "1099511627777")]),
            HeadError::BodyTooLong { bytes: 1_099_511_627_777 },
            true,
        ),
        (
            headers(1, 0, &[status, ("content-length", "18446744073709551618")]),
            HeadError::BodyTooLong { bytes: u64::MAX },
            true,
        ),
        (
            headers(1, 0, &[status, ("content-length", "1844674407370955161x")]),
            HeadError::ContentLength,
            true,
        ),
        (headers(1, 0, &[status, ("a b", "y")]), HeadError::Name, true),
        (headers(1, 0, &[status, ("a:b", "y")]), HeadError::Name, true),
        (headers(1, 0, &[status, ("x", "a\r\nb: c")]), HeadError::Value, true),
        (headers(1, 0, &[status, ("x", "a\0b")]), HeadError::Value, true),
    ];
    for (bytes, error, is_reset) in table {
        let mut client = Client::ready(2, vec![get()], &[]);
        client.take(&bytes).unwrap_or_else(|ended| panic!("{error}: {ended}"));
        assert_eq!(client.outcome().last(), Some(&Seen::Malformed { place: 0, error }), "{bytes:?}");
        let resets = client.sent_frames().iter().filter(|(head, _)| head.kind == RST_STREAM).count();
        assert_eq!(resets, usize::from(is_reset), "{error} {bytes:?}");
        client.take(&answer(3, "fine")).unwrap();
        assert_eq!(client.outcome().last(), Some(&answered(1, "fine")));
    }
}

#[test]
fn the_answer_to_head_has_a_length_and_no_body() {
    let send = || {
        let mut client = Client::new(1, vec![get()], 0);
        client.take(&settings_frame(&[])).unwrap();
        let Client { connection, encoder, requests, .. } = &mut client;
        connection.send(0, Sent::Listed(0), true, encoder, requests);
        client
    };
    let head = |flags| headers(1, flags, &[(":status", "200"), ("content-length", "500")]);
    let mut client = send();
    let endless = headers(1, 0, &[(":status", "200"), ("content-length", "18446744073709551615")]);
    client.take(&[endless, data(1, END_STREAM, b"")].concat()).unwrap();
    assert_eq!(client.outcome(), [answered(0, "")]);
    let mut client = send();
    client.take(&head(END_STREAM)).unwrap();
    assert_eq!(client.outcome(), [answered(0, "")]);
    let mut client = send();
    client.take(&[head(0), data(1, END_STREAM, b"")].concat()).unwrap();
    assert_eq!(client.outcome(), [answered(0, "")]);
    let mut client = send();
    client.take(&[head(0), data(1, END_STREAM, &[b'x'; 500])].concat()).unwrap();
    assert_eq!(client.outcome().last(), Some(&Seen::Malformed { place: 0, error: HeadError::BodyLength }));
}

#[test]
fn a_request_that_was_given_up_is_ignored_from_then_on() {
    let mut client = Client::ready(2, vec![get(), post(100_000)], &[]);
    client.sent_frames();
    client.connection.cancel(0);
    client.connection.cancel(0);
    client.connection.cancel(1);
    assert_eq!(client.connection.busy(), 0);
    client.drain();
    let resets: Vec<u32> = client.sent_frames().iter().map(|(head, _)| head.stream).collect();
    assert_eq!(resets, [1, 3]);
    client.take(&[answer(1, "late"), answer(3, "late"), window_update(0, 1_000_000)].concat()).unwrap();
    client.take(&window_update(3, 1_000_000)).unwrap();
    assert!(client.outcome().iter().all(|seen| *seen == Seen::Room), "{:?}", client.seen);
    assert_eq!(client.uploaded(), []);
}

#[test]
fn late_answers_to_thousands_that_were_given_up_are_no_error() {
    const COUNT: usize = 3_000;
    let mut client = Client::ready(COUNT, vec![get()], &[]);
    (0..COUNT).for_each(|place| client.connection.cancel(place));
    client.drain();
    for nth in 0..COUNT as u32 {
        client.take(&answer(2 * nth + 1, "late")).unwrap();
    }
    assert_eq!(client.outcome(), []);
}

#[test]
fn a_table_that_later_blocks_refer_to_is_filled_by_given_up_streams_too() {
    let mut client = Client::ready(2, vec![get()], &[]);
    client.connection.cancel(0);
    let mut adding = literal(":status", "418");
    adding[0] = 0x40;
    client.take(&frame(HEADERS, END_HEADERS | END_STREAM, 1, &adding)).unwrap();
    client.take(&frame(HEADERS, END_HEADERS | END_STREAM, 3, &[0x80 | 62])).unwrap();
    assert_eq!(client.outcome(), [Seen::Answer { place: 1, status: 418, body: vec![], is_end: true }]);
}

#[test]
fn goaway_hands_back_what_was_not_taken_and_waits_for_the_rest() {
    let mut client = Client::ready(4, vec![get()], &[]);
    client.left = 10;
    client.take(&goaway((1 << 31) - 1, ErrorCode::NO_ERROR)).unwrap();
    client.take(&goaway(3, ErrorCode::NO_ERROR)).unwrap();
    let back = [Seen::GoingAway, Seen::GoingAway, Seen::NotTaken { place: 3 }, Seen::NotTaken { place: 2 }];
    assert_eq!(client.outcome(), back);
    client.take(&[answer(3, "b"), answer(1, "a")].concat()).unwrap();
    assert_eq!(client.outcome()[4..], [answered(1, "b"), answered(0, "a")]);
    assert!(!client.connection.has_room() && client.connection.is_going_away());
    assert_eq!((client.connection.busy(), client.left), (0, 10), "nothing more was sent");
    assert_eq!(client.connection.goaway(), Some(ErrorCode::NO_ERROR));
}

#[test]
fn a_goaway_does_not_take_back_what_an_earlier_one_gave_up() {
    let mut client = Client::ready(2, vec![get()], &[]);
    client.take(&[goaway(1, ErrorCode::NO_ERROR), goaway(99, ErrorCode::PROTOCOL)].concat()).unwrap();
    assert_eq!(client.outcome()[1..], [Seen::NotTaken { place: 1 }, Seen::GoingAway]);
    assert_eq!(client.connection.goaway(), Some(ErrorCode::PROTOCOL));
}

#[test]
fn numbers_that_are_used_up_end_a_connection_in_good_order() {
    let mut client = Client::ready(2, vec![get()], &[]);
    client.connection.use_up_numbers();
    client.left = 5;
    client.take(&answer(1, "a")).unwrap();
    assert!(client.connection.is_going_away() && client.connection.goaway().is_none());
    assert_eq!(client.left, 4, "one with the last number, and no more");
    client.take(&[answer((1 << 31) - 1, "last"), answer(3, "b")].concat()).unwrap();
    assert_eq!(client.outcome(), [answered(0, "a"), answered(0, "last"), answered(1, "b")]);
    assert_eq!(client.left, 4);
}

#[test]
fn fewer_streams_than_places_are_obeyed_and_a_lower_number_later_too() {
    const STREAMS: u16 = 3;
    let mut client = Client::new(5, vec![get()], 100);
    client.take(&settings_frame(&[(STREAMS, 3)])).unwrap();
    assert_eq!(client.connection.busy(), 3);
    client.take(&settings_frame(&[(STREAMS, 1)])).unwrap();
    client.take(&[answer(1, ""), answer(3, "")].concat()).unwrap();
    assert_eq!(client.connection.busy(), 1);
    client.take(&answer(5, "")).unwrap();
    assert_eq!(client.connection.busy(), 1, "one for one");
    client.take(&settings_frame(&[(STREAMS, 0)])).unwrap();
    client.take(&answer(7, "")).unwrap();
    assert_eq!(client.connection.busy(), 0);
    client.take(&settings_frame(&[(STREAMS, 9)])).unwrap();
    assert_eq!(client.connection.busy(), 5);
}

#[test]
fn a_peer_without_a_table_is_sent_what_needs_none_and_is_informed_once() {
    let blocks = |client: &mut Client| -> Vec<Vec<u8>> {
        let frames = client.sent_frames().into_iter();
        frames.filter(|(head, _)| head.kind == HEADERS).map(|(_, block)| block).collect()
    };
    let mut client = Client::new(1, vec![get()], 9);
    client.take(&settings_frame(&[(1, 0)])).unwrap();
    client.take(&answer(1, "")).unwrap();
    client.take(&settings_frame(&[(1, 0)])).unwrap();
    client.take(&answer(3, "")).unwrap();
    let sent = blocks(&mut client);
    assert_eq!(sent[0][0], 0x20, "the table is of no size");
    assert_eq!(sent[0][1..], sent[1][..], "nothing was added");
    assert_eq!(sent[1], sent[2]);
    // The same in the middle of a connection whose table has entries.
    let mut client = Client::new(1, vec![get()], 9);
    client.take(&settings_frame(&[])).unwrap();
    client.take(&answer(1, "")).unwrap();
    client.take(&settings_frame(&[(1, 100)])).unwrap();
    client.take(&answer(3, "")).unwrap();
    let sent = blocks(&mut client);
    let mut decoder = loona_hpack::Decoder::new();
    for block in &sent {
        assert_eq!(decoder.decode(block).unwrap(), get().fields);
    }
    assert_eq!((sent.len(), sent[2][0]), (3, 0x20));
}

#[test]
fn a_long_head_of_a_request_takes_several_frames() {
    let long = Http2Request { fields: vec![field("cookie", &"c".repeat(40_000))], body: b"hi".to_vec() };
    let mut client = Client::ready(1, vec![long], &[]);
    let frames = client.sent_frames();
    let kinds: Vec<(u8, u8)> = frames.iter().map(|(head, _)| (head.kind, head.flags)).collect();
    let tail = [(HEADERS, 0), (CONTINUATION, 0), (CONTINUATION, END_HEADERS), (http2::DATA, END_STREAM)];
    assert_eq!(kinds[kinds.len() - 4..], tail);
}

#[test]
fn the_table_of_a_connection_begins_anew_with_other_requests() {
    let mut client = Client::ready(1, vec![get()], &[]);
    client.take(&answer(1, "")).unwrap();
    client.connection.set_requests();
    let other = Http2Request { fields: vec![field("other", "one")], body: Vec::new() };
    client.requests = RequestList(vec![other.clone()]);
    client.encoder = Encoder::new(&client.requests);
    client.left = 2;
    client.fill();
    client.drain();
    client.take(&answer(3, "")).unwrap();
    let mut decoder = loona_hpack::Decoder::new();
    let frames = client.sent_frames().into_iter().filter(|(head, _)| head.kind == HEADERS);
    let decoded: Vec<_> = frames.map(|(_, block)| decoder.decode(&block).unwrap()).collect();
    assert_eq!(decoded, [get().fields, other.fields.clone(), other.fields]);
    assert_ne!(TableState::EMPTY, TableState::UNUSED);
}
