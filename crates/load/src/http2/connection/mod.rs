//! The state of a connection over all of its streams: received data, and the limits for sending.

mod receiving;

use std::collections::VecDeque;

use tare_base::http2::{self, ErrorCode};

use super::encoder::{Encoder, TableState};
use super::error::HeadError;
use super::frame::{self, FrameHead};
use super::head::{Fields, HeadReader, ResponseHead};
use super::live::Live;
use super::reader::Reader;
use super::request::{Http2Request, RequestList};
use super::settings::{self, PeerSettings};
use super::{BLOCK_BYTES_MAX, FRAME_BYTES_MAX, OUT_BYTES_MAX, WINDOW_BYTES};

/// The highest number of a stream.
const STREAM_MAX: u32 = (1 << 31) - 1;
/// The number of remembered cancelled streams. Frames for a remembered or an older stream are ignored.
const CANCELLED_MAX: usize = 1024;

/// An event from received bytes. A place is the number that the caller gave to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Http2Event<'a> {
    /// The settings of the peer arrived: requests can be sent.
    Ready,
    /// Part of an answer: its head can be queried, and this is the next part of its body.
    Answer {
        /// The place of the request.
        place: usize,
        /// The part; empty if only the end arrived.
        bytes: &'a [u8],
        /// Whether it is the last part.
        is_end: bool,
    },
    /// An answer that is no valid response. Its stream is over.
    Malformed {
        /// The place of the request.
        place: usize,
        /// The reason.
        error: HeadError,
    },
    /// The peer ended the stream.
    Reset {
        /// The place of the request.
        place: usize,
        /// The reason.
        code: ErrorCode,
    },
    /// The peer has not processed the request, which can be sent again on another connection.
    NotTaken {
        /// The place of the request.
        place: usize,
    },
    /// The peer accepts no more requests on this connection.
    GoingAway,
    /// The connection may send more than before.
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
    /// The bytes that the peer may still send before its window is extended.
    given_bytes: u32,
    /// The bytes that may still be sent.
    window: i64,
    upload: Option<Upload>,
}

/// A body that is not fully sent.
#[derive(Debug)]
struct Upload {
    /// Whether the body is that of a listed request or of its own.
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
    /// The request at this index of the list.
    Listed(usize),
    /// A request that is in no list.
    Single(&'a Http2Request),
}

/// A header block whose end has not arrived.
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
    /// The highest number of the cancelled streams that are not remembered any more.
    forgotten: u32,
    /// The bytes that may still be sent over all streams.
    window: i64,
    /// Received bytes that were not given back to the peer's window.
    unacknowledged_bytes: u32,
    unfinished: Option<Unfinished>,
    uploads: VecDeque<usize>,
    table: TableState,
    /// Whether to inform the peer that its table is not used.
    announces_table: bool,
    idle_frames: u32,
    /// Whether any answer was completed.
    has_answered: bool,
    goaway: Option<ErrorCode>,
    out: Vec<u8>,
}

impl Http2Connection {
    /// A connection for `places` concurrent requests. [`Http2Connection::outgoing`] has its first bytes.
    #[must_use]
    pub fn new(places: usize) -> Http2Connection {
        let mut out = http2::PREFACE.to_vec();
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

    /// The bytes to send to the peer, in order.
    pub fn outgoing(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Whether all fields of heads are kept.
    pub fn keep_fields(&mut self, keeps_fields: bool) {
        self.heads.keep_fields(keeps_fields);
    }

    /// Switches to other requests, whose fields are not in the table. No request may be in flight.
    pub(crate) fn set_requests(&mut self) {
        if self.table != TableState::UNUSED {
            self.table = TableState::EMPTY;
        }
    }

    /// Whether a request can be sent now. It cannot while much waits to be sent, because a peer that does not
    /// read could make that grow.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.is_ready
            && !self.is_going_away()
            && (self.live.len() as u64) < u64::from(self.peer.streams_max)
            && self.out.len() < OUT_BYTES_MAX
    }

    /// Whether the peer accepts no more requests.
    #[must_use]
    pub fn is_going_away(&self) -> bool {
        self.last_stream.is_some()
    }

    /// The number of requests in flight.
    #[must_use]
    pub fn busy(&self) -> usize {
        self.live.len()
    }

    /// Whether any answer was completed.
    #[must_use]
    pub fn has_answered(&self) -> bool {
        self.has_answered
    }

    /// Why the peer ended the connection, if it gave a reason.
    #[must_use]
    pub fn goaway(&self) -> Option<ErrorCode> {
        self.goaway
    }

    /// The head of the answer to the request of this place, once it arrived.
    #[must_use]
    pub fn head(&self, place: usize) -> Option<ResponseHead> {
        self.streams[place].head
    }

    /// All fields of that head, if they are kept.
    #[must_use]
    pub fn fields(&self, place: usize) -> Option<&[(String, Vec<u8>)]> {
        self.streams[place].fields.as_deref().map(Vec::as_slice)
    }

    /// Sends a request. There must be room for it, and its place must be free.
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
            // The stream numbers are used up: another connection has to follow.
            self.last_stream = Some(id);
        }
        self.live.add(id, place);
        let (block, body) = match sent {
            Sent::Listed(index) => {
                (encoder.listed(requests, index, &mut self.table), requests.0[index].body.as_slice())
            }
            Sent::Single(request) => (encoder.single(request, &mut self.table), request.body.as_slice()),
        };
        let flags = if body.is_empty() { http2::END_STREAM } else { 0 };
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
            // The place may still be in the list for an earlier request whose body was not wanted to its end.
            if !self.uploads.contains(&place) {
                self.uploads.push_back(place);
            }
            self.pump(requests);
        }
    }

    /// Sends as much of the bodies as the windows and the output limit allow, in frames that every peer
    /// accepts. Call it on [`Http2Event::Room`], or when the output has been sent.
    pub fn pump(&mut self, requests: &RequestList) {
        for _ in 0..self.uploads.len() {
            let Some(place) = self.uploads.pop_front() else { return };
            let is_over = self.pump_one(place, requests);
            if !is_over {
                self.uploads.push_back(place);
            }
        }
    }

    /// Returns whether the body of this place is finished: sent, or not wanted any more.
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

    /// Cancels a request: no more events of it follow.
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

    /// The number of places that wait to send more of a body.
    #[cfg(test)]
    pub(super) fn uploads_waiting(&self) -> usize {
        self.uploads.len()
    }

    /// Leaves only one number for the next stream.
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
    // The new size of the table, which is 0 (RFC 7541, section 6.3).
    let update: &[u8] = if announces { &[0x20] } else { &[] };
    let length = update.len() + block.len();
    if length <= frame_bytes_max {
        let flags = flags | http2::END_HEADERS;
        FrameHead { length, kind: http2::HEADERS, flags, stream: id }.write(out);
        out.extend_from_slice(update);
        return out.extend_from_slice(block);
    }
    let all = [update, block].concat();
    let mut parts = all.chunks(frame_bytes_max).peekable();
    let (mut kind, mut flags) = (http2::HEADERS, flags);
    while let Some(part) = parts.next() {
        let end = if parts.peek().is_none() { http2::END_HEADERS } else { 0 };
        FrameHead { length: part.len(), kind, flags: flags | end, stream: id }.write(out);
        out.extend_from_slice(part);
        (kind, flags) = (http2::CONTINUATION, 0);
    }
}
