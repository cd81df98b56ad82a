//! The counts and times of one service under one load: a slice of an interleaved experiment, or a whole load
//! of a sequential one. Samples hold raw numbers in base units. Validity is computed when they are read, so
//! that a corrected threshold corrects old runs too.

use std::{fmt, iter::Sum};

use serde::{Deserialize, Serialize};
use tare_base::Histogram;
use tare_host::{
    cpus::CpuAccounting,
    process::{CpuUnknown, Priority, Process, ThreadGroup},
};
pub use tare_load::{Failure, Failures};
use tare_load::{Measures, RunReport};
use tare_service::{backing::BackingCounts, drive::describe};
use tare_stats::samples::carry;

use crate::{metric::figure, sample_agents::FleetSample};

/// One service at one point of the plan, measured once.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sample {
    /// Counted from 0; always 0 in a sequential experiment.
    pub block: usize,
    /// Counted from 0, within the block.
    pub round: usize,
    pub point: usize,
    pub row: usize,
    pub outcome: SampleOutcome,
    /// Partial if the outcome is not [`SampleOutcome::Measured`].
    pub load: LoadResult,
    pub host: HostUsage,
    /// Loads on this warm process since its previous sample; absent without any, and in older runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aside: Option<UnmeasuredLoads>,
    /// The agents that loaded it; absent if the generator of this machine did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetSample>,
}

/// Unmeasured loads: the warm-up of a process that is kept for several blocks, and the first requests over
/// idle connections. Only the service's silences are recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UnmeasuredLoads {
    pub elapsed_ns: u64,
    /// The longest time in which requests were in flight and none finished.
    pub silent_ns_max: u64,
    /// CPU time that other processes took on the measured CPUs; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign_cpu_ns: Option<i64>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SampleOutcome {
    #[default]
    Measured,
    /// The service stopped answering, or would have taken many times the planned time.
    Hung(Hung),
    /// Nothing was measured. In interleaved experiments such a service has a `Failed` record and no sample.
    Failed { reason: String },
}

/// The progress of a load that was given up, and what the service did then.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hung {
    /// Time without an answer at the end; absent if answers came, but too slowly.
    pub silent_ns: Option<u64>,
    /// The time limit of the whole load.
    pub deadline_ns: u64,
    pub answered: u64,
    pub requests: u64,
    /// Threads of the service after the load was given up.
    pub threads: u64,
    /// CPU time of the service after the load was given up, as a share of one CPU.
    pub cpu_share: f64,
}

impl fmt::Display for Hung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Hung { answered, requests, threads, .. } = self;
        let seconds = |ns: u64| ns as f64 / 1e9;
        match self.silent_ns {
            Some(ns) => write!(f, "no answer for {:.0} s after {answered} of {requests}", seconds(ns))?,
            None => {
                write!(f, "{answered} of {requests} answered within {:.0} s", seconds(self.deadline_ns))?;
            }
        }
        write!(f, "; its {threads} threads then took {:.0}% of a CPU", self.cpu_share * 100.0)
    }
}

/// CPU time, and the correct answers that it was spent on. If the CPU time is unknown there is none, and so is a sum with it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RequestCost {
    pub cpu_ns: f64,
    pub answered: f64,
}

impl RequestCost {
    pub fn of(cpu_ns: u64, answered: u64) -> RequestCost {
        RequestCost { cpu_ns: cpu_ns as f64, answered: answered as f64 }
    }

    /// CPU time per request; absent without answers, or if no CPU time was counted.
    pub fn per_request(self) -> Option<f64> {
        figure(self.cpu_ns / self.answered)
    }
}

impl Sum for RequestCost {
    fn sum<I: Iterator<Item = RequestCost>>(all: I) -> RequestCost {
        all.fold(RequestCost::default(), |sum, one| RequestCost {
            cpu_ns: sum.cpu_ns + one.cpu_ns,
            answered: sum.answered + one.answered,
        })
    }
}

/// What the generator counted and timed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoadResult {
    /// Requests due per second; absent in a closed loop, where the service sets the rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered_per_second: Option<f64>,
    /// How long requests were sent.
    pub window_ns: u64,
    /// From the first request to the last answer: the makespan of a load with a fixed number of requests.
    pub elapsed_ns: u64,
    pub sent: u64,
    /// Requests that were due and never sent.
    pub unsent: u64,
    /// Correct answers, including those after the window.
    pub answered: u64,
    pub answered_in_window: u64,
    /// Correct answers within each of the plan's limits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<u64>,
    /// Wrong and missing answers.
    pub failed: Failures,
    /// Failures on connections without a request in flight.
    pub connection_failed: Failures,
    /// A description of the first wrong answer, or else of the first failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_failure: Option<String>,
    /// Requests without an answer when the load was given up.
    pub in_flight: u64,
    pub connects: u64,
    pub bytes_sent: u64,
    pub bytes_received: u64,
    /// Sum of the times that requests were in flight, for Little's law; 0 if it was not recorded.
    pub in_flight_ns: u64,
    /// The part of that sum from requests without a correct answer; absent in older runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_flight_ns_unanswered: Option<u64>,
    /// Mean time from sending an answered request to its answer, including waits for an HTTP/2 stream.
    pub service_time_ns_mean: u64,
    /// The longest time in which requests were in flight and none finished; absent in older runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silent_ns_max: Option<u64>,
    /// Latency from the instant each request was due; in a closed loop, from its sending.
    pub latency: Distribution,
    /// Schedule lag of the generator at the 99th percentile; absent in a closed loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule_lag_ns_p99: Option<u64>,
    /// From the attempt to connect until the connection is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_time: Option<Distribution>,
    /// From the attempt to connect to the close, of connections that received all their answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_time: Option<Distribution>,
    /// The load second by second, if it was watched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub seconds: Vec<Second>,
}

/// Values that a plan, such as one with an SLO, requests beside the usual ones.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AskedOfLoad {
    /// Correct answers within each of these times are counted.
    pub limits_ns: Vec<u64>,
    /// Percentiles of the latency: 99 for p99.
    pub percents: Vec<f64>,
}

/// Resources that the service, the generator and this machine used during the sample.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostUsage {
    /// CPU time of the service's processes; 0 and omitted if unknown.
    #[serde(skip_serializing_if = "is_zero")]
    pub server_cpu_ns: u64,
    /// Why the CPU time is unknown, if so.
    #[serde(alias = "served_by", skip_serializing_if = "Option::is_none")]
    pub cpu_unknown: Option<CpuUnknown>,
    /// CPU time by mode, in ticks of 10 ms, to be summed over slices. Absent in slices of older runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_cpu_by_mode: Option<CpuByMode>,
    /// What the ballast of the reference took of its CPU time and of the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ballast: Option<BallastTime>,
    /// CPU time of the service's backing (a database or an upstream server); absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backing_cpu_ns: Option<u64>,
    /// The backing ran on its own CPUs, separate from those of service and generator.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub backing_is_apart: bool,
    /// Resident memory of the backing; memory that its processes share counts for each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backing_rss_bytes: Option<u64>,
    /// Queries, rows and requests counted at the backing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backing: Option<BackingCounts>,
    /// CPU time of the generator's threads, without agents on other machines.
    pub generator_cpu_ns: u64,
    /// The part of it spent polling without result.
    pub generator_polled_ns: u64,
    /// CPU time that others took on the measured CPUs, including stolen time; accounting error can make it
    /// negative.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign_cpu_ns: Option<i64>,
    /// Use by other processes before and during the load, for a running server found by its port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<Others>,
    /// Kernel accounting of the CPUs of service and generator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accounting: Option<CpuAccounting>,
    /// Context switches of the service's live threads, voluntary and involuntary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_switches: Option<u64>,
    /// Sum of the times that the service's live threads were runnable without a CPU; absent in older runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited_ns: Option<u64>,
    /// Resident memory of its live processes after the load; absent in older runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rss_bytes: Option<u64>,
    /// Time that a CPU quota throttled the service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkUsage>,
    /// Facts about the service's process, if it served only this sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessFacts>,
}

fn is_zero(ns: &u64) -> bool {
    *ns == 0
}

/// Time that a server spent on its ballast, which is in no figure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BallastTime {
    /// As the server counted it.
    pub cpu_ns: u64,
    /// The part for answers within the window, divided by the threads that worked at a time.
    pub window_ns: u64,
}

impl BallastTime {
    /// Of `cpu_ns` in a load on a server with this number of threads.
    pub fn of(cpu_ns: u64, threads: usize, load: &LoadResult) -> BallastTime {
        let share = load.answered_in_window as f64 / load.answered.max(1) as f64;
        BallastTime { cpu_ns, window_ns: (cpu_ns as f64 * share / threads.max(1) as f64) as u64 }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CpuByMode {
    pub user_ns: u64,
    pub system_ns: u64,
}

/// CPU time that other processes took on the measured CPUs, in a pause before the load and during the load.
/// It excludes the service, Tare, the kernel and the hypervisor.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Others {
    pub pause: TakenByOthers,
    pub load: TakenByOthers,
    /// The processes at the end with the largest increase over the pause.
    pub busiest: Vec<Other>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TakenByOthers {
    pub wall_ns: u64,
    /// Accounting error can make it negative.
    pub cpu_ns: i64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Other {
    pub process: Process,
    /// CPU time in the load.
    pub cpu_ns: u64,
    /// CPU time in the pause.
    pub cpu_ns_before: u64,
}

/// One process from its start to its stop.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProcessFacts {
    /// From `exec` to the first correct answer.
    pub start_up_ns: u64,
    /// Sum of the peak resident memory of its live processes.
    pub rss_bytes_peak: Option<u64>,
    /// How it stopped, if the stop was not clean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unclean_stop: Option<String>,
    /// Version and settings that its backing (a database) reported. Absent without a backing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backing: Option<String>,
    /// Allowed CPUs and priorities of its threads after the load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// The first load of its warm-up with wrong answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wrong_aside: Option<Box<LoadResult>>,
}

/// The threads of a service at the moment that it was frozen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Placement {
    /// The priority with which the service was started.
    pub given: Priority,
    pub groups: Vec<ThreadGroup>,
}

/// Use of a slow link from its creation for this sample to the end of the load.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkUsage {
    /// What makes the link slow, and why this mechanism was chosen.
    pub kind: String,
    /// CPU time of the link's own thread, on the generator's CPUs; absent if the kernel does the work.
    pub cpu_ns: Option<u64>,
    /// Packets delivered in both directions.
    pub packets: u64,
    /// Packets lost by design.
    pub lost: u64,
    pub dropped: u64,
    /// Packets that were never read, because the link's thread was too slow.
    pub unread: u64,
    /// Excess delay of packets at the 99th percentile.
    pub late_ns_p99: u64,
}

/// Counts of one second of a load.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Second {
    /// Duration; the last one of a load may be shorter than a second.
    pub ns: u64,
    pub answered: u64,
    pub latency_ns_max: u64,
}

/// The probabilities of the quantiles that a [`Distribution`] stores.
pub const PROBABILITIES: [f64; 10] = [0.5, 0.66, 0.75, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999, 1.0];

/// A distribution of times, as far as tables need it. Its moments cover answered requests only.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Distribution {
    pub count: u64,
    pub ns_min: u64,
    pub ns_mean: f64,
    /// Undefined for counts below 2, like the share.
    pub ns_stdev: f64,
    /// The share of values within one standard deviation of the mean.
    pub share_within_stdev: f64,
    /// Probabilities, each with its quantile.
    pub quantiles_ns: Vec<(f64, u64)>,
    /// Some requests were never answered, so quantiles are lower bounds.
    pub at_least: bool,
}

impl Distribution {
    /// The distribution of times that were all observed.
    pub fn of(times: &Histogram) -> Distribution {
        let (mean, stdev) = (times.mean_ns(), times.stdev_ns().unwrap_or(0.0));
        let within = |low: f64, high: f64| times.share_within(low.max(0.0) as u64, high as u64);
        Distribution {
            count: times.count(),
            ns_min: times.min_ns(),
            ns_mean: mean,
            ns_stdev: stdev,
            share_within_stdev: within(mean - stdev, mean + stdev),
            quantiles_ns: PROBABILITIES.map(|p| (p, times.quantile_ns(p))).to_vec(),
            at_least: false,
        }
    }

    /// The latency of all requests, including those that were never answered.
    pub fn of_latency(measures: &Measures) -> Distribution {
        Distribution {
            quantiles_ns: PROBABILITIES.map(|p| (p, measures.quantile(p).ns)).to_vec(),
            at_least: measures.unanswered.count() > 0,
            ..Distribution::of(&measures.latency)
        }
    }

    /// The distribution of `times`; absent if nothing was timed.
    fn of_some(times: &Histogram) -> Option<Distribution> {
        (times.count() > 0).then(|| Distribution::of(times))
    }

    /// Adds the quantile at a requested probability, unless it is stored already.
    fn with_quantile(mut self, measures: &Measures, probability: f64) -> Distribution {
        if !self.quantiles_ns.iter().any(|(kept, _)| is_same(*kept, probability)) {
            self.quantiles_ns.push((probability, measures.quantile(probability).ns));
            self.quantiles_ns.sort_by(|one, other| one.0.total_cmp(&other.0));
        }
        self
    }

    /// The quantile at a stored probability; absent without enough values.
    pub fn ns_at(&self, probability: f64) -> Option<u64> {
        let found = self.quantiles_ns.iter().find(|(kept, _)| is_same(*kept, probability))?;
        Some(found.1).filter(|_| carry(self.count, probability))
    }
}

impl Sample {
    /// Whether the load finished.
    pub fn is_measured(&self) -> bool {
        self.outcome == SampleOutcome::Measured
    }

    /// Whether requests were due at instants of their own (an open loop).
    pub fn is_open(&self) -> bool {
        self.load.offered_per_second.is_some()
    }

    /// What its answers cost the service, without its ballast; absent if its CPU time is unknown.
    pub fn cost(&self) -> Option<RequestCost> {
        let ballast_ns = self.host.ballast.map_or(0, |ballast| ballast.cpu_ns);
        let cpu_ns = self.host.server_cpu_ns.saturating_sub(ballast_ns);
        self.host.cpu_unknown.is_none().then(|| RequestCost::of(cpu_ns, self.load.answered))
    }

    /// What its answers cost the service's backing; absent without one.
    pub fn backing_cost(&self) -> Option<RequestCost> {
        Some(RequestCost::of(self.host.backing_cpu_ns?, self.load.answered))
    }

    /// The window without the ballast in it: the time that the answers took.
    pub fn answering_ns(&self) -> u64 {
        self.load.window_ns.saturating_sub(self.host.ballast.map_or(0, |ballast| ballast.window_ns))
    }
}

impl LoadResult {
    /// The report of the generator, with the values that the plan requests.
    pub fn of(report: &RunReport, asked: &AskedOfLoad) -> LoadResult {
        let (total, tally) = (&report.total, &report.total.tally);
        let probabilities = asked.percents.iter().map(|percent| percent / 100.0);
        LoadResult {
            window_ns: report.window_ns,
            elapsed_ns: report.elapsed_ns,
            sent: tally.sent,
            unsent: tally.unsent,
            answered: tally.answered,
            answered_in_window: tally.answered_in_window,
            within: within(&total.latency, &asked.limits_ns),
            failed: tally.failed,
            connection_failed: tally.connection_failed,
            first_failure: report.first_failure.as_ref().map(describe),
            in_flight: tally.in_flight,
            connects: tally.connects,
            bytes_sent: tally.bytes_sent,
            bytes_received: tally.bytes_received,
            in_flight_ns: total.in_flight_ns.try_into().unwrap_or(u64::MAX),
            in_flight_ns_unanswered: total.in_flight_ns_unanswered.try_into().ok(),
            service_time_ns_mean: total.in_flight_ns_mean() as u64,
            silent_ns_max: Some(total.silent_ns_max),
            latency: probabilities.fold(Distribution::of_latency(total), |latency, probability| {
                latency.with_quantile(total, probability)
            }),
            schedule_lag_ns_p99: (total.schedule_lag.count() > 0)
                .then(|| total.schedule_lag.quantile_ns(0.99)),
            connect_time: Distribution::of_some(&total.connect_time),
            connection_time: Distribution::of_some(&total.connection_time),
            ..LoadResult::default()
        }
    }

    /// Correct answers per second of the window.
    pub fn per_second(&self) -> f64 {
        if self.window_ns == 0 { 0.0 } else { self.answered_in_window as f64 * 1e9 / self.window_ns as f64 }
    }

    /// Wrong answers, including unsolicited ones.
    pub fn wrong_answers(&self) -> u64 {
        self.failed.wrong_answers() + self.connection_failed.wrong_answers()
    }

    /// Requests in the latency distribution, including those that timed out or still waited.
    pub fn timed(&self) -> u64 {
        self.answered + self.failed.get(Failure::ResponseTimeout) + self.in_flight + self.unsent
    }

    /// Wrong and missing answers, including requests still in flight when the load ended.
    pub fn failures(&self) -> u64 {
        self.failed.total() + self.connection_failed.total() + self.in_flight
    }
}

/// Compares with a tolerance, because a percentage divided by 100 may differ in the last bit.
fn is_same(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9
}

/// Counts at the resolution of the histogram.
fn within(latency: &Histogram, limits_ns: &[u64]) -> Vec<u64> {
    let within =
        |limit_ns: &u64| (latency.share_within(0, *limit_ns) * latency.count() as f64).round() as u64;
    limits_ns.iter().map(within).collect()
}

impl HostUsage {
    /// CPU time of the user-space link.
    pub fn link_cpu_ns(&self) -> u64 {
        self.link.as_ref().and_then(|link| link.cpu_ns).unwrap_or(0)
    }

    /// CPU time of the generator without unsuccessful polling.
    pub fn generator_busy_ns(&self) -> u64 {
        self.generator_cpu_ns.saturating_sub(self.generator_polled_ns)
    }

    /// CPU time of the backing on the service's CPUs. Absent without such a backing.
    pub fn sharing_cpu_ns(&self) -> Option<u64> {
        self.backing_cpu_ns.filter(|_| !self.backing_is_apart)
    }

    /// CPU time of all parts of the experiment on the CPUs of service and generator.
    pub fn own_cpu_ns(&self) -> u64 {
        self.server_cpu_ns + self.sharing_cpu_ns().unwrap_or(0) + self.generator_cpu_ns + self.link_cpu_ns()
    }
}
