//! The report of a run and of its intervals. The module knows no sockets.

use std::collections::BTreeMap;

use super::measures::Measures;
use crate::driver::{ChosenDriver, DriverKind};
use crate::negotiated::Handshakes;
use crate::tally::FailureSample;

/// The result of a run.
#[derive(Debug, Clone)]
pub struct RunReport {
    /// The time in which `answered_in_window` was counted: the window of the stop, or less if interrupted.
    /// For a stop by number it is all of `elapsed_ns`; for an empty pool it is 0.
    pub window_ns: u64,
    /// From the first request to the end of the drain.
    pub elapsed_ns: u64,
    /// All counts and times.
    pub total: Measures,
    /// `answered`, by the name of the exchange.
    pub answered_by_name: BTreeMap<String, u64>,
    /// CPU time of all worker threads, by the thread CPU clock.
    pub generator_cpu_ns: u64,
    /// The part of that CPU time spent polling without result; 0 unless the workers poll
    /// ([`Waiting::Poll`](crate::Waiting)).
    pub generator_polled_ns: u64,
    /// The number of worker threads.
    pub threads: usize,
    /// The driver that was used.
    pub driver: ChosenDriver,
    /// Whether the caller interrupted it.
    pub interrupted: bool,
    /// The time after the start since which no server listens: connections were refused, and after that none
    /// was established and no answer arrived.
    pub gone_since_ns: Option<u64>,
    /// The earliest wrong answer or, without one, the earliest failure.
    pub first_failure: Option<FailureSample>,
    /// The TLS handshakes of all connections so far.
    pub handshakes: Option<Handshakes>,
    /// The results of a common start, if the load has one.
    pub aligned: Option<AlignedRun>,
}

/// The results of a run that started together with others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AlignedRun {
    /// The time from the start until the last thread began.
    pub late_ns: u64,
    /// The number of answers before each mark.
    pub answered_at: Vec<u64>,
}

impl AlignedRun {
    pub(super) fn add(&mut self, other: &AlignedRun) {
        self.late_ns = self.late_ns.max(other.late_ns);
        self.answered_at.resize(self.answered_at.len().max(other.answered_at.len()), 0);
        for (own, more) in self.answered_at.iter_mut().zip(&other.answered_at) {
            *own += more;
        }
    }
}

impl RunReport {
    /// A report of one thread over epoll without anything unusual. Tests override what differs.
    #[must_use]
    pub fn usual(elapsed_ns: u64, total: Measures) -> RunReport {
        RunReport {
            window_ns: elapsed_ns,
            elapsed_ns,
            total,
            answered_by_name: BTreeMap::new(),
            generator_cpu_ns: 0,
            generator_polled_ns: 0,
            threads: 1,
            driver: ChosenDriver { kind: DriverKind::Epoll, reason: None },
            interrupted: false,
            gone_since_ns: None,
            first_failure: None,
            handshakes: None,
            aligned: None,
        }
    }

    /// Answers per second of the window.
    #[must_use]
    pub fn answers_per_s(&self) -> f64 {
        per_s(self.total.tally.answered_in_window, self.window_ns)
    }

    /// Answers per second while the server existed: of the whole window, unless the server ended earlier.
    #[must_use]
    pub fn answers_per_s_while_up(&self) -> f64 {
        let up_ns = self.gone_since_ns.map_or(self.window_ns, |since_ns| since_ns.min(self.window_ns));
        per_s(self.total.tally.answered_in_window, up_ns)
    }

    /// Events per second of the window; `None` if no answer is a stream of events.
    #[must_use]
    pub fn events_per_s(&self) -> Option<f64> {
        self.total.events.as_ref().map(|events| per_s(events.events, self.window_ns))
    }

    /// CPU time that the generator worked per event; `None` without events.
    #[must_use]
    pub fn generator_cpu_ns_per_event(&self) -> Option<f64> {
        let events = self.total.events.as_ref().filter(|events| events.events > 0)?;
        Some(self.generator_busy_ns() as f64 / events.events as f64)
    }

    /// CPU time that the generator's threads worked, excluding polling without result.
    #[must_use]
    pub fn generator_busy_ns(&self) -> u64 {
        // A thread that was preempted while it polled used less CPU time than the clock shows.
        self.generator_cpu_ns.saturating_sub(self.generator_polled_ns)
    }

    /// CPU time that the generator worked per answer; 0 without answers.
    #[must_use]
    pub fn generator_cpu_ns_per_answer(&self) -> f64 {
        match self.total.tally.answered {
            0 => 0.0,
            answered => self.generator_busy_ns() as f64 / answered as f64,
        }
    }

    /// The share of the threads' time in which the generator worked.
    #[must_use]
    pub fn generator_busy_share(&self) -> f64 {
        let all_ns = self.elapsed_ns as f64 * self.threads as f64;
        if all_ns > 0.0 { self.generator_busy_ns() as f64 / all_ns } else { 0.0 }
    }

    /// The mean number of requests in flight.
    #[must_use]
    pub fn in_flight_mean(&self) -> f64 {
        if self.elapsed_ns == 0 { 0.0 } else { self.total.in_flight_ns as f64 / self.elapsed_ns as f64 }
    }
}

/// A part of a run, reported while it runs.
#[derive(Debug, Clone)]
pub struct RunInterval {
    /// The start, counted from the start of the run.
    pub from_ns: u64,
    /// The end. The last interval may be shorter than the others or, with the drain, longer.
    pub to_ns: u64,
    /// The counts and times of the interval.
    pub measures: Measures,
}

impl RunInterval {
    /// Answers per second.
    #[must_use]
    pub fn answers_per_s(&self) -> f64 {
        per_s(self.measures.tally.answered, self.to_ns - self.from_ns)
    }

    /// Events per second; `None` if no answer is a stream of events.
    #[must_use]
    pub fn events_per_s(&self) -> Option<f64> {
        let events = self.measures.events.as_ref()?;
        Some(per_s(events.events, self.to_ns - self.from_ns))
    }
}

fn per_s(count: u64, ns: u64) -> f64 {
    if ns == 0 { 0.0 } else { count as f64 * 1e9 / ns as f64 }
}
