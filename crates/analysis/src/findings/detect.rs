//! Derives findings from counts and shares, with thresholds fixed before any result ([`crate::validity`]).

use std::collections::BTreeMap;

use tare_bench::sample::{Failure, LoadResult, Placement, Sample};
use tare_host::cpus::Pinning;
use tare_stats::summary;

use super::RowIssue;
use crate::validity::{
    FAILURE_SHARE_MAX, LINK_BUSY_SHARE, MORE_THREADS_SHARE, RowLimits, SCHEDULE_LAG_NS_P99_MAX, Shares,
    THREADS_AT_WORK_MORE, little,
};

/// Why the throughput of a row is not its service's.
pub(crate) fn throughput(shares: &Shares, limits: &RowLimits) -> Option<RowIssue> {
    let Shares { generator, interference, pressure, throttled, .. } = *shares;
    let server = shares.busy();
    if let Some(share) = throttled.filter(|share| *share > limits.throttled_share_max) {
        return Some(RowIssue::Throttled { share });
    }
    if let Some(share) =
        interference.filter(|share| *share > limits.taken_share_max && server < limits.server_bound_share)
    {
        return Some(RowIssue::Interference { share, server_share: server, pressure_share: pressure });
    }
    (server < limits.busy_share && generator > limits.busy_share)
        .then_some(RowIssue::GeneratorBound { generator_share: generator, server_share: Some(server) })
}

/// The same without the service's CPU time: a generator at its limit may have been the limit.
pub(crate) fn throughput_without_cpu(shares: &Shares, limits: &RowLimits) -> Option<RowIssue> {
    let generator_share = shares.generator;
    (generator_share > limits.busy_share)
        .then_some(RowIssue::GeneratorBound { generator_share, server_share: None })
}

/// Deviations from the given conditions: other CPUs or another priority. Fewer CPUs are allowed.
pub(crate) fn placement<'a>(
    placements: impl IntoIterator<Item = &'a Placement>,
    pinning: &Pinning,
) -> Option<RowIssue> {
    placements.into_iter().find_map(|seen| {
        let of = seen.groups.iter().map(|group| group.threads).sum();
        let is_outside = |cpu: &usize| !pinning.server.contains(cpu);
        let left = seen.groups.iter().find(|group| group.cpus.iter().any(is_outside));
        let left = left.map(|group| RowIssue::LeftCpus {
            threads: group.threads,
            of,
            name: group.name.clone(),
            given: pinning.server.clone(),
            may_use: group.cpus.clone(),
            ran_on: group.last_cpus.clone(),
        });
        let other = seen.groups.iter().find(|group| group.priority != seen.given);
        left.or_else(|| {
            other.map(|group| RowIssue::OtherPriority {
                threads: group.threads,
                of,
                name: group.name.clone(),
                given: seen.given,
                found: group.priority,
            })
        })
    })
}

/// More threads ran simultaneously than the service was given.
pub(crate) fn more_threads(shares: &Shares, pinning: &Pinning, threads: usize) -> Option<RowIssue> {
    let cpus = pinning.server.len().min(threads);
    (shares.server > 1.0 + MORE_THREADS_SHARE)
        .then_some(RowIssue::MoreThreads { busy_cpus: shares.server * cpus as f64, threads })
}

/// More threads were runnable than the service was given, on shared CPUs. A service that keeps to `THREADS`
/// has no thread that waits for another, and waiting for other programs does not count.
pub(crate) fn threads_at_work(shares: &Shares, threads: usize) -> Option<RowIssue> {
    let at_work = shares.at_work.filter(|at_work| *at_work > threads as f64 + THREADS_AT_WORK_MORE)?;
    Some(RowIssue::ThreadsAtWork { at_work, threads })
}

/// A valid throughput below the capacity. Services with a deliberate wait (`DELAY_MS`) are exempt.
pub(crate) fn not_server_bound(shares: &Shares, delay_ms: u64, limits: &RowLimits) -> Option<RowIssue> {
    (delay_ms == 0 && shares.busy() < limits.server_bound_share)
        .then_some(RowIssue::NotServerBound { server_share: shares.busy() })
}

/// Wrong answers of a row, as classified by `is_wrong`; a single one is enough.
pub(crate) fn wrong_answers<'a>(
    loads: impl IntoIterator<Item = &'a LoadResult>,
    is_wrong: impl Fn(Failure) -> bool,
) -> Option<RowIssue> {
    let (mut sent, mut by_class, mut first) = (0, BTreeMap::new(), None);
    for load in loads {
        sent += load.sent;
        let of_connections = load.connection_failed.iter().map(|found| (found, "connection "));
        let all = load.failed.iter().map(|found| (found, "")).chain(of_connections);
        for ((class, count), of) in all.filter(|((class, _), _)| is_wrong(*class)) {
            *by_class.entry(format!("{of}{class}")).or_default() += count;
            first = first.or(load.first_failure.as_ref());
        }
    }
    let wrong = by_class.values().sum();
    (wrong > 0).then(|| RowIssue::WrongAnswers { wrong, sent, by_class, first: first.cloned() })
}

/// Too many missing answers for any figure.
pub(crate) fn failing(
    sent: u64,
    by_class: &BTreeMap<String, u64>,
    first: Option<&String>,
    limits: &RowLimits,
) -> Option<RowIssue> {
    let failed: u64 = by_class.values().sum();
    (failed as f64 > sent as f64 * limits.failure_share_max).then(|| RowIssue::Failing {
        failed,
        sent,
        by_class: by_class.clone(),
        first: first.cloned(),
    })
}

/// Counts that contradict each other over all slices of a row.
pub(crate) fn inconsistent<'a>(slices: impl IntoIterator<Item = &'a Sample>) -> Option<RowIssue> {
    little(slices).map(|(counted, by_law)| RowIssue::Inconsistent { counted, by_law })
}

/// Latency dominated by the generator, from the p99 schedule lag of each slice.
pub(crate) fn late(load: &str, lags_ns_p99: &[f64]) -> Option<RowIssue> {
    let lag_ns =
        summary::median(lags_ns_p99).ok().filter(|lag_ns| *lag_ns > SCHEDULE_LAG_NS_P99_MAX as f64)?;
    Some(RowIssue::LateGenerator { load: Some(load.to_owned()), lag_ns })
}

/// Why a whole load does not measure the service's speed: generator, link or machine were the limit, or
/// answers were wrong or missing. `threads` is the service setting; `saturates` marks a load without pauses.
pub(crate) fn of_whole_load(
    sample: &Sample,
    pinning: &Pinning,
    threads: usize,
    saturates: bool,
) -> Option<RowIssue> {
    let shares = || Shares::of(&[sample], pinning, threads);
    let saturated = || match (saturates && sample.load.elapsed_ns > 0, &sample.host.cpu_unknown) {
        (false, _) => None,
        (true, None) => throughput(&shares(), &RowLimits::default()),
        (true, Some(_)) => throughput_without_cpu(&shares(), &RowLimits::default()),
    };
    let aside = sample.host.process.as_ref().and_then(|facts| facts.wrong_aside.as_deref());
    wrong_answers([&sample.load].into_iter().chain(aside), Failure::is_wrong_answer)
        .or_else(|| late_load(sample))
        .or_else(|| inconsistent([sample]))
        .or_else(|| link_bound(sample))
        .or_else(|| {
            placement(sample.host.process.as_ref().and_then(|facts| facts.placement.as_ref()), pinning)
        })
        .or_else(saturated)
        .or_else(|| failing_load(sample))
}

/// A late generator. Only open loops count, because a user's pause of a millisecond more is negligible.
fn late_load(sample: &Sample) -> Option<RowIssue> {
    let lag_ns = sample.load.schedule_lag_ns_p99.filter(|_| sample.is_open())?;
    (lag_ns > SCHEDULE_LAG_NS_P99_MAX)
        .then_some(RowIssue::LateGenerator { load: None, lag_ns: lag_ns as f64 })
}

fn link_bound(sample: &Sample) -> Option<RowIssue> {
    let link = sample.host.link.as_ref()?;
    let busy_share = link.cpu_ns.unwrap_or(0) as f64 / sample.load.elapsed_ns.max(1) as f64;
    (link.unread > 0 || busy_share > LINK_BUSY_SHARE)
        .then_some(RowIssue::LinkBound { unread: link.unread, busy_share })
}

fn failing_load(sample: &Sample) -> Option<RowIssue> {
    let load = &sample.load;
    let failed = load.failures();
    if load.answered == 0 {
        return Some(RowIssue::NoAnswer);
    }
    (failed as f64 > FAILURE_SHARE_MAX * (load.sent + load.unsent) as f64).then(|| RowIssue::Failing {
        failed,
        sent: load.sent,
        by_class: load.failed.iter().map(|(class, count)| (class.to_string(), count)).collect(),
        first: load.first_failure.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_bench::sample::{HostUsage, LinkUsage};

    fn shares(server: f64, generator: f64) -> Shares {
        Shares { server, generator, ..Shares::default() }
    }

    /// The code of the finding.
    fn found(shares: &Shares) -> Option<&'static str> {
        throughput(shares, &RowLimits::default()).map(|issue| issue.code())
    }

    #[test]
    fn a_threshold_itself_is_not_beyond_it() {
        let busy = RowLimits::default().busy_share;
        assert_eq!(found(&shares(1.0, 0.5)), None);
        assert_eq!(found(&shares(busy, 1.0)), None);
        assert_eq!(found(&shares(0.5, busy)), None);
        assert_eq!(found(&shares(0.5, 0.95)), Some("generator-bound"));
        let taken = |interference| Shares { interference: Some(interference), ..shares(0.7, 0.5) };
        assert_eq!([found(&taken(0.10)), found(&taken(0.11))], [None, Some("interference")]);
        let throttled = |throttled| Shares { throttled: Some(throttled), ..shares(1.0, 0.5) };
        assert_eq!([found(&throttled(0.01)), found(&throttled(0.011))], [None, Some("throttled")]);
    }

    #[test]
    fn the_cause_that_is_known_best_is_named() {
        let all = Shares { interference: Some(0.5), throttled: Some(0.5), ..shares(0.1, 0.99) };
        assert_eq!(found(&all), Some("throttled"));
        assert_eq!(found(&Shares { throttled: None, ..all }), Some("interference"));
        assert_eq!(found(&Shares { throttled: None, interference: None, ..all }), Some("generator-bound"));
        // A service at its own limit lost nothing to others.
        assert_eq!(found(&Shares { throttled: None, ..Shares { server: 0.99, ..all } }), None);
    }

    #[test]
    fn a_service_that_waits_on_purpose_is_not_asked_for_its_capacity() {
        let found =
            |server, delay_ms| not_server_bound(&shares(server, 0.5), delay_ms, &RowLimits::default());
        assert!(found(0.5, 0).is_some());
        assert_eq!([found(0.5, 1), found(RowLimits::default().server_bound_share, 0)], [None, None]);
    }

    #[test]
    fn one_missing_answer_in_a_thousand_is_allowed() {
        let failed = |count| BTreeMap::from([("reset".to_owned(), count)]);
        let limits = RowLimits::default();
        assert_eq!(failing(1_000, &failed(1), None, &limits), None);
        let issue = failing(1_000, &failed(2), Some(&"GET /".to_owned()), &limits).unwrap();
        assert_eq!(
            issue.to_string(),
            "failing: 2 of 1000 requests without an answer, and 0.1% are allowed: reset 2; the first: GET /"
        );
        assert_eq!(failing(0, &BTreeMap::new(), None, &limits), None);
    }

    #[test]
    fn not_one_wrong_answer_is_allowed() {
        for class in Failure::ALL {
            let of = |failed: &[(Failure, u64)], first: Option<&str>| {
                let load = LoadResult {
                    sent: 1_000_000,
                    failed: failed.iter().copied().collect(),
                    first_failure: first.map(str::to_owned),
                    ..LoadResult::default()
                };
                Sample { load, ..Sample::default() }
            };
            let slices = [of(&[(Failure::Reset, 3)], Some("reset")), of(&[(class, 1)], Some("the one"))];
            let found = wrong_answers(slices.iter().map(|slice| &slice.load), Failure::is_wrong_answer);
            assert_eq!(found.is_some(), class.is_wrong_answer(), "{class}");
            let Some(RowIssue::WrongAnswers { wrong, sent, by_class, first }) = found else { continue };
            assert_eq!((wrong, sent, first.as_deref()), (1, 2_000_000, Some("the one")));
            assert_eq!(by_class, BTreeMap::from([(class.to_string(), 1)]));
        }
    }

    #[test]
    fn half_of_the_slices_must_be_late() {
        let ms = 1e6;
        assert_eq!(late("80%", &[0.1 * ms, 0.2 * ms, 50.0 * ms]), None);
        assert_eq!(
            late("80%", &[0.1 * ms, 1.5 * ms, 50.0 * ms]).map(|issue| issue.code()),
            Some("late-generator")
        );
        assert_eq!(late("80%", &[]), None);
    }

    #[test]
    fn a_whole_load_counts_or_says_why_it_does_not() {
        let pinning = Pinning { server: vec![0], generator: vec![1] };
        let load = LoadResult {
            window_ns: 1_000_000_000,
            elapsed_ns: 1_000_000_000,
            sent: 1_000,
            answered: 1_000,
            ..LoadResult::default()
        };
        let host =
            HostUsage { server_cpu_ns: 990_000_000, generator_cpu_ns: 400_000_000, ..HostUsage::default() };
        type Change = fn(&mut Sample);
        let link = |unread, cpu_ns| Some(LinkUsage { unread, cpu_ns: Some(cpu_ns), ..LinkUsage::default() });
        let cases: [(&str, Change); 10] = [
            ("", |_| ()),
            ("wrong-answers", |of| of.load.failed = [(Failure::Status, 1)].into_iter().collect()),
            ("late-generator", |of| {
                (of.load.offered_per_second, of.load.schedule_lag_ns_p99) = (Some(1e3), Some(1_358_000));
            }),
            ("", |of| of.load.schedule_lag_ns_p99 = Some(5_000_000)),
            ("inconsistent", |of| {
                (of.load.in_flight_ns, of.load.service_time_ns_mean) = (1_000_000_000, 2_000_000);
            }),
            ("generator-bound", |of| {
                (of.host.server_cpu_ns, of.host.generator_cpu_ns) = (500_000_000, 990_000_000)
            }),
            ("failing", |of| of.load.in_flight = 2),
            ("no-answer", |of| of.load.answered = 0),
            ("throttled", |of| of.host.throttled_ns = Some(100_000_000)),
            ("interference", |of| {
                (of.host.foreign_cpu_ns, of.host.server_cpu_ns) = (Some(500_000_000), 700_000_000);
            }),
        ];
        let code = |sample: &Sample, saturates| {
            of_whole_load(sample, &pinning, 1, saturates).map_or("", |issue| issue.code())
        };
        for (expected, change) in cases {
            let mut sample = Sample { load: load.clone(), host: host.clone(), ..Sample::default() };
            change(&mut sample);
            assert_eq!(code(&sample, true), expected);
        }
        for (unread, cpu_ns, expected) in
            [(0, 100, ""), (3, 100, "link-bound"), (0, 950_000_000, "link-bound")]
        {
            let host = HostUsage { link: link(unread, cpu_ns), ..host.clone() };
            assert_eq!(code(&Sample { load: load.clone(), host, ..Sample::default() }, false), expected);
        }
    }
}
