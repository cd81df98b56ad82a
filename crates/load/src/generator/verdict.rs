//! Decides whether a run measured the server or the generator. Pure: numbers and thresholds in, findings out.

use std::fmt;

use super::load::Load;
use super::measures::Measures;
use super::report::RunReport;
use crate::schedule::Schedule;
use crate::stop::After;
use crate::tally::Failure;
use tare_base::latency::CEILING_NS;

/// Limits within which a run counts as a measurement of the server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// The largest share of its threads' time in which the generator may work.
    pub busy_share_max: f64,
    /// The largest 99th percentile of schedule lag.
    pub schedule_lag_ns_p99_max: u64,
    /// The largest share of the due requests that may fail, or remain unsent or unanswered. A failed
    /// connection counts like a request.
    pub error_share_max: f64,
    /// The largest relative difference between two measures of the same time, as a share of the greater:
    /// requests in flight by their number and by their times (Little's law), and the times in flight and the
    /// latencies. Clocks and histograms lose less than a thousandth.
    pub little_share_max: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            busy_share_max: 0.95,
            schedule_lag_ns_p99_max: 1_000_000,
            error_share_max: 0.0,
            little_share_max: 0.01,
        }
    }
}

/// One reason not to trust a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum EngineFinding {
    /// The server ended during the run, so averages over the whole run include a dead server.
    Gone {
        /// The time after the start.
        since_ns: u64,
    },
    /// The generator had no time left, so the rate may be the generator's limit.
    GeneratorBound {
        /// The busy share of its threads' time.
        busy_share: f64,
    },
    /// The generator sent requests later than they were due.
    Late {
        /// The 99th percentile of schedule lag.
        schedule_lag_ns_p99: u64,
    },
    /// Streams of events were asked for, and no event arrived.
    NoEvents,
    /// Requests or connections failed.
    Failing {
        /// The failed share of all due requests and failed connections.
        share: f64,
    },
    /// The generator's own counts contradict each other.
    Inconsistent(Contradiction),
}

/// Two counts of the generator that must agree, whatever the server does. If not, it is a bug of the
/// generator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Contradiction {
    /// Little's law (Little 1961) over all requests, whatever their outcome.
    InFlight {
        /// The mean number of requests in flight, by counting them.
        in_flight_mean: f64,
        /// The same by Little's law: rate × mean time.
        little: f64,
    },
    /// The number of recorded times differs from the number of outcomes.
    Times {
        /// The name of the times.
        of: &'static str,
        /// The number of outcomes.
        counted: u64,
        /// The number of recorded times.
        timed: u64,
    },
    /// The recorded latencies contradict the times in flight of the same answers.
    Mean {
        /// The mean of the histograms.
        kept_ns_mean: f64,
        /// The mean by the sum over the requests.
        in_flight_ns_mean: f64,
    },
}

impl EngineFinding {
    /// The stable kebab-case name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            EngineFinding::Gone { .. } => "gone",
            EngineFinding::GeneratorBound { .. } => "generator-bound",
            EngineFinding::Late { .. } => "late",
            EngineFinding::NoEvents => "no-events",
            EngineFinding::Failing { .. } => "failing",
            EngineFinding::Inconsistent(_) => "inconsistent",
        }
    }
}

impl fmt::Display for EngineFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EngineFinding::Gone { since_ns } => write!(
                f,
                "gone: nothing listens any more since {:.2} s; find out why the server ended",
                *since_ns as f64 / 1e9
            ),
            EngineFinding::GeneratorBound { busy_share } => write!(
                f,
                "generator-bound: the generator was busy for {:.0}% of the time, so the rate may be its own; \
                 give it more threads or CPUs",
                busy_share * 100.0
            ),
            EngineFinding::Late { schedule_lag_ns_p99 } => write!(
                f,
                "late: at least 1% of the requests left {:.3} ms or more after they were due; give the generator a CPU of \
                 its own or ask for a lower rate",
                *schedule_lag_ns_p99 as f64 / 1e6
            ),
            EngineFinding::NoEvents => f.write_str(
                "no-events: no event arrived; load for longer, or see whether the answer is a stream of events",
            ),
            EngineFinding::Failing { share } => {
                let digits = digits(share * 100.0);
                write!(f, "failing: {:.digits$}% of the requests and connections failed", share * 100.0)
            }
            EngineFinding::Inconsistent(contradiction) => {
                write!(f, "inconsistent: {contradiction}; report it as a bug of the load engine")
            }
        }
    }
}

/// Decimals of a percentage: three, or as many as are needed to distinguish it from zero.
fn digits(percent: f64) -> usize {
    let leading = if percent > 0.0 { -percent.log10().floor() } else { 0.0 };
    (leading as usize).clamp(3, 12)
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Contradiction::InFlight { in_flight_mean, little } => write!(
                f,
                "{in_flight_mean:.2} requests were in flight on average, but rate x time gives {little:.2}"
            ),
            Contradiction::Times { of, counted, timed } => {
                write!(f, "there were {counted} {of}, but {timed} have a time")
            }
            Contradiction::Mean { kept_ns_mean, in_flight_ns_mean } => write!(
                f,
                "the answers were in flight for {:.3} ms on average, but their latencies say {:.3} ms",
                in_flight_ns_mean / 1e6,
                kept_ns_mean / 1e6
            ),
        }
    }
}

/// Every reason to distrust a run. An empty list means that the run is valid.
#[must_use]
pub fn evaluate(report: &RunReport, limits: &Limits) -> Vec<EngineFinding> {
    let total = &report.total;
    let gone = report.gone_since_ns.map(|since_ns| EngineFinding::Gone { since_ns });
    let mut doubts: Vec<EngineFinding> = gone.into_iter().collect();
    let tally = &total.tally;
    // A failed connection carries no request, but is a failure of the server too.
    let unconnected = tally.connection_failed.total();
    let due = tally.sent + tally.unsent + unconnected;
    let wrong = tally.failed.total() + tally.in_flight + tally.unsent + unconnected;
    if wrong as f64 > limits.error_share_max * due as f64 {
        doubts.push(EngineFinding::Failing { share: wrong as f64 / due as f64 });
    }
    if total.events.as_ref().is_some_and(|events| events.events == 0) && tally.sent > 0 {
        doubts.push(EngineFinding::NoEvents);
    }
    let busy_share = report.generator_busy_share();
    // In an open loop an overloaded generator is late.
    let is_open = total.service_time.count() > 0;
    if !is_open && busy_share > limits.busy_share_max {
        doubts.push(EngineFinding::GeneratorBound { busy_share });
    }
    let schedule_lag_ns_p99 = total.schedule_lag.quantile_ns(0.99);
    if schedule_lag_ns_p99 > limits.schedule_lag_ns_p99_max {
        doubts.push(EngineFinding::Late { schedule_lag_ns_p99 });
    }
    let share_max = limits.little_share_max;
    let contradiction = little(report, share_max).or_else(|| times(total)).or_else(|| mean(total, share_max));
    doubts.extend(contradiction.map(EngineFinding::Inconsistent));
    doubts
}

fn is_off(one: f64, other: f64, share_max: f64) -> bool {
    (one - other).abs() > share_max * one.max(other)
}

/// Little's law: the mean number in flight is the rate times the mean time. Over a whole run, which starts
/// and ends with none in flight, it holds for any server, if the times of all requests count, including
/// unanswered ones.
fn little(report: &RunReport, share_max: f64) -> Option<Contradiction> {
    let total = &report.total;
    let by_request_ns = (total.in_flight_ns_answered + total.in_flight_ns_unanswered) as f64;
    let little = by_request_ns / report.elapsed_ns.max(1) as f64;
    let in_flight_mean = report.in_flight_mean();
    is_off(total.in_flight_ns as f64, by_request_ns, share_max)
        .then_some(Contradiction::InFlight { in_flight_mean, little })
}

/// Checks that there is exactly one time for each outcome.
fn times(total: &Measures) -> Option<Contradiction> {
    let tally = &total.tally;
    let is_open = total.service_time.count() > 0;
    let waited = tally.failed.get(Failure::ResponseTimeout) + tally.in_flight;
    // Requests left over of a quota of connections had no due instant.
    let waited_max = waited + tally.unsent;
    let unanswered = total.unanswered.count();
    let due = tally.sent + tally.unsent;
    let kept = [
        ("answers", tally.answered, total.latency.count(), true),
        ("answers to sent requests", tally.answered, total.service_time.count(), is_open),
        ("requests without an answer", unanswered.clamp(waited, waited_max), unanswered, true),
        ("instants at which a request was due", due, total.schedule_lag.count(), is_open),
    ];
    let off = kept.into_iter().find(|(_, counted, timed, is_asked)| *is_asked && counted != timed);
    off.map(|(of, counted, timed, _)| Contradiction::Times { of, counted, timed })
}

/// Compares the recorded latencies with the times in flight of the same answers. In a closed loop the latency
/// is the time in flight. In an open loop the service time is, without the wait for an HTTP/2 stream, to
/// which unanswered requests contribute.
fn mean(total: &Measures, share_max: f64) -> Option<Contradiction> {
    let (answered, counted_ns) = (total.tally.answered, total.in_flight_ns_answered as f64);
    let shown = if total.service_time.count() > 0 { &total.service_time } else { &total.latency };
    // Beyond its ceiling a histogram understates the times.
    if answered == 0 || shown.max_ns() >= CEILING_NS {
        return None;
    }
    let waits_ns = if total.service_time.count() > 0 { total.stream_wait.sum_ns() } else { 0.0 };
    let kept_ns = counted_ns.clamp(shown.sum_ns(), shown.sum_ns() + waits_ns);
    is_off(counted_ns, kept_ns, share_max).then(|| Contradiction::Mean {
        kept_ns_mean: kept_ns / answered as f64,
        in_flight_ns_mean: counted_ns / answered as f64,
    })
}

/// The share of the due requests that had no answer within the window; 0 in a closed loop. It does not
/// invalidate the run: an overloaded server is a result.
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
    use crate::stop::Stop;
    use crate::tally::Tally;

    const SECOND: u128 = 1_000_000_000;

    /// A second with 10,000 answers of 1 ms each: a mean of ten in flight.
    fn report() -> RunReport {
        let tally = Tally { sent: 10_000, answered: 10_000, answered_in_window: 10_000, ..Tally::default() };
        let (in_flight_ns, in_flight_ns_answered) = (10 * SECOND, 10 * SECOND);
        let mut total = Measures { tally, in_flight_ns, in_flight_ns_answered, ..Measures::default() };
        for _ in 0..10_000 {
            total.latency.record(1_000_000);
        }
        RunReport { generator_cpu_ns: 500_000_000, ..RunReport::usual(1_000_000_000, total) }
    }

    fn names(change: impl FnOnce(&mut RunReport)) -> Vec<&'static str> {
        let mut report = report();
        change(&mut report);
        evaluate(&report, &Limits::default()).iter().map(EngineFinding::name).collect()
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
        let one_left = |report: &mut RunReport| {
            report.total.tally.in_flight = 1;
            report.total.unanswered.record(1_000_000);
        };
        assert_eq!(names(one_left), ["failing"]);
        assert_eq!(names(|report| report.total.tally.failed.add(Failure::Status)), ["failing"]);
        // A server that ends while nothing is in flight fails no request.
        let refused = Failure::Refused;
        assert_eq!(names(|report| report.total.tally.connection_failed.add(refused)), ["failing"]);
        assert_eq!(names(|report| report.gone_since_ns = Some(1)), ["gone"]);
        assert_eq!(names(|report| report.total = Measures::default()), [""; 0], "nothing was asked");
    }

    /// Two connections never answer, and eight do: the time of the two belongs to the product.
    #[test]
    fn requests_that_time_out_were_in_flight_too() {
        let time_out = |report: &mut RunReport| {
            let total = &mut report.total;
            total.in_flight_ns += 2 * SECOND;
            total.in_flight_ns_unanswered += 2 * SECOND;
            for _ in 0..4 {
                total.tally.sent += 1;
                total.tally.failed.add(Failure::ResponseTimeout);
                total.unanswered.record(500_000_000);
            }
        };
        assert_eq!(names(time_out), ["failing"]);
        let lost = |report: &mut RunReport| {
            time_out(report);
            report.total.in_flight_ns_unanswered -= SECOND;
        };
        assert_eq!(names(lost), ["failing", "inconsistent"]);
    }

    #[test]
    fn what_is_counted_twice_must_agree() {
        let said = |change: fn(&mut RunReport)| {
            let mut report = report();
            change(&mut report);
            evaluate(&report, &Limits::default()).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let in_flight = said(|report| report.total.in_flight_ns = 12 * SECOND);
        assert_eq!(
            in_flight,
            [
                "inconsistent: 12.00 requests were in flight on average, but rate x time gives 10.00; report it as a bug of \
              the load engine"
            ]
        );
        let times = said(|report| report.total.latency.record(1_000_000));
        assert_eq!(
            times,
            [
                "inconsistent: there were 10000 answers, but 10001 have a time; report it as a bug of the load engine"
            ]
        );
        let lags = said(|report| {
            (0..10_000).for_each(|_| report.total.service_time.record(1_000_000));
            (0..9_000).for_each(|_| report.total.schedule_lag.record(1_000));
        });
        assert!(
            lags[0].contains("10000 instants at which a request was due, but 9000 have a time"),
            "{lags:?}"
        );
        let mean = said(|report| {
            (report.total.in_flight_ns, report.total.in_flight_ns_answered) = (11 * SECOND, 11 * SECOND);
        });
        assert!(
            mean[0].contains("in flight for 1.100 ms on average, but their latencies say 1.000 ms"),
            "{mean:?}"
        );
        let unanswered = said(|report| report.total.unanswered.record(1_000));
        assert!(unanswered[0].contains("0 requests without an answer, but 1 have a time"), "{unanswered:?}");
    }

    #[test]
    fn a_share_is_shown_with_as_many_digits_as_it_needs() {
        let said = |share| EngineFinding::Failing { share }.to_string();
        assert_eq!(said(0.000_67), "failing: 0.067% of the requests and connections failed");
        assert_eq!(said(3e-7), "failing: 0.00003% of the requests and connections failed");
        assert_eq!(said(1.0), "failing: 100.000% of the requests and connections failed");
    }

    #[test]
    fn a_request_that_waits_for_a_stream_is_in_flight() {
        // Ten in flight, half of the time waiting for a stream: an open loop counts that wait separately.
        let wait = |report: &mut RunReport, wait_ns| {
            for _ in 0..10_000 {
                report.total.service_time.record(500_000);
                report.total.stream_wait.record(wait_ns);
                report.total.schedule_lag.record(1_000);
            }
        };
        assert_eq!(names(|report| wait(report, 500_000)), [""; 0]);
        assert_eq!(names(|report| wait(report, 300_000)), ["inconsistent"]);
    }

    #[test]
    fn the_shortfall_of_an_open_loop_is_no_doubt() {
        let arrivals =
            crate::Arrivals { profile: "20k".parse().unwrap(), process: crate::ArrivalProcess::Constant };
        let stop = Stop::after(Duration::from_secs(1), Duration::ZERO);
        let open = Load::new(Schedule::Open(arrivals), stop, Duration::from_secs(1));
        let mut report = report();
        report.total.tally.answered_in_window = 9_000;
        assert!((shortfall(&report, &open) - 0.1).abs() < 1e-9);
        let closed = Load::new(Schedule::SATURATE, stop, Duration::from_secs(1));
        assert_eq!(shortfall(&report, &closed), 0.0);
    }
}
