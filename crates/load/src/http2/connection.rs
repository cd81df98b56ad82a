//! A connection: what the peer sent and may be sent, over all of its streams.

use std::collections::VecDeque;

use super::encoder::{Encoder, TableState};
use super::error::{ErrorCode, HeadError, Http2Error};
use super::frame::{self, FrameHead};
use super::head::{Block, Fields, HeadReader, ResponseHead};
use super::live::Live;
use super::reader::{Part, Reader};
use super::request::{Request, RequestList};
use super::settings::{self, PeerSettings, WINDOW_MAX};
use super::{
    BLOCK_BYTES_MAX, BLOCK_FRAMES_MAX, FRAME_BYTES_MAX, IDLE_FRAMES_MAX, OUT_BYTES_MAX, WINDOW_BYTES,
};

/// The highest number of a stream.
const STREAM_MAX: u32 = (1 << 31) - 1;
/// How many streams that this side gave up are remembered: what still comes for them is ignored, and what comes for a stream that
/// is older than those.
const CANCELLED_MAX: usize = 1024;

/// What came of bytes. A place is the number that the caller gave to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// The settings of the peer came: requests can be sent.
    Ready,
    /// Some of an answer: its head can be asked for, and this is the next part of its body.
    Answer {
        /// Whose.
        place: usize,
        /// The part, empty where only the end came.
        bytes: &'a [u8],
        /// Whether it is the last.
        is_end: bool,
    },
    /// An answer that no response can be. Its stream is over.
    Malformed {
        /// Whose.
        place: usize,
        /// Why.
        error: HeadError,
    },
    /// The peer ended the stream.
    Reset {
        /// Whose.
        place: usize,
        /// Why.
        code: ErrorCode,
    },
    /// The peer has not taken the request, and it can be sent again on another connection.
    NotTaken {
        /// Whose.
        place: usize,
    },
    /// The peer takes no more requests on this connection.
    GoingAway,
    /// More may be sent than before.
    Room,
}

/// A request on its way.
#[derive(Debug, Default)]
struct Stream {
    id: u32,
    head: Option<ResponseHead>,
    fields: Option<Fields>,
    is_head_request: bool,
    body_bytes: u64,
    /// What the peer may still send before it is given more.
    given_bytes: u32,
    /// What may still be sent.
    window: i64,
    upload: Option<Upload>,
}

/// A body of which some is still to be sent.
#[derive(Debug)]
struct Upload {
    /// Whose of the list, or of its own.
    source: Source,
    sent: usize,
}

#[derive(Debug)]
enum Source {
    Listed(usize),
    Own(Vec<u8>),
}

/// What is sent.
#[derive(Debug, Clone, Copy)]
pub enum Sent<'a> {
    /// The request of the list at this index.
    Listed(usize),
    /// One that is in no list.
    Single(&'a Request),
}

/// A header block whose end is still to come.
#[derive(Debug)]
struct Unfinished {
    stream: u32,
    ends_stream: bool,
    frames: usize,
    block: Vec<u8>,
}

/// The client's side of one connection.
#[derive(Debug)]
pub struct Connection {
    reader: Reader,
    heads: HeadReader,
    peer: PeerSettings,
    is_ready: bool,
    last_stream: Option<u32>,
    next_id: u32,
    live: Live,
    streams: Vec<Stream>,
    cancelled: VecDeque<u32>,
    /// The highest number of those that are not remembered any more.
    forgotten: u32,
    /// What may still be sent over all streams.
    window: i64,
    /// What was received and not given back to the peer's window.
    unacknowledged_bytes: u32,
    unfinished: Option<Unfinished>,
    uploads: VecDeque<usize>,
    table: TableState,
    /// Whether the peer has to be informed that its table is not used.
    announces_table: bool,
    idle_frames: u32,
    /// Whether any answer came to its end.
    has_answered: bool,
    goaway: Option<ErrorCode>,
    out: Vec<u8>,
}

impl Connection {
    /// A connection for so many requests at a time. What it sends first is in [`Connection::outgoing`].
    #[must_use]
    pub fn new(places: usize) -> Connection {
        let mut out = frame::PREFACE.to_vec();
        frame::settings(
            &mut out,
            &[
                (settings::ENABLE_PUSH, 0),
                (settings::INITIAL_WINDOW_SIZE, WINDOW_BYTES),
                (settings::MAX_HEADER_LIST_SIZE, BLOCK_BYTES_MAX as u32),
            ],
        );
        frame::window_update(&mut out, 0, WINDOW_BYTES - 65_535);
        Connection {
            reader: Reader::default(),
            heads: HeadReader::new(),
            peer: PeerSettings::default(),
            is_ready: false,
            last_stream: None,
            next_id: 1,
            live: Live::default(),
            streams: std::iter::repeat_with(Stream::default).take(places).collect(),
            cancelled: VecDeque::new(),
            forgotten: 0,
            window: 65_535,
            unacknowledged_bytes: 0,
            unfinished: None,
            uploads: VecDeque::new(),
            table: TableState::EMPTY,
            announces_table: false,
            idle_frames: 0,
            has_answered: false,
            goaway: None,
            out,
        }
    }

    /// What is to be sent to the peer, in order.
    pub fn outgoing(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Whether all fields of heads are kept.
    pub fn keep_fields(&mut self, keeps_fields: bool) {
        self.heads.keep_fields(keeps_fields);
    }

    /// Other requests are sent from now on, whose fields its table has not. None may be on its way.
    pub(crate) fn set_requests(&mut self) {
        if self.table != TableState::UNUSED {
            self.table = TableState::EMPTY;
        }
    }

    /// Whether a request can be sent now. Not while much waits to be sent, which a peer that does not read could make more and more.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.is_ready
            && !self.is_going_away()
            && (self.live.len() as u64) < u64::from(self.peer.streams_max)
            && self.out.len() < OUT_BYTES_MAX
    }

    /// Whether it takes no more requests.
    #[must_use]
    pub fn is_going_away(&self) -> bool {
        self.last_stream.is_some()
    }

    /// How many requests are on their way.
    #[must_use]
    pub fn busy(&self) -> usize {
        self.live.len()
    }

    /// Whether any answer came to its end.
    #[must_use]
    pub fn has_answered(&self) -> bool {
        self.has_answered
    }

    /// Why the peer ended it, if it has said so.
    #[must_use]
    pub fn goaway(&self) -> Option<ErrorCode> {
        self.goaway
    }

    /// The head of the answer to the request of this place, once it came.
    #[must_use]
    pub fn head(&self, place: usize) -> Option<ResponseHead> {
        self.streams[place].head
    }

    /// All fields of that head, if they are kept.
    #[must_use]
    pub fn fields(&self, place: usize) -> Option<&[(String, Vec<u8>)]> {
        self.streams[place].fields.as_deref().map(Vec::as_slice)
    }

    /// Sends a request, for which there is room. Its place is free.
    #[inline]
    pub fn send(
        &mut self,
        place: usize,
        sent: Sent<'_>,
        is_head: bool,
        encoder: &mut Encoder,
        requests: &RequestList,
    ) {
        let id = self.next_id;
        self.next_id += 2;
        if self.next_id > STREAM_MAX {
            // The numbers are used up: another connection has to follow.
            self.last_stream = Some(id);
        }
        self.live.add(id, place);
        let (block, body) = match sent {
            Sent::Listed(index) => {
                (encoder.listed(requests, index, &mut self.table), requests.0[index].body.as_slice())
            }
            Sent::Single(request) => (encoder.single(request, &mut self.table), request.body.as_slice()),
        };
        let flags = if body.is_empty() { frame::END_STREAM } else { 0 };
        write_headers(
            &mut self.out,
            id,
            flags,
            std::mem::take(&mut self.announces_table),
            block,
            self.peer.frame_bytes_max,
        );
        let upload = (!body.is_empty()).then(|| {
            let source = match sent {
                Sent::Listed(index) => Source::Listed(index),
                Sent::Single(request) => Source::Own(request.body.clone()),
            };
            Upload { source, sent: 0 }
        });
        let has_upload = upload.is_some();
        let window = self.peer.window_bytes;
        self.streams[place] = Stream {
            id,
            head: None,
            fields: None,
            is_head_request: is_head,
            body_bytes: 0,
            given_bytes: WINDOW_BYTES,
            window,
            upload,
        };
        if has_upload {
            // It may stand there since an earlier request of this place, whose body was not wanted to its end.
            if !self.uploads.contains(&place) {
                self.uploads.push_back(place);
            }
            self.pump(requests);
        }
    }

    /// Sends of bodies what windows allow, in frames that every peer takes, and not so much that it piles up here. To be called when there is [`Event::Room`] or
    /// what was to be sent is.
    pub fn pump(&mut self, requests: &RequestList) {
        for _ in 0..self.uploads.len() {
            let Some(place) = self.uploads.pop_front() else { return };
            let is_over = self.pump_one(place, requests);
            if !is_over {
                self.uploads.push_back(place);
            }
        }
    }

    /// Says whether the body of this place is sent, or not wanted any more.
    fn pump_one(&mut self, place: usize, requests: &RequestList) -> bool {
        let Stream { id, window, upload, .. } = &mut self.streams[place];
        let Some(Upload { source, sent }) = upload else { return true };
        let body = match source {
            Source::Listed(index) => requests.0[*index].body.as_slice(),
            Source::Own(body) => body.as_slice(),
        };
        while *sent < body.len() {
            let room = self.window.min(*window).min(FRAME_BYTES_MAX as i64);
            let Ok(room @ 1..) = usize::try_from(room) else { return false };
            if self.out.len() >= OUT_BYTES_MAX {
                return false;
            }
            let end = body.len().min(*sent + room);
            frame::data(&mut self.out, *id, &body[*sent..end], end == body.len());
            let bytes = (end - *sent) as i64;
            (*window, self.window, *sent) = (*window - bytes, self.window - bytes, end);
            self.idle_frames = 0;
        }
        *upload = None;
        true
    }

    /// Gives up a request: nothing more is to come of it.
    pub fn cancel(&mut self, place: usize) {
        let id = self.streams[place].id;
        if self.live.place(id) == Some(place) {
            self.live.remove(id);
            self.reset(id, ErrorCode::CANCEL);
        }
        self.streams[place].upload = None;
    }

    fn reset(&mut self, id: u32, code: ErrorCode) {
        frame::rst_stream(&mut self.out, id, code);
        if self.cancelled.len() == CANCELLED_MAX {
            self.forgotten = self.cancelled.pop_front().unwrap_or_default().max(self.forgotten);
        }
        self.cancelled.push_back(id);
    }

    /// How many places stand in line to send more of a body.
    #[cfg(test)]
    pub(super) fn uploads_waiting(&self) -> usize {
        self.uploads.len()
    }

    /// Only one number is left for the next stream.
    #[cfg(test)]
    pub(super) fn use_up_numbers(&mut self) {
        self.next_id = STREAM_MAX;
    }

    /// Informs the peer that this side ends the connection in good order.
    pub fn close(&mut self) {
        frame::goaway(&mut self.out, ErrorCode::NO_ERROR);
    }

    /// Takes bytes from the front of `input` up to the next event; none when more are needed.
    ///
    /// # Errors
    /// What the peer did ends the connection. It is informed by what is then in [`Connection::outgoing`].
    pub fn receive<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Event<'a>>, Http2Error> {
        self.next(input).map_err(|error| {
            // What is no frame at all is most likely another protocol.
            let error = if self.is_ready { error } else { Http2Error::NoSettings };
            frame::goaway(&mut self.out, error.code());
            error
        })
    }

    #[inline]
    fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Event<'a>>, Http2Error> {
        loop {
            if let Some(place) = self.not_taken() {
                return Ok(Some(Event::NotTaken { place }));
            }
            let event = match self.reader.next(input)? {
                None => return Ok(None),
                Some(Part::Whole(head, payload)) => self.frame(head, payload)?,
                Some(Part::Carried(head)) => {
                    let carried = self.reader.take_carried();
                    let event = self.frame(head, &carried[frame::HEAD_BYTES..]);
                    self.reader.give_back(carried);
                    event?
                }
                Some(Part::DataHead(head)) => self.data_head(head)?,
                Some(Part::Data { stream, bytes, is_end }) => self.data(stream, bytes, is_end)?,
            };
            if event.is_some() {
                return Ok(event);
            }
        }
    }

    /// A request that the peer has said it will not take.
    fn not_taken(&mut self) -> Option<usize> {
        let stream = self.live.pop_above(self.last_stream?)?;
        self.streams[stream.place].upload = None;
        Some(stream.place)
    }

    fn frame<'a>(&mut self, head: FrameHead, payload: &[u8]) -> Result<Option<Event<'a>>, Http2Error> {
        if !self.is_ready && (head.kind != frame::SETTINGS || head.has(frame::ACK)) {
            return Err(Http2Error::NoSettings);
        }
        if self.unfinished.is_some() && head.kind != frame::CONTINUATION {
            return Err(Http2Error::Interrupted);
        }
        match head.kind {
            frame::HEADERS => self.headers(head, payload),
            frame::CONTINUATION => self.continuation(head, payload),
            frame::RST_STREAM => self.rst_stream(head, payload),
            frame::PUSH_PROMISE => Err(Http2Error::Push),
            _ => {
                self.counts_as_idle()?;
                match head.kind {
                    frame::SETTINGS => self.settings(head, payload),
                    frame::PING => self.ping(head, payload),
                    frame::GOAWAY => self.goaway_frame(head, payload),
                    frame::WINDOW_UPDATE => self.window_update(head, payload),
                    frame::PRIORITY if payload.len() != 5 => Err(wrong_length(head)),
                    // Of no use to a client, or unknown, which is to be ignored.
                    _ => Ok(None),
                }
            }
        }
    }

    /// A frame that brings no answer nearer.
    fn counts_as_idle(&mut self) -> Result<(), Http2Error> {
        self.idle_frames += 1;
        // Answers to such frames pile up where the peer does not read.
        match self.idle_frames > IDLE_FRAMES_MAX || self.out.len() > OUT_BYTES_MAX * 4 {
            true => Err(Http2Error::Flood),
            false => Ok(()),
        }
    }

    /// The place of a stream; none if this side gave it up.
    #[inline]
    fn place(&self, head: FrameHead) -> Result<Option<usize>, Http2Error> {
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

    fn headers<'a>(&mut self, head: FrameHead, payload: &[u8]) -> Result<Option<Event<'a>>, Http2Error> {
        let mut block = payload;
        if head.has(frame::PADDED) {
            let (&padding, rest) = block.split_first().ok_or(Http2Error::Padding)?;
            block = rest.get(..rest.len().saturating_sub(padding.into())).unwrap_or_default();
            if usize::from(padding) > rest.len() {
                return Err(Http2Error::Padding);
            }
        }
        if head.has(frame::HAS_PRIORITY) {
            block = block.get(5..).ok_or(wrong_length(head))?;
        }
        let ends_stream = head.has(frame::END_STREAM);
        if head.has(frame::END_HEADERS) {
            return self.block(head.stream, ends_stream, block);
        }
        self.unfinished =
            Some(Unfinished { stream: head.stream, ends_stream, frames: 1, block: block.to_vec() });
        Ok(None)
    }

    fn continuation<'a>(&mut self, head: FrameHead, payload: &[u8]) -> Result<Option<Event<'a>>, Http2Error> {
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
        if !head.has(frame::END_HEADERS) {
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
    ) -> Result<Option<Event<'a>>, Http2Error> {
        // Also one that is not wanted any more: the next ones refer to what it adds to the table.
        let block = self.heads.read(bytes)?;
        let head = FrameHead { length: bytes.len(), kind: frame::HEADERS, flags: 0, stream };
        let Some(place) = self.place(head)? else { return Ok(None) };
        if matches!(block.head, Ok(ResponseHead { status: 100..200, .. })) {
            self.counts_as_idle()?;
        }
        match self.take_block(place, block, ends_stream) {
            Ok(true) => self.end(place, stream, &[]),
            Ok(false) => Ok(None),
            Err(error) => Ok(Some(self.malformed(place, stream, error, ends_stream))),
        }
    }

    /// Says whether the stream is over.
    fn take_block(&mut self, place: usize, block: Block, ends_stream: bool) -> Result<bool, HeadError> {
        let Stream { head, fields, .. } = &mut self.streams[place];
        if head.is_some() {
            return match (block.is_trailers, ends_stream) {
                (true, true) => Ok(true),
                (true, false) => Err(HeadError::Order),
                (false, _) => Err(block.head.err().unwrap_or(HeadError::PseudoHeader)),
            };
        }
        let found = block.head?;
        match found.status {
            // The final one follows.
            100..200 if ends_stream => return Err(HeadError::Order),
            100..200 => {}
            _ => (*head, *fields) = (Some(found), block.fields),
        }
        Ok(ends_stream)
    }

    /// The stream of this place has come to its end.
    #[inline]
    fn end<'a>(
        &mut self,
        place: usize,
        stream: u32,
        bytes: &'a [u8],
    ) -> Result<Option<Event<'a>>, Http2Error> {
        let Stream { head, body_bytes, is_head_request, upload, .. } = &mut self.streams[place];
        let has_no_body = *is_head_request || matches!(head, Some(ResponseHead { status: 204 | 304, .. }));
        let promised = head.and_then(|head| head.content_length);
        let is_whole = match has_no_body {
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
            true => Event::Answer { place, bytes, is_end: true },
            false => Event::Malformed { place, error: HeadError::BodyLength },
        }))
    }

    fn malformed<'a>(&mut self, place: usize, stream: u32, error: HeadError, is_over: bool) -> Event<'a> {
        self.live.remove(stream);
        if !is_over {
            self.reset(stream, ErrorCode::PROTOCOL);
        }
        self.streams[place].upload = None;
        Event::Malformed { place, error }
    }

    /// Counts a frame with data against the windows.
    #[inline]
    fn data_head<'a>(&mut self, head: FrameHead) -> Result<Option<Event<'a>>, Http2Error> {
        if !self.is_ready {
            return Err(Http2Error::NoSettings);
        }
        if self.unfinished.is_some() {
            return Err(Http2Error::Interrupted);
        }
        let bytes = head.length as u32;
        self.unacknowledged_bytes += bytes;
        // No peer gets to the end of a window: it is given more long before.
        if self.unacknowledged_bytes > WINDOW_BYTES / 2 {
            frame::window_update(&mut self.out, 0, self.unacknowledged_bytes);
            self.unacknowledged_bytes = 0;
        }
        let Some(place) = self.place(head)? else {
            if head.length == 0 {
                self.counts_as_idle()?;
            }
            return Ok(None);
        };
        if self.streams[place].head.is_none() {
            let is_over = head.has(frame::END_STREAM);
            return Ok(Some(self.malformed(place, head.stream, HeadError::Order, is_over)));
        }
        // Until there is data in it: it may be padding alone.
        self.counts_as_idle()?;
        let Stream { id, given_bytes, .. } = &mut self.streams[place];
        *given_bytes = given_bytes.saturating_sub(bytes);
        if *given_bytes < WINDOW_BYTES / 2 && !head.has(frame::END_STREAM) {
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
    ) -> Result<Option<Event<'a>>, Http2Error> {
        // Its head was accepted, and the stream may have been given up since.
        let Some(place) = self.live.place(stream) else { return Ok(None) };
        let Stream { body_bytes, .. } = &mut self.streams[place];
        *body_bytes += bytes.len() as u64;
        if !bytes.is_empty() {
            self.idle_frames = 0;
        }
        if is_end {
            return self.end(place, stream, bytes);
        }
        Ok((!bytes.is_empty()).then_some(Event::Answer { place, bytes, is_end: false }))
    }

    fn rst_stream<'a>(&mut self, head: FrameHead, payload: &[u8]) -> Result<Option<Event<'a>>, Http2Error> {
        let code = <[u8; 4]>::try_from(payload).map_err(|_| wrong_length(head))?;
        if head.stream.is_multiple_of(2) || head.stream >= self.next_id {
            return Err(Http2Error::FrameStream { kind: head.kind, stream: head.stream });
        }
        let Some(place) = self.live.place(head.stream) else {
            // The stream had come to its end: a server may send it behind an answer that was early.
            self.counts_as_idle()?;
            return Ok(None);
        };
        self.live.remove(head.stream);
        self.streams[place].upload = None;
        Ok(Some(Event::Reset { place, code: ErrorCode(u32::from_be_bytes(code)) }))
    }

    fn settings<'a>(&mut self, head: FrameHead, payload: &[u8]) -> Result<Option<Event<'a>>, Http2Error> {
        if head.stream != 0 {
            return Err(Http2Error::FrameStream { kind: head.kind, stream: head.stream });
        }
        if head.has(frame::ACK) {
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
            // Its table is smaller than what is added: nothing is.
            self.table = TableState::UNUSED;
            self.announces_table = true;
        }
        let was_ready = std::mem::replace(&mut self.is_ready, true);
        Ok(Some(if was_ready { Event::Room } else { Event::Ready }))
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

    fn ping<'a>(&mut self, head: FrameHead, payload: &[u8]) -> Result<Option<Event<'a>>, Http2Error> {
        match (head.stream, payload.len()) {
            (0, 8) if head.has(frame::ACK) => {}
            (0, 8) => frame::ping_ack(&mut self.out, payload),
            (0, _) => return Err(wrong_length(head)),
            (stream, _) => return Err(Http2Error::FrameStream { kind: head.kind, stream }),
        }
        Ok(None)
    }

    fn goaway_frame<'a>(&mut self, head: FrameHead, payload: &[u8]) -> Result<Option<Event<'a>>, Http2Error> {
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
        Ok(Some(Event::GoingAway))
    }

    fn window_update<'a>(
        &mut self,
        head: FrameHead,
        payload: &[u8],
    ) -> Result<Option<Event<'a>>, Http2Error> {
        let bytes = <[u8; 4]>::try_from(payload).map_err(|_| wrong_length(head))?;
        let by = i64::from(u32::from_be_bytes(bytes) & STREAM_MAX);
        if by == 0 {
            return Err(Http2Error::EmptyWindowUpdate);
        }
        let window = match head.stream {
            0 => &mut self.window,
            id => match self.live.place(id) {
                Some(place) => &mut self.streams[place].window,
                // It may have crossed the end of its stream.
                None if id % 2 == 1 && id < self.next_id => return Ok(None),
                None => return Err(Http2Error::FrameStream { kind: head.kind, stream: id }),
            },
        };
        *window += by;
        if *window > WINDOW_MAX {
            return Err(Http2Error::WindowOverflow);
        }
        Ok((!self.uploads.is_empty()).then_some(Event::Room))
    }
}

/// A peer whose table is smaller than the usual one is sent nothing for it.
const TABLE_BYTES_WANTED: usize = 4096;

fn wrong_length(head: FrameHead) -> Http2Error {
    Http2Error::FrameLength { kind: head.kind, bytes: head.length }
}

/// Writes a header block, in as many frames as the peer needs.
#[inline]
fn write_headers(
    out: &mut Vec<u8>,
    id: u32,
    flags: u8,
    announces: bool,
    block: &[u8],
    frame_bytes_max: usize,
) {
    // The new size of the table, which is nothing (RFC 7541, section 6.3).
    let update: &[u8] = if announces { &[0x20] } else { &[] };
    let length = update.len() + block.len();
    if length <= frame_bytes_max {
        let flags = flags | frame::END_HEADERS;
        FrameHead { length, kind: frame::HEADERS, flags, stream: id }.write(out);
        out.extend_from_slice(update);
        return out.extend_from_slice(block);
    }
    let all = [update, block].concat();
    let mut parts = all.chunks(frame_bytes_max).peekable();
    let (mut kind, mut flags) = (frame::HEADERS, flags);
    while let Some(part) = parts.next() {
        let end = if parts.peek().is_none() { frame::END_HEADERS } else { 0 };
        FrameHead { length: part.len(), kind, flags: flags | end, stream: id }.write(out);
        out.extend_from_slice(part);
        (kind, flags) = (frame::CONTINUATION, 0);
    }
}
