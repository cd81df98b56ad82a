//! How a raw socket answers: by its fixed response and nothing else, or with a fault that was asked for.

/// What becomes of one request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reply<'a> {
    /// These bytes are sent.
    Send(&'a [u8]),
    /// These bytes are sent, if there are any, and the connection is closed.
    Last(&'a [u8]),
}

/// How requests are answered by one thread.
pub(super) trait Behaviour {
    /// The answer to a request; `request` has the bytes that were read last.
    fn answer<'a>(&'a mut self, request: &[u8], response: &'a [u8]) -> Reply<'a>;
}

#[derive(Debug)]
pub(super) struct Plain;

impl Behaviour for Plain {
    fn answer<'a>(&'a mut self, _: &[u8], response: &'a [u8]) -> Reply<'a> {
        Reply::Send(response)
    }
}
