//! Findings in the intervals of a load that its totals do not show: memory that only grows, and failures
//! confined to a part of the load. Pure: intervals in, sentences out.

use std::time::Duration;
use tare_base::units::several;

use tare_analysis::{
    behaviour::memory::{Course, MemoryGrowth},
    figures::time,
};
use tare_base::units::spell_duration;
use tare_load::RunInterval;

const NS_PER_S: u64 = 1_000_000_000;

/// Failures that spread over a larger part of the load concern the whole load.
const PART_MAX: f64 = 1.0 / 3.0;
/// With fewer failures, the time of the first one is enough.
const FAILURES_MIN: u64 = 2;

/// The server's memory over the number of its answers.
#[derive(Debug, Default)]
pub(super) struct ServerMemory {
    answered: u64,
    course: Course,
}

impl ServerMemory {
    /// Adds an interval; `bytes` is `None` if the server's processes are not visible.
    pub(super) fn add(&mut self, interval: &RunInterval, bytes: Option<u64>) {
        self.answered += interval.measures.tally.answered;
        self.course.extend(bytes.map(|bytes| (self.answered, bytes)));
    }

    pub(super) fn note(&self) -> Option<String> {
        MemoryGrowth::of_process(&self.course).map(|growth| growth.text("the server's", ""))
    }
}

/// The end of each interval, and the number of its failures.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FailureCourse(Vec<(u64, u64)>);

impl FailureCourse {
    pub(super) fn add(&mut self, interval: &RunInterval) {
        let tally = &interval.measures.tally;
        self.0.push((interval.to_ns, tally.failed.total() + tally.connection_failed.total()));
    }

    /// A note if all failures lie in a small part of the load.
    pub(super) fn note(&self) -> Option<String> {
        let is_failing = |(_, failed): &(u64, u64)| *failed > 0;
        let (first, last) = (self.0.iter().position(is_failing)?, self.0.iter().rposition(is_failing)?);
        let all: u64 = self.0.iter().map(|(_, failed)| failed).sum();
        let from_ns = if first == 0 { 0 } else { self.0[first - 1].0 };
        let (to_ns, end_ns) = (self.0[last].0, self.0.last()?.0);
        if all < FAILURES_MIN || (to_ns - from_ns) as f64 > PART_MAX * end_ns as f64 {
            return None;
        }
        let [from, to, end, part] = [from_ns, to_ns, end_ns, to_ns - from_ns].map(|ns| time(ns as f64));
        let (failures, is_last) = (several(all, "failure"), last + 1 == self.0.len());
        Some(match (first, is_last) {
            (0, _) => format!(
                "all {failures} came in the first {part} of {end}, and none later: if the server was not ready for the load yet, \
                 --warm-up {} leaves them out",
                spell_duration(Duration::from_secs(to_ns.div_ceil(NS_PER_S)))
            ),
            (_, true) => format!("all {failures} came in the last {part} of {end}, and none before"),
            _ => format!("all {failures} came between {from} and {to} of {end}, and none before or after"),
        })
    }
}

#[cfg(test)]
mod tests {
    use tare_load::{Failure, Measures};

    use super::*;

    fn interval(second: u64, answered: u64, failed: u64) -> RunInterval {
        let mut measures = Measures::default();
        measures.tally.answered = answered;
        (0..failed).for_each(|_| measures.tally.failed.add(Failure::Reset));
        RunInterval { from_ns: second * NS_PER_S, to_ns: (second + 1) * NS_PER_S, measures }
    }

    #[test]
    fn memory_that_only_grows_is_said_with_its_size() {
        let note = |bytes: &dyn Fn(u64) -> Option<u64>| {
            let mut memory = ServerMemory::default();
            (0..10).for_each(|second| memory.add(&interval(second, 10_000, 0), bytes(second)));
            memory.note()
        };
        let leak = note(&|second| Some((20 << 20) + second * 10_000 * 1_024)).unwrap();
        assert!(
            leak.starts_with("the server's memory only grew: 1.00 KiB a request over 90000 requests"),
            "{leak}"
        );
        assert_eq!(note(&|_| Some(20 << 20)), None);
        assert_eq!(note(&|_| None), None, "a server that is not seen");
    }

    #[test]
    fn failures_in_a_part_of_the_load_are_said_with_its_place() {
        let note = |failed: [u64; 10]| {
            let mut course = FailureCourse::default();
            (0..).zip(failed).for_each(|(second, failed)| course.add(&interval(second, 100, failed)));
            course.note()
        };
        let first = note([300, 40, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap();
        assert!(
            first.starts_with("all 340 failures came in the first 2.00 s of 10.0 s, and none later"),
            "{first}"
        );
        assert!(first.contains("--warm-up 2s"), "{first}");
        let last = note([0, 0, 0, 0, 0, 0, 0, 0, 0, 7]).unwrap();
        assert_eq!(last, "all 7 failures came in the last 1.00 s of 10.0 s, and none before");
        let between = note([0, 0, 0, 1, 0, 5, 0, 0, 0, 0]).unwrap();
        assert_eq!(
            between,
            "all 6 failures came between 3.00 s and 6.00 s of 10.0 s, and none before or after"
        );
        for spread in [[0; 10], [1; 10], [0, 0, 1, 0, 0, 0, 0, 0, 0, 0], [5, 0, 0, 0, 5, 0, 0, 0, 0, 0]] {
            assert_eq!(note(spread), None, "{spread:?}");
        }
    }
}
