//! How a load gets on, second by second, and whether the service still answers.

use tare_load::{Interval, RunReport};

use crate::{
    plan::{Deadlines, Point},
    sample::{Hung, Second},
};

pub(super) struct LoadWatch {
    deadlines: Deadlines,
    /// How many there will be, if that is what ends the load. One that ends by time ends in any case.
    requests: Option<u64>,
    answered: u64,
    silent_ns: u64,
    seconds: Vec<Second>,
}

impl LoadWatch {
    pub(super) fn new(point: &Point) -> LoadWatch {
        LoadWatch {
            deadlines: point.deadlines(),
            requests: point.load.requests(),
            answered: 0,
            silent_ns: 0,
            seconds: Vec::new(),
        }
    }

    pub(super) fn on_second(&mut self, interval: &Interval) {
        let second = Second {
            ns: interval.to_ns - interval.from_ns,
            answered: interval.measures.tally.answered,
            latency_ns_max: interval.measures.latency.max_ns(),
        };
        self.answered += second.answered;
        // A wrong answer, or a reset, is no silence.
        let is_silent = second.answered == 0 && interval.measures.tally.failed.total() == 0;
        self.silent_ns = if is_silent { self.silent_ns + second.ns } else { 0 };
        self.seconds.push(second);
    }

    pub(super) fn into_seconds(self) -> Vec<Second> {
        self.seconds
    }

    /// Nothing moves any more.
    pub(super) fn is_hung(&self) -> bool {
        self.requests
            .is_some_and(|requests| self.answered < requests && self.silent_ns >= self.deadlines.silence_ns)
    }

    /// How a load that should have come to its end did not.
    pub(super) fn hung(&self, report: &RunReport) -> Option<Hung> {
        let requests = self.requests?;
        let hung = Hung { deadline_ns: self.deadlines.all_ns, requests, ..Hung::default() };
        if self.is_hung() {
            return Some(Hung { silent_ns: Some(self.silent_ns), answered: self.answered, ..hung });
        }
        let answered = report.total.tally.answered;
        let is_over = report.elapsed_ns >= self.deadlines.all_ns && answered < requests;
        is_over.then_some(Hung { answered, ..hung })
    }
}
