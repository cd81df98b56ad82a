//! Whether a run measured the server or the generator. Pure: numbers and thresholds in, doubts out.

use std::fmt;

use super::load::Load;
use super::report::RunReport;
use crate::schedule::Schedule;
use crate::stop::After;

/// Limits within which a run counts as a measurement of the server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// The largest share of its threads' time that the generator may work.
    pub busy_share_max: f64,
    /// The largest 99th percentile of schedule lag.
    pub schedule_lag_ns_p99_max: u64,
    /// The largest part of the due requests that may fail, or never be sent or answered. A failure of a connection counts
    /// as one too.
    pub error_share_max: f64,
    /// How far rate x mean time may lie from the mean number in flight, as a share of it (Little's law).
    pub little_share_max: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            busy_share_max: 0.95,
            schedule_lag_ns_p99_max: 1_000_000,
            error_share_max: 0.0,
            little_share_max: 0.05,
        }
    }
}

/// One reason not to trust a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Doubt {
    /// The server ended during the run: what is averaged over all of it is of a dead server too.
    Gone {
        /// When, counted from the start.
        since_ns: u64,
    },
    /// The generator had no time left: the rate may be its own.
    GeneratorBound {
        /// The share of its threads' time.
        busy_share: f64,
    },
    /// Requests left later than they were due, by the generator's own fault.
    Late {
        /// The 99th percentile of schedule lag.
        schedule_lag_ns_p99: u64,
    },
    /// Requests or connections failed.
    Failing {
        /// Their share of all that were due, and of the connections that failed.
        share: f64,
    },
    /// The generator's own counts contradict each other.
    Inconsistent {
        /// Requests in flight on average, as counted.
        in_flight_mean: f64,
        /// What rate x mean time gives.
        little: f64,
    },
}

impl Doubt {
    /// The stable kebab-case name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Doubt::Gone { .. } => "gone",
            Doubt::GeneratorBound { .. } => "generator-bound",
            Doubt::Late { .. } => "late",
            Doubt::Failing { .. } => "failing",
            Doubt::Inconsistent { .. } => "inconsistent",
        }
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doubt::Gone { since_ns } => write!(
                f,
                "gone: nothing listens any more since {:.2} s; find out why the server ended",
                *since_ns as f64 / 1e9
            ),
            Doubt::GeneratorBound { busy_share } => write!(
                f,
                "generator-bound: the generator was busy for {:.0}% of the time, so the rate may be its own; \
                 give it more threads or CPUs",
                busy_share * 100.0
            ),
            Doubt::Late { schedule_lag_ns_p99 } => write!(
                f,
                "late: 1% of the requests left more than {:.3} ms after they were due; give the generator a CPU of its \
                 own or ask for a lower rate",
                *schedule_lag_ns_p99 as f64 / 1e6
            ),
            Doubt::Failing { share } => {
                write!(f, "failing: {:.3}% of the requests and connections failed", share * 100.0)
            }
            Doubt::Inconsistent { in_flight_mean, little } => write!(
                f,
                "inconsistent: {in_flight_mean:.2} requests were in flight on average, but rate x time gives \
                 {little:.2}; report it as a bug of the load engine"
            ),
        }
    }
}

/// Every reason to doubt a run. An empty list means that it is valid.
#[must_use]
pub fn evaluate(report: &RunReport, limits: &Limits) -> Vec<Doubt> {
    let total = &report.total;
    let gone = report.gone_since_ns.map(|since_ns| Doubt::Gone { since_ns });
    let mut doubts: Vec<Doubt> = gone.into_iter().collect();
    let tally = &total.tally;
    // A failed connection carries no request, but is a failure of the server too.
    let unconnected = tally.connection_failed.total();
    let due = tally.sent + tally.unsent + unconnected;
    let wrong = tally.failed.total() + tally.in_flight + tally.unsent + unconnected;
    if wrong as f64 > limits.error_share_max * due as f64 {
        doubts.push(Doubt::Failing { share: wrong as f64 / due as f64 });
    }
    let busy_share = report.generator_busy_share();
    // In an open loop an overloaded generator is late.
    let is_open = total.service_time.count() > 0;
    if !is_open && busy_share > limits.busy_share_max {
        doubts.push(Doubt::GeneratorBound { busy_share });
    }
    let schedule_lag_ns_p99 = total.schedule_lag.quantile_ns(0.99);
    if schedule_lag_ns_p99 > limits.schedule_lag_ns_p99_max {
        doubts.push(Doubt::Late { schedule_lag_ns_p99 });
    }
    doubts.extend(little(report, limits));
    doubts
}

/// Little's law (Little 1961): the mean number in flight is the rate times the mean time. Both sides are counted
/// on their own; only where nearly everything was answered are they about the same requests.
fn little(report: &RunReport, limits: &Limits) -> Option<Doubt> {
    let total = &report.total;
    let answered = total.tally.answered;
    // A request that is still waited for at the end was in flight for all of the drain.
    let is_whole = total.tally.in_flight == 0 && total.tally.sent - answered <= answered / 1_000;
    if answered < 1_000 || report.elapsed_ns == 0 || !is_whole {
        return None;
    }
    let little = total.in_flight_ns_mean() * answered as f64 / report.elapsed_ns as f64;
    let in_flight_mean = report.in_flight_mean();
    let off = (in_flight_mean - little).abs() > limits.little_share_max * in_flight_mean.max(little);
    off.then_some(Doubt::Inconsistent { in_flight_mean, little })
}

/// The share of the requests that were due and had no answer within the window; 0 in a closed loop. It is no doubt in
/// the run: an overloaded server is a finding.
#[must_use]
pub fn shortfall(report: &RunReport, load: &Load) -> f64 {
    let tally = &report.total.tally;
    let due = tally.sent + tally.unsent;
    match (&load.schedule, load.stop.after) {
        (Schedule::Open(_), After::Time(_)) if due > 0 => 1.0 - tally.answered_in_window as f64 / due as f64,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::driver::{ChosenDriver, DriverKind};
    use crate::generator::measures::Measures;
    use crate::stop::Stop;
    use crate::tally::{Failure, Tally};

    /// A second with 10,000 answers of 1 ms each: ten in flight on average.
    fn report() -> RunReport {
        let tally = Tally { sent: 10_000, answered: 10_000, answered_in_window: 10_000, ..Tally::default() };
        let mut total = Measures { tally, in_flight_ns: 10 * 1_000_000_000, ..Measures::default() };
        for _ in 0..10_000 {
            total.latency.record(1_000_000);
        }
        RunReport {
            window_ns: 1_000_000_000,
            elapsed_ns: 1_000_000_000,
            total,
            answered_by_name: [].into(),
            generator_cpu_ns: 500_000_000,
            generator_polled_ns: 0,
            threads: 1,
            driver: ChosenDriver { kind: DriverKind::Epoll, reason: None },
            interrupted: false,
            gone_since_ns: None,
            first_failure: None,
            handshakes: None,
            aligned: None,
        }
    }

    fn names(change: impl FnOnce(&mut RunReport)) -> Vec<&'static str> {
        let mut report = report();
        change(&mut report);
        evaluate(&report, &Limits::default()).iter().map(Doubt::name).collect()
    }

    #[test]
    fn each_doubt_has_its_cause() {
        assert_eq!(names(|_| {}), [""; 0]);
        assert_eq!(names(|report| report.generator_cpu_ns = 960_000_000), ["generator-bound"]);
        let poll = |report: &mut RunReport| {
            (report.generator_cpu_ns, report.generator_polled_ns) = (960_000_000, 500_000_000);
        };
        assert_eq!(names(poll), [""; 0], "who polls has time left");
        assert_eq!(names(|report| report.total.schedule_lag.record(3_000_000)), ["late"]);
        assert_eq!(names(|report| report.total.in_flight_ns *= 2), ["inconsistent"]);
        assert_eq!(names(|report| report.total.tally.unsent = 1), ["failing"]);
        assert_eq!(names(|report| report.total.tally.in_flight = 1), ["failing"]);
        assert_eq!(names(|report| report.total.tally.failed.add(Failure::Status)), ["failing"]);
        // A server that ends while nothing is in flight fails no request.
        let refused = Failure::Refused;
        assert_eq!(names(|report| report.total.tally.connection_failed.add(refused)), ["failing"]);
        assert_eq!(names(|report| report.gone_since_ns = Some(1)), ["gone"]);
        assert_eq!(names(|report| report.total = Measures::default()), [""; 0], "nothing was asked");
    }

    #[test]
    fn a_request_that_waits_for_a_stream_is_in_flight() {
        // Ten in flight, half of the time waiting for a stream: an open loop counts that apart.
        let wait = |report: &mut RunReport, wait_ns| {
            for _ in 0..10_000 {
                report.total.service_time.record(500_000);
                report.total.stream_wait.record(wait_ns);
            }
        };
        assert_eq!(names(|report| wait(report, 500_000)), [""; 0]);
        assert_eq!(names(|report| wait(report, 700_000)), ["inconsistent"]);
    }

    #[test]
    fn the_shortfall_of_an_open_loop_is_no_doubt() {
        let arrivals = crate::Arrivals { profile: "20k".parse().unwrap(), process: crate::Process::Constant };
        let stop = Stop::after(Duration::from_secs(1), Duration::ZERO);
        let open = Load::new(Schedule::Open(arrivals), stop, Duration::from_secs(1));
        let mut report = report();
        report.total.tally.answered_in_window = 9_000;
        assert!((shortfall(&report, &open) - 0.1).abs() < 1e-9);
        let closed = Load::new(Schedule::SATURATE, stop, Duration::from_secs(1));
        assert_eq!(shortfall(&report, &closed), 0.0);
    }
}
