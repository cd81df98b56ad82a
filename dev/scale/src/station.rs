//! A station: servers that serve one thing each, in the order of arrival. The collector's link is one with a single server, its
//! checks are one with several, and so is the part of the engine that places jobs. It knows no events: it says when what it begins
//! will end.

use std::collections::{BTreeMap, VecDeque};

use crate::{Micros, seconds};

/// Servers with one queue.
#[derive(Debug, Clone)]
pub struct Station {
    servers: usize,
    waiting: VecDeque<(usize, Micros)>,
    /// Those inside, waiting or served, with their arrival.
    inside: BTreeMap<usize, Micros>,
    serving: usize,
    stats: Stats,
    latest: Micros,
}

/// What was counted at a station.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stats {
    pub arrived: u64,
    pub left: u64,
    /// Numbers inside times the time that they were there.
    area: u128,
    /// The same of servers at work.
    busy_area: u128,
    /// Times inside of those that left, added up one by one.
    times: u128,
    /// Times in the queue of those that were begun.
    waits: Vec<Micros>,
    pub waiting_most: usize,
}

/// The two sides of Little's law over all the time: L = lambda W, each counted in its own way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Little {
    /// Mean number inside, from how many there were at each time.
    pub counted: f64,
    /// Arrivals a second times the mean time inside.
    pub by_law: f64,
}

impl Station {
    /// # Panics
    /// Without a server.
    pub fn new(servers: usize) -> Station {
        assert!(servers > 0, "a station has a server");
        Station {
            servers,
            waiting: VecDeque::new(),
            inside: BTreeMap::new(),
            serving: 0,
            stats: Stats::default(),
            latest: 0,
        }
    }

    /// A customer with this number arrives and takes so long to serve. When that will be over, if it begins at once.
    pub fn arrive(&mut self, now: Micros, number: usize, service: Micros) -> Option<Micros> {
        self.pass(now);
        self.stats.arrived += 1;
        self.inside.insert(number, now);
        if self.serving < self.servers {
            self.serving += 1;
            self.stats.waits.push(0);
            return Some(now + service);
        }
        self.waiting.push_back((number, service));
        self.stats.waiting_most = self.stats.waiting_most.max(self.waiting.len());
        None
    }

    /// The one with this number has been served. The next one, and when that will be over.
    pub fn leave(&mut self, now: Micros, number: usize) -> Option<(usize, Micros)> {
        self.pass(now);
        if let Some(arrived) = self.inside.remove(&number) {
            self.stats.left += 1;
            self.stats.times += u128::from(now - arrived);
        }
        match self.waiting.pop_front() {
            Some((next, service)) => {
                self.stats.waits.push(now - self.inside.get(&next).copied().unwrap_or(now));
                Some((next, now + service))
            }
            None => {
                self.serving -= 1;
                None
            }
        }
    }

    pub fn inside(&self) -> usize {
        self.inside.len()
    }

    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// The share of its servers' time in which they worked.
    pub fn utilisation(&mut self, now: Micros) -> f64 {
        self.pass(now);
        self.stats.busy_area as f64 / (now.max(1) as f64 * self.servers as f64)
    }

    /// Both sides of Little's law up to now; those that are still inside count.
    pub fn little(&mut self, now: Micros) -> Little {
        self.pass(now);
        let still: u128 = self.inside.values().map(|arrived| u128::from(now - arrived)).sum();
        let all = self.stats.arrived.max(1) as f64;
        let mean = seconds(1) * (self.stats.times + still) as f64 / all;
        Little {
            counted: self.stats.area as f64 / now.max(1) as f64,
            by_law: all / seconds(now.max(1)) * mean,
        }
    }

    fn pass(&mut self, now: Micros) {
        let time = u128::from(now - self.latest);
        self.stats.area += time * self.inside.len() as u128;
        self.stats.busy_area += time * self.serving as u128;
        self.latest = now;
    }
}

impl Stats {
    /// Mean time in the queue, in seconds.
    pub fn wait_mean(&self) -> f64 {
        let sum: u128 = self.waits.iter().map(|wait| u128::from(*wait)).sum();
        seconds(1) * sum as f64 / self.waits.len().max(1) as f64
    }

    /// The time in the queue that this share of all did not exceed, in seconds.
    pub fn wait_quantile(&self, share: f64) -> f64 {
        let mut waits = self.waits.clone();
        waits.sort_unstable();
        let place = ((waits.len() as f64 * share).ceil() as usize).clamp(1, waits.len().max(1)) - 1;
        waits.get(place).map_or(0.0, |wait| seconds(*wait))
    }
}
