//! What was counted and timed of one service under one load for a while: a slice of an interleaved experiment, or a whole load of
//! a sequential one. Raw numbers in base units. Whether they can be trusted is for their reader to compute, so that a corrected
//! threshold corrects old runs too.

use std::fmt;

use serde::{Deserialize, Serialize};
use tare_host::{
    cpus::CpuAccounting,
    process::{CpuUnknown, Priority, Process, ThreadGroup},
};
pub use tare_load::{Failure, Failures};
use tare_load::{Histogram, Measures, RunReport};
use tare_service::{backing::BackingCounts, drive::describe};
use tare_stats::samples::carry;

use crate::sample_agents::FleetSample;

/// One service at one point of the plan, once.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sample {
    /// Counted from 0; always 0 in a sequential experiment.
    pub block: usize,
    /// Counted from 0, within the block.
    pub round: usize,
    pub point: usize,
    pub row: usize,
    pub outcome: Outcome,
    /// As far as it came where the outcome is not [`Outcome::Measured`].
    pub load: LoadResult,
    pub host: HostUsage,
    /// What preceded it on this process, which was warm; absent if nothing did, and in older runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aside: Option<Aside>,
    /// Who loaded it, if that was not the generator of this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetSample>,
}

/// Loads of which nothing is measured but how long the service was silent: the warm-up of a process that is kept for several
/// blocks, and the first requests over connections that were left alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Aside {
    pub elapsed_ns: u64,
    /// The longest time in which requests were in flight and none of them came to its end.
    pub silent_ns_max: u64,
    /// CPU time that others took on the measured CPUs; absent if that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign_cpu_ns: Option<i64>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    #[default]
    Measured,
    /// The service stopped answering, or would not have answered everything in many times the planned time.
    Hung(Hung),
    /// Nothing was measured. A service that fails in an interleaved experiment has a record of its own, and no sample.
    Failed { reason: String },
}

/// How far a load came that was given up, and what the service did then.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hung {
    /// No answer came for this long; absent if answers came, but too slowly.
    pub silent_ns: Option<u64>,
    /// The time after which it was given up in any case.
    pub deadline_ns: u64,
    pub answered: u64,
    pub requests: u64,
    /// Of the service, after the load was given up.
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

/// What the generator counted and timed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoadResult {
    /// Requests a second that were due; none in a closed loop, where the service sets the rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered_per_second: Option<f64>,
    /// How long requests were sent.
    pub window_ns: u64,
    /// From the first request until the last one in flight was answered: the makespan of a load that ends by a number.
    pub elapsed_ns: u64,
    pub sent: u64,
    /// Requests that were due and never sent.
    pub unsent: u64,
    /// Right answers, those after the window among them.
    pub answered: u64,
    pub answered_in_window: u64,
    /// Right answers within each of the times that the plan asks about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<u64>,
    /// Wrong and missing answers.
    pub failed: Failures,
    /// Failures of connections that had no request out.
    pub connection_failed: Failures,
    /// What the first wrong answer looked like, or else the first failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_failure: Option<String>,
    /// Requests without an answer when the load was given up.
    pub in_flight: u64,
    pub connects: u64,
    pub bytes_sent: u64,
    pub bytes_received: u64,
    /// The time that each request was in flight, added up, for Little's law; 0 where it was not kept.
    pub in_flight_ns: u64,
    /// The part of it of requests without a right answer, added up request by request; absent in older runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_flight_ns_unanswered: Option<u64>,
    /// Mean time from the send of an answered request to its answer, with a wait for a stream of HTTP/2.
    pub service_time_ns_mean: u64,
    /// The longest time in which requests were in flight and none of them came to its end; absent in older runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silent_ns_max: Option<u64>,
    /// From the instant each request was due; in a closed loop, from its send.
    pub latency: Distribution,
    /// How late the generator was itself, at the 99th percentile; none in a loop without due instants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule_lag_ns_p99: Option<u64>,
    /// From the attempt to connect to the connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_time: Option<Distribution>,
    /// From the attempt to connect to the close, of connections that had all their answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_time: Option<Distribution>,
    /// The load second by second, where it was watched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub seconds: Vec<Second>,
}

/// What a plan asks about a load besides what is always kept, such as an SLO.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AskedOfLoad {
    /// Right answers are counted that came within each of these times.
    pub limits_ns: Vec<u64>,
    /// Percentiles of the latency: 99 for p99.
    pub percents: Vec<f64>,
}

/// What the service, the generator and this machine spent meanwhile.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostUsage {
    /// CPU time of the service's processes; 0, and left out, if it is not known.
    #[serde(skip_serializing_if = "is_zero")]
    pub server_cpu_ns: u64,
    /// Why it is not known, if it is not.
    #[serde(alias = "served_by", skip_serializing_if = "Option::is_none")]
    pub cpu_unknown: Option<CpuUnknown>,
    /// The part of it in user mode and in the kernel, in ticks of 10 ms: to be added up over slices. Absent in slices of older runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_cpu_by_mode: Option<CpuByMode>,
    /// What the ballast of the reference took of its CPU time and of the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ballast: Option<BallastTime>,
    /// CPU time of what it works with: a database, a server behind it; absent if that is nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backing_cpu_ns: Option<u64>,
    /// It ran on CPUs of its own, none of which are those of service and generator.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub backing_is_apart: bool,
    /// Resident memory of that; pages that its processes share count for each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backing_rss_bytes: Option<u64>,
    /// What was asked of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backing: Option<BackingCounts>,
    /// CPU time of the generator's threads. Of agents, of those on this machine: what others spend elsewhere disturbs nothing here.
    pub generator_cpu_ns: u64,
    /// The part of it in which they polled and nothing had come.
    pub generator_polled_ns: u64,
    /// CPU time that others took on the CPUs of the service and the generator, stolen time among it; sometimes below 0, by the
    /// error of its accounting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign_cpu_ns: Option<i64>,
    /// What other processes did before it and meanwhile, if the server ran already and was found by its port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<Others>,
    /// What the CPUs of both did, as the kernel counts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accounting: Option<CpuAccounting>,
    /// Of the service's live threads, voluntary and forced together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_switches: Option<u64>,
    /// How long the service's live threads were ready to run and had no CPU, added up; absent in older runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited_ns: Option<u64>,
    /// Resident memory of its live processes after the load; absent in older runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rss_bytes: Option<u64>,
    /// How long a quota of CPU time held the service back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkUsage>,
    /// Of the service's process, where it served this sample alone.
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

/// What others took of the measured CPUs in a pause before a load, and in the load. They are neither the service nor Tare, nor the
/// kernel, nor the hypervisor.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Others {
    pub pause: TakenByOthers,
    pub load: TakenByOthers,
    /// The processes seen at its end that took most in addition to what they took in the pause.
    pub busiest: Vec<Other>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TakenByOthers {
    pub wall_ns: u64,
    /// Sometimes below 0, by the error of its accounting.
    pub cpu_ns: i64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Other {
    pub process: Process,
    /// In the load.
    pub cpu_ns: u64,
    /// In the pause.
    pub cpu_ns_before: u64,
}

/// One process from its start to its stop.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProcessFacts {
    /// From `exec` to the first right answer.
    pub start_up_ns: u64,
    /// Sum of the peaks of its live processes.
    pub rss_bytes_peak: Option<u64>,
    /// How it stopped, where that was not clean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unclean_stop: Option<String>,
    /// What it worked with said of itself: version and settings of its database. Absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backing: Option<String>,
    /// Where its threads could run after the load, and how urgently.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// The first load before it that was answered wrongly, while it was warmed up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wrong_aside: Option<Box<LoadResult>>,
}

/// The threads of a service as they were, frozen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Placement {
    /// The priority that the service was started with.
    pub given: Priority,
    pub groups: Vec<ThreadGroup>,
}

/// What a slow link did during the load, and before it, since it was made for this sample.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkUsage {
    /// What makes it slow, and why that.
    pub kind: String,
    /// CPU time of its own thread, on the generator's CPUs; absent if the kernel does the work.
    pub cpu_ns: Option<u64>,
    /// Packets that came out, both ways.
    pub packets: u64,
    /// Lost as they should be.
    pub lost: u64,
    pub dropped: u64,
    /// Never read, since its thread was too slow.
    pub unread: u64,
    /// How much later than they should have 1% of the packets came out.
    pub late_ns_p99: u64,
}

/// What happened in a second of a load.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Second {
    /// The last one of a load may be shorter than a second.
    pub ns: u64,
    pub answered: u64,
    pub latency_ns_max: u64,
}

/// The probabilities at which a [`Distribution`] is kept.
pub const PROBABILITIES: [f64; 10] = [0.5, 0.66, 0.75, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999, 1.0];

/// A distribution of times, as far as tables show it. Moments are of what was answered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Distribution {
    pub count: u64,
    pub ns_min: u64,
    pub ns_mean: f64,
    /// It says nothing of a count below 2, and neither does the share.
    pub ns_stdev: f64,
    /// The share that lies within one standard deviation of the mean.
    pub share_within_stdev: f64,
    /// Probabilities, each with its quantile.
    pub quantiles_ns: Vec<(f64, u64)>,
    /// Some requests were never answered: quantiles are lower bounds.
    pub at_least: bool,
}

impl Distribution {
    /// Of times that were all observed.
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

    /// Of the latency of all requests, those that were never answered among them.
    pub fn of_latency(measures: &Measures) -> Distribution {
        Distribution {
            quantiles_ns: PROBABILITIES.map(|p| (p, measures.quantile(p).ns)).to_vec(),
            at_least: measures.unanswered.count() > 0,
            ..Distribution::of(&measures.latency)
        }
    }

    /// Absent if nothing was timed.
    fn of_some(times: &Histogram) -> Option<Distribution> {
        (times.count() > 0).then(|| Distribution::of(times))
    }

    /// With the quantile at a probability that is asked for besides those that are always kept.
    fn with_quantile(mut self, measures: &Measures, probability: f64) -> Distribution {
        if !self.quantiles_ns.iter().any(|(kept, _)| is_same(*kept, probability)) {
            self.quantiles_ns.push((probability, measures.quantile(probability).ns));
            self.quantiles_ns.sort_by(|one, other| one.0.total_cmp(&other.0));
        }
        self
    }

    /// The quantile at one of the probabilities that were kept; absent if nothing was timed, or too few for it.
    pub fn ns_at(&self, probability: f64) -> Option<u64> {
        let found = self.quantiles_ns.iter().find(|(kept, _)| is_same(*kept, probability))?;
        Some(found.1).filter(|_| carry(self.count, probability))
    }
}

impl Sample {
    /// Whether the load came to its end.
    pub fn is_measured(&self) -> bool {
        self.outcome == Outcome::Measured
    }

    /// Whether requests were due at instants of their own.
    pub fn is_open(&self) -> bool {
        self.load.offered_per_second.is_some()
    }

    /// CPU time of the service for each right answer.
    pub fn cpu_ns_per_request(&self) -> Option<f64> {
        (self.load.answered > 0 && self.host.cpu_unknown.is_none())
            .then(|| self.cost_ns() as f64 / self.load.answered as f64)
    }

    /// CPU time of the service without its ballast.
    pub fn cost_ns(&self) -> u64 {
        self.host.server_cpu_ns.saturating_sub(self.host.ballast.map_or(0, |ballast| ballast.cpu_ns))
    }

    /// The window without the ballast in it: the time that the answers took.
    pub fn answering_ns(&self) -> u64 {
        self.load.window_ns.saturating_sub(self.host.ballast.map_or(0, |ballast| ballast.window_ns))
    }
}

impl LoadResult {
    /// As the generator reports it, with what the plan asks about.
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

    /// Right answers a second of the window.
    pub fn per_second(&self) -> f64 {
        if self.window_ns == 0 { 0.0 } else { self.answered_in_window as f64 * 1e9 / self.window_ns as f64 }
    }

    /// Answers that came and were wrong, unsolicited ones among them.
    pub fn wrong_answers(&self) -> u64 {
        self.failed.wrong_answers() + self.connection_failed.wrong_answers()
    }

    /// Requests whose latency, or how long they had waited for none, is in the distribution.
    pub fn timed(&self) -> u64 {
        self.answered + self.failed.get(Failure::ResponseTimeout) + self.in_flight + self.unsent
    }

    /// Wrong and missing answers, those among them that were still waited for when the load ended.
    pub fn failures(&self) -> u64 {
        self.failed.total() + self.connection_failed.total() + self.in_flight
    }
}

/// The division by which a percentage was made leaves a float that is next to it.
fn is_same(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9
}

/// To the resolution of the histogram.
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

    /// CPU time that the generator worked, which is without polling for nothing.
    pub fn generator_busy_ns(&self) -> u64 {
        self.generator_cpu_ns.saturating_sub(self.generator_polled_ns)
    }

    /// CPU time of what the service works with, on the service's CPUs. Absent if that is nothing.
    pub fn sharing_cpu_ns(&self) -> Option<u64> {
        self.backing_cpu_ns.filter(|_| !self.backing_is_apart)
    }

    /// CPU time of all that belongs to the experiment, on the CPUs of service and generator.
    pub fn own_cpu_ns(&self) -> u64 {
        self.server_cpu_ns + self.sharing_cpu_ns().unwrap_or(0) + self.generator_cpu_ns + self.link_cpu_ns()
    }
}
