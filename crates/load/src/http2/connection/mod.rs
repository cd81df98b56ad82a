//! A connection: what the peer sent and may be sent, over all of its streams.

mod receiving;

use std::collections::VecDeque;

use super::encoder::{Encoder, TableState};
use super::error::{ErrorCode, HeadError};
use super::frame::{self, FrameHead};
use super::head::{Fields, HeadReader, ResponseHead};
use super::live::Live;
use super::reader::Reader;
use super::request::{Request, RequestList};
use super::settings::{self, PeerSettings};
use super::{BLOCK_BYTES_MAX, FRAME_BYTES_MAX, OUT_BYTES_MAX, WINDOW_BYTES};

/// The highest number of a stream.
const STREAM_MAX: u32 = (1 << 31) - 1;
/// How many streams that this side gave up are remembered: what still comes for them is ignored, and what comes for a stream that
/// is older than those.
const CANCELLED_MAX: usize = 1024;

/// What came of bytes. A place is the number that the caller gave to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Http2Event<'a> {
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
    source: BodySource,
    sent: usize,
}

#[derive(Debug)]
enum BodySource {
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
pub struct Http2Connection {
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

impl Http2Connection {
    /// A connection for `places` requests at a time. What it sends first is in [`Http2Connection::outgoing`].
    #[must_use]
    pub fn new(places: usize) -> Http2Connection {
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
        Http2Connection {
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
                Sent::Listed(index) => BodySource::Listed(index),
                Sent::Single(request) => BodySource::Own(request.body.clone()),
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

    /// Sends of bodies what windows allow, in frames that every peer takes, and not more than may wait here. To be called when there
    /// is [`Http2Event::Room`], or what was to be sent is.
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
            BodySource::Listed(index) => requests.0[*index].body.as_slice(),
            BodySource::Own(body) => body.as_slice(),
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
