//! A generator's report as serialisable values. Histograms use the HDR V2 encoding, bucket by bucket, so that
//! a sum of reports equals the report of the sum.

use std::collections::BTreeMap;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use tare_base::Histogram;
use tare_load::{
    AlignedRun, ChosenDriver, DriverChoice, Failure, FailureSample, Failures, Handshakes, Measures,
    Negotiated, RunInterval, RunReport, Tally,
};

/// The final report of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportParts {
    window_ns: u64,
    elapsed_ns: u64,
    total: MeasureParts,
    answered_by_name: BTreeMap<String, u64>,
    generator_cpu_ns: u64,
    generator_polled_ns: u64,
    threads: usize,
    driver: String,
    driver_reason: Option<String>,
    interrupted: bool,
    gone_since_ns: Option<u64>,
    first_failure: Option<SampleParts>,
    handshakes: Option<HandshakeParts>,
    late_ns: u64,
    answered_at: Vec<u64>,
}

/// The report of an agent for every second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntervalParts {
    from_ns: u64,
    to_ns: u64,
    measures: MeasureParts,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MeasureParts {
    tally: TallyParts,
    statuses: Vec<(u16, u64)>,
    latency: Option<String>,
    service_time: Option<String>,
    unanswered: Option<String>,
    schedule_lag: Option<String>,
    connect_time: Option<String>,
    connection_time: Option<String>,
    stream_wait: Option<String>,
    /// A decimal number: JSON has no integers of this size.
    in_flight_ns: String,
    in_flight_ns_answered: String,
    in_flight_ns_unanswered: String,
    silent_ns_max: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TallyParts {
    sent: u64,
    answered: u64,
    answered_in_window: u64,
    failed: Failures,
    in_flight: u64,
    unsent: u64,
    connects: u64,
    connection_failed: Failures,
    bytes_sent: u64,
    bytes_received: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SampleParts {
    failure: String,
    exchange: String,
    expected: String,
    reason: Option<String>,
    /// The bytes in base64.
    got: String,
    at_ns: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HandshakeParts {
    full: u64,
    resumed: u64,
    negotiated: Vec<(Negotiated, u64)>,
}

/// The largest count of a run or a stored histogram, so that sums of reports cannot overflow.
const COUNT_MAX: u64 = 1 << 48;
/// The longest run: nine years.
const NS_MAX: u64 = 1 << 58;
/// The largest integral of requests in flight over nanoseconds.
const IN_FLIGHT_NS_MAX: u128 = 1 << 100;
const THREADS_MAX: usize = 1 << 20;

/// An invalid report, which no agent of this version sends.
#[derive(Debug, thiserror::Error)]
#[error("its report cannot be read: {0}")]
pub struct BadReport(String);

fn bad(what: impl std::fmt::Display) -> BadReport {
    BadReport(what.to_string())
}

/// Checks that no count exceeds the limit.
fn ensure_counts(mut counts: impl Iterator<Item = u64>) -> Result<(), BadReport> {
    match counts.find(|count| *count > COUNT_MAX) {
        Some(count) => Err(bad(format!("a count of {count}"))),
        None => Ok(()),
    }
}

fn ensure_times(mut times_ns: impl Iterator<Item = u64>) -> Result<(), BadReport> {
    match times_ns.find(|ns| *ns > NS_MAX) {
        Some(ns) => Err(bad(format!("a time of {ns} ns"))),
        None => Ok(()),
    }
}

impl From<&RunReport> for ReportParts {
    fn from(report: &RunReport) -> ReportParts {
        let aligned = report.aligned.clone().unwrap_or_default();
        ReportParts {
            window_ns: report.window_ns,
            elapsed_ns: report.elapsed_ns,
            total: (&report.total).into(),
            answered_by_name: report.answered_by_name.clone(),
            generator_cpu_ns: report.generator_cpu_ns,
            generator_polled_ns: report.generator_polled_ns,
            threads: report.threads,
            driver: report.driver.kind.name().to_owned(),
            driver_reason: report.driver.reason.clone(),
            interrupted: report.interrupted,
            gone_since_ns: report.gone_since_ns,
            first_failure: report.first_failure.as_ref().map(Into::into),
            handshakes: report.handshakes.as_ref().map(Into::into),
            late_ns: aligned.late_ns,
            answered_at: aligned.answered_at,
        }
    }
}

impl TryFrom<ReportParts> for RunReport {
    type Error = BadReport;

    fn try_from(parts: ReportParts) -> Result<RunReport, BadReport> {
        let DriverChoice::Only(kind) = parts.driver.parse().map_err(bad)? else {
            return Err(bad("its driver is not named"));
        };
        let times = [parts.window_ns, parts.elapsed_ns, parts.generator_cpu_ns, parts.generator_polled_ns];
        ensure_times(times.into_iter().chain(parts.gone_since_ns).chain([parts.late_ns]))?;
        ensure_counts(parts.answered_at.iter().chain(parts.answered_by_name.values()).copied())?;
        if parts.threads > THREADS_MAX {
            return Err(bad(format!("{} threads", parts.threads)));
        }
        let total = Measures::try_from(parts.total)?;
        total.tally.reconcile().map_err(bad)?;
        Ok(RunReport {
            window_ns: parts.window_ns,
            elapsed_ns: parts.elapsed_ns,
            total,
            answered_by_name: parts.answered_by_name,
            generator_cpu_ns: parts.generator_cpu_ns,
            generator_polled_ns: parts.generator_polled_ns,
            threads: parts.threads,
            driver: ChosenDriver { kind, reason: parts.driver_reason },
            interrupted: parts.interrupted,
            gone_since_ns: parts.gone_since_ns,
            first_failure: parts.first_failure.map(FailureSample::try_from).transpose()?,
            handshakes: parts.handshakes.map(Handshakes::try_from).transpose()?,
            aligned: Some(AlignedRun { late_ns: parts.late_ns, answered_at: parts.answered_at }),
        })
    }
}

impl From<&RunInterval> for IntervalParts {
    fn from(interval: &RunInterval) -> IntervalParts {
        let RunInterval { from_ns, to_ns, measures } = interval;
        IntervalParts { from_ns: *from_ns, to_ns: *to_ns, measures: measures.into() }
    }
}

impl TryFrom<IntervalParts> for RunInterval {
    type Error = BadReport;

    fn try_from(parts: IntervalParts) -> Result<RunInterval, BadReport> {
        let IntervalParts { from_ns, to_ns, measures } = parts;
        ensure_times([to_ns].into_iter())?;
        if to_ns < from_ns {
            return Err(bad("an interval ends before it begins"));
        }
        Ok(RunInterval { from_ns, to_ns, measures: measures.try_into()? })
    }
}

/// The encoding; `None` for an empty histogram, as most of a run are.
fn encoded(histogram: &Histogram) -> Option<String> {
    (histogram.count() > 0).then(|| STANDARD.encode(histogram.serialize()))
}

fn decoded(text: Option<String>) -> Result<Histogram, BadReport> {
    let Some(text) = text else { return Ok(Histogram::default()) };
    Histogram::deserialize(&STANDARD.decode(text).map_err(bad)?).map_err(bad)
}

impl From<&Measures> for MeasureParts {
    fn from(measures: &Measures) -> MeasureParts {
        MeasureParts {
            tally: measures.tally.into(),
            statuses: measures.statuses.counts(),
            latency: encoded(&measures.latency),
            service_time: encoded(&measures.service_time),
            unanswered: encoded(&measures.unanswered),
            schedule_lag: encoded(&measures.schedule_lag),
            connect_time: encoded(&measures.connect_time),
            connection_time: encoded(&measures.connection_time),
            stream_wait: encoded(&measures.stream_wait),
            in_flight_ns: measures.in_flight_ns.to_string(),
            in_flight_ns_answered: measures.in_flight_ns_answered.to_string(),
            in_flight_ns_unanswered: measures.in_flight_ns_unanswered.to_string(),
            silent_ns_max: measures.silent_ns_max,
        }
    }
}

impl TryFrom<MeasureParts> for Measures {
    type Error = BadReport;

    fn try_from(parts: MeasureParts) -> Result<Measures, BadReport> {
        ensure_counts(parts.statuses.iter().map(|(_, count)| *count))?;
        ensure_times([parts.silent_ns_max].into_iter())?;
        Ok(Measures {
            tally: parts.tally.try_into()?,
            statuses: parts.statuses.into_iter().collect(),
            latency: decoded(parts.latency)?,
            service_time: decoded(parts.service_time)?,
            unanswered: decoded(parts.unanswered)?,
            schedule_lag: decoded(parts.schedule_lag)?,
            connect_time: decoded(parts.connect_time)?,
            connection_time: decoded(parts.connection_time)?,
            stream_wait: decoded(parts.stream_wait)?,
            in_flight_ns: in_flight_ns(&parts.in_flight_ns)?,
            in_flight_ns_answered: in_flight_ns(&parts.in_flight_ns_answered)?,
            in_flight_ns_unanswered: in_flight_ns(&parts.in_flight_ns_unanswered)?,
            silent_ns_max: parts.silent_ns_max,
            events: None,
        })
    }
}

fn in_flight_ns(text: &str) -> Result<u128, BadReport> {
    match text.parse().map_err(bad)? {
        ns if ns > IN_FLIGHT_NS_MAX => Err(bad("more in flight than any run can have")),
        ns => Ok(ns),
    }
}

impl From<Tally> for TallyParts {
    fn from(tally: Tally) -> TallyParts {
        TallyParts {
            sent: tally.sent,
            answered: tally.answered,
            answered_in_window: tally.answered_in_window,
            failed: tally.failed,
            in_flight: tally.in_flight,
            unsent: tally.unsent,
            connects: tally.connects,
            connection_failed: tally.connection_failed,
            bytes_sent: tally.bytes_sent,
            bytes_received: tally.bytes_received,
        }
    }
}

impl TryFrom<TallyParts> for Tally {
    type Error = BadReport;

    fn try_from(parts: TallyParts) -> Result<Tally, BadReport> {
        let counts = [parts.sent, parts.answered, parts.answered_in_window, parts.in_flight, parts.unsent];
        let more = [parts.connects, parts.bytes_sent, parts.bytes_received];
        let failed = [parts.failed, parts.connection_failed];
        let failed = failed.iter().flat_map(|failures| failures.iter().map(|(_, count)| count));
        ensure_counts(counts.into_iter().chain(more).chain(failed))?;
        Ok(Tally {
            sent: parts.sent,
            answered: parts.answered,
            answered_in_window: parts.answered_in_window,
            failed: parts.failed,
            in_flight: parts.in_flight,
            // Agents are sent no streams of events.
            streaming: 0,
            unsent: parts.unsent,
            connects: parts.connects,
            connection_failed: parts.connection_failed,
            bytes_sent: parts.bytes_sent,
            bytes_received: parts.bytes_received,
        })
    }
}

impl From<&FailureSample> for SampleParts {
    fn from(sample: &FailureSample) -> SampleParts {
        SampleParts {
            failure: sample.failure.name().to_owned(),
            exchange: sample.exchange.clone(),
            expected: sample.expected.clone(),
            reason: sample.reason.clone(),
            got: STANDARD.encode(&sample.got),
            at_ns: sample.at_ns,
        }
    }
}

impl TryFrom<SampleParts> for FailureSample {
    type Error = BadReport;

    fn try_from(parts: SampleParts) -> Result<FailureSample, BadReport> {
        Ok(FailureSample {
            failure: Failure::from_name(&parts.failure).ok_or_else(|| bad("a failure of no kind"))?,
            exchange: parts.exchange,
            expected: parts.expected,
            reason: parts.reason,
            got: STANDARD.decode(parts.got).map_err(bad)?,
            at_ns: parts.at_ns,
        })
    }
}

impl From<&Handshakes> for HandshakeParts {
    fn from(handshakes: &Handshakes) -> HandshakeParts {
        let Handshakes { full, resumed, negotiated, .. } = handshakes;
        HandshakeParts { full: *full, resumed: *resumed, negotiated: negotiated.clone() }
    }
}

impl TryFrom<HandshakeParts> for Handshakes {
    type Error = BadReport;

    fn try_from(parts: HandshakeParts) -> Result<Handshakes, BadReport> {
        let HandshakeParts { full, resumed, negotiated } = parts;
        let counts = negotiated.iter().map(|(_, count)| *count);
        ensure_counts([full, resumed].into_iter().chain(counts))?;
        Ok(Handshakes { full, resumed, negotiated, last_error: None })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use tare_load::DriverKind;

    use super::*;

    /// One second of answers with these latencies.
    pub(crate) fn report(latencies_ns: &[u64]) -> RunReport {
        let mut total = Measures::default();
        latencies_ns.iter().for_each(|ns| total.latency.record(*ns));
        let count = latencies_ns.len() as u64;
        (total.tally.sent, total.tally.answered, total.tally.answered_in_window) = (count, count, count);
        total.statuses = [(200, count)].into_iter().collect();
        total.in_flight_ns = latencies_ns.iter().map(|ns| u128::from(*ns)).sum();
        total.in_flight_ns_answered = total.in_flight_ns;
        RunReport {
            generator_cpu_ns: 300_000_000,
            driver: ChosenDriver { kind: DriverKind::Epoll, reason: Some("why".to_owned()) },
            answered_by_name: [("hello".to_owned(), count)].into(),
            aligned: Some(AlignedRun { late_ns: 5_000, answered_at: vec![0, count / 2, count] }),
            ..RunReport::usual(1_000_000_000, total)
        }
    }

    #[test]
    fn a_report_reads_back_to_the_last_bucket() {
        let mut report = report(&(1..3_000_u64).map(|n| n * n).collect::<Vec<_>>());
        report.total.tally.failed.add(Failure::Mismatch);
        report.total.tally.sent += 1;
        (report.total.in_flight_ns, report.total.in_flight_ns_unanswered) = (IN_FLIGHT_NS_MAX, 9);
        report.first_failure = Some(FailureSample {
            failure: Failure::Mismatch,
            exchange: "a".to_owned(),
            expected: "b".to_owned(),
            reason: Some("c".to_owned()),
            got: vec![0xff, 0],
            at_ns: 9,
        });
        let parts = ReportParts::from(&report);
        let text = serde_json::to_string(&parts).unwrap();
        let back = RunReport::try_from(serde_json::from_str::<ReportParts>(&text).unwrap()).unwrap();
        assert_eq!((&back.total, &back.first_failure), (&report.total, &report.first_failure));
        assert_eq!((&back.aligned, &back.driver), (&report.aligned, &report.driver));
        assert_eq!(ReportParts::from(&back), parts, "nothing is lost");
    }

    #[test]
    fn counts_that_do_not_add_up_are_refused() {
        let mut report = report(&[1, 2]);
        report.total.tally.sent += 1;
        assert!(RunReport::try_from(ReportParts::from(&report)).is_err());
    }

    #[test]
    fn more_than_any_run_can_have_is_refused() {
        let refused = |change: &dyn Fn(&mut RunReport)| {
            let mut report = report(&[1, 2]);
            change(&mut report);
            RunReport::try_from(ReportParts::from(&report)).is_err()
        };
        assert!(!refused(&|_| {}));
        assert!(refused(&|report| report.total.tally.unsent = u64::MAX));
        assert!(refused(&|report| report.total.tally.bytes_sent = u64::MAX));
        assert!(refused(&|report| report.total.tally.connection_failed =
            [(Failure::Reset, u64::MAX)].into_iter().collect()));
        assert!(refused(&|report| report.total.in_flight_ns = u128::MAX));
        assert!(refused(&|report| report.total.in_flight_ns_answered = u128::MAX));
        assert!(refused(&|report| report.total.in_flight_ns_unanswered = u128::MAX));
        assert!(refused(&|report| report.total.statuses = [(200, u64::MAX)].into_iter().collect()));
        assert!(refused(&|report| report.elapsed_ns = u64::MAX));
        assert!(refused(&|report| report.threads = usize::MAX));
        assert!(refused(
            &|report| report.handshakes = Some(Handshakes { full: u64::MAX, ..Handshakes::default() })
        ));
    }

    #[test]
    fn what_is_no_histogram_is_refused() {
        let mut parts = ReportParts::from(&report(&[1, 2]));
        parts.total.latency = Some(STANDARD.encode("nonsense"));
        assert!(RunReport::try_from(parts.clone()).is_err());
        parts.total.latency = Some("%%%".to_owned());
        assert!(RunReport::try_from(parts).is_err());
    }
}
