//! HTTP/2 frames (RFC 9113, section 4): split from a byte stream, and written.

use tare_base::http2::{
    DATA, ErrorCode, HAS_PRIORITY, HEAD_BYTES, HEADERS, PADDED, PING, RST_STREAM, SETTINGS, WINDOW_UPDATE,
};

/// Default limit of a payload; this server negotiates no other.
pub(super) const PAYLOAD_MAX: usize = 16_384;

/// A complete frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame<'a> {
    pub(super) head: Head,
    /// The part of the payload that this server reads without decoding headers.
    pub(super) payload: &'a [u8],
}

/// The header of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) length: usize,
    /// An unknown type is not an error.
    pub(super) kind: u8,
    flags: u8,
    pub(super) stream: u32,
}

impl Head {
    fn of(bytes: &[u8]) -> Option<Head> {
        let [a, b, c, kind, flags, stream @ ..] = bytes.first_chunk::<HEAD_BYTES>()?;
        Some(Head {
            length: u32::from_be_bytes([0, *a, *b, *c]) as usize,
            kind: *kind,
            flags: *flags,
            // The first bit is reserved.
            stream: u32::from_be_bytes(*stream) & 0x7fff_ffff,
        })
    }

    pub(super) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Length of the part of the payload that this server reads.
    fn wanted(&self) -> usize {
        match self.kind {
            DATA | HEADERS => usize::from(self.has(PADDED)).min(self.length),
            SETTINGS | PING | RST_STREAM | WINDOW_UPDATE => self.length,
            _ => 0,
        }
    }
}

impl Frame<'_> {
    /// Whether the payload is large enough for the padding and priority that the flags announce.
    pub(super) fn is_well_padded(&self) -> bool {
        let priority = if self.head.kind == HEADERS && self.head.has(HAS_PRIORITY) { 5 } else { 0 };
        let padding = match (self.head.has(PADDED), self.payload.first()) {
            (true, Some(padding)) => 1 + usize::from(*padding),
            (true, None) => 1,
            (false, _) => 0,
        };
        priority + padding <= self.head.length
    }

    /// The payload as a 32-bit number, if it has that length.
    pub(super) fn number(&self) -> Option<u32> {
        self.payload.try_into().ok().map(u32::from_be_bytes)
    }
}

/// Splits a byte stream into frames. Bodies and header blocks are skipped, not stored.
#[derive(Debug, Default)]
pub(super) struct Splitter {
    /// The beginning of an incomplete frame, as far as it is needed.
    begun: Vec<u8>,
    /// Skipped bytes of its payload.
    passed: usize,
    /// The last frame that arrived in parts.
    whole: Vec<u8>,
}

impl Splitter {
    /// Takes the next frame from `read`. Absent if the frame is incomplete; then all bytes are taken.
    pub(super) fn next<'s, 'i: 's>(
        &'s mut self,
        read: &mut &'i [u8],
    ) -> Result<Option<Frame<'s>>, ErrorCode> {
        if self.begun.is_empty()
            && let Some(head) = Head::of(read)
            && read.len() >= HEAD_BYTES + head.length
        {
            check(head)?;
            let (frame, rest) = read.split_at(HEAD_BYTES + head.length);
            *read = rest;
            return Ok(Some(Frame { head, payload: &frame[HEAD_BYTES..][..head.wanted()] }));
        }
        self.gather(read)
    }

    fn gather<'s>(&'s mut self, read: &mut &[u8]) -> Result<Option<Frame<'s>>, ErrorCode> {
        self.keep(HEAD_BYTES, read);
        let Some(head) = Head::of(&self.begun) else { return Ok(None) };
        check(head)?;
        let wanted = head.wanted();
        self.keep(HEAD_BYTES + wanted, read);
        let passed = (head.length - wanted - self.passed).min(read.len());
        *read = &read[passed..];
        self.passed += passed;
        if self.begun.len() < HEAD_BYTES + wanted || wanted + self.passed < head.length {
            return Ok(None);
        }
        std::mem::swap(&mut self.begun, &mut self.whole);
        self.begun.clear();
        self.passed = 0;
        Ok(Some(Frame { head, payload: &self.whole[HEAD_BYTES..] }))
    }

    /// Stores the frame up to its first `count` bytes.
    fn keep(&mut self, count: usize, read: &mut &[u8]) {
        let missing = count.saturating_sub(self.begun.len()).min(read.len());
        self.begun.extend_from_slice(&read[..missing]);
        *read = &read[missing..];
    }
}

fn check(head: Head) -> Result<(), ErrorCode> {
    if head.length <= PAYLOAD_MAX { Ok(()) } else { Err(ErrorCode::FRAME_SIZE) }
}

/// The header of a frame to send.
pub(super) fn head(length: usize, kind: u8, flags: u8, stream: u32) -> [u8; HEAD_BYTES] {
    let ([_, a, b, c], [d, e, f, g]) = ((length as u32).to_be_bytes(), stream.to_be_bytes());
    [a, b, c, kind, flags, d, e, f, g]
}

/// Writes a whole frame with a short payload.
pub(super) fn frame(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    out.extend_from_slice(&head(payload.len(), kind, flags, stream));
    out.extend_from_slice(payload);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tare_base::http2::END_STREAM;

    use super::*;

    fn written(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
        let mut bytes = head(payload.len(), kind, flags, stream).to_vec();
        bytes.extend_from_slice(payload);
        bytes
    }

    /// All frames of a byte stream that arrives in parts, as text.
    fn split(parts: &[&[u8]]) -> Vec<String> {
        let mut splitter = Splitter::default();
        let mut frames = Vec::new();
        for mut part in parts.iter().copied() {
            loop {
                match splitter.next(&mut part) {
                    Ok(Some(frame)) => frames.push(format!("{frame:?}")),
                    Ok(None) => break,
                    Err(code) => return [frames, vec![code.to_string()]].concat(),
                }
            }
            assert!(part.is_empty(), "all is taken");
        }
        frames
    }

    #[test]
    fn a_frame_is_read_as_it_was_written() {
        let bytes = written(8, 0, 7, &[0, 0, 1, 0]);
        let mut read = &bytes[..];
        let mut splitter = Splitter::default();
        let frame = splitter.next(&mut read).unwrap().unwrap();
        assert_eq!((frame.head.kind, frame.head.stream, frame.number()), (WINDOW_UPDATE, 7, Some(256)));
        assert!(read.is_empty());
    }

    #[test]
    fn a_body_is_passed_over_and_not_kept() {
        let body = [7; PAYLOAD_MAX];
        let bytes = written(0, END_STREAM, 1, &body);
        let mut splitter = Splitter::default();
        for mut part in bytes.chunks(100) {
            let frame = splitter.next(&mut part).unwrap();
            assert!(frame.is_none_or(|frame| frame.head.length == PAYLOAD_MAX && frame.payload.is_empty()));
        }
        assert!(splitter.begun.is_empty() && splitter.whole.len() == HEAD_BYTES);
    }

    #[test]
    fn a_frame_that_is_too_long_is_refused_by_its_head() {
        let bytes = head(PAYLOAD_MAX + 1, DATA, 0, 1);
        assert_eq!(split(&[&bytes]), ["FRAME_SIZE_ERROR"]);
        assert_eq!(split(&[&bytes[..5], &bytes[5..]]), ["FRAME_SIZE_ERROR"]);
    }

    #[test]
    fn padding_must_fit() {
        let is_fine = |kind, flags, payload: &[u8]| {
            let bytes = written(kind, flags, 1, payload);
            Splitter::default().next(&mut &bytes[..]).unwrap().unwrap().is_well_padded()
        };
        assert!(is_fine(0, 0, b"") && is_fine(0, PADDED, &[2, 0, 0]) && is_fine(1, HAS_PRIORITY, &[0; 5]));
        assert!(!is_fine(0, PADDED, b"") && !is_fine(0, PADDED, &[3, 0, 0]));
        assert!(
            !is_fine(1, HAS_PRIORITY, &[0; 4]) && !is_fine(1, HAS_PRIORITY | PADDED, &[1, 0, 0, 0, 0, 0])
        );
    }

    proptest! {
        #[test]
        fn cutting_changes_nothing(
            frames in prop::collection::vec((0_u8..12, any::<u8>(), 0_u32..9, prop::collection::vec(any::<u8>(), 0..30)), 0..6),
            cuts in prop::collection::vec(0_usize..200, 0..6),
        ) {
            let bytes: Vec<u8> =
                frames.iter().flat_map(|(kind, flags, stream, payload)| written(*kind, *flags, *stream, payload)).collect();
            let whole = split(&[&bytes]);
            prop_assert_eq!(whole.len(), frames.len());
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let parts: Vec<&[u8]> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
            prop_assert_eq!(split(&parts), whole);
        }
    }
}
