//! The bytes that connections send: requests that all of them share, and of each slot a request of its own, which is made when
//! it is sent. Both are addressed by ranges, so that a driver sends and continues both in the same way.

use std::ops::Range;
use std::sync::Arc;

use crate::request_buffer::RequestBuffer;

/// Ranges from here on are of the slot's own request.
const OWN: usize = 1 << (usize::BITS - 1);

#[derive(Debug)]
pub(super) struct Outgoing {
    shared: Arc<RequestBuffer>,
    own: Vec<Arc<RequestBuffer>>,
}

impl Outgoing {
    pub(super) fn new(slots: usize) -> Outgoing {
        let shared = Arc::<RequestBuffer>::default();
        Outgoing { own: vec![Arc::clone(&shared); slots], shared }
    }

    /// Returns the requests that were shared before.
    pub(super) fn share(&mut self, requests: Arc<RequestBuffer>) -> Arc<RequestBuffer> {
        std::mem::replace(&mut self.shared, requests)
    }

    /// Sets the slot's own request. Returns its range, and the request that it replaces.
    pub(super) fn own(&mut self, slot: usize, request: &[u8]) -> (Range<usize>, Arc<RequestBuffer>) {
        let old = std::mem::replace(&mut self.own[slot], Arc::new(RequestBuffer::of(request)));
        (OWN..OWN + request.len(), old)
    }

    #[inline]
    pub(super) fn bytes(&self, slot: usize, range: Range<usize>) -> &[u8] {
        match range.start.checked_sub(OWN) {
            None => &self.shared.bytes()[range],
            Some(start) => &self.own[slot].bytes()[start..range.end - OWN],
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
        let (first, old) = outgoing.own(0, b"first");
        assert!(old.bytes().is_empty());
        let (second, _) = outgoing.own(1, b"other");
        assert_eq!(first, second);
        assert_eq!(outgoing.bytes(0, first.clone()), b"first");
        assert_eq!(outgoing.bytes(1, second.start + 2..second.end), b"her");
        assert_eq!(outgoing.bytes(1, 1..4), b"har");
        assert_eq!(outgoing.bytes(1, second.end..second.end), b"");
        let (_, old) = outgoing.own(0, b"");
        assert_eq!(old.bytes(), b"first");
    }
}
