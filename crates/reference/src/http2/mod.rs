//! HTTP/2: reads frames, acknowledges them as required, and answers each stream whose request has ended. It
//! does not decode requests: header blocks and bodies are skipped. A violation ends its stream, or the
//! connection by GOAWAY, as RFC 9113 requires. A connection that does not begin as HTTP/2 is closed silently.

mod answers;
mod connection;
mod frames;
mod streams;
#[cfg(test)]
mod tests;
mod window;

use std::io;

use tare_base::http2::PREFACE;

pub(super) use self::answers::Choice;
use self::{
    answers::StreamAnswers,
    connection::{Ending, Multiplexed},
    frames::Splitter,
};
use super::worker::{Reply, Speech};

/// The treatment of one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Send(Choice),
    /// The right answer, on the previously answered stream, which has ended.
    OnThePrevious,
    /// No answer at all; other streams continue.
    Never,
    /// The whole connection is closed.
    Close,
}

/// How one thread answers streams.
pub(super) trait StreamBehaviour {
    /// The treatment of the next stream.
    fn turn(&mut self) -> Turn;
}

/// The HTTP/2 state of one thread.
pub(super) struct Http2<B> {
    answers: StreamAnswers,
    behaviour: B,
}

impl<B> Http2<B> {
    /// # Errors
    /// The response is not HTTP/1.1, or its headers exceed a frame.
    pub(super) fn new(response: &[u8], behaviour: B) -> io::Result<Http2<B>> {
        Ok(Http2 { answers: StreamAnswers::from_http1(response)?, behaviour })
    }
}

/// The state of a connection.
#[derive(Default)]
pub(super) struct Session {
    /// Received bytes of the preface.
    preface: usize,
    splitter: Splitter,
    connection: Multiplexed,
}

impl<B: StreamBehaviour> Speech for Http2<B> {
    type State = Session;

    fn open(&self) -> io::Result<Session> {
        Ok(Session::default())
    }

    fn take<'a>(&'a mut self, session: &mut Session, read: &[u8], out: &'a mut Vec<u8>) -> Reply<'a> {
        out.clear();
        match session.take(self, read, out) {
            Ok(()) => Reply::Send(out),
            Err(Ending::Silent) => Reply::Last(out),
            Err(Ending::Goaway(code)) => {
                session.connection.say_goodbye(code, out);
                Reply::Last(out)
            }
        }
    }

    fn more<'a>(&'a mut self, session: &mut Session, out: &'a mut Vec<u8>) -> Reply<'a> {
        out.clear();
        session.connection.go_on(&self.answers, out);
        Reply::Send(out)
    }
}

impl Session {
    fn take<B: StreamBehaviour>(
        &mut self,
        server: &mut Http2<B>,
        mut read: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Ending> {
        if self.preface < PREFACE.len() {
            self.begin(&mut read, out)?;
        }
        while let Some(frame) = self.splitter.next(&mut read).map_err(Ending::Goaway)? {
            self.connection.take(&frame, server, out)?;
        }
        self.connection.go_on(&server.answers, out);
        Ok(())
    }

    fn begin(&mut self, read: &mut &[u8], out: &mut Vec<u8>) -> Result<(), Ending> {
        let expected = &PREFACE[self.preface..];
        let count = expected.len().min(read.len());
        if read[..count] != expected[..count] {
            return Err(Ending::Silent);
        }
        *read = &read[count..];
        self.preface += count;
        if self.preface == PREFACE.len() {
            connection::greet(out);
        }
        Ok(())
    }
}
