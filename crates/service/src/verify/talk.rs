//! One connection to the service: sends, reads answers with a time limit, and stores the bytes for a failure.
//!
//! It knows nothing of contracts.

use std::collections::VecDeque;
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use tare_base::Endpoint;
use tare_load::http1::{Response, ResponseReader};

use super::patience::Patience;
use crate::client::{
    self, ANSWER_BYTES_MAX, AskError, Awaited, Channel, ClientConnection, Deadline, Http2Connection,
};

#[derive(Debug)]
pub(super) struct Talk {
    line: Line,
    patience: Rc<Patience>,
    sent: Vec<u8>,
    received: Vec<u8>,
    /// Number of received bytes that belong to answers already read.
    taken: usize,
    /// How the service ended the connection, if it has.
    end: Option<End>,
}

#[derive(Debug)]
enum Line {
    /// A plain byte stream.
    Http1(Box<ClientConnection>),
    /// HTTP/2, translated from and to HTTP/1.1.
    Http2 {
        connection: Box<Http2Connection>,
        /// Answers that were not read yet, in the order of their requests.
        awaited: VecDeque<Result<Awaited, AskError>>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub(super) enum End {
    Closed,
    Reset,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Trouble {
    Ended {
        how: End,
        progress: Progress,
    },
    TimedOut {
        after: Duration,
        progress: Progress,
    },
    Malformed(String),
    TooLong,
    /// It announces this number of bytes, too many to read.
    Announced(u64),
}

/// The part of an answer that arrived.
#[derive(Debug)]
pub(super) enum Progress {
    Nothing,
    /// HTTP/2 bytes, of an answer or not.
    Frames {
        bytes: usize,
    },
    Head {
        bytes: usize,
    },
    Body {
        bytes: usize,
        promised: Option<String>,
    },
}

/// The state of a connection after the last answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum After {
    Closed,
    Reset,
    StillOpen,
    Bytes(usize),
}

impl Talk {
    pub(super) fn open(
        target: &Endpoint,
        channel: &Channel,
        patience: &Rc<Patience>,
    ) -> Result<Talk, AskError> {
        let deadline = Deadline::after(patience.timeouts.connect);
        let line = match channel.protocol.is_http2() {
            true => Line::Http2 {
                connection: Box::new(Http2Connection::open(target, channel, deadline)?),
                awaited: VecDeque::new(),
            },
            false => Line::Http1(Box::new(ClientConnection::open_in(target, channel, deadline)?)),
        };
        Ok(Talk::over(line, patience))
    }

    /// HTTP/1.1 on an open connection.
    pub(super) fn of(connection: ClientConnection, patience: &Rc<Patience>) -> Talk {
        Talk::over(Line::Http1(Box::new(connection)), patience)
    }

    fn over(line: Line, patience: &Rc<Patience>) -> Talk {
        let (sent, received) = (Vec::new(), Vec::new());
        Talk { line, patience: Rc::clone(patience), sent, received, taken: 0, end: None }
    }

    pub(super) fn sent(&self) -> &[u8] {
        &self.sent
    }

    pub(super) fn received(&self) -> &[u8] {
        &self.received
    }

    /// Received bytes that no answer has claimed.
    pub(super) fn unclaimed(&self) -> &[u8] {
        &self.received[self.taken..]
    }

    /// Discards the bytes of earlier answers, as a new exchange begins.
    pub(super) fn begin(&mut self) {
        self.sent.clear();
        self.received.drain(..self.taken);
        self.taken = 0;
    }

    /// Sends all of `bytes`. An error is not reported here: [`Talk::answer`] notices it, and an answer before
    /// the close is more useful.
    pub(super) fn send(&mut self, bytes: &[u8]) {
        self.sent.extend_from_slice(bytes);
        let deadline = Deadline::after(self.patience.for_answer());
        match &mut self.line {
            Line::Http1(connection) => drop(connection.send(bytes, deadline)),
            Line::Http2 { connection, awaited } => awaited.push_back(connection.send(bytes, deadline)),
        }
    }

    /// Whether bytes or the end came although no answer was expected yet.
    pub(super) fn spoke_early(&mut self) -> bool {
        match &mut self.line {
            Line::Http2 { connection, .. } => {
                if connection.advance() {
                    self.end = Some(End::Closed);
                }
            }
            Line::Http1(connection) => match connection.receive_now(&mut self.received) {
                Ok(Some(0)) => self.end = Some(End::Closed),
                Ok(_) => {}
                Err(_) => self.end = Some(End::Reset),
            },
        }
        self.end.is_some() || !self.unclaimed().is_empty()
    }

    pub(super) fn answer(&mut self, to_head: bool) -> Result<Response, Trouble> {
        let after = self.patience.for_answer();
        let deadline = Deadline::after(after);
        if let Line::Http2 { connection, awaited } = &mut self.line {
            let next = awaited.pop_front().unwrap_or(Err(AskError::Closed));
            let answer = next.and_then(|mut next| connection.answer(&mut next, deadline));
            return self.of_http2(answer, to_head, after);
        }
        let mut reader = ResponseReader::new(to_head);
        loop {
            if let Some(response) = self.parse(&mut reader)? {
                return Ok(response);
            }
            if let Some(how) = self.end {
                return Err(Trouble::Ended { how, progress: Progress::of(self.unclaimed()) });
            }
            if let Some(bytes) = reader.announced().filter(|bytes| *bytes > ANSWER_BYTES_MAX as u64) {
                return Err(Trouble::Announced(bytes));
            }
            match self.read(deadline) {
                Ok(()) => {}
                Err(AskError::TooLong) => return Err(Trouble::TooLong),
                Err(_) => {
                    self.patience.no_answer_came();
                    return Err(Trouble::TimedOut { after, progress: Progress::of(self.unclaimed()) });
                }
            }
        }
    }

    fn of_http2(
        &mut self,
        answer: Result<Response, AskError>,
        to_head: bool,
        after: Duration,
    ) -> Result<Response, Trouble> {
        let ended = |how| Trouble::Ended { how, progress: Progress::Nothing };
        match answer {
            Ok(response) => {
                self.received.extend(client::text_of(&response));
                // The body of an answer to HEAD counts as unexpected bytes.
                let unasked = if to_head { response.body.len() } else { 0 };
                self.taken = self.received.len() - unasked;
                Ok(response)
            }
            Err(AskError::TooLate { bytes, .. }) => {
                self.patience.no_answer_came();
                Err(Trouble::TimedOut { after, progress: Progress::of_frames(bytes) })
            }
            Err(AskError::Interrupted) => {
                self.patience.no_answer_came();
                Err(Trouble::TimedOut { after, progress: Progress::Nothing })
            }
            Err(AskError::Closed) => {
                self.end = Some(End::Closed);
                Err(ended(End::Closed))
            }
            Err(AskError::Io(_)) => {
                self.end = Some(End::Reset);
                Err(ended(End::Reset))
            }
            Err(AskError::TooLong) => Err(Trouble::TooLong),
            Err(AskError::Announced(bytes)) => Err(Trouble::Announced(bytes)),
            Err(error) => Err(Trouble::Malformed(error.to_string())),
        }
    }

    fn parse(&mut self, reader: &mut ResponseReader) -> Result<Option<Response>, Trouble> {
        let bytes = self.unclaimed();
        match reader.read(bytes) {
            Ok(Some((response, length))) => {
                self.taken += length;
                Ok(Some(response))
            }
            Ok(None) if self.end == Some(End::Closed) && !bytes.is_empty() => {
                // If only the end is the error, the received part is more useful than the parser's error.
                let response = reader.end().ok().flatten();
                if response.is_some() {
                    self.taken = self.received.len();
                }
                Ok(response)
            }
            Ok(None) => Ok(None),
            Err(error) => Err(Trouble::Malformed(error.to_string())),
        }
    }

    pub(super) fn after(&mut self) -> After {
        // HTTP/2 connections stay open after an answer, so there is no wait.
        if matches!(self.line, Line::Http2 { .. }) {
            return match (self.unclaimed().len(), self.end) {
                (0, None) => After::StillOpen,
                (0, Some(End::Closed)) => After::Closed,
                (0, Some(End::Reset)) => After::Reset,
                (length, _) => After::Bytes(length),
            };
        }
        let deadline = Deadline::after(self.patience.for_end());
        loop {
            match (self.unclaimed().len(), self.end) {
                (0, Some(End::Closed)) => return After::Closed,
                (0, Some(End::Reset)) => return After::Reset,
                (0, None) => {}
                (length, _) => return After::Bytes(length),
            }
            if self.read(deadline).is_err() {
                self.patience.no_end_came();
                return After::StillOpen;
            }
        }
    }

    /// Reads once, or records how the connection ended.
    ///
    /// # Errors
    /// No bytes came by `deadline`, too many came before, or an interrupt came.
    fn read(&mut self, deadline: Deadline) -> Result<(), AskError> {
        let Line::Http1(connection) = &mut self.line else { return Err(AskError::Closed) };
        connection.acknowledge_at_once();
        match connection.receive(&mut self.received, deadline) {
            Ok(0) => self.end = Some(End::Closed),
            Ok(_) => {}
            Err(error @ (AskError::TooLate { .. } | AskError::TooLong | AskError::Interrupted)) => {
                return Err(error);
            }
            Err(_) => self.end = Some(End::Reset),
        }
        Ok(())
    }
}

impl Progress {
    /// Some frames, such as SETTINGS, always come and belong to no answer.
    fn of_frames(bytes: usize) -> Progress {
        const USUAL_BYTES_MAX: usize = 64 * 1024;
        if bytes > USUAL_BYTES_MAX { Progress::Frames { bytes } } else { Progress::Nothing }
    }

    fn of(bytes: &[u8]) -> Progress {
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
            return if bytes.is_empty() { Progress::Nothing } else { Progress::Head { bytes: bytes.len() } };
        };
        let head = String::from_utf8_lossy(&bytes[..end]);
        let promised = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().to_owned())
        });
        Progress::Body { bytes: bytes.len() - end - 4, promised }
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Progress::Nothing => f.write_str("nothing had come"),
            Progress::Frames { bytes } => write!(f, "{bytes} bytes of frames had come"),
            Progress::Head { bytes } => write!(f, "{bytes} bytes had come, not the whole head"),
            Progress::Body { bytes, promised: Some(promised) } => {
                write!(f, "Content-Length promises {promised} bytes of body, {bytes} had come")
            }
            Progress::Body { bytes, promised: None } => {
                write!(f, "{bytes} bytes of body had come, without a Content-Length and without a last chunk")
            }
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Ended { how, progress: Progress::Nothing } => {
                write!(f, "{how} the connection instead of answering")
            }
            Trouble::Ended { how, progress } => {
                write!(f, "{how} the connection within the answer: {progress}")
            }
            Trouble::TimedOut { after, progress: Progress::Nothing } => {
                write!(f, "no answer within {after:?}")
            }
            Trouble::TimedOut { after, progress } => {
                write!(f, "the answer was not complete within {after:?}: {progress}")
            }
            Trouble::Malformed(reason) => write!(f, "the answer cannot be read: {reason}"),
            // Uses the client's message.
            Trouble::TooLong => AskError::TooLong.fmt(f),
            Trouble::Announced(bytes) => AskError::Announced(*bytes).fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Timeouts;
    use super::*;

    use std::io::Write;
    use std::net::{Shutdown, TcpListener, TcpStream};
    use std::time::Instant;

    const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

    /// A connection to a server that sends these bytes and then closes or stays open.
    fn talk(bytes: &[u8], end: Option<End>) -> (Talk, std::thread::JoinHandle<TcpStream>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let bytes = bytes.to_vec();
        let target = listener.local_addr().unwrap().into();
        let server = std::thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            stream.write_all(&bytes).unwrap();
            match end {
                Some(End::Closed) => stream.shutdown(Shutdown::Both).unwrap(),
                Some(End::Reset) => {
                    rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap()
                }
                None => {}
            }
            stream
        });
        let (connect, answer) = (Duration::from_secs(10), Duration::from_millis(300));
        let timeouts = Timeouts { connect, answer, pause: Duration::ZERO, after_silence: answer };
        (Talk::open(&target, &Channel::default(), &Rc::new(Patience::new(&timeouts, false))).unwrap(), server)
    }

    #[test]
    fn answers_are_taken_one_by_one_and_the_rest_stays() {
        let (mut talk, server) = talk(&[ANSWER, ANSWER, b"HT"].concat(), None);
        let stream = server.join().unwrap();
        for _ in 0..2 {
            assert_eq!(talk.answer(false).unwrap().body, b"ok");
        }
        assert_eq!(talk.after(), After::Bytes(2));
        talk.begin();
        assert_eq!(
            (talk.received(), talk.unclaimed()),
            (&b"HT"[..], &b"HT"[..]),
            "what follows is a new exchange"
        );
        drop(stream);
    }

    #[test]
    fn each_way_not_to_answer_has_its_message() {
        let half = &ANSWER[..ANSWER.len() - 1];
        for (bytes, end, expected) in [
            (&b""[..], Some(End::Closed), "closed the connection instead of answering"),
            (
                half,
                Some(End::Closed),
                "closed the connection within the answer: Content-Length promises 2 bytes of body, 1 had come",
            ),
            (
                &half[..9],
                Some(End::Closed),
                "closed the connection within the answer: 9 bytes had come, not the whole head",
            ),
            (b"", None, "no answer within 300ms"),
            (
                &half[..9],
                None,
                "the answer was not complete within 300ms: 9 bytes had come, not the whole head",
            ),
        ] {
            let (mut talk, server) = talk(bytes, end);
            let stream = server.join().unwrap();
            assert_eq!(talk.answer(false).unwrap_err().to_string(), expected);
            drop(stream);
        }
        let (mut talk, server) = talk(b"SSH-2.0\r\n\r\n", None);
        let stream = server.join().unwrap();
        let error = talk.answer(false).unwrap_err().to_string();
        assert!(error.starts_with("the answer cannot be read: "), "{error}");
        drop(stream);
    }

    #[test]
    fn a_reset_is_no_close() {
        let (mut talk, server) = talk(b"", Some(End::Reset));
        drop(server.join().unwrap());
        assert_eq!(talk.answer(false).unwrap_err().to_string(), "reset the connection instead of answering");
        assert_eq!(talk.after(), After::Reset);
    }

    #[test]
    fn the_end_of_a_connection_is_waited_for() {
        for (end, expected) in [(Some(End::Closed), After::Closed), (None, After::StillOpen)] {
            let (mut talk, server) = talk(ANSWER, end);
            let stream = server.join().unwrap();
            talk.answer(false).unwrap();
            assert_eq!(talk.after(), expected);
            drop(stream);
        }
    }

    #[test]
    fn an_answer_before_the_request_is_noticed() {
        let (mut early, server) = talk(ANSWER, None);
        let stream = server.join().unwrap();
        let end = Instant::now() + Duration::from_secs(10);
        while !early.spoke_early() && Instant::now() < end {
            std::thread::yield_now();
        }
        assert!(early.spoke_early());
        assert_eq!(early.answer(false).unwrap().status, 200, "nothing of it is lost");
        drop(stream);
        let (mut silent, server) = talk(b"", None);
        let stream = server.join().unwrap();
        assert!(!silent.spoke_early());
        drop(stream);
    }

    proptest! {
        #[test]
        fn progress_counts_every_byte(body in 0_usize..50, length in "[0-9]{1,3}", cut in 0_usize..120) {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
            let bytes = [head.as_bytes(), &vec![b'x'; body]].concat();
            let bytes = &bytes[..cut.min(bytes.len())];
            match Progress::of(bytes) {
                Progress::Nothing => prop_assert!(bytes.is_empty()),
                Progress::Frames { .. } => prop_assert!(false, "HTTP/1.1 has none"),
                Progress::Head { bytes: count } => prop_assert!(count == bytes.len() && count < head.len()),
                Progress::Body { bytes: count, promised } => {
                    prop_assert_eq!((count + head.len(), promised), (bytes.len(), Some(length)));
                }
            }
        }
    }
}
