//! The open streams of a connection: their requests are incomplete, or their answers wait for a window.

use super::answers::Choice;
use super::window::{Inbound, Outbound};

/// Bytes that a client may send on each stream before it gets more window.
pub(super) const INBOUND: u32 = 1 << 20;

/// An open stream.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) number: u32,
    pub(super) inbound: Inbound,
    pub(super) outbound: Outbound,
    /// Absent until the request has ended.
    pub(super) sending: Option<Sending>,
}

/// An answer whose head was sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sending {
    pub(super) choice: Choice,
    /// Bytes of its body that were sent.
    pub(super) sent: usize,
}

impl Stream {
    pub(super) fn new(number: u32, outbound: Outbound) -> Stream {
        Stream { number, inbound: Inbound::new(INBOUND), outbound, sending: None }
    }
}

/// Sorted: clients use increasing numbers, and in a short list a search is faster than hashing.
#[derive(Debug, Default)]
pub(super) struct Streams(Vec<Stream>);

impl Streams {
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Inserts a stream; most have the highest number.
    pub(super) fn add(&mut self, stream: Stream) {
        let at = self.0.partition_point(|other| other.number < stream.number);
        self.0.insert(at, stream);
    }

    pub(super) fn find(&mut self, number: u32) -> Option<&mut Stream> {
        let at = self.position(number)?;
        self.0.get_mut(at)
    }

    /// The stream with this number, if its request is incomplete.
    pub(super) fn receiving(&mut self, number: u32) -> Option<&mut Stream> {
        self.find(number).filter(|stream| stream.sending.is_none())
    }

    pub(super) fn remove(&mut self, number: u32) -> Option<Stream> {
        let at = self.position(number)?;
        Some(self.0.remove(at))
    }

    pub(super) fn all(&mut self) -> impl Iterator<Item = &mut Stream> {
        self.0.iter_mut()
    }

    /// Keeps the streams for which `is_kept` is true; it is called in order, oldest first.
    pub(super) fn keep(&mut self, is_kept: impl FnMut(&mut Stream) -> bool) {
        self.0.retain_mut(is_kept);
    }

    fn position(&self, number: u32) -> Option<usize> {
        self.0.binary_search_by_key(&number, |stream| stream.number).ok()
    }
}
