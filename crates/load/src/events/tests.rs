//! The grammar against the examples of its standard, against a slow reader of our own, and cut anywhere.

use proptest::prelude::*;

use super::{EVENT_BYTES_MAX, EventReader, TooLong, sent_at_ns};

type Owned = (String, String, Option<String>);

fn owned(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The events of a stream that arrives in these pieces, and whether it ends within an event.
fn read(pieces: &[&[u8]]) -> (Vec<Owned>, bool) {
    let (mut reader, mut events) = (EventReader::default(), Vec::new());
    for piece in pieces {
        let mut rest = *piece;
        while let Some(event) = reader.next(&mut rest).unwrap() {
            events.push((owned(event.name), owned(event.data), event.id.map(owned)));
        }
        assert!(rest.is_empty());
    }
    (events, reader.is_within_event())
}

fn data(stream: &str) -> Vec<String> {
    read(&[stream.as_bytes()]).0.into_iter().map(|(_, data, _)| data).collect()
}

/// The examples of WHATWG HTML, section 9.2.6.
#[test]
fn the_examples_of_the_standard() {
    assert_eq!(data("data: YHOO\ndata: +2\ndata: 10\n\n"), ["YHOO\n+2\n10"]);
    let ids = ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n";
    let (events, _) = read(&[ids.as_bytes()]);
    let event = |data: &str, id: Option<&str>| (String::new(), data.to_owned(), id.map(str::to_owned));
    assert_eq!(
        events,
        [event("first event", Some("1")), event("second event", Some("")), event(" third event", None)]
    );
    let (events, is_cut) = read(&[b"data\n\ndata\ndata\n\ndata:"]);
    assert_eq!(events.iter().map(|(_, data, _)| data.as_str()).collect::<Vec<_>>(), ["", "\n"]);
    assert!(is_cut, "the last block is not complete");
    assert_eq!(data("data:test\n\ndata: test\n\n"), ["test", "test"]);
}

#[test]
fn every_field_every_line_end_and_a_byte_order_mark() {
    for end in ["\n", "\r", "\r\n"] {
        let lines =
            [":comment", "event: tick", "id: 7", "retry: 10", "unknown: x", "data: a", "data: b", "", ""];
        let stream = format!("\u{feff}{}", lines.join(end));
        let event = ("tick".to_owned(), "a\nb".to_owned(), Some("7".to_owned()));
        assert_eq!(read(&[stream.as_bytes()]), (vec![event], false), "{end:?}");
    }
    assert_eq!(data("retry: 10\n\nid: 3\n\nevent: x\n\n:\n\n"), [""; 0], "none has data");
    assert_eq!(read(&[b"id: a\0b\ndata: x\n\n"]).0[0].2, None, "an id with a NUL is ignored");
    assert_eq!(data("\u{feff}\u{feff}data: x\n\n"), [""; 0], "one mark is skipped, and no second");
    assert_eq!(data("DATA: x\n\n data: x\n\n"), [""; 0], "names are compared as they are");
}

#[test]
fn an_event_without_an_end_is_given_up() {
    let mut reader = EventReader::default();
    let piece = vec![b'x'; EVENT_BYTES_MAX / 4];
    let results: Vec<_> =
        (0..5).map(|_| reader.next(&mut piece.as_slice()).map(|event| event.is_some())).collect();
    assert_eq!(results, [Ok(false), Ok(false), Ok(false), Ok(false), Err(TooLong)]);
    reader.restart();
    assert!(!reader.is_within_event());
}

#[test]
fn the_time_of_the_server_is_read_in_each_unit() {
    let at = |data: &str, member| sent_at_ns(data.as_bytes(), member);
    let ns = Some(1_732_980_000_250_000_000);
    for text in
        ["1732980000.25", "1732980000250", "1732980000250000", "1732980000250000000", " 1732980000250\n"]
    {
        assert_eq!(at(text, None), ns, "{text}");
    }
    for value in ["1732980000.25", "1732980000250", "\"1732980000250\""] {
        let object = format!("{{\"a\":{{\"t\":1}},\"t\":{value},\"b\":[1]}}");
        assert_eq!(at(&object, Some("t")), ns, "{object}");
    }
    for (data, member) in [
        ("", None),
        ("soon", None),
        ("-1", None),
        ("[1]", Some("t")),
        ("{\"t\":[]}", Some("t")),
        ("{}", Some("t")),
    ] {
        assert_eq!(at(data, member), None, "{data}");
    }
}

/// The same grammar, written as the standard's prose has it: character by character, over the whole stream.
fn slowly(stream: &[u8]) -> Vec<Owned> {
    let stream = stream.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stream);
    let (mut lines, mut line) = (Vec::new(), Vec::new());
    for (at, byte) in stream.iter().enumerate() {
        match byte {
            b'\n' if at > 0 && stream[at - 1] == b'\r' => {}
            b'\n' | b'\r' => lines.push(std::mem::take(&mut line)),
            byte => line.push(*byte),
        }
    }
    let (mut events, mut name, mut data, mut id, mut has_data) =
        (Vec::new(), String::new(), String::new(), None, false);
    for line in lines {
        if line.is_empty() {
            if has_data {
                data.pop();
                events.push((name.clone(), data.clone(), id.clone()));
            }
            (name, data, id, has_data) = (String::new(), String::new(), None, false);
            continue;
        }
        let text = owned(&line);
        let (field, value) = text.split_once(':').unwrap_or((&text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => name = value.to_owned(),
            "data" => {
                data += value;
                data.push('\n');
                has_data = true;
            }
            "id" if !value.contains('\0') => id = Some(value.to_owned()),
            _ => {}
        }
    }
    events
}

proptest! {
    #[test]
    fn a_stream_means_the_same_however_it_is_cut(
        parts in prop::collection::vec(
            prop::sample::select(vec!["data", "event", "id", ":", ": ", "\n", "\r", "\r\n", "\n\n", "x", "\u{feff}", "\0", "retry"]),
            0..40,
        ),
        cuts in prop::collection::vec(0_usize..200, 0..8),
    ) {
        let stream = parts.concat();
        let stream = stream.as_bytes();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(stream.len())).collect();
        cuts.extend([0, stream.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &stream[cut[0]..cut[1]]).collect();
        prop_assert_eq!(&read(&pieces).0, &slowly(stream));
        let bytes: Vec<&[u8]> = stream.chunks(1).collect();
        prop_assert_eq!(&read(&bytes).0, &slowly(stream), "byte by byte");
    }

    #[test]
    fn no_bytes_are_too_strange(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let (events, _) = read(&[&bytes]);
        prop_assert_eq!(events, slowly(&bytes));
    }
}
