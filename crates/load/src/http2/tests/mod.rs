//! Tests of the state machine with handmade conversations, byte by byte: no sockets, no clock.

mod errors;
mod flow;
mod splits;
mod streams;

use tare_base::http2::{self, END_HEADERS, END_STREAM};

use super::connection::Sent;
use super::frame::{self, FrameHead};
use super::{
    Encoder, ErrorCode, HeadError, Http2Connection, Http2Error, Http2Event, Http2Request, RequestList,
};

/// The events of a client. Consecutive parts of a body are merged.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Seen {
    Ready,
    Answer { place: usize, status: u16, body: Vec<u8>, is_end: bool },
    Malformed { place: usize, error: HeadError },
    Reset { place: usize, code: ErrorCode },
    NotTaken { place: usize },
    GoingAway,
    Room,
}

/// A client that sends its output at once, and sends the requests of a list in turn.
struct Client {
    connection: Http2Connection,
    encoder: Encoder,
    requests: RequestList,
    next: usize,
    /// Places without a request.
    idle: Vec<usize>,
    /// The number of requests it has yet to send.
    left: usize,
    seen: Vec<Seen>,
    sent: Vec<u8>,
}

fn field(name: &str, value: &str) -> (Vec<u8>, Vec<u8>) {
    (name.as_bytes().to_vec(), value.as_bytes().to_vec())
}

fn get() -> Http2Request {
    Http2Request {
        fields: vec![field(":method", "GET"), field(":path", "/a"), field("x", "y")],
        body: Vec::new(),
    }
}

fn post(bytes: usize) -> Http2Request {
    let body = (0..bytes).map(|index| index as u8).collect();
    Http2Request { fields: vec![field(":method", "POST"), field(":path", "/b")], body }
}

impl Client {
    /// A client with a number of places, which sends a number of requests from this list.
    fn new(places: usize, requests: Vec<Http2Request>, count: usize) -> Client {
        let requests = RequestList(requests);
        Client {
            connection: Http2Connection::new(places),
            encoder: Encoder::new(&requests),
            requests,
            next: 0,
            idle: (0..places).rev().collect(),
            left: count,
            seen: Vec::new(),
            sent: Vec::new(),
        }
    }

    /// A client that has received the settings of the peer, and sent what it may.
    fn ready(places: usize, requests: Vec<Http2Request>, settings: &[(u16, u32)]) -> Client {
        let mut client = Client::new(places, requests, places);
        client.take(&settings_frame(settings)).unwrap();
        client
    }

    fn fill(&mut self) {
        while self.left > 0 && self.connection.has_room() {
            let Some(place) = self.idle.pop() else { return };
            let index = self.next % self.requests.0.len();
            (self.next, self.left) = (self.next + 1, self.left - 1);
            let Client { connection, encoder, requests, .. } = self;
            connection.send(place, Sent::Listed(index), false, encoder, requests);
        }
    }

    /// Takes the output away, like a driver that accepts everything.
    fn drain(&mut self) {
        while !self.connection.outgoing().is_empty() {
            self.sent.append(self.connection.outgoing());
            self.connection.pump(&self.requests);
        }
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), Http2Error> {
        let mut rest = bytes;
        loop {
            let event = match self.connection.receive(&mut rest) {
                Ok(None) => break,
                Ok(Some(event)) => event,
                Err(error) => {
                    self.sent.append(self.connection.outgoing());
                    return Err(error);
                }
            };
            self.see(event);
            self.connection.pump(&self.requests);
            self.fill();
        }
        assert!(rest.is_empty(), "bytes are left while more are asked for");
        self.drain();
        Ok(())
    }

    fn see(&mut self, event: Http2Event<'_>) {
        let (seen, free) = match event {
            Http2Event::Ready => (Seen::Ready, None),
            Http2Event::GoingAway => (Seen::GoingAway, None),
            Http2Event::Room => (Seen::Room, None),
            Http2Event::NotTaken { place } => (Seen::NotTaken { place }, Some(place)),
            Http2Event::Reset { place, code } => (Seen::Reset { place, code }, Some(place)),
            Http2Event::Malformed { place, error } => (Seen::Malformed { place, error }, Some(place)),
            Http2Event::Answer { place, bytes, is_end } => {
                let status = self.connection.head(place).expect("an answer has a head").status;
                if let Some(Seen::Answer { place: before, body, is_end: ended @ false, .. }) =
                    self.seen.last_mut()
                    && *before == place
                {
                    body.extend_from_slice(bytes);
                    *ended = is_end;
                } else {
                    self.seen.push(Seen::Answer { place, status, body: bytes.to_vec(), is_end });
                }
                self.idle.extend(is_end.then_some(place));
                return;
            }
        };
        self.seen.push(seen);
        self.idle.extend(free);
    }

    /// The events since the settings arrived.
    fn outcome(&self) -> &[Seen] {
        &self.seen[1..]
    }

    /// The frames that were sent since the last call.
    fn sent_frames(&mut self) -> Vec<(FrameHead, Vec<u8>)> {
        let sent = std::mem::take(&mut self.sent);
        let mut rest = sent.strip_prefix(http2::PREFACE).unwrap_or(&sent);
        let mut frames = Vec::new();
        while let Some(bytes) = rest.first_chunk() {
            let head = FrameHead::parse(bytes);
            frames.push((head, rest[http2::HEAD_BYTES..http2::HEAD_BYTES + head.length].to_vec()));
            rest = &rest[http2::HEAD_BYTES + head.length..];
        }
        assert!(rest.is_empty());
        frames
    }

    /// The bytes of bodies that were sent since the last call, by stream, and the streams with complete
    /// bodies.
    fn uploaded(&mut self) -> Vec<(u32, usize, bool)> {
        let mut sums: Vec<(u32, usize, bool)> = Vec::new();
        for (head, _) in self.sent_frames().into_iter().filter(|(head, _)| head.kind == http2::DATA) {
            let is_end = head.has(END_STREAM);
            match sums.iter_mut().find(|sum| sum.0 == head.stream) {
                Some(sum) => (sum.1, sum.2) = (sum.1 + head.length, is_end),
                None => sums.push((head.stream, head.length, is_end)),
            }
        }
        sums
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    FrameHead { length: payload.len(), kind, flags, stream }.write(&mut out);
    out.extend_from_slice(payload);
    out
}

fn settings_frame(settings: &[(u16, u32)]) -> Vec<u8> {
    let mut out = Vec::new();
    frame::settings(&mut out, settings);
    out
}

fn window_update(stream: u32, bytes: u32) -> Vec<u8> {
    frame(http2::WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes())
}

fn goaway(last: u32, code: ErrorCode) -> Vec<u8> {
    frame(http2::GOAWAY, 0, 0, &[last.to_be_bytes(), code.0.to_be_bytes()].concat())
}

fn rst(stream: u32, code: ErrorCode) -> Vec<u8> {
    frame(http2::RST_STREAM, 0, stream, &code.0.to_be_bytes())
}

/// A field as a literal that is not added to the table.
fn literal(name: &str, value: &str) -> Vec<u8> {
    let string = |text: &str| [&[text.len() as u8], text.as_bytes()].concat();
    [vec![0], string(name), string(value)].concat()
}

/// A whole header block in one frame.
fn headers(stream: u32, flags: u8, fields: &[(&str, &str)]) -> Vec<u8> {
    let block: Vec<u8> = fields.iter().flat_map(|(name, value)| literal(name, value)).collect();
    frame(http2::HEADERS, flags | END_HEADERS, stream, &block)
}

fn data(stream: u32, flags: u8, bytes: &[u8]) -> Vec<u8> {
    frame(http2::DATA, flags, stream, bytes)
}

/// A whole answer.
fn answer(stream: u32, body: &str) -> Vec<u8> {
    [headers(stream, 0, &[(":status", "200")]), data(stream, END_STREAM, body.as_bytes())].concat()
}

fn answered(place: usize, body: &str) -> Seen {
    Seen::Answer { place, status: 200, body: body.as_bytes().to_vec(), is_end: true }
}
