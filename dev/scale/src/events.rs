//! The queue of events by time; of two events at one instant, the one planned first comes first.

use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
};

use crate::Micros;

/// A future event. Numbers are indices of machines, jobs and attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// The engine has put an attempt on its machine.
    Placed(usize),
    /// An attempt has finished measuring.
    Measured(usize),
    /// An attempt has failed on its machine.
    Failed(usize),
    /// An attempt that was refused, or could not reach the collector, retries its push.
    Push(usize),
    /// A bundle has crossed the machine's link.
    Uploaded(usize),
    /// A bundle has crossed the collector's link.
    Received(usize),
    /// A bundle was checked: it is committed, or found to be a duplicate.
    Checked(usize),
    Vanishes(usize),
    /// A machine is there again.
    Returns(usize),
    /// A machine loses the network.
    CutOff(usize),
    /// The machine has the network again.
    Reconnected(usize),
    /// The engine declares the attempt of a machine lost, unless it was heard from since.
    HeldForLost(usize),
    /// A failed job may be placed again.
    Requeued(usize),
    /// Idle machines are checked for copies of slow jobs.
    Look,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    at: Micros,
    number: u64,
    event: Event,
}

impl Ord for Entry {
    fn cmp(&self, other: &Entry) -> Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Events in the order of time.
#[derive(Debug, Default)]
pub(crate) struct Events {
    heap: BinaryHeap<Reverse<Entry>>,
    planned: u64,
}

impl Events {
    pub(crate) fn plan(&mut self, at: Micros, event: Event) {
        self.planned += 1;
        self.heap.push(Reverse(Entry { at, number: self.planned, event }));
    }

    pub(crate) fn next(&mut self) -> Option<(Micros, Event)> {
        self.heap.pop().map(|Reverse(Entry { at, event, .. })| (at, event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_one_instant_the_first_planned_is_the_first() {
        let mut events = Events::default();
        for (at, event) in [(5, Event::Look), (3, Event::Push(1)), (5, Event::Push(2)), (3, Event::Push(3))] {
            events.plan(at, event);
        }
        let order: Vec<(Micros, Event)> = std::iter::from_fn(|| events.next()).collect();
        assert_eq!(order, [(3, Event::Push(1)), (3, Event::Push(3)), (5, Event::Look), (5, Event::Push(2))]);
    }
}
