//! Connections that are not authenticated yet. Their number is limited, and a new one evicts the oldest. A
//! controller authenticates within milliseconds, so an attacker that only holds connections open cannot lock
//! it out. An attacker that opens connections fast cannot evict it either: no connection is evicted in its
//! first half second, and until then the agent accepts no more.

use std::collections::VecDeque;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const STRANGERS_MAX: usize = 64;
/// Long enough for a handshake between continents, on a busy machine.
const STAY_MIN: Duration = Duration::from_millis(500);

/// All unauthenticated connections of an agent.
#[derive(Debug, Default)]
pub(crate) struct Strangers(Mutex<Present>);

#[derive(Debug, Default)]
struct Present {
    /// The number of the next connection.
    next: u64,
    /// The oldest first.
    here: VecDeque<Place>,
}

#[derive(Debug)]
struct Place {
    number: u64,
    since: Instant,
    stream: Arc<TcpStream>,
}

impl Place {
    /// The thread that reads from the connection then finds its end.
    fn evict(self) {
        let _was_closed = self.stream.shutdown(Shutdown::Both);
    }
}

/// One unauthenticated connection, until it is dropped.
#[derive(Debug)]
pub(crate) struct Stranger<'a> {
    strangers: &'a Strangers,
    number: u64,
}

impl Strangers {
    /// Whether there is a free place, or the oldest connection may be evicted.
    pub(crate) fn has_room(&self, now: Instant) -> bool {
        let present = self.present();
        let may_go = |oldest: &Place| now.saturating_duration_since(oldest.since) >= STAY_MIN;
        present.here.len() < STRANGERS_MAX || present.here.front().is_some_and(may_go)
    }

    /// Adds a connection. If there is no free place, the oldest is evicted.
    pub(crate) fn enter(&self, stream: &Arc<TcpStream>, now: Instant) -> Stranger<'_> {
        let mut present = self.present();
        if present.here.len() >= STRANGERS_MAX {
            present.here.pop_front().into_iter().for_each(Place::evict);
        }
        let number = present.next;
        present.next += 1;
        present.here.push_back(Place { number, since: now, stream: Arc::clone(stream) });
        Stranger { strangers: self, number }
    }

    /// Evicts all connections.
    pub(crate) fn close(&self) {
        self.present().here.drain(..).for_each(Place::evict);
    }

    fn present(&self) -> MutexGuard<'_, Present> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stranger<'_> {
    /// Marks the connection as authenticated: it cannot be evicted. Returns false if it was evicted before.
    pub(crate) fn leave(&self) -> bool {
        let mut present = self.strangers.present();
        let index = present.here.iter().position(|place| place.number == self.number);
        index.and_then(|index| present.here.remove(index)).is_some()
    }
}

impl Drop for Stranger<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read};
    use std::net::TcpListener;

    use super::*;

    /// Whether a connection was ended by the other end.
    fn is_out(stream: &mut TcpStream) -> bool {
        stream.set_nonblocking(true).unwrap();
        match stream.read(&mut [0]) {
            Ok(0) => true,
            Err(error) if error.kind() == ErrorKind::WouldBlock => false,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_new_stranger_evicts_the_oldest_and_no_authenticated_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let accept = || {
            let there = TcpStream::connect(address).unwrap();
            (there, Arc::new(listener.accept().unwrap().0))
        };
        let (strangers, began) = (Strangers::default(), Instant::now());
        let enter = |here: &Arc<TcpStream>| strangers.enter(here, began);
        let mut ends: Vec<_> = (0..STRANGERS_MAX).map(|_| accept()).collect();
        let mut inside: Vec<_> = ends.iter().map(|(_, here)| enter(here)).collect();
        assert!(!strangers.has_room(began) && !strangers.has_room(began + STAY_MIN / 2));
        assert!(strangers.has_room(began + STAY_MIN), "the oldest may be evicted");
        assert!(inside[0].leave() && strangers.has_room(began), "there is a free place");
        for _ in 0..2 {
            ends.push(accept());
            inside.push(enter(&ends.last().unwrap().1));
        }
        let out: Vec<bool> = ends.iter_mut().map(|(there, _)| is_out(there)).collect();
        let expected: Vec<bool> = (0..ends.len()).map(|index| index == 1).collect();
        assert_eq!(out, expected, "the oldest of those that were still strangers");
        assert!(!inside[1].leave(), "it was evicted");
        drop(inside);
        assert_eq!(strangers.present().here.len(), 0);
    }

    #[test]
    fn at_the_end_all_strangers_are_evicted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut there = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let strangers = Strangers::default();
        let stranger = strangers.enter(&Arc::new(listener.accept().unwrap().0), Instant::now());
        assert!(!is_out(&mut there));
        strangers.close();
        assert!(is_out(&mut there) && !stranger.leave());
    }
}
