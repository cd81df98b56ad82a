//! Compressed bodies: the encodings that an answer may have, and the judge that decodes them.
//!
//! Each distinct body is decoded once, since the generator caches accepted bodies.

use std::fmt;
use std::io::Read;

use tare_load::exchange::{BodyJudge, ExpectedBody, Flight};

/// Limit of a decoded body, however small it is compressed.
const DECODED_BYTES_MAX: u64 = 64 << 20;
const GZIP_BEGINS: [u8; 2] = [0x1f, 0x8b];

/// A content coding (RFC 9110, 8.4.1), or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    Gzip,
    Brotli,
    Identity,
}

impl Encoding {
    pub(super) const ALL: [Encoding; 3] = [Encoding::Gzip, Encoding::Brotli, Encoding::Identity];

    /// The word in `Content-Encoding`.
    pub const fn word(self) -> &'static str {
        match self {
            Encoding::Gzip => "gzip",
            Encoding::Brotli => "br",
            Encoding::Identity => "identity",
        }
    }

    /// The decoded body; absent if it does not have this encoding.
    fn decode(self, body: &[u8]) -> Option<Vec<u8>> {
        let mut decoded = Vec::new();
        let read = match self {
            Encoding::Gzip if !body.starts_with(&GZIP_BEGINS) => return None,
            Encoding::Gzip => {
                flate2::read::MultiGzDecoder::new(body).take(DECODED_BYTES_MAX).read_to_end(&mut decoded)
            }
            Encoding::Brotli => brotli_decompressor::Decompressor::new(body, 4096)
                .take(DECODED_BYTES_MAX)
                .read_to_end(&mut decoded),
            Encoding::Identity => return Some(body.to_vec()),
        };
        read.ok().map(|_| decoded)
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A body that may be encoded, and the judge of the decoded body.
#[derive(Debug)]
pub(super) struct EncodedJudge {
    pub(super) encodings: Vec<Encoding>,
    pub(super) expected: ExpectedBody,
}

impl EncodedJudge {
    fn decoded(&self, body: &[u8]) -> impl Iterator<Item = Vec<u8>> {
        self.encodings.iter().filter_map(|encoding| encoding.decode(body))
    }

    fn names(&self) -> String {
        self.encodings.iter().map(|encoding| encoding.word()).collect::<Vec<_>>().join(" or ")
    }
}

impl BodyJudge for EncodedJudge {
    fn is_right(&self, body: &[u8], _: Flight) -> bool {
        self.decoded(body).any(|decoded| self.expected.accepts(&decoded))
    }

    fn may_be_remembered(&self) -> bool {
        true
    }

    fn differences(&self, body: &[u8]) -> Vec<String> {
        if self.is_right(body, Flight::default()) {
            return Vec::new();
        }
        let first = self.decoded(body).next();
        vec![match first {
            None => format!("expected a body in {}, got {} bytes that are not", self.names(), body.len()),
            Some(decoded) => {
                let shown = decoded[..decoded.len().min(120)].escape_ascii();
                format!("the body differs once it is decoded: {} bytes, which begin `{shown}`", decoded.len())
            }
        }]
    }

    fn describe(&self) -> String {
        let right = tare_load::exchange::Expected { status: 200, body: self.expected.clone() };
        let right = right.describe();
        let right = right.strip_prefix("status 200 with ").unwrap_or(&right);
        format!("{right}, in {}", self.names())
    }

    fn body_bytes_max(&self) -> u64 {
        DECODED_BYTES_MAX
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn judge(encodings: &[Encoding]) -> EncodedJudge {
        EncodedJudge { encodings: encodings.to_vec(), expected: ExpectedBody::Exact(b"hello".to_vec()) }
    }

    #[test]
    fn a_body_is_right_in_the_encodings_that_it_may_have() {
        let (only, any) = (judge(&[Encoding::Gzip]), judge(&Encoding::ALL));
        let right = |judge: &EncodedJudge, body: &[u8]| {
            let right = judge.is_right(body, Flight::default());
            assert_eq!(right, judge.differences(body).is_empty());
            right
        };
        assert!(right(&only, &gzip("hello")) && right(&any, &gzip("hello")) && right(&any, b"hello"));
        assert!(!right(&only, b"hello") && !right(&only, &gzip("hellO")) && !right(&any, b"hellO"));
        let cut = gzip("hello");
        assert!(!right(&only, &cut[..cut.len() - 9]), "it is cut off");
        // `brotli -q 0` of "hello".
        assert!(right(&any, b"\x0b\x02\x80hello\x03"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let named = |body: &[u8]| judge(&[Encoding::Gzip]).differences(body);
        assert_eq!(named(b"hello"), ["expected a body in gzip, got 5 bytes that are not"]);
        assert_eq!(
            named(&gzip("other")),
            ["the body differs once it is decoded: 5 bytes, which begin `other`"]
        );
        assert_eq!(judge(&Encoding::ALL).describe(), "5 bytes `hello`, in gzip or br or identity");
    }
}
