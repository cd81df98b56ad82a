//! A station: servers that serve one item each, in the order of arrival. The collector's link is a station
//! with one server, its checks are one with several, and the placement of jobs by the engine is one too. A
//! station knows no events: it returns when a service will end.

use std::collections::{BTreeMap, VecDeque};

use crate::{Micros, seconds};

/// Servers with one queue.
#[derive(Debug, Clone)]
pub struct Station {
    servers: usize,
    waiting: VecDeque<(usize, Micros)>,
    /// The items inside, waiting or in service, with their arrival times.
    inside: BTreeMap<usize, Micros>,
    serving: usize,
    stats: Stats,
    latest: Micros,
}

/// The counters of a station.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stats {
    pub arrived: u64,
    pub left: u64,
    /// The integral of the number inside over time.
    area: u128,
    /// The integral of the number of busy servers over time.
    busy_area: u128,
    /// The sum of the times inside of those that left.
    times: u128,
    /// The times in the queue, of those whose service has begun.
    waits: Vec<Micros>,
    pub waiting_most: usize,
}

/// The two sides of Little's law over the whole time: L = lambda W, each measured in its own way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Little {
    /// The mean number inside, by counting.
    pub counted: f64,
    /// The arrival rate times the mean time inside.
    pub by_law: f64,
}

impl Station {
    /// # Panics
    /// If there is no server.
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

    /// An item arrives, with its service time. Returns the end of its service, if that begins at once.
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

    /// The service of an item has ended. Returns the next item, and the end of its service.
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

    /// The share of the servers' time in which they were busy.
    pub fn utilisation(&mut self, now: Micros) -> f64 {
        self.pass(now);
        self.stats.busy_area as f64 / (now.max(1) as f64 * self.servers as f64)
    }

    /// Both sides of Little's law up to now; items still inside count.
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
    /// The mean time in the queue, in seconds.
    pub fn wait_mean(&self) -> f64 {
        let sum: u128 = self.waits.iter().map(|wait| u128::from(*wait)).sum();
        seconds(1) * sum as f64 / self.waits.len().max(1) as f64
    }

    /// The quantile of the time in the queue for this share, in seconds.
    pub fn wait_quantile(&self, share: f64) -> f64 {
        let mut waits = self.waits.clone();
        waits.sort_unstable();
        let place = ((waits.len() as f64 * share).ceil() as usize).clamp(1, waits.len().max(1)) - 1;
        waits.get(place).map_or(0.0, |wait| seconds(*wait))
    }
}
