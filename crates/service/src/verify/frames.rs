//! HTTP/2 frame by frame (RFC 9113, 4), for checks of details that an HTTP/2 library hides. The crate
//! `loona-hpack` decodes heads; heads to send are encoded here, without compression.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use tare_base::http2::{
    ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, ErrorCode, GOAWAY, HAS_PRIORITY, HEAD_BYTES, HEADERS,
    PADDED, PING, RST_STREAM, SETTINGS, WINDOW_UPDATE,
};
use tare_load::http1::{self, Response};

use super::bench::Bench;
use super::escape::escape;
use super::patience::Patience;
use super::transcript::{Failure, Wire};
use crate::client::{ANSWER_BYTES_MAX, AskError, ClientConnection, Deadline, PREFACE, STATUS};

/// Default limit of a frame's payload.
const FRAME_BYTES_MAX: usize = 16 * 1024;
/// Number of last frames stored for a failure.
const KEPT: usize = 24;
/// Limit of a head, before and after decoding.
const HEAD_LIST_BYTES_MAX: usize = 64 * 1024;
/// The head of an answer, and its trailers.
const HEADS_MAX: usize = 2;
/// Overhead of a field besides name and value (RFC 9113, 6.5.2).
const FIELD_BYTES: usize = 32;
/// Limit of frames on one connection; answers here have fewer.
const FRAMES_MAX: usize = 100_000;
/// Limit of frames besides an answer, such as SETTINGS.
const FRAMES_BESIDE: usize = 1_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SeenFrame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

/// A decoded head: names and values in order.
pub(super) type Fields = Vec<(Vec<u8>, Vec<u8>)>;

/// The content received on a stream so far.
#[derive(Debug, Default)]
pub(super) struct SeenStream {
    /// The head of the answer; a second one is the trailers.
    pub heads: Vec<Fields>,
    pub body: Vec<u8>,
    pub has_ended: bool,
    /// The code of the RST_STREAM that ended it.
    pub reset: Option<u32>,
}

/// A connection, and what it received.
#[derive(Debug)]
pub(super) struct FrameTalk {
    connection: ClientConnection,
    patience: Rc<Patience>,
    decoder: Hpack,
    unread: Vec<u8>,
    /// An incomplete head, its stream, and whether the stream ends with it.
    head: Option<(u32, bool, Vec<u8>)>,
    pub streams: BTreeMap<u32, SeenStream>,
    /// Number of received SETTINGS; next, whether the client's were acknowledged.
    pub settings: usize,
    pub is_acknowledged: bool,
    pub goaway: Option<u32>,
    scheme: &'static str,
    /// A send failed, so nothing more is sent: a service that does not read is waited for only once.
    is_mute: bool,
    /// Bytes of all heads and bodies so far; next, the number of frames.
    kept_bytes: usize,
    frames: usize,
    sent: Lines,
    received: Lines,
}

/// The last lines of a transcript.
#[derive(Debug, Default)]
struct Lines(VecDeque<String>);

impl Lines {
    fn push(&mut self, line: String) {
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back(line);
    }

    fn text(&self) -> String {
        let lines: Vec<&str> = self.0.iter().map(String::as_str).collect();
        lines.join("\n")
    }
}

/// Adds Debug to the decoder.
struct Hpack(loona_hpack::Decoder<'static>);

impl std::fmt::Debug for Hpack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hpack")
    }
}

/// Why no frame came.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoFrame {
    #[error("closed the connection")]
    Closed,
    #[error("reset the connection")]
    Reset,
    #[error("sent no frame within {0:?}")]
    Late(std::time::Duration),
    #[error("sent {frames} frames within {after:?}, none of them the last of an answer,")]
    Flood { frames: usize, after: std::time::Duration },
    #[error("sent {0}")]
    Wrong(String),
    #[error("sent more than {ANSWER_BYTES_MAX} bytes or {FRAMES_MAX} frames")]
    TooMuch,
}

impl FrameTalk {
    /// Connects and sends the preface.
    pub(super) fn open(bench: &mut Bench<'_>) -> Result<FrameTalk, Failure> {
        let deadline = Deadline::after(bench.patience.timeouts.connect);
        let opened = ClientConnection::open_in(&bench.target, &bench.options.channel, deadline);
        let connection = opened.map_err(|error| bench.cannot_connect(&error))?;
        let mut talk = FrameTalk {
            connection,
            patience: Rc::clone(&bench.patience),
            decoder: Hpack(loona_hpack::Decoder::new()),
            unread: Vec::new(),
            head: None,
            streams: BTreeMap::new(),
            settings: 0,
            is_acknowledged: false,
            goaway: None,
            scheme: bench.options.channel.scheme(),
            is_mute: false,
            kept_bytes: 0,
            frames: 0,
            sent: Lines(["the preface".to_owned(), "SETTINGS".to_owned()].into()),
            received: Lines::default(),
        };
        // Reading shows whether the preface could be sent.
        let _ = talk.connection.send(&PREFACE.concat(), deadline);
        Ok(talk)
    }

    /// The scheme of requests.
    pub(super) fn scheme(&self) -> &'static str {
        self.scheme
    }

    pub(super) fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        if self.is_mute {
            return;
        }
        let bytes = frame(kind, flags, stream, payload);
        self.sent.push(described(kind, flags, stream, payload));
        self.is_mute = self.connection.send(&bytes, Deadline::after(self.patience.for_answer())).is_err();
    }

    /// Sends a head with these fields.
    pub(super) fn send_head(&mut self, stream: u32, fields: &[(&str, &str)], ends: bool) {
        let end = if ends { END_STREAM } else { 0 };
        self.send(HEADERS, END_HEADERS | end, stream, &encoded(fields));
        let shown: Vec<String> = fields.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        self.sent.push(format!("  {}", shown.join(", ")));
    }

    /// Sends a body in frames of the size that every service must accept.
    pub(super) fn send_body(&mut self, stream: u32, body: &[u8], ends: bool) {
        let chunks: Vec<&[u8]> =
            if body.is_empty() { vec![body] } else { body.chunks(FRAME_BYTES_MAX).collect() };
        for (place, chunk) in chunks.iter().enumerate() {
            let end = if ends && place + 1 == chunks.len() { END_STREAM } else { 0 };
            self.send(DATA, end, stream, chunk);
        }
    }

    /// Reads frames until `is_enough`.
    pub(super) fn read_until(&mut self, is_enough: impl Fn(&FrameTalk) -> bool) -> Result<(), NoFrame> {
        let after = self.patience.for_answer();
        let deadline = Deadline::after(after);
        while !is_enough(self) {
            match self.next(deadline) {
                Ok(frame) => self.take(&frame)?,
                Err(NoFrame::Late(_)) => {
                    self.patience.no_answer_came();
                    return Err(match self.frames {
                        ..FRAMES_BESIDE => NoFrame::Late(after),
                        frames => NoFrame::Flood { frames, after },
                    });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The next frame of any type.
    pub(super) fn next(&mut self, deadline: Deadline) -> Result<SeenFrame, NoFrame> {
        loop {
            if let Some(frame) = parsed(&mut self.unread)? {
                self.frames += 1;
                if self.frames > FRAMES_MAX {
                    return Err(NoFrame::TooMuch);
                }
                let SeenFrame { kind, flags, stream, payload } = &frame;
                self.received.push(described(*kind, *flags, *stream, payload));
                return Ok(frame);
            }
            self.connection.acknowledge_at_once();
            match self.connection.receive(&mut self.unread, deadline) {
                Ok(0) => return Err(NoFrame::Closed),
                Ok(_) => {}
                Err(AskError::TooLong) => return Err(NoFrame::TooMuch),
                Err(AskError::TooLate { .. } | AskError::Interrupted) => {
                    return Err(NoFrame::Late(self.patience.for_answer()));
                }
                Err(_) => return Err(NoFrame::Reset),
            }
        }
    }

    /// Records a frame, and sends the required reply.
    pub(super) fn take(&mut self, frame: &SeenFrame) -> Result<(), NoFrame> {
        match (frame.kind, frame.flags & ACK != 0) {
            (SETTINGS, true) => self.is_acknowledged = true,
            (SETTINGS, false) => {
                self.settings += 1;
                self.send(SETTINGS, ACK, 0, &[]);
            }
            (PING, false) => self.send(PING, ACK, 0, &frame.payload),
            (GOAWAY, _) => self.goaway = Some(code(frame.payload.get(4..).unwrap_or_default())),
            (RST_STREAM, _) => {
                let stream = self.streams.entry(frame.stream).or_default();
                stream.reset = Some(code(&frame.payload));
                stream.has_ended = true;
            }
            (DATA, _) => self.take_data(frame)?,
            (HEADERS, _) => {
                let block = without_padding(frame)?;
                let skipped = if frame.flags & HAS_PRIORITY != 0 { 5 } else { 0 };
                let block = block.get(skipped..).ok_or_else(|| wrong("a head that is cut off"))?.to_vec();
                self.head = Some((frame.stream, frame.flags & END_STREAM != 0, block));
                self.end_head(frame)?;
            }
            (CONTINUATION, _) => {
                let head = self.head.as_mut().ok_or_else(|| wrong("CONTINUATION without HEADERS"))?;
                head.2.extend_from_slice(&frame.payload);
                if head.2.len() > HEAD_LIST_BYTES_MAX {
                    return Err(too_long_head());
                }
                self.end_head(frame)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn take_data(&mut self, frame: &SeenFrame) -> Result<(), NoFrame> {
        let data = without_padding(frame)?.to_vec();
        self.keep(data.len())?;
        // Returns all of the window, so that no answer waits for it.
        if !frame.payload.is_empty() {
            let count = (frame.payload.len() as u32).to_be_bytes();
            self.send(WINDOW_UPDATE, 0, 0, &count);
            if frame.flags & END_STREAM == 0 {
                self.send(WINDOW_UPDATE, 0, frame.stream, &count);
            }
        }
        let stream = self.streams.entry(frame.stream).or_default();
        stream.body.extend(data);
        stream.has_ended |= frame.flags & END_STREAM != 0;
        Ok(())
    }

    fn end_head(&mut self, frame: &SeenFrame) -> Result<(), NoFrame> {
        if frame.flags & END_HEADERS == 0 {
            return Ok(());
        }
        let Some((stream, ends, block)) = self.head.take() else { return Ok(()) };
        let (mut fields, mut bytes) = (Fields::new(), 0);
        let decoded = self.decoder.0.decode_with_cb(&block, |name, value| {
            bytes += name.len() + value.len() + FIELD_BYTES;
            // One byte of the block can expand to 4 KiB.
            if bytes <= HEAD_LIST_BYTES_MAX {
                fields.push((name.into_owned(), value.into_owned()));
            }
        });
        decoded.map_err(|error| wrong(&format!("a head that cannot be decoded: {error:?}")))?;
        if bytes > HEAD_LIST_BYTES_MAX {
            return Err(too_long_head());
        }
        self.keep(bytes)?;
        let shown: Vec<String> = fields.iter().map(|(name, value)| shown(name, value)).collect();
        self.received.push(format!("  {}", shown.join(", ")));
        let is_interim =
            fields.iter().any(|(name, value)| name == b":status" && value.first() == Some(&b'1'));
        let stream = self.streams.entry(stream).or_default();
        if !is_interim && stream.heads.len() == HEADS_MAX {
            return Err(wrong("a third head on one stream"));
        }
        if !is_interim {
            stream.heads.push(fields);
        }
        stream.has_ended |= ends;
        Ok(())
    }

    fn keep(&mut self, bytes: usize) -> Result<(), NoFrame> {
        self.kept_bytes += bytes;
        if self.kept_bytes > ANSWER_BYTES_MAX { Err(NoFrame::TooMuch) } else { Ok(()) }
    }

    /// The whole answer on `stream`.
    pub(super) fn answer(&mut self, stream: u32) -> Result<Response, Failure> {
        let has_ended = |talk: &FrameTalk| {
            talk.goaway.is_some_and(|code| code != 0)
                || talk.streams.get(&stream).is_some_and(|stream| stream.has_ended)
        };
        let read = self.read_until(has_ended);
        read.map_err(|error| self.failure(format!("{error} instead of answering")))?;
        let found = self.streams.get(&stream).filter(|stream| stream.has_ended);
        let Some(found) = found else {
            let code = ErrorCode(self.goaway.unwrap_or_default());
            return Err(self.failure(format!("ended the connection instead of answering: GOAWAY {code}")));
        };
        if let Some(code) = found.reset.filter(|_| found.heads.is_empty()) {
            let code = ErrorCode(code);
            return Err(self.failure(format!("reset the stream instead of answering: {code}")));
        }
        match found.response() {
            Some(response) => Ok(response),
            None => Err(self.failure("the answer has no \":status\"".to_owned())),
        }
    }

    pub(super) fn failure(&self, reason: impl Into<String>) -> Failure {
        let wire = Wire { sent: self.sent.text(), received: self.received.text() };
        Failure { reason: reason.into(), wire: Some(wire), answer: None }
    }
}

impl SeenStream {
    fn response(&self) -> Option<Response> {
        let head = self.heads.first()?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let status = head.iter().find(|(name, _)| name == STATUS.as_bytes())?;
        Some(Response {
            status: text(&status.1).parse().ok()?,
            version: http1::StatusLineVersion::Http11,
            headers: head.iter().map(|(name, value)| (text(name), value.clone())).collect(),
            body: self.body.clone(),
            keep_alive: true,
        })
    }
}

fn wrong(what: &str) -> NoFrame {
    NoFrame::Wrong(what.to_owned())
}

fn too_long_head() -> NoFrame {
    wrong(&format!("a head of more than {HEAD_LIST_BYTES_MAX} bytes"))
}

/// The bytes of a frame.
pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Takes the first frame from `bytes`, if it is complete.
pub(super) fn parsed(bytes: &mut Vec<u8>) -> Result<Option<SeenFrame>, NoFrame> {
    let Some(head) = bytes.get(..HEAD_BYTES) else { return Ok(None) };
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
    if length > FRAME_BYTES_MAX {
        let begin = bytes.get(..bytes.len().min(40)).unwrap_or_default();
        return Err(wrong(&format!("what is no frame of HTTP/2: `{}`", escape(begin))));
    }
    let (kind, flags) = (head[3], head[4]);
    let stream = u32::from_be_bytes([head[5] & 0x7f, head[6], head[7], head[8]]);
    let Some(payload) = bytes.get(HEAD_BYTES..HEAD_BYTES + length) else { return Ok(None) };
    let frame = SeenFrame { kind, flags, stream, payload: payload.to_vec() };
    bytes.drain(..HEAD_BYTES + length);
    Ok(Some(frame))
}

fn without_padding(frame: &SeenFrame) -> Result<&[u8], NoFrame> {
    if frame.flags & PADDED == 0 {
        return Ok(&frame.payload);
    }
    let cut = || {
        let (length, rest) = frame.payload.split_first()?;
        rest.get(..rest.len().checked_sub(usize::from(*length))?)
    };
    cut().ok_or_else(|| wrong("more padding than there is frame"))
}

/// Indices of pseudo-headers in the static table (RFC 7541, appendix A). Tomcat and Helidon reject their
/// names as literals, which no client sends.
const PSEUDO_HEADERS: [(&str, u8); 5] =
    [(":authority", 1), (":method", 2), (":path", 4), (":scheme", 6), (":status", 8)];

/// Encodes fields as literals without indexing and compression (RFC 7541, 6.2.2).
pub(super) fn encoded(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    let text = |text: &str| [&length(text.len()), text.as_bytes()].concat();
    for (name, value) in fields {
        match PSEUDO_HEADERS.iter().find(|(pseudo, _)| pseudo == name) {
            Some((_, place)) => block.push(*place),
            None => {
                block.push(0);
                block.extend(text(name));
            }
        }
        block.extend(text(value));
    }
    block
}

/// Encodes an integer with a seven-bit prefix (RFC 7541, 5.1).
fn length(mut value: usize) -> Vec<u8> {
    const PREFIX: usize = 0x7f;
    if value < PREFIX {
        return vec![value as u8];
    }
    let mut bytes = vec![PREFIX as u8];
    value -= PREFIX;
    while value >= 0x80 {
        bytes.push((value % 0x80) as u8 | 0x80);
        value /= 0x80;
    }
    bytes.push(value as u8);
    bytes
}

fn code(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

fn shown(name: &[u8], value: &[u8]) -> String {
    format!("{}: {}", escape(name), escape(value))
}

/// One frame as a line of a transcript.
fn described(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> String {
    let acknowledges = if flags & ACK != 0 { " ACK" } else { "" };
    let ends = if flags & END_STREAM != 0 { " END_STREAM" } else { "" };
    match kind {
        DATA => format!("DATA {stream}{ends}, {} bytes", payload.len()),
        HEADERS => format!("HEADERS {stream}{ends}"),
        RST_STREAM => format!("RST_STREAM {stream} {}", ErrorCode(code(payload))),
        SETTINGS => format!("SETTINGS{acknowledges}"),
        PING => format!("PING{acknowledges}"),
        GOAWAY => format!("GOAWAY {}", ErrorCode(code(payload.get(4..).unwrap_or_default()))),
        WINDOW_UPDATE => format!("WINDOW_UPDATE {stream}"),
        CONTINUATION => format!("CONTINUATION {stream}"),
        kind => format!("frame of type {kind} on {stream}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_head_made_by_hand_is_read_by_another(
            fields in prop::collection::vec(("(:method|:path|[a-z-]{1,200})", "[ -~]{0,300}"), 0..5),
        ) {
            let fields: Vec<(&str, &str)> =
                fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let decoded = loona_hpack::Decoder::new().decode(&encoded(&fields)).unwrap();
            let texts: Vec<(&str, &str)> = decoded
                .iter()
                .map(|(name, value)| (std::str::from_utf8(name).unwrap(), std::str::from_utf8(value).unwrap()))
                .collect();
            prop_assert_eq!(texts, fields);
        }

        #[test]
        fn frames_are_read_as_they_were_made(
            kind in 0_u8..12, flags in any::<u8>(), stream in 0_u32..1 << 31, payload in prop::collection::vec(any::<u8>(), 0..50),
            more in prop::collection::vec(any::<u8>(), 0..5),
        ) {
            let mut bytes = [frame(kind, flags, stream, &payload), more.clone()].concat();
            let mut half = bytes[..HEAD_BYTES + payload.len() - 1].to_vec();
            prop_assert!(parsed(&mut half).unwrap().is_none());
            prop_assert_eq!(parsed(&mut bytes).unwrap(), Some(SeenFrame { kind, flags, stream, payload }));
            prop_assert_eq!(bytes, more);
        }

        #[test]
        fn no_bytes_are_too_much(mut bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            while let Ok(Some(frame)) = parsed(&mut bytes) {
                let _any = (without_padding(&frame).is_ok(), described(frame.kind, frame.flags, frame.stream, &frame.payload));
            }
        }
    }

    #[test]
    fn an_answer_of_http_1_is_no_frame() {
        let error = parsed(&mut b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()).unwrap_err().to_string();
        assert_eq!(error, "sent what is no frame of HTTP/2: `HTTP/1.1 400 Bad Request\\r\\n\\r\\n`");
    }
}
