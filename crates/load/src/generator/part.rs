//! The state that the workers of a run share, and how their parts become one report. It knows no sockets.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Barrier};

use super::load::Load;
use super::measures::Measures;
use super::report::{AlignedRun, RunInterval};
use crate::negotiated::Handshakes;
use crate::tally::FailureSample;

pub(super) struct Shared {
    pub(super) load: Load,
    pub(super) interrupt: Arc<AtomicBool>,
    /// The rest of a quota that all workers draw from.
    pub(super) budget: Option<AtomicU64>,
    pub(super) barrier: Barrier,
}

/// A worker's report of an interval; the last one also carries the end of the run.
pub(super) struct Part {
    pub(super) index: usize,
    pub(super) measures: Measures,
    pub(super) end: Option<End>,
}

/// The final facts about a worker, or about all of them.
#[derive(Default)]
pub(super) struct End {
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) window_ns: u64,
    pub(super) cpu_ns: u64,
    pub(super) polled_ns: u64,
    pub(super) interrupted: bool,
    pub(super) gone_since_ns: Option<u64>,
    pub(super) first_failure: Option<FailureSample>,
    /// Correct answers to each exchange of the pool.
    pub(super) answered: Vec<u64>,
    pub(super) handshakes: Option<Handshakes>,
    pub(super) aligned: AlignedRun,
}

/// Adds up the parts of `workers` until all have finished, and reports each interval once all parts of it have arrived.
pub(super) fn gather(
    parts: &Receiver<Part>,
    workers: usize,
    interval_ns: Option<u64>,
    watch: &mut dyn FnMut(&RunInterval),
) -> (Measures, End) {
    let mut total = Measures::default();
    // The server is gone only if every worker finds it gone.
    let mut last = End { start_ns: u64::MAX, gone_since_ns: Some(0), ..End::default() };
    let mut intervals = Intervals { first: 0, pending: VecDeque::new() };
    for _ in 0..workers {
        // Parts of all workers arrive interleaved; each worker sends one last part.
        let end = loop {
            let part = parts.recv().expect("a worker tells when it is through");
            total += &part.measures;
            if interval_ns.is_some() {
                intervals.add(part.index, &part.measures);
            }
            match part.end {
                Some(end) => break end,
                None => intervals.tell(workers, interval_ns, watch),
            }
        };
        last.add(end);
    }
    intervals.tell_last(interval_ns, last.end_ns.saturating_sub(last.start_ns), watch);
    (total, last)
}

impl End {
    fn add(&mut self, end: End) {
        self.start_ns = self.start_ns.min(end.start_ns);
        self.end_ns = self.end_ns.max(end.end_ns);
        self.window_ns = self.window_ns.max(end.window_ns);
        self.cpu_ns += end.cpu_ns;
        self.polled_ns += end.polled_ns;
        self.interrupted |= end.interrupted;
        self.gone_since_ns = self.gone_since_ns.zip(end.gone_since_ns).map(|(own, other)| own.max(other));
        self.answered.resize(self.answered.len().max(end.answered.len()), 0);
        self.answered.iter_mut().zip(end.answered).for_each(|(own, more)| *own += more);
        self.aligned.add(&end.aligned);
        if let Some(handshakes) = &end.handshakes {
            *self.handshakes.get_or_insert_default() += handshakes;
        }
        let own = self.first_failure.take();
        self.first_failure = own.into_iter().chain(end.first_failure).min_by_key(FailureSample::order);
    }
}

/// Intervals of which some workers' parts are missing.
struct Intervals {
    /// The index of the first pending interval.
    first: usize,
    /// Each with the number of parts that have arrived.
    pending: VecDeque<(usize, Measures)>,
}

impl Intervals {
    fn add(&mut self, index: usize, measures: &Measures) {
        // A worker that ends early sends no later intervals, so only a last part can have an index that was
        // already reported. It is then added to the next interval.
        let place = index.saturating_sub(self.first);
        if self.pending.len() <= place {
            self.pending.resize_with(place + 1, Default::default);
        }
        let (heard, sum) = &mut self.pending[place];
        *heard += 1;
        *sum += measures;
    }

    fn tell(&mut self, workers: usize, interval_ns: Option<u64>, watch: &mut dyn FnMut(&RunInterval)) {
        let Some(interval_ns) = interval_ns else { return };
        while self.pending.front().is_some_and(|(heard, _)| *heard == workers) {
            let from_ns = self.first as u64 * interval_ns;
            self.pop(from_ns, from_ns + interval_ns, watch);
        }
    }

    /// Reports the intervals that are left when all workers have finished; the last one ends with the run.
    fn tell_last(&mut self, interval_ns: Option<u64>, elapsed_ns: u64, watch: &mut dyn FnMut(&RunInterval)) {
        let Some(interval_ns) = interval_ns else { return };
        while !self.pending.is_empty() {
            let from_ns = self.first as u64 * interval_ns;
            let last = self.pending.len() == 1;
            let to_ns = if last { elapsed_ns.max(from_ns) } else { from_ns + interval_ns };
            self.pop(from_ns, to_ns, watch);
        }
    }

    fn pop(&mut self, from_ns: u64, to_ns: u64, watch: &mut dyn FnMut(&RunInterval)) {
        if let Some((_, measures)) = self.pending.pop_front() {
            self.first += 1;
            watch(&RunInterval { from_ns, to_ns, measures });
        }
    }
}
