//! Detects that a server is gone. Otherwise a load with a number of requests would retry for up to an hour.
//! The engine itself reports that connections failed.

use tare_load::RunInterval;

/// The number of consecutive intervals of 1 s without an answer and with failed connections, after which the
/// load gives up.
const SILENT_MAX: u32 = 30;

#[derive(Debug, Default)]
pub(super) struct Silence {
    silent: u32,
}

impl Silence {
    /// Adds an interval, and returns whether to give up.
    pub(super) fn is_over_with(&mut self, interval: &RunInterval) -> bool {
        let tally = &interval.measures.tally;
        let gone = tally.answered == 0 && tally.connects == 0 && tally.connection_failed.total() > 0;
        // The interval that ends the load may be short and empty: the decision to give up is final.
        if !self.given_up() {
            self.silent = if gone { self.silent + 1 } else { 0 };
        }
        self.given_up()
    }

    pub(super) fn given_up(&self) -> bool {
        self.silent >= SILENT_MAX
    }

    pub(super) fn note(&self) -> Option<String> {
        let sentence = || format!("gave up: the server accepted no connection for {SILENT_MAX} s");
        self.given_up().then(sentence)
    }
}

#[cfg(test)]
mod tests {
    use tare_load::{Failure, Measures};

    use super::*;

    #[test]
    fn only_a_server_that_is_gone_for_long_is_given_up() {
        let interval = |refused: bool, answered| {
            let mut measures = Measures::default();
            measures.tally.answered = answered;
            if refused {
                measures.tally.connection_failed.add(Failure::Refused);
            }
            RunInterval { from_ns: 0, to_ns: 1, measures }
        };
        let mut silence = Silence::default();
        let over = |silence: &mut Silence, times: u32, interval: &RunInterval| {
            (0..times).map(|_| silence.is_over_with(interval)).last().unwrap_or_default()
        };
        assert!(!over(&mut silence, 100, &interval(false, 0)), "slow is not gone");
        assert!(!over(&mut silence, 29, &interval(true, 0)));
        assert!(!over(&mut silence, 1, &interval(true, 1)), "it answers");
        assert!(!over(&mut silence, 29, &interval(true, 0)));
        assert_eq!(silence.note(), None);
        assert!(over(&mut silence, 1, &interval(true, 0)));
        assert!(over(&mut silence, 1, &interval(false, 0)), "for good");
        assert_eq!(silence.note().unwrap(), "gave up: the server accepted no connection for 30 s");
    }
}
