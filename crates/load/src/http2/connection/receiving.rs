//! Handles frames from the peer, each checked against the protocol.

use tare_base::http2::{self, ErrorCode};

use super::super::error::{HeadError, Http2Error};
use super::super::frame::{self, FrameHead};
use super::super::head::{Block, ResponseHead};
use super::super::reader::FramePart;
use super::super::settings::WINDOW_MAX;
use super::super::{BLOCK_BYTES_MAX, BLOCK_FRAMES_MAX, IDLE_FRAMES_MAX, OUT_BYTES_MAX, WINDOW_BYTES};
use super::{Http2Connection, Http2Event, STREAM_MAX, Stream, TableState, Unfinished};
use crate::http1::BODY_BYTES_MAX;

/// If the peer's table is smaller than the usual one, the table is not used.
const TABLE_BYTES_WANTED: usize = 4096;

impl Http2Connection {
    /// Consumes bytes from the front of `input` up to the next event; `None` if more bytes are needed.
    ///
    /// # Errors
    /// The peer's error ends the connection. [`Http2Connection::outgoing`] then holds the message that
    /// informs it.
    pub fn receive<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Http2Event<'a>>, Http2Error> {
        self.next(input).map_err(|error| {
            // Bytes that are no frame are most likely another protocol.
            let error = if self.is_ready { error } else { Http2Error::NoSettings };
            frame::goaway(&mut self.out, error.code());
            error
        })
    }

    #[inline]
    fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Http2Event<'a>>, Http2Error> {
        loop {
            if let Some(place) = self.not_taken() {
                return Ok(Some(Http2Event::NotTaken { place }));
            }
            let event = match self.reader.next(input)? {
                None => return Ok(None),
                Some(FramePart::Whole(head, payload)) => self.frame(head, payload)?,
                Some(FramePart::Carried(head)) => {
                    let carried = self.reader.take_carried();
                    let event = self.frame(head, &carried[http2::HEAD_BYTES..]);
                    self.reader.give_back(carried);
                    event?
                }
                Some(FramePart::DataHead(head)) => self.data_head(head)?,
                Some(FramePart::Data { stream, bytes, is_end }) => self.data(stream, bytes, is_end)?,
            };
            if event.is_some() {
                return Ok(event);
            }
        }
    }

    /// A request that the peer has refused to process.
    fn not_taken(&mut self) -> Option<usize> {
        let stream = self.live.pop_above(self.last_stream?)?;
        self.streams[stream.place].upload = None;
        Some(stream.place)
    }

    fn frame<'a>(&mut self, head: FrameHead, payload: &[u8]) -> Result<Option<Http2Event<'a>>, Http2Error> {
        if !self.is_ready && (head.kind != http2::SETTINGS || head.has(http2::ACK)) {
            return Err(Http2Error::NoSettings);
        }
        if self.unfinished.is_some() && head.kind != http2::CONTINUATION {
            return Err(Http2Error::Interrupted);
        }
        match head.kind {
            http2::HEADERS => self.headers(head, payload),
            http2::CONTINUATION => self.continuation(head, payload),
            http2::RST_STREAM => self.rst_stream(head, payload),
            http2::PUSH_PROMISE => Err(Http2Error::Push),
            _ => {
                self.counts_as_idle()?;
                match head.kind {
                    http2::SETTINGS => self.settings(head, payload),
                    http2::PING => self.ping(head, payload),
                    http2::GOAWAY => self.goaway_frame(head, payload),
                    http2::WINDOW_UPDATE => self.window_update(head, payload),
                    http2::PRIORITY if payload.len() != 5 => Err(wrong_length(head)),
                    // A frame that a client does not need, or an unknown one, which must be ignored.
                    _ => Ok(None),
                }
            }
        }
    }

    /// Counts a frame that belongs to no answer.
    fn counts_as_idle(&mut self) -> Result<(), Http2Error> {
        self.idle_frames += 1;
        if self.idle_frames > IDLE_FRAMES_MAX {
            return Err(Http2Error::Flood);
        }
        match self.out.len() > OUT_BYTES_MAX * 4 {
            true => Err(Http2Error::Unread),
            false => Ok(()),
        }
    }

    /// The place of a stream; `None` if this side cancelled it.
    #[inline]
    pub(super) fn place(&self, head: FrameHead) -> Result<Option<usize>, Http2Error> {
        match self.live.place(head.stream) {
            Some(place) => Ok(Some(place)),
            None if self.is_given_up(head.stream) => Ok(None),
            None if head.stream % 2 == 1 && head.stream < self.next_id => {
                Err(Http2Error::ClosedStream(head.stream))
            }
            None => Err(Http2Error::FrameStream { kind: head.kind, stream: head.stream }),
        }
    }

    fn is_given_up(&self, id: u32) -> bool {
        let may_be = id % 2 == 1 && id <= self.forgotten;
        may_be || self.cancelled.contains(&id)
    }

    fn headers<'a>(&mut self, head: FrameHead, payload: &[u8]) -> Result<Option<Http2Event<'a>>, Http2Error> {
        let mut block = payload;
        if head.has(http2::PADDED) {
            let (&padding, rest) = block.split_first().ok_or(Http2Error::Padding)?;
            block = rest.get(..rest.len().saturating_sub(padding.into())).unwrap_or_default();
            if usize::from(padding) > rest.len() {
                return Err(Http2Error::Padding);
            }
        }
        if head.has(http2::HAS_PRIORITY) {
            block = block.get(5..).ok_or(wrong_length(head))?;
        }
        let ends_stream = head.has(http2::END_STREAM);
        if head.has(http2::END_HEADERS) {
            return self.block(head.stream, ends_stream, block);
        }
        self.unfinished =
            Some(Unfinished { stream: head.stream, ends_stream, frames: 1, block: block.to_vec() });
        Ok(None)
    }

    fn continuation<'a>(
        &mut self,
        head: FrameHead,
        payload: &[u8],
    ) -> Result<Option<Http2Event<'a>>, Http2Error> {
        let Some(unfinished) = &mut self.unfinished else { return Err(Http2Error::Continuation) };
        if unfinished.stream != head.stream {
            return Err(Http2Error::Interrupted);
        }
        unfinished.frames += 1;
        if unfinished.frames > BLOCK_FRAMES_MAX {
            return Err(Http2Error::BlockFrames);
        }
        if unfinished.block.len() + payload.len() > BLOCK_BYTES_MAX {
            return Err(Http2Error::BlockTooLong);
        }
        unfinished.block.extend_from_slice(payload);
        if !head.has(http2::END_HEADERS) {
            return Ok(None);
        }
        match self.unfinished.take() {
            Some(Unfinished { stream, ends_stream, block, .. }) => self.block(stream, ends_stream, &block),
            None => Ok(None),
        }
    }

    /// A whole header block.
    fn block<'a>(
        &mut self,
        stream: u32,
        ends_stream: bool,
        bytes: &[u8],
    ) -> Result<Option<Http2Event<'a>>, Http2Error> {
        // The block is decoded even for a cancelled stream: later blocks refer to what it adds to the table.
        let block = self.heads.read(bytes)?;
        let head = FrameHead { length: bytes.len(), kind: http2::HEADERS, flags: 0, stream };
        let Some(place) = self.place(head)? else {
            self.counts_as_idle()?;
            return Ok(None);
        };
        if matches!(block.head, Ok(ResponseHead { status: 100..200, .. })) {
            self.counts_as_idle()?;
        }
        match self.take_block(place, block, ends_stream) {
            Ok(true) => self.end(place, stream, &[]),
            Ok(false) => Ok(None),
            Err(error) => Ok(Some(self.malformed(place, stream, error, ends_stream))),
        }
    }

    /// Handles a header block. Returns whether the stream is over.
    fn take_block(&mut self, place: usize, block: Block, ends_stream: bool) -> Result<bool, HeadError> {
        let Stream { head, fields, is_head_request, .. } = &mut self.streams[place];
        if head.is_some() {
            return match (block.is_trailers, ends_stream) {
                (true, true) => Ok(true),
                (true, false) => Err(HeadError::Order),
                (false, _) => Err(block.head.err().unwrap_or(HeadError::PseudoHeader)),
            };
        }
        let found = block.head?;
        match found.status {
            // The final head follows.
            100..200 if ends_stream => return Err(HeadError::Order),
            100..200 => {}
            _ => {
                let promised = found.content_length.filter(|_| !has_no_body(*is_head_request, found.status));
                if let Some(bytes) = promised.filter(|bytes| *bytes > BODY_BYTES_MAX && !ends_stream) {
                    return Err(HeadError::BodyTooLong { bytes });
                }
                (*head, *fields) = (Some(found), block.fields);
            }
        }
        Ok(ends_stream)
    }

    /// Ends the stream of this place.
    #[inline]
    fn end<'a>(
        &mut self,
        place: usize,
        stream: u32,
        bytes: &'a [u8],
    ) -> Result<Option<Http2Event<'a>>, Http2Error> {
        let Stream { head, body_bytes, is_head_request, upload, .. } = &mut self.streams[place];
        let status = head.map_or(0, |head| head.status);
        let promised = head.and_then(|head| head.content_length);
        let is_whole = match has_no_body(*is_head_request, status) {
            true => *body_bytes == 0,
            false => promised.is_none_or(|promised| promised == *body_bytes),
        };
        let is_early = upload.take().is_some();
        self.live.remove(stream);
        (self.idle_frames, self.has_answered) = (0, true);
        if is_early {
            // The rest of the request is not sent (RFC 9113, section 8.1).
            self.reset(stream, ErrorCode::NO_ERROR);
        }
        Ok(Some(match is_whole {
            true => Http2Event::Answer { place, bytes, is_end: true },
            false => Http2Event::Malformed { place, error: HeadError::BodyLength },
        }))
    }

    fn malformed<'a>(
        &mut self,
        place: usize,
        stream: u32,
        error: HeadError,
        is_over: bool,
    ) -> Http2Event<'a> {
        self.live.remove(stream);
        // Without this the stream would stay open on this side, because the rest of an upload is not sent.
        let is_early = self.streams[place].upload.take().is_some();
        if !is_over || is_early {
            self.reset(stream, ErrorCode::PROTOCOL);
        }
        Http2Event::Malformed { place, error }
    }

    /// Counts a frame with data against the windows.
    #[inline]
    fn data_head<'a>(&mut self, head: FrameHead) -> Result<Option<Http2Event<'a>>, Http2Error> {
        if !self.is_ready {
            return Err(Http2Error::NoSettings);
        }
        if self.unfinished.is_some() {
            return Err(Http2Error::Interrupted);
        }
        let bytes = head.length as u32;
        self.unacknowledged_bytes += bytes;
        // The window is extended long before the peer reaches its end.
        if self.unacknowledged_bytes > WINDOW_BYTES / 2 {
            frame::window_update(&mut self.out, 0, self.unacknowledged_bytes);
            self.unacknowledged_bytes = 0;
        }
        let Some(place) = self.place(head)? else {
            self.counts_as_idle()?;
            return Ok(None);
        };
        if self.streams[place].head.is_none() {
            let is_over = head.has(http2::END_STREAM);
            return Ok(Some(self.malformed(place, head.stream, HeadError::Order, is_over)));
        }
        // The frame may be padding alone, so it counts until it has data.
        self.counts_as_idle()?;
        let Stream { id, given_bytes, .. } = &mut self.streams[place];
        *given_bytes = given_bytes.checked_sub(bytes).ok_or(Http2Error::BeyondWindow)?;
        if *given_bytes < WINDOW_BYTES / 2 && !head.has(http2::END_STREAM) {
            frame::window_update(&mut self.out, *id, WINDOW_BYTES - *given_bytes);
            *given_bytes = WINDOW_BYTES;
        }
        Ok(None)
    }

    #[inline]
    fn data<'a>(
        &mut self,
        stream: u32,
        bytes: &'a [u8],
        is_end: bool,
    ) -> Result<Option<Http2Event<'a>>, Http2Error> {
        // Its head was accepted, but the stream may have been cancelled since.
        let Some(place) = self.live.place(stream) else { return Ok(None) };
        let Stream { body_bytes, .. } = &mut self.streams[place];
        *body_bytes += bytes.len() as u64;
        if !bytes.is_empty() {
            self.idle_frames = 0;
        }
        if is_end {
            return self.end(place, stream, bytes);
        }
        Ok((!bytes.is_empty()).then_some(Http2Event::Answer { place, bytes, is_end: false }))
    }

    fn rst_stream<'a>(
        &mut self,
        head: FrameHead,
        payload: &[u8],
    ) -> Result<Option<Http2Event<'a>>, Http2Error> {
        let code = <[u8; 4]>::try_from(payload).map_err(|_| wrong_length(head))?;
        if head.stream == 0 || head.stream.is_multiple_of(2) || head.stream >= self.next_id {
            return Err(Http2Error::FrameStream { kind: head.kind, stream: head.stream });
        }
        let Some(place) = self.live.place(head.stream) else {
            // The stream was over: a server may send this frame after an early answer.
            self.counts_as_idle()?;
            return Ok(None);
        };
        self.live.remove(head.stream);
        self.streams[place].upload = None;
        Ok(Some(Http2Event::Reset { place, code: ErrorCode(u32::from_be_bytes(code)) }))
    }

    fn settings<'a>(
        &mut self,
        head: FrameHead,
        payload: &[u8],
    ) -> Result<Option<Http2Event<'a>>, Http2Error> {
        if head.stream != 0 {
            return Err(Http2Error::FrameStream { kind: head.kind, stream: head.stream });
        }
        if head.has(http2::ACK) {
            return if payload.is_empty() { Ok(None) } else { Err(wrong_length(head)) };
        }
        if !payload.len().is_multiple_of(6) {
            return Err(wrong_length(head));
        }
        let before = self.peer;
        for [a, b, c, d, e, f] in payload.as_chunks::<6>().0 {
            self.peer.set(u16::from_be_bytes([*a, *b]), u32::from_be_bytes([*c, *d, *e, *f]))?;
        }
        frame::settings_ack(&mut self.out);
        self.resize_windows(self.peer.window_bytes - before.window_bytes)?;
        if (self.peer.header_table_bytes as usize) < TABLE_BYTES_WANTED && self.table != TableState::UNUSED {
            // The peer's table is smaller than the added fields, so nothing is added.
            self.table = TableState::UNUSED;
            self.announces_table = true;
        }
        let was_ready = std::mem::replace(&mut self.is_ready, true);
        Ok(Some(if was_ready { Http2Event::Room } else { Http2Event::Ready }))
    }

    fn resize_windows(&mut self, by: i64) -> Result<(), Http2Error> {
        for stream in self.live.iter() {
            let window = &mut self.streams[stream.place].window;
            *window += by;
            if *window > WINDOW_MAX {
                return Err(Http2Error::WindowOverflow);
            }
        }
        Ok(())
    }

    fn ping<'a>(&mut self, head: FrameHead, payload: &[u8]) -> Result<Option<Http2Event<'a>>, Http2Error> {
        match (head.stream, payload.len()) {
            (0, 8) if head.has(http2::ACK) => {}
            (0, 8) => frame::ping_ack(&mut self.out, payload),
            (0, _) => return Err(wrong_length(head)),
            (stream, _) => return Err(Http2Error::FrameStream { kind: head.kind, stream }),
        }
        Ok(None)
    }

    fn goaway_frame<'a>(
        &mut self,
        head: FrameHead,
        payload: &[u8],
    ) -> Result<Option<Http2Event<'a>>, Http2Error> {
        if head.stream != 0 {
            return Err(Http2Error::FrameStream { kind: head.kind, stream: head.stream });
        }
        let Some(&[a, b, c, d, e, f, g, h]) = payload.first_chunk::<8>() else {
            return Err(wrong_length(head));
        };
        let last = u32::from_be_bytes([a, b, c, d]) & STREAM_MAX;
        // A server may begin with the highest number, and lower it later.
        self.last_stream = Some(self.last_stream.map_or(last, |known| known.min(last)));
        self.goaway = Some(ErrorCode(u32::from_be_bytes([e, f, g, h])));
        Ok(Some(Http2Event::GoingAway))
    }

    fn window_update<'a>(
        &mut self,
        head: FrameHead,
        payload: &[u8],
    ) -> Result<Option<Http2Event<'a>>, Http2Error> {
        let bytes = <[u8; 4]>::try_from(payload).map_err(|_| wrong_length(head))?;
        let by = i64::from(u32::from_be_bytes(bytes) & STREAM_MAX);
        if by == 0 {
            return Err(Http2Error::EmptyWindowUpdate);
        }
        let window = match head.stream {
            0 => &mut self.window,
            id => match self.live.place(id) {
                Some(place) => &mut self.streams[place].window,
                // The frame may have been sent before the peer received the end of its stream.
                None if id % 2 == 1 && id < self.next_id => return Ok(None),
                None => return Err(Http2Error::FrameStream { kind: head.kind, stream: id }),
            },
        };
        *window += by;
        if *window > WINDOW_MAX {
            return Err(Http2Error::WindowOverflow);
        }
        Ok((!self.uploads.is_empty()).then_some(Http2Event::Room))
    }
}

/// Whether an answer ends with its head, whatever length it promises.
fn has_no_body(is_head_request: bool, status: u16) -> bool {
    is_head_request || matches!(status, 204 | 304)
}

fn wrong_length(head: FrameHead) -> Http2Error {
    Http2Error::FrameLength { kind: head.kind, bytes: head.length }
}
