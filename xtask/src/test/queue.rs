//! The scheduling of tests: a pure function of places in a list, without processes or time.

use std::collections::VecDeque;

/// What a test may run beside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    /// Beside any other test.
    Shared,
    /// A measuring test: beside shared tests, but not beside others of its kind.
    Measuring,
    /// A test that mostly waits for a clock: one of them runs in addition to the others.
    Clock,
    /// Beside no other test, and last.
    Alone,
}

/// A waiting or running test, by its place in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Waiting {
    pub(super) place: usize,
    pub(super) lane: Lane,
}

/// The waiting tests by lane, and the number of running ones.
#[derive(Debug)]
pub(super) struct Queue {
    measuring: VecDeque<Waiting>,
    shared: VecDeque<Waiting>,
    clock: VecDeque<Waiting>,
    alone: VecDeque<Waiting>,
    /// Whether a test that waits for a clock runs.
    has_clock: bool,
    /// Whether a measuring or solitary test runs.
    has_single: bool,
    running: usize,
    /// Number of shared tests beside a measuring one. Without one there is room for one more.
    beside: usize,
}

impl Queue {
    pub(super) fn new(waiting: Vec<Waiting>, beside: usize) -> Queue {
        let of = |lane| waiting.iter().copied().filter(|test| test.lane == lane).collect();
        let [measuring, shared, clock, alone] =
            [Lane::Measuring, Lane::Shared, Lane::Clock, Lane::Alone].map(of);
        let beside = beside.max(1);
        Queue { measuring, shared, clock, alone, has_clock: false, has_single: false, running: 0, beside }
    }

    /// The next test to start, if there is room.
    pub(super) fn begin(&mut self) -> Option<Waiting> {
        if !self.has_single {
            let is_clock_over = !self.has_clock && self.clock.is_empty();
            let is_quiet = self.running == 0 && self.shared.is_empty() && is_clock_over;
            let single = self.measuring.pop_front();
            let single = single.or_else(|| if is_quiet { self.alone.pop_front() } else { None });
            if single.is_some() {
                self.has_single = true;
                return single;
            }
        }
        let room = if self.has_single { self.beside } else { self.beside + 1 };
        let test = if self.running < room { self.shared.pop_front() } else { None };
        self.running += usize::from(test.is_some());
        test.or_else(|| self.begin_clock())
    }

    fn begin_clock(&mut self) -> Option<Waiting> {
        let test = if self.has_clock { None } else { self.clock.pop_front() };
        self.has_clock |= test.is_some();
        test
    }

    pub(super) fn end(&mut self, test: Waiting) {
        match test.lane {
            Lane::Measuring | Lane::Alone => self.has_single = false,
            Lane::Clock => self.has_clock = false,
            Lane::Shared => self.running -= 1,
        }
    }

    /// Whether nothing waits and nothing runs.
    pub(super) fn is_done(&self) -> bool {
        let waiting = [&self.measuring, &self.shared, &self.clock, &self.alone];
        let is_running = self.has_single || self.has_clock || self.running > 0;
        waiting.iter().all(|tests| tests.is_empty()) && !is_running
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn queue(lanes: &[Lane], beside: usize) -> Queue {
        let waiting = lanes.iter().enumerate();
        Queue::new(waiting.map(|(place, &lane)| Waiting { place, lane }).collect(), beside)
    }

    fn begun(queue: &mut Queue) -> Vec<Waiting> {
        std::iter::from_fn(|| queue.begin()).collect()
    }

    fn places(tests: &[Waiting]) -> Vec<usize> {
        tests.iter().map(|test| test.place).collect()
    }

    #[test]
    fn one_measures_and_others_run_beside_it() {
        use Lane::{Measuring, Shared};
        let mut queue = queue(&[Shared, Measuring, Shared, Measuring, Shared], 1);
        let first = begun(&mut queue);
        assert_eq!(places(&first), [1, 0]);
        queue.end(first[0]);
        assert_eq!(places(&begun(&mut queue)), [3]);
        queue.end(Waiting { place: 3, lane: Measuring });
        assert_eq!(places(&begun(&mut queue)), [2], "one more");
    }

    #[test]
    fn one_that_waits_takes_no_place_from_others() {
        use Lane::{Alone, Clock, Measuring, Shared};
        let mut queue = queue(&[Clock, Shared, Measuring, Clock, Alone], 1);
        let first = begun(&mut queue);
        assert_eq!(places(&first), [2, 1, 0]);
        queue.end(first[0]);
        queue.end(first[1]);
        assert_eq!(places(&begun(&mut queue)), [0; 0], "the other one waits for its kind");
        queue.end(first[2]);
        let second = begun(&mut queue);
        assert_eq!(places(&second), [3]);
        queue.end(second[0]);
        assert_eq!(places(&begun(&mut queue)), [4]);
    }

    fn lane() -> impl Strategy<Value = Lane> {
        prop::sample::select(vec![Lane::Shared, Lane::Measuring, Lane::Clock, Lane::Alone])
    }

    proptest! {
        #[test]
        fn every_test_runs_once(lanes in prop::collection::vec(lane(), 0..40), beside in 1..4_usize, seed in any::<u64>()) {
            let mut queue = queue(&lanes, beside);
            let (mut running, mut seen, mut draw) = (Vec::<Waiting>::new(), Vec::new(), seed);
            while !queue.is_done() {
                running.extend(begun(&mut queue));
                let number = |lane| running.iter().filter(|test| test.lane == lane).count();
                prop_assert!(!running.is_empty(), "nothing runs, and something waits");
                prop_assert!(number(Lane::Measuring) <= 1 && number(Lane::Clock) <= 1);
                prop_assert!(running.len() - number(Lane::Clock) <= beside + 1);
                prop_assert!(number(Lane::Alone) == 0 || running.len() == 1);
                draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let ended = running.swap_remove((draw >> 33) as usize % running.len());
                seen.push(ended.place);
                queue.end(ended);
            }
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..lanes.len()).collect::<Vec<_>>());
        }
    }
}
