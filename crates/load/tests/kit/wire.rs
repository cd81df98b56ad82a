//! The server's side of HTTP/2 for tests, one thread per connection: frames in, frames out, and a server's
//! duties between them. It shares no code with the client, not even numbers, and decodes no header block.

use std::io::{Read, Write};
use std::net::TcpStream;

use super::peer::Peer;

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PUSH_PROMISE: u8 = 5;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

/// A flag of DATA and HEADERS.
pub const END_STREAM: u8 = 1;
/// A flag of SETTINGS and PING.
pub const ACK: u8 = 1;
pub const END_HEADERS: u8 = 4;
pub const PADDED: u8 = 8;

pub const HEADER_TABLE_SIZE: u16 = 1;
pub const MAX_CONCURRENT_STREAMS: u16 = 3;
pub const INITIAL_WINDOW_SIZE: u16 = 4;
pub const MAX_FRAME_SIZE: u16 = 5;

pub const BODY: &[u8] = b"Hello world!";
/// `:status: 200` and `content-length: 12`, both without the dynamic table.
pub const BLOCK: &[u8] = &[0x88, 0x0f, 0x0d, 2, b'1', b'2'];

pub const PREFACE: [u8; 24] = *b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A frame of any length that three bytes can express.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

pub fn settings_frame(settings: &[(u16, u32)]) -> Vec<u8> {
    let bytes = settings.iter().flat_map(|(name, value)| {
        name.to_be_bytes().into_iter().chain(value.to_be_bytes()).collect::<Vec<_>>()
    });
    frame(SETTINGS, 0, 0, &bytes.collect::<Vec<_>>())
}

pub fn rst_stream(stream: u32, code: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, stream, &code.to_be_bytes())
}

pub fn goaway(newest: u32, code: u32) -> Vec<u8> {
    frame(GOAWAY, 0, 0, &[newest.to_be_bytes(), code.to_be_bytes()].concat())
}

pub fn window_update(stream: u32, by: u32) -> Vec<u8> {
    frame(WINDOW_UPDATE, 0, stream, &by.to_be_bytes())
}

pub fn answer(stream: u32) -> Vec<u8> {
    answer_with(stream, BODY)
}

/// A whole answer in as few frames as possible; its head uses neither the table nor Huffman's code.
pub fn answer_with(stream: u32, body: &[u8]) -> Vec<u8> {
    let length = body.len().to_string();
    // 200 and content-length have indices 8 and 28 in the static table.
    let block = [&[0x88, 0x0f, 13, length.len() as u8], length.as_bytes()].concat();
    let mut bytes = frame(HEADERS, END_HEADERS, stream, &block);
    let mut parts = body.chunks(16_384).peekable();
    while let Some(part) = parts.next() {
        bytes.extend(frame(DATA, if parts.peek().is_none() { END_STREAM } else { 0 }, stream, part));
    }
    if body.is_empty() {
        bytes.extend(frame(DATA, END_STREAM, stream, &[]));
    }
    bytes
}

/// A header in a block: a literal without indexing, with its full name.
pub fn literal(name: &str, value: &[u8]) -> Vec<u8> {
    [&[0][..], &string(name.as_bytes()), &string(value)].concat()
}

/// The same, added to the client's dynamic table.
pub fn indexed_literal(name: &str, value: &[u8]) -> Vec<u8> {
    [&[0x40][..], &string(name.as_bytes()), &string(value)].concat()
}

fn string(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    match text.len() {
        length @ ..127 => bytes.push(length as u8),
        length => {
            bytes.push(127);
            let mut rest = length - 127;
            while rest >= 128 {
                bytes.push(128 | (rest % 128) as u8);
                rest /= 128;
            }
            bytes.push(rest as u8);
        }
    }
    bytes.extend(text);
    bytes
}

/// A frame from the client.
#[derive(Debug)]
pub struct Received {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

/// One connection, after the preface.
pub struct Http2<S = TcpStream> {
    peer: Peer<S>,
    /// Whether SETTINGS and PING are acknowledged, and the client's window is kept open.
    pub is_polite: bool,
}

impl<S: Read + Write> Http2<S> {
    /// Waits for the preface, and begins with these frames; `None` if the client sends something else.
    pub fn begin(mut peer: Peer<S>, first: &[u8]) -> Option<Http2<S>> {
        let mut preface = [0; PREFACE.len()];
        peer.stream.read_exact(&mut preface).ok()?;
        (preface == PREFACE && peer.send(first)).then_some(Http2 { peer, is_polite: true })
    }

    /// The next frame of the client, of any kind; `None` once the client is gone.
    pub fn receive(&mut self) -> Option<Received> {
        let mut head = [0; 9];
        self.peer.stream.read_exact(&mut head).ok()?;
        let [a, b, c, kind, flags, stream @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        self.peer.stream.read_exact(&mut payload).ok()?;
        let received = Received { kind, flags, stream: u32::from_be_bytes(stream), payload };
        if self.is_polite {
            self.be_polite(&received)?;
        }
        Some(received)
    }

    fn be_polite(&mut self, received: &Received) -> Option<()> {
        let reply = match (received.kind, received.payload.len() as u32) {
            (SETTINGS, _) if received.flags & ACK == 0 => frame(SETTINGS, ACK, 0, b""),
            (PING, _) if received.flags & ACK == 0 => frame(PING, ACK, 0, &received.payload),
            (DATA, length @ 1..) => {
                [window_update(0, length), window_update(received.stream, length)].concat()
            }
            _ => return Some(()),
        };
        self.send(reply).then_some(())
    }

    /// Waits for a new stream: the head of a request, whether it has a body or not.
    pub fn opened(&mut self) -> Option<u32> {
        loop {
            let received = self.receive()?;
            if received.kind == HEADERS {
                return Some(received.stream);
            }
        }
    }

    /// Waits for the end of a request. It must have no trailers.
    pub fn request(&mut self) -> Option<u32> {
        loop {
            let received = self.receive()?;
            if matches!(received.kind, DATA | HEADERS) && received.flags & END_STREAM != 0 {
                return Some(received.stream);
            }
        }
    }

    /// Sends bytes; false when the client is gone.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.peer.send(bytes)
    }

    /// Sends the same bytes until the client is gone, and reads nothing.
    pub fn flood(&mut self, bytes: &[u8]) {
        let many = bytes.repeat(64_000_usize.div_ceil(bytes.len()));
        while self.send(&many) {}
    }

    /// Answers each request with the result of `answer` for its stream.
    pub fn always(&mut self, answer: impl Fn(u32) -> Vec<u8>) {
        while let Some(stream) = self.request() {
            if !self.send(answer(stream)) {
                return;
            }
        }
    }

    /// Keeps the connection until the client closes it.
    pub fn stall(mut self) {
        while self.receive().is_some() {}
    }
}
