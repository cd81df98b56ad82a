//! One HTTP/2 connection: the effect of each frame of the client.

use tare_base::http2::{
    ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, ErrorCode, GOAWAY, HEADERS, PING, PRIORITY,
    PUSH_PROMISE, RST_STREAM, SETTINGS, WINDOW_UPDATE,
};

use super::{
    Http2, StreamBehaviour, Turn,
    answers::{Choice, StreamAnswers},
    frames::{Frame, PAYLOAD_MAX, frame},
    streams::{self, Sending, Stream, Streams},
    window::{self, Inbound, Outbound},
};

/// Most streams that wait at a time. Streams that are answered at once do not count.
const STREAMS_MAX: usize = 1024;
/// Bytes that a client may send on all streams before it gets more window.
const INBOUND: u32 = 16 << 20;
/// With this many bytes to send, further bodies wait.
const AHEAD_BYTES: usize = 128 << 10;

/// Settings, by number (RFC 9113, section 6.5.2).
mod setting {
    pub(super) const ENABLE_PUSH: u16 = 2;
    pub(super) const MAX_CONCURRENT_STREAMS: u16 = 3;
    pub(super) const INITIAL_WINDOW_SIZE: u16 = 4;
    pub(super) const MAX_FRAME_SIZE: u16 = 5;
}

/// Why a connection ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// Close without a message.
    Silent,
    Goaway(ErrorCode),
}

/// A protocol violation by the client.
enum Violation {
    OfStream(u32, ErrorCode),
    OfConnection(Ending),
}

impl From<ErrorCode> for Violation {
    fn from(code: ErrorCode) -> Violation {
        Violation::OfConnection(Ending::Goaway(code))
    }
}

type Checked = Result<(), Violation>;

fn require(holds: bool, code: ErrorCode) -> Result<(), ErrorCode> {
    if holds { Ok(()) } else { Err(code) }
}

/// An incomplete header block.
#[derive(Clone, Copy)]
struct Block {
    stream: u32,
    ends_stream: bool,
}

/// The state of a connection.
pub(super) struct Multiplexed {
    /// Whether the client's first SETTINGS arrived.
    is_settled: bool,
    block: Option<Block>,
    /// The client's newest stream.
    newest: u32,
    /// The last answered stream.
    answered: Option<u32>,
    streams: Streams,
    inbound: Inbound,
    outbound: Outbound,
    /// The initial window of new streams.
    initial_outbound: u32,
    /// Whether a waiting answer can continue.
    may_go_on: bool,
}

impl Default for Multiplexed {
    fn default() -> Multiplexed {
        Multiplexed {
            is_settled: false,
            block: None,
            newest: 0,
            answered: None,
            streams: Streams::default(),
            inbound: Inbound::new(INBOUND),
            outbound: Outbound::new(window::INITIAL),
            initial_outbound: window::INITIAL,
            may_go_on: false,
        }
    }
}

/// The first frames of a server.
pub(super) fn greet(out: &mut Vec<u8>) {
    let settings = [
        (setting::MAX_CONCURRENT_STREAMS, STREAMS_MAX as u32),
        (setting::INITIAL_WINDOW_SIZE, streams::INBOUND),
    ];
    let payload =
        settings.map(|(name, value)| [&name.to_be_bytes()[..], &value.to_be_bytes()].concat()).concat();
    frame(out, SETTINGS, 0, 0, &payload);
    frame(out, WINDOW_UPDATE, 0, 0, &(INBOUND - window::INITIAL).to_be_bytes());
}

impl Multiplexed {
    /// Processes a frame.
    pub(super) fn take<B: StreamBehaviour>(
        &mut self,
        frame: &Frame<'_>,
        server: &mut Http2<B>,
        out: &mut Vec<u8>,
    ) -> Result<(), Ending> {
        match self.dispatch(frame, server, out) {
            Ok(()) => Ok(()),
            Err(Violation::OfConnection(end)) => Err(end),
            Err(Violation::OfStream(stream, code)) => {
                self.streams.remove(stream);
                super::frames::frame(out, RST_STREAM, 0, stream, &code.0.to_be_bytes());
                Ok(())
            }
        }
    }

    fn dispatch<B: StreamBehaviour>(
        &mut self,
        frame: &Frame<'_>,
        server: &mut Http2<B>,
        out: &mut Vec<u8>,
    ) -> Checked {
        let head = frame.head;
        let goes_on = self.block.map(|block| (CONTINUATION, block.stream));
        require(goes_on.is_none_or(|block| block == (head.kind, head.stream)), ErrorCode::PROTOCOL)?;
        require(self.is_settled || head.kind == SETTINGS, ErrorCode::PROTOCOL)?;
        match head.kind {
            HEADERS => self.headers(frame, server, out),
            CONTINUATION => {
                let block = self.block.take().ok_or(ErrorCode::PROTOCOL)?;
                self.block(block, head.has(END_HEADERS), server, out)
            }
            DATA => self.data(frame, server, out),
            WINDOW_UPDATE => self.window_update(frame),
            SETTINGS => self.settings(frame, out),
            PING => ping(frame, out),
            RST_STREAM => self.reset(frame),
            PRIORITY => {
                require(head.stream != 0, ErrorCode::PROTOCOL)?;
                let violation = Violation::OfStream(head.stream, ErrorCode::FRAME_SIZE);
                if head.length == 5 { Ok(()) } else { Err(violation) }
            }
            // Existing streams continue; the client closes the connection when it has finished.
            GOAWAY => Ok(require(head.stream == 0, ErrorCode::PROTOCOL)?),
            PUSH_PROMISE => Err(ErrorCode::PROTOCOL.into()),
            _ => Ok(()),
        }
    }

    fn headers<B: StreamBehaviour>(
        &mut self,
        frame: &Frame<'_>,
        server: &mut Http2<B>,
        out: &mut Vec<u8>,
    ) -> Checked {
        let (stream, ends_stream) = (frame.head.stream, frame.head.has(END_STREAM));
        require(stream % 2 == 1 && frame.is_well_padded(), ErrorCode::PROTOCOL)?;
        if stream <= self.newest {
            // Only trailers may be a second header block.
            require(self.streams.receiving(stream).is_some(), ErrorCode::STREAM_CLOSED)?;
            require(ends_stream, ErrorCode::PROTOCOL)?;
        }
        self.block(Block { stream, ends_stream }, frame.head.has(END_HEADERS), server, out)
    }

    /// Processes a part of a header block.
    fn block<B: StreamBehaviour>(
        &mut self,
        block: Block,
        is_last: bool,
        server: &mut Http2<B>,
        out: &mut Vec<u8>,
    ) -> Checked {
        if !is_last {
            self.block = Some(block);
            return Ok(());
        }
        let Block { stream, ends_stream } = block;
        if stream <= self.newest {
            return self.end_of_request(stream, server, out);
        }
        self.newest = stream;
        if self.streams.count() == STREAMS_MAX {
            return Err(Violation::OfStream(stream, ErrorCode::REFUSED_STREAM));
        }
        let new = Stream::new(stream, Outbound::new(self.initial_outbound));
        if ends_stream {
            return self.answer(new, server, out);
        }
        self.streams.add(new);
        Ok(())
    }

    fn data<B: StreamBehaviour>(
        &mut self,
        frame: &Frame<'_>,
        server: &mut Http2<B>,
        out: &mut Vec<u8>,
    ) -> Checked {
        let (stream, length) = (frame.head.stream, frame.head.length);
        require(stream % 2 == 1 && stream <= self.newest && frame.is_well_padded(), ErrorCode::PROTOCOL)?;
        if let Some(granted) = self.inbound.take(length)? {
            give_back(0, granted, out);
        }
        let closed = Violation::OfStream(stream, ErrorCode::STREAM_CLOSED);
        let receiving = self.streams.receiving(stream).ok_or(closed)?;
        let granted = receiving.inbound.take(length).map_err(|code| Violation::OfStream(stream, code))?;
        if frame.head.has(END_STREAM) {
            return self.end_of_request(stream, server, out);
        }
        if let Some(granted) = granted {
            give_back(stream, granted, out);
        }
        Ok(())
    }

    fn end_of_request<B: StreamBehaviour>(
        &mut self,
        stream: u32,
        server: &mut Http2<B>,
        out: &mut Vec<u8>,
    ) -> Checked {
        match self.streams.remove(stream) {
            Some(stream) => self.answer(stream, server, out),
            _ => Ok(()),
        }
    }

    fn answer<B: StreamBehaviour>(
        &mut self,
        mut stream: Stream,
        server: &mut Http2<B>,
        out: &mut Vec<u8>,
    ) -> Checked {
        let choice = match server.behaviour.turn() {
            Turn::Send(choice) => choice,
            Turn::OnThePrevious => {
                stream.number = self.answered.unwrap_or(stream.number);
                Choice::Right
            }
            Turn::Never => return Ok(()),
            Turn::Close => return Err(Violation::OfConnection(Ending::Silent)),
        };
        self.answered = Some(stream.number);
        self.send(stream, choice, &server.answers, out);
        Ok(())
    }

    /// Sends the answer at once and in one piece, if the windows allow it.
    fn send(&mut self, mut stream: Stream, choice: Choice, answers: &StreamAnswers, out: &mut Vec<u8>) {
        let answer = answers.get(choice);
        let bytes = answer.body.len();
        let fits = bytes <= self.outbound.left().min(stream.outbound.left()) && out.len() < AHEAD_BYTES;
        if fits && answer.write_whole(stream.number, out).is_some() {
            return self.outbound.spend(bytes);
        }
        answer.write_head(stream.number, out);
        stream.sending = Some(Sending { choice, sent: 0 });
        self.may_go_on = true;
        self.streams.add(stream);
    }

    /// Continues answers that wait for a window or for earlier output.
    pub(super) fn go_on(&mut self, answers: &StreamAnswers, out: &mut Vec<u8>) {
        if !std::mem::take(&mut self.may_go_on) {
            return;
        }
        let outbound = &mut self.outbound;
        self.streams.keep(|stream| !go_on(stream, outbound, answers, out));
        self.may_go_on = out.len() >= AHEAD_BYTES;
    }

    fn window_update(&mut self, frame: &Frame<'_>) -> Checked {
        let stream = frame.head.stream;
        let by = i64::from(frame.number().ok_or(ErrorCode::FRAME_SIZE)? & 0x7fff_ffff);
        self.may_go_on = true;
        if stream == 0 {
            require(by > 0, ErrorCode::PROTOCOL)?;
            return Ok(self.outbound.grow(by)?);
        }
        require(stream % 2 == 1 && stream <= self.newest, ErrorCode::PROTOCOL)?;
        let of_stream = |code| Violation::OfStream(stream, code);
        require(by > 0, ErrorCode::PROTOCOL).map_err(of_stream)?;
        // Most streams have ended when their window grows.
        let Some(stream) = self.streams.find(stream) else { return Ok(()) };
        stream.outbound.grow(by).map_err(of_stream)
    }

    fn settings(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) -> Checked {
        require(frame.head.stream == 0, ErrorCode::PROTOCOL)?;
        if frame.head.has(ACK) {
            require(self.is_settled, ErrorCode::PROTOCOL)?;
            return Ok(require(frame.head.length == 0, ErrorCode::FRAME_SIZE)?);
        }
        let (settings, rest) = frame.payload.as_chunks::<6>();
        require(rest.is_empty(), ErrorCode::FRAME_SIZE)?;
        for [a, b, value @ ..] in settings {
            self.setting(u16::from_be_bytes([*a, *b]), u32::from_be_bytes(*value))?;
        }
        self.is_settled = true;
        super::frames::frame(out, SETTINGS, ACK, 0, b"");
        Ok(())
    }

    fn setting(&mut self, name: u16, value: u32) -> Result<(), ErrorCode> {
        match name {
            setting::ENABLE_PUSH => require(value <= 1, ErrorCode::PROTOCOL),
            setting::MAX_FRAME_SIZE => {
                require((PAYLOAD_MAX..1 << 24).contains(&(value as usize)), ErrorCode::PROTOCOL)
            }
            setting::INITIAL_WINDOW_SIZE => {
                require(value < 1 << 31, ErrorCode::FLOW_CONTROL)?;
                let by = i64::from(value) - i64::from(self.initial_outbound);
                self.initial_outbound = value;
                self.may_go_on = true;
                self.streams.all().try_for_each(|stream| stream.outbound.grow(by))
            }
            _ => Ok(()),
        }
    }

    fn reset(&mut self, frame: &Frame<'_>) -> Checked {
        require(frame.head.length == 4, ErrorCode::FRAME_SIZE)?;
        require(frame.head.stream % 2 == 1 && frame.head.stream <= self.newest, ErrorCode::PROTOCOL)?;
        self.streams.remove(frame.head.stream);
        Ok(())
    }

    /// Writes GOAWAY with the newest processed stream.
    pub(super) fn say_goodbye(&self, code: ErrorCode, out: &mut Vec<u8>) {
        let payload = [self.newest, code.0].map(u32::to_be_bytes).concat();
        frame(out, GOAWAY, 0, 0, &payload);
    }
}

/// Sends as much of an answer as allowed; true once all is sent.
fn go_on(stream: &mut Stream, connection: &mut Outbound, answers: &StreamAnswers, out: &mut Vec<u8>) -> bool {
    let Some(sending) = &mut stream.sending else { return false };
    let answer = answers.get(sending.choice);
    while out.len() < AHEAD_BYTES {
        let left = answer.body.len() - sending.sent;
        let bytes = left.min(PAYLOAD_MAX).min(stream.outbound.left()).min(connection.left());
        if bytes == 0 {
            return left == 0;
        }
        answer.write_body(stream.number, sending.sent..sending.sent + bytes, out);
        sending.sent += bytes;
        stream.outbound.spend(bytes);
        connection.spend(bytes);
    }
    answer.body.len() == sending.sent
}

fn give_back(stream: u32, bytes: u32, out: &mut Vec<u8>) {
    frame(out, WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes());
}

fn ping(frame: &Frame<'_>, out: &mut Vec<u8>) -> Checked {
    require(frame.head.stream == 0, ErrorCode::PROTOCOL)?;
    require(frame.head.length == 8, ErrorCode::FRAME_SIZE)?;
    if !frame.head.has(ACK) {
        super::frames::frame(out, PING, ACK, 0, frame.payload);
    }
    Ok(())
}
