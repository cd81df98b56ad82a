//! HTTP/2: reads frames, acknowledges what must be, and answers each stream whose request has ended. Requests are not
//! decoded: their header blocks and bodies are passed over. What a client may not do ends a stream, or the connection with
//! GOAWAY, as RFC 9113 has it; what does not begin as HTTP/2 is closed without a word.

mod answers;
mod connection;
mod frames;
mod streams;
#[cfg(test)]
mod tests;
mod window;

use std::io;

pub(super) use self::answers::Choice;
use self::{
    answers::StreamAnswers,
    connection::{Ending, Multiplexed},
    frames::{PREFACE, Splitter},
};
use super::worker::{Reply, Speech};

/// What becomes of one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Send(Choice),
    /// The right answer, on the stream that was answered before it, which is over.
    OnThePrevious,
    /// It waits for ever, and the others go on.
    Never,
    /// The whole connection is closed.
    Close,
}

/// How streams are answered by one thread.
pub(super) trait StreamBehaviour {
    /// What becomes of the next stream.
    fn turn(&mut self) -> Turn;
}

/// One thread's HTTP/2.
pub(super) struct Http2<B> {
    answers: StreamAnswers,
    behaviour: B,
}

impl<B> Http2<B> {
    /// # Errors
    /// The response is not one of HTTP/1.1, or its headers are longer than a frame.
    pub(super) fn new(response: &[u8], behaviour: B) -> io::Result<Http2<B>> {
        Ok(Http2 { answers: StreamAnswers::from_http1(response)?, behaviour })
    }
}

/// What is kept of a connection.
#[derive(Default)]
pub(super) struct Session {
    /// How much of the preface has come.
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
