//! Counts answers up to instants that are set before the run. With them a window within the run can be chosen
//! afterwards, when the offsets between the generators are known. It costs one comparison per answer.

/// The answers of one worker up to each instant.
#[derive(Debug)]
pub(super) struct Marks {
    /// In ascending order.
    at_ns: Vec<u64>,
    /// The first mark that has not passed.
    next_ns: u64,
    answered: u64,
    counts: Vec<u64>,
}

impl Default for Marks {
    fn default() -> Marks {
        Marks { at_ns: Vec::new(), next_ns: u64::MAX, answered: 0, counts: Vec::new() }
    }
}

impl Marks {
    /// Makes marks at these times after the start.
    pub(super) fn new(start_ns: u64, after_ns: &[u64]) -> Marks {
        let mut at_ns: Vec<u64> =
            after_ns.iter().map(|after_ns| start_ns.saturating_add(*after_ns)).collect();
        at_ns.sort_unstable();
        Marks {
            next_ns: at_ns.first().copied().unwrap_or(u64::MAX),
            counts: Vec::with_capacity(at_ns.len()),
            at_ns,
            answered: 0,
        }
    }

    #[inline]
    pub(super) fn answered(&mut self, now_ns: u64) {
        if now_ns >= self.next_ns {
            self.pass(now_ns);
        }
        self.answered += 1;
    }

    #[cold]
    fn pass(&mut self, now_ns: u64) {
        while self.at_ns.get(self.counts.len()).is_some_and(|at_ns| *at_ns <= now_ns) {
            self.counts.push(self.answered);
        }
        self.next_ns = self.at_ns.get(self.counts.len()).copied().unwrap_or(u64::MAX);
    }

    /// The number of answers before each mark, at the end of the run.
    pub(super) fn finish(&mut self) -> Vec<u64> {
        self.pass(u64::MAX);
        std::mem::take(&mut self.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_before_each_mark_are_counted() {
        let mut marks = Marks::new(100, &[50, 10, 20, 900]);
        [105, 110, 110, 149, 150, 151].into_iter().for_each(|now_ns| marks.answered(now_ns));
        assert_eq!(marks.finish(), [1, 3, 4, 6], "an answer at the mark is after it");
        let mut none = Marks::default();
        none.answered(5);
        assert_eq!(none.finish(), [0; 0]);
        assert_eq!(Marks::new(0, &[1, 2]).finish(), [0, 0]);
    }
}
