//! How long verify waits for a service, which is less once it has waited in vain: a service that hangs is proved in seconds.

use std::cell::Cell;
use std::time::Duration;

use super::Timeouts;

/// After this number of waits in vain the next ones are shorter.
const IN_VAIN_MAX: u32 = 2;

/// Answers and the ends of connections are counted apart: who leaves a connection open is not slow to answer.
#[derive(Debug)]
pub(super) struct Patience {
    pub timeouts: Timeouts,
    answers: Cell<u32>,
    ends: Cell<u32>,
    /// The check that is made is known to fail.
    fails: Cell<bool>,
}

impl Patience {
    /// `leaves_open` is known of a service that does not close connections when it should.
    pub(super) fn new(timeouts: &Timeouts, leaves_open: bool) -> Patience {
        let ends = if leaves_open { IN_VAIN_MAX } else { 0 };
        Patience {
            timeouts: timeouts.clone(),
            answers: Cell::new(0),
            ends: Cell::new(ends),
            fails: Cell::new(false),
        }
    }

    /// Of a check that is known to fail little is hoped for.
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
