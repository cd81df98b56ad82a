//! Which test begins next. Pure: it knows places in a list, and neither processes nor time.

use std::collections::VecDeque;

/// A test that waits or runs: its place in the list of tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Waiting {
    pub(super) place: usize,
    /// It is in a group: one of these runs at a time.
    pub(super) is_single: bool,
}

/// Two lanes: in one, tests of groups run one at a time; in the other all others, as many at once as there is room for.
#[derive(Debug)]
pub(super) struct Queue {
    singles: VecDeque<Waiting>,
    others: VecDeque<Waiting>,
    has_single: bool,
    running: usize,
    /// How many others run beside one of a group. Without one there is room for one more.
    beside: usize,
}

impl Queue {
    pub(super) fn new(waiting: Vec<Waiting>, beside: usize) -> Queue {
        let (singles, others): (VecDeque<_>, _) = waiting.into_iter().partition(|test| test.is_single);
        Queue { singles, others, has_single: false, running: 0, beside: beside.max(1) }
    }

    /// The test that begins now, if there is room for one.
    pub(super) fn begin(&mut self) -> Option<Waiting> {
        if !self.has_single
            && let Some(test) = self.singles.pop_front()
        {
            self.has_single = true;
            return Some(test);
        }
        let room = if self.has_single { self.beside } else { self.beside + 1 };
        let test = if self.running < room { self.others.pop_front() } else { None };
        self.running += usize::from(test.is_some());
        test
    }

    pub(super) fn end(&mut self, test: Waiting) {
        match test.is_single {
            true => self.has_single = false,
            false => self.running -= 1,
        }
    }

    /// Whether nothing waits and nothing runs.
    pub(super) fn is_done(&self) -> bool {
        self.singles.is_empty() && self.others.is_empty() && !self.has_single && self.running == 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn queue(singles: &[bool], beside: usize) -> Queue {
        let waiting = singles.iter().enumerate();
        Queue::new(waiting.map(|(place, &is_single)| Waiting { place, is_single }).collect(), beside)
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
        queue.end(Waiting { place: 3, is_single: true });
        assert_eq!(begun(&mut queue).iter().map(|test| test.place).collect::<Vec<_>>(), [2], "one more");
    }

    proptest! {
        #[test]
        fn every_test_runs_once(singles in prop::collection::vec(any::<bool>(), 0..40), beside in 1..4_usize, seed in any::<u64>()) {
            let mut queue = queue(&singles, beside);
            let (mut running, mut seen, mut draw) = (Vec::<Waiting>::new(), Vec::new(), seed);
            while !queue.is_done() {
                running.extend(begun(&mut queue));
                prop_assert!(!running.is_empty(), "nothing runs, and something waits");
                prop_assert!(running.iter().filter(|test| test.is_single).count() <= 1);
                prop_assert!(running.len() <= beside + 1);
                draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let ended = running.swap_remove((draw >> 33) as usize % running.len());
                seen.push(ended.place);
                queue.end(ended);
            }
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..singles.len()).collect::<Vec<_>>());
        }
    }
}
