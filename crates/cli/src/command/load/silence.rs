//! Whether a server is gone: a number of requests would otherwise be tried for as long as an hour.

use tare_load::{Doubt, Interval, Load, Quota};

/// So many intervals of 1 s without an answer, in each of which connections fail, are no hiccup.
const SILENT_MAX: u32 = 30;

/// Listens to the intervals of a load.
#[derive(Debug, Default)]
pub struct Silence {
    silent: u32,
}

impl Silence {
    /// Takes the next interval, and says whether it is time to give up.
    pub fn is_over_with(&mut self, interval: &Interval) -> bool {
        let tally = &interval.measures.tally;
        let gone = tally.answered == 0 && tally.connects == 0 && tally.connection_failed.total() > 0;
        // The interval that ends the load may be short and without a word: once given up is for good.
        if !self.given_up() {
            self.silent = if gone { self.silent + 1 } else { 0 };
        }
        self.given_up()
    }

    /// Whether it was time to give up.
    pub fn given_up(&self) -> bool {
        self.silent >= SILENT_MAX
    }

    /// What a reader is told.
    pub fn note(&self) -> Option<String> {
        let told = || format!("given up after {SILENT_MAX} s in which the server took no connection");
        self.given_up().then(told)
    }

    /// Requests that were wanted and never tried are errors too: the engine knows only of those that it sent.
    pub fn doubt(&self, load: &Load, connections: usize, answered: u64) -> Option<Doubt> {
        let wanted = match load.stop.quota()? {
            Quota::Requests(count) => count,
            Quota::RequestsEach(count) => count.saturating_mul(connections as u64),
            Quota::Connections(count) => count.saturating_mul(load.requests_per_connection.unwrap_or(1)),
        };
        let share = 1.0 - answered as f64 / wanted.max(1) as f64;
        self.given_up().then_some(Doubt::Erroring { share })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tare_load::{Failure, Measures, Schedule, Stop};

    use super::*;

    #[test]
    fn only_a_server_that_is_gone_for_long_is_given_up() {
        let interval = |refused: bool, answered| {
            let mut measures = Measures::default();
            measures.tally.answered = answered;
            if refused {
                measures.tally.connection_failed.add(Failure::Refused);
            }
            Interval { from_ns: 0, to_ns: 1, measures }
        };
        let mut silence = Silence::default();
        let over = |silence: &mut Silence, times: u32, interval: &Interval| {
            (0..times).map(|_| silence.is_over_with(interval)).last().unwrap_or_default()
        };
        assert!(!over(&mut silence, 100, &interval(false, 0)), "slow is not gone");
        assert!(!over(&mut silence, 29, &interval(true, 0)));
        assert!(!over(&mut silence, 1, &interval(true, 1)), "it answers");
        assert!(!over(&mut silence, 29, &interval(true, 0)));
        let load = |quota| {
            let stop = Stop::count(quota, Duration::from_secs(3_600), Duration::ZERO);
            Load::new(Schedule::SATURATE, stop, Duration::from_secs(1))
        };
        let requests = load(Quota::Requests(100));
        assert_eq!((silence.note(), silence.doubt(&requests, 2, 75)), (None, None));
        assert!(over(&mut silence, 1, &interval(true, 0)));
        assert!(over(&mut silence, 1, &interval(false, 0)), "for good");
        let share = |quota| silence.doubt(&load(quota), 2, 75).map(|doubt| doubt.to_string()).unwrap();
        let told = "erroring: 25.000% of the requests have no right answer";
        assert_eq!(share(Quota::Requests(100)), told);
        assert_eq!(share(Quota::RequestsEach(50)), told);
        assert_eq!(share(Quota::Connections(100)), told);
        assert_eq!(silence.note().unwrap(), "given up after 30 s in which the server took no connection");
    }
}
