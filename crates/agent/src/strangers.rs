//! Connections that have not shown yet that they have the token. There is room for so many, and a newer one takes the place of the oldest:
//! whoever has the token shows it at once, and whoever only holds connections open keeps nobody else away. However fast others come,
//! each has time to show it; they wait in the kernel's queue meanwhile.

use std::collections::VecDeque;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How many have room.
const STRANGERS_MAX: usize = 64;
/// Nobody is turned out sooner: a handshake between continents, on a busy machine.
const STAY_MIN: Duration = Duration::from_millis(500);

/// Those that are here, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Strangers(Mutex<Present>);

#[derive(Debug, Default)]
struct Present {
    /// The number of the next one.
    next: u64,
    here: VecDeque<Place>,
}

#[derive(Debug)]
struct Place {
    number: u64,
    since: Instant,
    stream: Arc<TcpStream>,
}

impl Place {
    /// The thread that reads from it finds its end.
    fn turn_out(self) {
        let _was_closed = self.stream.shutdown(Shutdown::Both);
    }
}

/// One of them, which leaves when it is dropped.
#[derive(Debug)]
pub(crate) struct Stranger<'a> {
    strangers: &'a Strangers,
    number: u64,
}

impl Strangers {
    /// Whether another one may enter.
    pub(crate) fn has_room(&self, now: Instant) -> bool {
        let present = self.present();
        let may_go = |oldest: &Place| now.saturating_duration_since(oldest.since) >= STAY_MIN;
        present.here.len() < STRANGERS_MAX || present.here.front().is_some_and(may_go)
    }

    /// Takes a connection in, in the place of the oldest if there is no other.
    pub(crate) fn enter(&self, stream: &Arc<TcpStream>, now: Instant) -> Stranger<'_> {
        let mut present = self.present();
        if present.here.len() >= STRANGERS_MAX {
            present.here.pop_front().into_iter().for_each(Place::turn_out);
        }
        let number = present.next;
        present.next += 1;
        present.here.push_back(Place { number, since: now, stream: Arc::clone(stream) });
        Stranger { strangers: self, number }
    }

    /// Turns all of them out.
    pub(crate) fn close(&self) {
        self.present().here.drain(..).for_each(Place::turn_out);
    }

    fn present(&self) -> MutexGuard<'_, Present> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stranger<'_> {
    /// From now on it is none, and is not turned out; not if it was already.
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
    fn the_oldest_stranger_makes_room_and_whoever_has_left_stays() {
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
        assert!(strangers.has_room(began + STAY_MIN), "the oldest has had its time");
        assert!(inside[0].leave() && strangers.has_room(began), "there is a place");
        for _ in 0..2 {
            ends.push(accept());
            inside.push(enter(&ends.last().unwrap().1));
        }
        let out: Vec<bool> = ends.iter_mut().map(|(there, _)| is_out(there)).collect();
        let expected: Vec<bool> = (0..ends.len()).map(|index| index == 1).collect();
        assert_eq!(out, expected, "the oldest of those that were still strangers");
        assert!(!inside[1].leave(), "it was turned out");
        drop(inside);
        assert_eq!(strangers.present().here.len(), 0);
    }

    #[test]
    fn at_the_end_all_are_turned_out() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut there = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let strangers = Strangers::default();
        let stranger = strangers.enter(&Arc::new(listener.accept().unwrap().0), Instant::now());
        assert!(!is_out(&mut there));
        strangers.close();
        assert!(is_out(&mut there) && !stranger.leave());
    }
}
