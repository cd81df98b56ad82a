//! The streams of a connection that are not over: their requests have not ended, or their answers wait for a window.

use super::answers::Choice;
use super::window::{Inbound, Outbound};

/// How much a client may send on each stream before it is given back.
pub(super) const INBOUND: u32 = 1 << 20;

/// A stream that is not over.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) number: u32,
    pub(super) inbound: Inbound,
    pub(super) outbound: Outbound,
    /// Absent until the request has ended.
    pub(super) sending: Option<Sending>,
}

/// An answer whose head is sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sending {
    pub(super) choice: Choice,
    /// How much of its body is sent.
    pub(super) sent: usize,
}

impl Stream {
    pub(super) fn new(number: u32, outbound: Outbound) -> Stream {
        Stream { number, inbound: Inbound::new(INBOUND), outbound, sending: None }
    }
}

/// Sorted: a client numbers its streams upwards, and a few are found faster so than by a hash.
#[derive(Debug, Default)]
pub(super) struct Streams(Vec<Stream>);

impl Streams {
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Most are the newest.
    pub(super) fn add(&mut self, stream: Stream) {
        let at = self.0.partition_point(|other| other.number < stream.number);
        self.0.insert(at, stream);
    }

    pub(super) fn find(&mut self, number: u32) -> Option<&mut Stream> {
        let at = self.position(number)?;
        self.0.get_mut(at)
    }

    /// One whose request has not ended.
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

    /// Keeps those of which this is true, the oldest first.
    pub(super) fn keep(&mut self, is_kept: impl FnMut(&mut Stream) -> bool) {
        self.0.retain_mut(is_kept);
    }

    fn position(&self, number: u32) -> Option<usize> {
        self.0.binary_search_by_key(&number, |stream| stream.number).ok()
    }
}
