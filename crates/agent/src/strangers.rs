//! Connections that have not shown yet that they have the token. There is room for so many, and for each newer one the oldest is turned
//! out: whoever has the token shows it at once, and whoever only holds connections open keeps nobody else away.

use std::collections::VecDeque;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many have room.
pub(crate) const STRANGERS_MAX: usize = 64;

/// Those that are here, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Strangers(Mutex<Present>);

#[derive(Debug, Default)]
struct Present {
    /// The number of the next one.
    next: u64,
    streams: VecDeque<(u64, Arc<TcpStream>)>,
}

/// One of them, which leaves when it is dropped.
#[derive(Debug)]
pub(crate) struct Stranger<'a> {
    strangers: &'a Strangers,
    number: u64,
}

impl Strangers {
    /// Takes a connection in. The oldest is turned out if there is no room.
    pub(crate) fn enter(&self, stream: &Arc<TcpStream>) -> Stranger<'_> {
        let mut present = self.present();
        let number = present.next;
        present.next += 1;
        present.streams.push_back((number, Arc::clone(stream)));
        if present.streams.len() > STRANGERS_MAX
            && let Some((_, oldest)) = present.streams.pop_front()
        {
            turn_out(&oldest);
        }
        Stranger { strangers: self, number }
    }

    /// Whether the next one turns another out.
    pub(crate) fn is_full(&self) -> bool {
        self.present().streams.len() >= STRANGERS_MAX
    }

    /// Turns all of them out.
    pub(crate) fn close(&self) {
        self.present().streams.drain(..).for_each(|(_, stream)| turn_out(&stream));
    }

    fn present(&self) -> MutexGuard<'_, Present> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread that reads from it finds its end.
fn turn_out(stream: &TcpStream) {
    let _was_closed = stream.shutdown(Shutdown::Both);
}

impl Stranger<'_> {
    /// From now on it is none, and is not turned out; not if it was already.
    pub(crate) fn leave(&self) -> bool {
        let mut present = self.strangers.present();
        let place = present.streams.iter().position(|(number, _)| *number == self.number);
        place.and_then(|place| present.streams.remove(place)).is_some()
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
        let strangers = Strangers::default();
        let mut ends: Vec<_> = (0..STRANGERS_MAX).map(|_| accept()).collect();
        let mut inside: Vec<_> = ends.iter().map(|(_, here)| strangers.enter(here)).collect();
        assert!(strangers.is_full() && inside[0].leave() && !strangers.is_full());
        for _ in 0..2 {
            ends.push(accept());
            inside.push(strangers.enter(&ends.last().unwrap().1));
        }
        let out: Vec<bool> = ends.iter_mut().map(|(there, _)| is_out(there)).collect();
        let expected: Vec<bool> = (0..ends.len()).map(|index| index == 1).collect();
        assert_eq!(out, expected, "the oldest of those that were still strangers");
        assert!(!inside[1].leave(), "it was turned out");
        drop(inside);
        assert_eq!(strangers.present().streams.len(), 0);
    }
}
