//! What one thread keeps between runs: its driver, its connections, and what it remembers of each exchange. It
//! opens and closes connections; sending is a run's business.

use std::net::SocketAddr;

use super::check::Memo;
use super::connection::{Connection, Phase};
use crate::clock::{Clock, Monotonic};
use crate::driver::{Driver, Epoll, Event};
use crate::schedule::SplitMix64;
use crate::tally::Failure;

/// So many connections are opened at a time: more would overflow a usual backlog of 128, and a SYN that is dropped
/// comes back after a second.
const OPENING_MAX: usize = 100;

/// The longest wait in one go, so that an interrupt is seen soon.
pub(super) const WAIT_NS_MAX: u64 = 20_000_000;

/// One thread's connections.
#[derive(Debug)]
pub(super) struct Worker {
    pub(super) target: SocketAddr,
    pub(super) driver: Epoll,
    pub(super) connections: Vec<Connection>,
    pub(super) memos: Vec<Memo>,
    pub(super) random: SplitMix64,
}

impl Worker {
    /// A worker with one connection for each start in the pool.
    pub(super) fn new(
        target: SocketAddr,
        starts: Vec<usize>,
        exchanges: usize,
        seed: u64,
    ) -> std::io::Result<Worker> {
        let driver = Epoll::new(starts.len())?;
        let connections = starts.into_iter().map(Connection::new).collect();
        let memos = vec![Memo::default(); exchanges];
        Ok(Worker { target, driver, connections, memos, random: SplitMix64::new(seed) })
    }

    pub(super) fn slots(&self) -> usize {
        self.connections.len()
    }

    pub(super) fn set_pool(&mut self, exchanges: usize, start: impl Fn(usize) -> usize) {
        self.memos = vec![Memo::default(); exchanges];
        for (slot, connection) in self.connections.iter_mut().enumerate() {
            connection.exchange = start(slot);
        }
    }

    pub(super) fn open_connections(&self) -> usize {
        self.connections.iter().filter(|connection| connection.phase == Phase::Idle).count()
    }

    /// Sees what happened to idle connections since they were last used, and closes those that are no good any
    /// more. Returns how many of them held bytes that nobody asked for.
    pub(super) fn settle(&mut self) -> u64 {
        let mut strays = 0;
        self.driver.wait(0);
        while let Some(event) = self.driver.next_event() {
            match event {
                Event::Received { slot, .. } => {
                    strays += 1;
                    self.shut(slot);
                }
                Event::Closed { slot } | Event::Failed { slot, .. } | Event::ConnectFailed { slot, .. } => {
                    self.shut(slot);
                }
                Event::Connected { .. } | Event::Sendable { .. } => {}
            }
        }
        strays
    }

    /// Opens what is not open, until the deadline or the first failure.
    pub(super) fn open(&mut self, deadline_ns: u64) -> Result<(), Failure> {
        self.settle();
        let mut missing: Vec<usize> = (0..self.slots()).filter(|&slot| !self.driver.is_open(slot)).collect();
        let mut opening = 0;
        let mut result = Ok(());
        loop {
            let now_ns = Monotonic.now_ns();
            while result.is_ok() && opening < OPENING_MAX {
                let Some(slot) = missing.pop() else { break };
                result = self.driver.connect(slot, self.target);
                if result.is_ok() {
                    self.connections[slot].phase = Phase::Connecting { since_ns: now_ns };
                    opening += 1;
                }
            }
            if opening == 0 {
                return result;
            }
            if now_ns >= deadline_ns {
                self.give_up();
                return result.and(Err(Failure::ConnectTimeout));
            }
            self.driver.wait((deadline_ns - now_ns).min(WAIT_NS_MAX));
            while let Some(event) = self.driver.next_event() {
                opening -= self.opened(event, &mut result);
            }
        }
    }

    /// Takes an event while opening; returns how many attempts it ended.
    fn opened(&mut self, event: Event, result: &mut Result<(), Failure>) -> usize {
        match event {
            Event::Connected { slot } => {
                self.connections[slot].phase = Phase::Idle;
                1
            }
            Event::ConnectFailed { slot, failure } => {
                self.shut(slot);
                *result = result.and(Err(failure));
                1
            }
            Event::Closed { slot } | Event::Received { slot, .. } | Event::Failed { slot, .. } => {
                // Closed right after it was accepted: the run finds out whether that goes on.
                self.shut(slot);
                0
            }
            Event::Sendable { .. } => 0,
        }
    }

    fn give_up(&mut self) {
        for slot in 0..self.slots() {
            if matches!(self.connections[slot].phase, Phase::Connecting { .. }) {
                self.shut(slot);
            }
        }
    }

    pub(super) fn shut(&mut self, slot: usize) {
        self.driver.close(slot);
        self.connections[slot].phase = Phase::Closed;
    }

    pub(super) fn close(&mut self) {
        for slot in 0..self.slots() {
            self.shut(slot);
        }
    }
}
