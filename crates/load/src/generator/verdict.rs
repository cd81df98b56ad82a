//! Whether a run measured the server or the generator. It only looks at numbers; thresholds are values.

use std::fmt;

use super::load::Load;
use super::report::RunReport;
use crate::schedule::Schedule;
use crate::stop::After;

/// What a run may not exceed to count as a measurement of the server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// The largest share of its threads' time that the generator may spend on a CPU.
    pub cpu_share_max: f64,
    /// The largest 99th percentile of schedule lag.
    pub schedule_lag_ns_p99_max: u64,
    /// The largest part of the due requests that may fail, or never be sent or answered.
    pub error_share_max: f64,
    /// How far rate x mean time may lie from the mean number in flight, as a share of it (Little's law).
    pub little_share_max: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            cpu_share_max: 0.95,
            schedule_lag_ns_p99_max: 1_000_000,
            error_share_max: 0.0,
            little_share_max: 0.05,
        }
    }
}

/// One reason not to trust a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Doubt {
    /// The generator had no time left: the rate may be its own.
    GeneratorBound {
        /// The share of its threads' time.
        cpu_share: f64,
    },
    /// Requests left later than they were due, by the generator's own fault.
    Late {
        /// The 99th percentile of schedule lag.
        schedule_lag_ns_p99: u64,
    },
    /// Requests failed.
    Erroring {
        /// Their share of all that were due.
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
            Doubt::GeneratorBound { .. } => "generator-bound",
            Doubt::Late { .. } => "late",
            Doubt::Erroring { .. } => "erroring",
            Doubt::Inconsistent { .. } => "inconsistent",
        }
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doubt::GeneratorBound { cpu_share } => write!(
                f,
                "generator-bound: the generator was on a CPU for {:.0}% of the time, so the rate may be its own; \
                 give it more threads or CPUs",
                cpu_share * 100.0
            ),
            Doubt::Late { schedule_lag_ns_p99 } => write!(
                f,
                "late: 1% of the requests left more than {} us after they were due; give the generator a CPU of its \
                 own or ask for a lower rate",
                schedule_lag_ns_p99 / 1_000
            ),
            Doubt::Erroring { share } => {
                write!(f, "erroring: {:.3}% of the requests have no right answer", share * 100.0)
            }
            Doubt::Inconsistent { in_flight_mean, little } => write!(
                f,
                "inconsistent: {in_flight_mean:.2} requests were in flight on average, but rate x time gives \
                 {little:.2}; report it as a bug of the load engine"
            ),
        }
    }
}

/// Every reason to doubt a run; none means valid.
#[must_use]
pub fn judge(report: &RunReport, limits: &Limits) -> Vec<Doubt> {
    let total = &report.total;
    let mut doubts = Vec::new();
    let tally = &total.tally;
    let due = tally.sent + tally.unsent;
    let wrong = tally.failed.total() + tally.in_flight + tally.unsent;
    if due > 0 && wrong as f64 > limits.error_share_max * due as f64 {
        doubts.push(Doubt::Erroring { share: wrong as f64 / due as f64 });
    } else if due == 0 && tally.connection_failed.total() > 0 {
        doubts.push(Doubt::Erroring { share: 1.0 });
    }
    let cpu_share = report.generator_cpu_share();
    if cpu_share > limits.cpu_share_max {
        doubts.push(Doubt::GeneratorBound { cpu_share });
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
    let times = if total.service_time.count() > 0 { &total.service_time } else { &total.latency };
    if answered < 1_000 || report.elapsed_ns == 0 || total.tally.sent - answered > answered / 1_000 {
        return None;
    }
    let little = times.mean_ns() * answered as f64 / report.elapsed_ns as f64;
    let in_flight_mean = report.in_flight_mean();
    let off = (in_flight_mean - little).abs() > limits.little_share_max * in_flight_mean.max(little);
    off.then_some(Doubt::Inconsistent { in_flight_mean, little })
}

/// Requests per second that the server did not manage though they were due, as a share of those; 0 in a closed loop.
/// It is no doubt in the run: an overloaded server is a finding.
#[must_use]
pub fn shortfall(report: &RunReport, load: &Load) -> f64 {
    let (Schedule::Open(arrivals), After::Time(_)) = (&load.schedule, load.stop.after) else { return 0.0 };
    let due = arrivals.profile.arrivals_before(report.window_ns);
    if due <= 0.0 { 0.0 } else { (1.0 - report.total.tally.answered_in_window as f64 / due).max(0.0) }
}
