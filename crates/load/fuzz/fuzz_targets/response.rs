//! Any bytes, split anywhere: the decoder neither panics nor stalls, and the split changes nothing.
//! `cargo +nightly fuzz run response` in `crates/load`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tare_load::http1::{Decoder, Piece, Head, ParseError, parse_response};

type Told = (Vec<Head>, Vec<u8>, Option<bool>, Option<ParseError>, bool);

fn decode(pieces: &[&[u8]], is_head: bool) -> Told {
    let mut decoder = Decoder::default();
    decoder.start(is_head);
    let (mut heads, mut body, mut complete) = (vec![], vec![], None);
    for piece in pieces {
        let mut rest = *piece;
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

fuzz_target!(|input: (bool, u16, &[u8])| {
    let (is_head, cut, bytes) = input;
    let (front, back) = bytes.split_at(usize::from(cut).min(bytes.len()));
    let whole = decode(&[bytes], is_head);
    assert_eq!(decode(&[front, back], is_head), whole);
    assert_eq!(decode(&bytes.chunks(1).collect::<Vec<_>>(), is_head), whole);
    for eof in [false, true] {
        if let Ok(Some((response, used))) = parse_response(bytes, is_head, eof) {
            assert!(used <= bytes.len());
            assert_eq!(response.body, whole.1);
        }
    }
});
