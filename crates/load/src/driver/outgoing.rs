//! The bytes that connections send: requests that all connections share, and bytes of each slot that are made
//! when they are sent. Both are addressed by ranges, so that a driver treats them in the same way.

use std::ops::Range;
use std::sync::Arc;

use crate::request_buffer::RequestBuffer;

/// Ranges from this offset on refer to the slot's own bytes.
const OWN: usize = 1 << (usize::BITS - 1);

/// The range that stands for this part of a slot's own bytes in `Driver::send`.
#[inline]
pub(crate) fn own_range(range: Range<usize>) -> Range<usize> {
    OWN + range.start..OWN + range.end
}

#[derive(Debug)]
pub(crate) struct Outgoing {
    shared: Arc<RequestBuffer>,
    own: Vec<Vec<u8>>,
}

impl Outgoing {
    pub(crate) fn new(slots: usize) -> Outgoing {
        Outgoing { own: vec![Vec::new(); slots], shared: Arc::default() }
    }

    /// Sets the shared requests and returns the previous ones.
    pub(crate) fn share(&mut self, requests: Arc<RequestBuffer>) -> Arc<RequestBuffer> {
        std::mem::replace(&mut self.shared, requests)
    }

    /// The slot's own bytes.
    #[inline]
    pub(crate) fn own(&mut self, slot: usize) -> &mut Vec<u8> {
        &mut self.own[slot]
    }

    #[inline]
    pub(crate) fn bytes(&self, slot: usize, range: Range<usize>) -> &[u8] {
        match range.start.checked_sub(OWN) {
            None => &self.shared.bytes()[range],
            Some(start) => &self.own[slot][start..range.end - OWN],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_of_the_shared_requests_or_of_the_slots_own() {
        let mut outgoing = Outgoing::new(2);
        outgoing.share(Arc::new(RequestBuffer::of(b"shared")));
        outgoing.own(0).extend(b"first");
        outgoing.own(1).extend(b"other");
        assert_eq!(outgoing.bytes(0, own_range(0..5)), b"first");
        assert_eq!(outgoing.bytes(1, own_range(2..5)), b"her");
        assert_eq!(outgoing.bytes(1, 1..4), b"har");
        assert_eq!(outgoing.bytes(1, own_range(5..5)), b"");
    }
}
