//! HTTP/1.1: finds the ends of request heads, and sends a response for each.

use std::io;

use super::{
    heads::Heads,
    worker::{Reply, Speech},
};

/// How one thread answers requests.
pub(super) trait Behaviour {
    /// The answer to a request; `request` contains the last bytes read.
    fn answer<'a>(&'a mut self, request: &[u8], response: &'a [u8]) -> Reply<'a>;
}

/// The HTTP/1.1 state of one thread.
pub(super) struct Http1<'r, B> {
    response: &'r [u8],
    behaviour: B,
}

impl<'r, B> Http1<'r, B> {
    pub(super) fn new(response: &'r [u8], behaviour: B) -> Http1<'r, B> {
        Http1 { response, behaviour }
    }
}

impl<B: Behaviour> Speech for Http1<'_, B> {
    type State = Heads;

    fn open(&self) -> io::Result<Heads> {
        Ok(Heads::default())
    }

    fn take<'a>(&'a mut self, heads: &mut Heads, read: &[u8], out: &'a mut Vec<u8>) -> Reply<'a> {
        match heads.count(read) {
            0 => Reply::Send(b""),
            1 => self.behaviour.answer(read, self.response),
            heads => self.several(heads, read, out),
        }
    }
}

impl<B: Behaviour> Http1<'_, B> {
    /// The answers to several pipelined requests.
    fn several<'a>(&mut self, heads: usize, request: &[u8], out: &'a mut Vec<u8>) -> Reply<'a> {
        out.clear();
        for _ in 0..heads {
            match self.behaviour.answer(request, self.response) {
                Reply::Send(bytes) => out.extend_from_slice(bytes),
                Reply::Last(bytes) => {
                    out.extend_from_slice(bytes);
                    return Reply::Last(out);
                }
            }
        }
        Reply::Send(out)
    }
}
