//! The open streams, by their numbers. Numbers only grow, and answers mostly arrive in that order.

use std::collections::VecDeque;

/// An open stream, and the place of its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LiveStream {
    pub(super) id: u32,
    pub(super) place: usize,
}

/// In the order of their numbers.
#[derive(Debug, Default)]
pub(super) struct Live(VecDeque<LiveStream>);

impl Live {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds a stream with a higher number than all others.
    #[inline]
    pub(super) fn add(&mut self, id: u32, place: usize) {
        self.0.push_back(LiveStream { id, place });
    }

    #[inline]
    fn index(&self, id: u32) -> Option<usize> {
        match self.0.front() {
            Some(first) if first.id == id => Some(0),
            _ => self.0.binary_search_by_key(&id, |stream| stream.id).ok(),
        }
    }

    #[inline]
    pub(super) fn place(&self, id: u32) -> Option<usize> {
        self.index(id).map(|index| self.0[index].place)
    }

    #[inline]
    pub(super) fn remove(&mut self, id: u32) {
        match self.index(id) {
            Some(0) => drop(self.0.pop_front()),
            Some(index) => drop(self.0.remove(index)),
            None => {}
        }
    }

    /// Removes a stream with a number above `last`.
    pub(super) fn pop_above(&mut self, last: u32) -> Option<LiveStream> {
        match self.0.back() {
            Some(stream) if stream.id > last => self.0.pop_back(),
            _ => None,
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = LiveStream> + '_ {
        self.0.iter().copied()
    }
}
