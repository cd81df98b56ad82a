//! Splits bytes into frames, however they arrive. Data is passed on at once; other frames once complete.

use tare_base::http2::{DATA, END_STREAM, HEAD_BYTES, PADDED};

use super::FRAME_BYTES_MAX;
use super::error::Http2Error;
use super::frame::FrameHead;

/// A frame, or a part of one.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FramePart<'a> {
    /// A whole frame that is not data, in one piece.
    Whole(FrameHead, &'a [u8]),
    /// A whole frame that arrived in pieces: [`Reader::take_carried`] returns it.
    Carried(FrameHead),
    /// The head of a frame with data. Its length counts against the windows, padding included.
    DataHead(FrameHead),
    /// Part of its data; the last part of a frame that ends the stream is marked.
    Data { stream: u32, bytes: &'a [u8], is_end: bool },
}

/// A frame with data that is incomplete.
#[derive(Debug, Clone, Copy)]
struct Open {
    stream: u32,
    ends_stream: bool,
    has_padding: bool,
    /// The remaining bytes of the data, and of the padding after it.
    left: usize,
    padding: usize,
}

#[derive(Debug, Default)]
pub(super) struct Reader {
    carry: Vec<u8>,
    open: Option<Open>,
}

impl Reader {
    /// The next part, taken from the front of `input`; `None` if more bytes are needed.
    #[inline]
    pub(super) fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<FramePart<'a>>, Http2Error> {
        if let Some(open) = self.open {
            return self.data(open, input);
        }
        if !self.carry.is_empty() {
            return self.carried(input);
        }
        let Some(bytes) = input.first_chunk::<HEAD_BYTES>() else {
            self.carry.extend_from_slice(std::mem::take(input));
            return Ok(None);
        };
        let head = checked(FrameHead::parse(bytes))?;
        if head.kind == DATA {
            *input = &input[HEAD_BYTES..];
            return self.begin_data(head).map(Some);
        }
        let Some(payload) = input.get(HEAD_BYTES..HEAD_BYTES + head.length) else {
            self.carry.extend_from_slice(std::mem::take(input));
            return Ok(None);
        };
        *input = &input[HEAD_BYTES + head.length..];
        Ok(Some(FramePart::Whole(head, payload)))
    }

    /// Completes a frame that came in pieces.
    fn carried<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<FramePart<'a>>, Http2Error> {
        if !self.fill(HEAD_BYTES, input) {
            return Ok(None);
        }
        let Some(bytes) = self.carry.first_chunk::<HEAD_BYTES>() else { return Ok(None) };
        let head = checked(FrameHead::parse(bytes))?;
        if head.kind == DATA {
            self.carry.clear();
            return self.begin_data(head).map(Some);
        }
        Ok(self.fill(HEAD_BYTES + head.length, input).then_some(FramePart::Carried(head)))
    }

    /// Moves bytes until `carry` has the wanted number. Returns whether it has.
    fn fill(&mut self, wanted: usize, input: &mut &[u8]) -> bool {
        let take = wanted.saturating_sub(self.carry.len()).min(input.len());
        let (taken, rest) = input.split_at(take);
        self.carry.extend_from_slice(taken);
        *input = rest;
        self.carry.len() >= wanted
    }

    /// The frame that arrived in pieces, with its head. Return its memory by [`Reader::give_back`].
    pub(super) fn take_carried(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.carry)
    }

    pub(super) fn give_back(&mut self, mut carried: Vec<u8>) {
        carried.clear();
        self.carry = carried;
    }

    #[inline]
    fn begin_data<'a>(&mut self, head: FrameHead) -> Result<FramePart<'a>, Http2Error> {
        let has_padding = head.has(PADDED);
        if has_padding && head.length == 0 {
            return Err(Http2Error::Padding);
        }
        self.open = Some(Open {
            stream: head.stream,
            ends_stream: head.has(END_STREAM),
            has_padding,
            left: head.length - usize::from(has_padding),
            padding: 0,
        });
        Ok(FramePart::DataHead(head))
    }

    #[inline]
    fn data<'a>(
        &mut self,
        mut open: Open,
        input: &mut &'a [u8],
    ) -> Result<Option<FramePart<'a>>, Http2Error> {
        if std::mem::take(&mut open.has_padding) {
            let Some((&padding, rest)) = input.split_first() else { return Ok(None) };
            *input = rest;
            open.padding = usize::from(padding);
            open.left = open.left.checked_sub(open.padding).ok_or(Http2Error::Padding)?;
        }
        let (bytes, rest) = input.split_at(open.left.min(input.len()));
        open.left -= bytes.len();
        let padding = open.padding.min(rest.len());
        if open.left == 0 {
            *input = &rest[padding..];
            open.padding -= padding;
        } else {
            *input = rest;
        }
        let is_over = open.left == 0 && open.padding == 0;
        self.open = (!is_over).then_some(open);
        if bytes.is_empty() && !is_over {
            return Ok(None);
        }
        Ok(Some(FramePart::Data { stream: open.stream, bytes, is_end: is_over && open.ends_stream }))
    }
}

fn checked(head: FrameHead) -> Result<FrameHead, Http2Error> {
    match head.length {
        0..=FRAME_BYTES_MAX => Ok(head),
        bytes => Err(Http2Error::FrameTooLong { bytes }),
    }
}
