//! What the workers of a run share, and how their parts become one report. It knows no sockets.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64};

use super::Load;
use crate::exchange::ExchangePool;
use crate::latency::Histogram;
use crate::tally::{Sample, Tally};

/// What happened in a run.
#[derive(Debug, Clone)]
pub struct RunReport {
    /// The time that `answered_in_window` was counted in: the window of the stop, less when interrupted. For a stop
    /// by count it is all of `elapsed_ns`, and for an empty pool 0.
    pub window_ns: u64,
    /// From the first request to the end of the drain.
    pub elapsed_ns: u64,
    /// Every outcome.
    pub tally: Tally,
    /// From the send of each request to the last byte of its response, for all answered ones. Those answered in the
    /// drain are in it too: they are the slow ones, and leaving them out would favour them.
    pub latency: Histogram,
    /// CPU time of all worker threads, by the thread CPU clock.
    pub generator_cpu_ns: u64,
    /// The earliest failure.
    pub first_failure: Option<Sample>,
}

/// What all workers of a run share.
pub(super) struct Shared<'a> {
    pub(super) load: Load,
    pub(super) pool: &'a ExchangePool,
    pub(super) interrupt: &'a AtomicBool,
    /// The requests that are left of a stop by count.
    pub(super) budget: Option<AtomicU64>,
    pub(super) barrier: Barrier,
    pub(super) connect_timeout_ns: u64,
}

/// One worker's part of the report.
pub(super) struct Part {
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) window_ns: u64,
    pub(super) cpu_ns: u64,
    pub(super) tally: Tally,
    pub(super) latency: Histogram,
    pub(super) first_failure: Option<Sample>,
}

/// Adds the parts up.
pub(super) fn gather(parts: &[Part]) -> RunReport {
    let start_ns = parts.iter().map(|part| part.start_ns).min().unwrap_or_default();
    let end_ns = parts.iter().map(|part| part.end_ns).max().unwrap_or_default();
    let mut report = RunReport {
        window_ns: parts.iter().map(|part| part.window_ns).max().unwrap_or_default(),
        elapsed_ns: end_ns - start_ns,
        tally: Tally::default(),
        latency: Histogram::new(),
        generator_cpu_ns: 0,
        first_failure: parts
            .iter()
            .filter_map(|part| part.first_failure.clone())
            .min_by_key(|sample| sample.at_ns),
    };
    for part in parts {
        report.tally += part.tally;
        report.latency.merge(&part.latency);
        report.generator_cpu_ns += part.cpu_ns;
    }
    report
}
