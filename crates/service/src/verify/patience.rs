//! Time limits of verify: shorter after waits in vain, so that a hanging service fails within seconds.

use std::cell::Cell;
use std::time::Duration;

use super::Timeouts;

/// Number of waits in vain after which limits are shorter.
const IN_VAIN_MAX: u32 = 2;

/// Answers and closes are counted separately: a service that leaves connections open may answer quickly.
#[derive(Debug)]
pub(super) struct Patience {
    pub timeouts: Timeouts,
    answers: Cell<u32>,
    ends: Cell<u32>,
    /// Whether the current check is a known failure.
    fails: Cell<bool>,
}

impl Patience {
    /// `leaves_open`: the service is known not to close connections when it should.
    pub(super) fn new(timeouts: &Timeouts, leaves_open: bool) -> Patience {
        let ends = if leaves_open { IN_VAIN_MAX } else { 0 };
        Patience {
            timeouts: timeouts.clone(),
            answers: Cell::new(0),
            ends: Cell::new(ends),
            fails: Cell::new(false),
        }
    }

    /// Begins a check; one that is known to fail gets the short time limit.
    pub(super) fn begin(&self, is_known_to_fail: bool) {
        self.fails.set(is_known_to_fail);
    }

    pub(super) fn for_answer(&self) -> Duration {
        self.left(&self.answers)
    }

    pub(super) fn for_end(&self) -> Duration {
        self.left(&self.ends)
    }

    pub(super) fn no_answer_came(&self) {
        self.answers.set(self.answers.get() + 1);
    }

    pub(super) fn no_end_came(&self) {
        self.ends.set(self.ends.get() + 1);
    }

    fn left(&self, in_vain: &Cell<u32>) -> Duration {
        let Timeouts { answer, after_silence, .. } = self.timeouts;
        let is_short = self.fails.get() || in_vain.get() >= IN_VAIN_MAX;
        if is_short { answer.min(after_silence) } else { answer }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_waits_in_vain_make_the_next_ones_short() {
        let (long, short) = (Duration::from_secs(5), Duration::from_secs(1));
        let timeouts = Timeouts { answer: long, after_silence: short, ..Timeouts::default() };
        let patience = Patience::new(&timeouts, false);
        patience.no_answer_came();
        assert_eq!(patience.for_answer(), long);
        patience.no_answer_came();
        assert_eq!((patience.for_answer(), patience.for_end()), (short, long));
        patience.no_end_came();
        patience.no_end_came();
        assert_eq!(patience.for_end(), short);
        let failing = Patience::new(&timeouts, false);
        failing.begin(true);
        assert_eq!((failing.for_answer(), failing.for_end()), (short, short));
        failing.begin(false);
        assert_eq!(failing.for_answer(), long, "of another check");
        let known = Patience::new(&timeouts, true);
        assert_eq!((known.for_answer(), known.for_end()), (long, short));
        let hasty = Timeouts { answer: Duration::from_millis(10), ..timeouts };
        assert_eq!(Patience::new(&hasty, true).for_end(), hasty.answer, "never longer");
    }
}
