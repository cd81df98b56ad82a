//! Which test begins next. Pure: it knows places in a list, and neither processes nor time.

use std::collections::VecDeque;

/// A test that waits or runs: its place in the list of tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Waiting {
    pub(super) place: usize,
    pub(super) measures: bool,
}

/// Two lanes: in one, tests that measure run one at a time; in the other all others, as many at once as there is room for.
#[derive(Debug)]
pub(super) struct Queue {
    measuring: VecDeque<Waiting>,
    others: VecDeque<Waiting>,
    is_measuring: bool,
    running: usize,
    /// How many others run beside one that measures. Without one there is room for one more.
    beside: usize,
}

impl Queue {
    pub(super) fn new(waiting: Vec<Waiting>, beside: usize) -> Queue {
        let (measuring, others): (VecDeque<_>, _) = waiting.into_iter().partition(|test| test.measures);
        Queue { measuring, others, is_measuring: false, running: 0, beside: beside.max(1) }
    }

    /// The test that begins now, if there is room for one.
    pub(super) fn begin(&mut self) -> Option<Waiting> {
        if !self.is_measuring
            && let Some(test) = self.measuring.pop_front()
        {
            self.is_measuring = true;
            return Some(test);
        }
        let room = if self.is_measuring { self.beside } else { self.beside + 1 };
        let test = if self.running < room { self.others.pop_front() } else { None };
        self.running += usize::from(test.is_some());
        test
    }

    pub(super) fn end(&mut self, test: Waiting) {
        match test.measures {
            true => self.is_measuring = false,
            false => self.running -= 1,
        }
    }

    /// Whether nothing waits and nothing runs.
    pub(super) fn is_done(&self) -> bool {
        self.measuring.is_empty() && self.others.is_empty() && !self.is_measuring && self.running == 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn queue(measures: &[bool], beside: usize) -> Queue {
        let waiting = measures.iter().enumerate();
        Queue::new(waiting.map(|(place, &measures)| Waiting { place, measures }).collect(), beside)
    }

    fn begun(queue: &mut Queue) -> Vec<Waiting> {
        std::iter::from_fn(|| queue.begin()).collect()
    }

    #[test]
    fn one_measures_and_others_run_beside_it() {
        let mut queue = queue(&[false, true, false, true, false], 1);
        let first = begun(&mut queue);
        assert_eq!(first.iter().map(|test| test.place).collect::<Vec<_>>(), [1, 0]);
        queue.end(first[0]);
        assert_eq!(begun(&mut queue).iter().map(|test| test.place).collect::<Vec<_>>(), [3]);
        queue.end(Waiting { place: 3, measures: true });
        assert_eq!(begun(&mut queue).iter().map(|test| test.place).collect::<Vec<_>>(), [2], "one more");
    }

    proptest! {
        #[test]
        fn every_test_runs_once(measures in prop::collection::vec(any::<bool>(), 0..40), beside in 1..4_usize, seed in any::<u64>()) {
            let mut queue = queue(&measures, beside);
            let (mut running, mut seen, mut draw) = (Vec::<Waiting>::new(), Vec::new(), seed);
            while !queue.is_done() {
                running.extend(begun(&mut queue));
                prop_assert!(!running.is_empty(), "nothing runs, and something waits");
                prop_assert!(running.iter().filter(|test| test.measures).count() <= 1);
                prop_assert!(running.len() <= beside + 1);
                draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let ended = running.swap_remove((draw >> 33) as usize % running.len());
                seen.push(ended.place);
                queue.end(ended);
            }
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..measures.len()).collect::<Vec<_>>());
        }
    }
}
