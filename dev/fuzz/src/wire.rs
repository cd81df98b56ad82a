//! The bytes of a server.

use tare_load::{
    events::EventReader,
    http1::{Decoder, Head, ParseError, Piece, ResponseReader, parse_response},
    pattern::JsonPattern,
};

use crate::{parts, text_parts};

/// The result of a decoder.
type Decoded = (Vec<Head>, Vec<u8>, Option<bool>, Option<ParseError>, bool);

fn decode<'b>(pieces: impl Iterator<Item = &'b [u8]>, is_head: bool) -> Decoded {
    let mut decoder = Decoder::default();
    decoder.start(is_head);
    let (mut heads, mut body, mut complete) = (vec![], vec![], None);
    for piece in pieces {
        let mut rest = piece;
        loop {
            match decoder.next(&mut rest) {
                Ok(Some(Piece::Head(head))) => heads.push(head),
                Ok(Some(Piece::Body(part))) => body.extend_from_slice(part),
                Ok(Some(Piece::Complete { keep_alive })) => complete = Some(keep_alive),
                Ok(None) => break,
                Err(error) => return (heads, body, complete, Some(error), false),
            }
        }
        assert!(complete.is_some() || rest.is_empty(), "bytes are left while more are asked for");
    }
    let eof = decoder.eof().is_ok();
    (heads, body, complete, None, eof)
}

/// Options (`HEAD` or nothing, then split points), and the bytes of an answer: the decoder neither panics nor
/// stalls, and splits do not change the result.
pub(crate) fn answer(input: &[u8]) {
    let [options, bytes] = parts(input);
    let is_head = options.starts_with(b"HEAD");
    let cut = options.iter().fold(0_usize, |cut, byte| cut.wrapping_mul(31).wrapping_add(usize::from(*byte)));
    let (front, back) = bytes.split_at(cut % (bytes.len() + 1));
    let whole = decode([bytes].into_iter(), is_head);
    assert_eq!(decode([front, back].into_iter(), is_head), whole);
    assert_eq!(decode(bytes.chunks(1), is_head), whole);
    let mut reader = ResponseReader::new(is_head);
    if let Err(error) = reader.read(bytes) {
        let shown = reader.malformed(error, bytes).got;
        assert!(shown.len() <= bytes.len(), "more is shown than came");
    }
    for eof in [false, true] {
        if let Ok(Some((response, used))) = parse_response(bytes, is_head, eof) {
            assert!(used <= bytes.len());
            assert_eq!(response.body, whole.1);
        }
    }
}

/// The events of a stream, whether it ends within one, and whether it was given up.
type Streamed = (Vec<[Vec<u8>; 3]>, bool, bool);

fn stream<'b>(pieces: impl Iterator<Item = &'b [u8]>) -> Streamed {
    let (mut reader, mut events) = (EventReader::default(), vec![]);
    for piece in pieces {
        let mut rest = piece;
        loop {
            match reader.next(&mut rest) {
                Ok(Some(event)) => {
                    events.push([event.name, event.data, event.id.unwrap_or(b"none")].map(<[u8]>::to_vec));
                }
                Ok(None) => break,
                Err(_) => return (events, false, true),
            }
        }
        assert!(rest.is_empty(), "bytes are left while more are asked for");
    }
    (events, reader.is_within_event(), false)
}

/// Split points, and the bytes of a stream of events: splits do not change the events.
pub(crate) fn events(input: &[u8]) {
    let [options, bytes] = parts(input);
    let cut = options.iter().fold(0_usize, |cut, byte| cut.wrapping_mul(31).wrapping_add(usize::from(*byte)));
    let (front, back) = bytes.split_at(cut % (bytes.len() + 1));
    let whole = stream([bytes].into_iter());
    assert_eq!(stream([front, back].into_iter()), whole);
    assert_eq!(stream(bytes.chunks(1)), whole);
}

/// Options (`extra` or nothing), a pattern and an answer: the answer matches if and only if there are no
/// differences, and a pattern matches its own example.
pub(crate) fn pattern(input: &[u8]) {
    let Some([extra, pattern, got]) = text_parts(input) else { return };
    let (Ok(pattern), Ok(got)) = (serde_json::from_str(pattern), serde_json::from_str(got)) else { return };
    let pattern = JsonPattern::new(pattern, extra == "extra");
    assert_eq!(pattern.matches(&got), pattern.differences(&got).is_empty());
    assert!(pattern.matches(&pattern.example()));
}
