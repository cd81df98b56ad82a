//! Progress of a load, second by second, and whether the service still answers.

use tare_load::{RunInterval, RunReport};

use crate::{
    plan::{Deadlines, Point},
    sample::{Hung, Second},
};

pub(super) struct LoadWatch {
    deadlines: Deadlines,
    /// Total requests, if that ends the load. A load that ends by time always ends.
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

    pub(super) fn on_second(&mut self, interval: &RunInterval) {
        let second = Second {
            ns: interval.to_ns - interval.from_ns,
            answered: interval.measures.tally.answered,
            latency_ns_max: interval.measures.latency.max_ns(),
        };
        self.answered += second.answered;
        // Wrong answers and resets are activity too.
        let is_silent = second.answered == 0 && interval.measures.tally.failed.total() == 0;
        self.silent_ns = if is_silent { self.silent_ns + second.ns } else { 0 };
        self.seconds.push(second);
    }

    pub(super) fn into_seconds(self) -> Vec<Second> {
        self.seconds
    }

    pub(super) fn is_hung(&self) -> bool {
        self.requests
            .is_some_and(|requests| self.answered < requests && self.silent_ns >= self.deadlines.silence_ns)
    }

    /// Why a load with a fixed number of requests did not finish; `None` if it did.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fixture, plan::LoadSpec};
    use tare_load::{Failure, Measures};

    const SECOND_NS: u64 = 1_000_000_000;

    /// A load of 10 producers with 100 messages each, whose silence limit is 5 s.
    fn batch() -> LoadWatch {
        let load = LoadSpec::Batch { producers: 10, messages: 100 };
        LoadWatch::new(&Point { load, ..fixture::closed_loop(10, 1) })
    }

    fn second(number: u64, answered: u64, wrong: u64) -> RunInterval {
        let mut measures = Measures::default();
        measures.tally.answered = answered;
        (0..wrong).for_each(|_| measures.tally.failed.add(Failure::Status));
        RunInterval { from_ns: number * SECOND_NS, to_ns: (number + 1) * SECOND_NS, measures }
    }

    fn report(elapsed_ns: u64, answered: u64) -> RunReport {
        let mut total = Measures::default();
        total.tally.answered = answered;
        RunReport::usual(elapsed_ns, total)
    }

    #[test]
    fn five_seconds_without_an_answer_are_a_service_that_hangs() {
        let mut watch = batch();
        watch.on_second(&second(0, 400, 0));
        (1..5).for_each(|number| watch.on_second(&second(number, 0, 0)));
        assert!(!watch.is_hung(), "4 s of silence");
        watch.on_second(&second(5, 0, 0));
        assert!(watch.is_hung());
        let hung = watch.hung(&report(6 * SECOND_NS, 400)).unwrap();
        assert_eq!((hung.silent_ns, hung.answered, hung.requests), (Some(5 * SECOND_NS), 400, 1000));
        assert_eq!(watch.into_seconds().iter().map(|second| second.answered).sum::<u64>(), 400);
    }

    #[test]
    fn an_answer_or_a_failure_ends_a_silence() {
        for (answered, wrong) in [(1, 0), (0, 1)] {
            let mut watch = batch();
            (0..4).for_each(|number| watch.on_second(&second(number, 0, 0)));
            watch.on_second(&second(4, answered, wrong));
            (5..9).for_each(|number| watch.on_second(&second(number, 0, 0)));
            assert!(!watch.is_hung(), "{answered} answered, {wrong} wrong");
        }
    }

    #[test]
    fn a_load_that_has_all_its_answers_does_not_hang_however_long_it_is_silent() {
        let mut watch = batch();
        watch.on_second(&second(0, 1000, 0));
        (1..20).for_each(|number| watch.on_second(&second(number, 0, 0)));
        assert!(!watch.is_hung());
        assert_eq!(watch.hung(&report(20 * SECOND_NS, 1000)), None);
    }

    #[test]
    fn a_load_that_is_slow_beyond_its_deadline_hangs_without_silence() {
        let watch = batch();
        let all_ns = watch.deadlines.all_ns;
        assert_eq!(watch.hung(&report(all_ns - 1, 999)), None, "it may still come to its end");
        let hung = watch.hung(&report(all_ns, 999)).unwrap();
        assert_eq!((hung.silent_ns, hung.answered, hung.deadline_ns), (None, 999, all_ns));
    }

    #[test]
    fn a_load_that_ends_by_time_never_hangs() {
        let mut watch = LoadWatch::new(&fixture::closed_loop(64, 1));
        (0..100).for_each(|number| watch.on_second(&second(number, 0, 0)));
        assert!(!watch.is_hung());
        assert_eq!(watch.hung(&report(100 * SECOND_NS, 0)), None);
    }
}
