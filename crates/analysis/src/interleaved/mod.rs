//! From the records of a run to the figures of a table: pure, so that the same folder gives the same table for ever.
//! How it looks is decided in `tare-report`.

mod added;
mod backing;
pub(crate) mod blocks;
mod bound;
pub(crate) mod compute;
mod cores;
#[cfg(test)]
mod discarded_tests;
mod equal_rate;
mod handshakes;
mod latency;
mod levels;
mod moments;
pub(crate) mod notes;
mod pairs;
mod ranks;
pub(crate) mod relation;
mod role;
pub(crate) mod rounds;
pub mod slices;
pub(crate) mod spent;
mod spread;
mod starts;
mod twin;
mod uncounted;

use std::collections::BTreeMap;

pub use added::{AddedCost, added_costs};
pub use backing::{BackingCost, BackingKind, KernelShare};
pub use bound::RatioBound;
pub use compute::compute;
pub(crate) use compute::wrong_answers;
pub use cores::{AtThreads, FittedLaw, Scaling, scalings};
pub use equal_rate::CostAtRate;
pub use handshakes::{RowHandshakes, handshakes};
pub use pairs::{PairRatios, pair_ratios};
pub use ranks::{AdjacentPair, Place, Ranks};
pub use role::Role;
pub use spread::spread;
pub use twin::Twin;

pub use crate::{accounting::CpuAccounting, figures, validity::Dropped};

use crate::{
    estimate::Estimate,
    findings::Finding,
    verdict::{Question, Verdict},
};
use tare_bench::{
    plan::{Excluded, PlannedRow},
    record::Ending,
};
use tare_service::catalogue::Style;

#[derive(Debug, Clone)]
pub struct Report {
    /// Label of the row that is 100%.
    pub reference: String,
    pub blocks: usize,
    /// Time of the run; absent if it was cut off.
    pub elapsed_ns: Option<u64>,
    /// Why it ended; absent if it was cut off.
    pub ending: Option<Ending>,
    pub load: String,
    /// The share of the measured CPUs that went to other programs of this machine, or of another tenant's.
    pub interference_share: Option<f64>,
    /// What was left out because the machine was disturbed.
    pub dropped: Dropped,
    /// Where the time of the measured CPUs went; absent if no slice has it.
    pub cpu_accounting: Option<CpuAccounting>,
    /// Which rows the data can separate; absent if there are not two with figures.
    pub ranks: Option<Ranks>,
    /// The reference under its second name; absent if it was measured under one.
    pub twin: Option<Twin>,
    /// References first, then the others, best first; rows without a figure last. The twin is not among them.
    pub rows: Vec<RowReport>,
    pub findings: Vec<Finding>,
}

#[derive(Debug, Clone, Default)]
pub struct RowReport {
    pub label: String,
    pub language: String,
    pub framework: String,
    pub title: Option<String>,
    pub style: Style,
    pub version: Option<String>,
    pub state: State,
    pub role: Role,
    /// The best and the worst rank that it may have.
    pub ranks: Option<[usize; 2]>,
    pub blocks: usize,
    /// Processes on which they were measured; fewer than blocks if one lasted for several.
    pub starts: usize,
    /// How long it was under load until its CPU per request was steady, as a pilot found; absent if there was no pilot, or
    /// it never was, which is a finding.
    pub steady_after_ns: Option<u64>,
    /// Answers a second within the window; the mean of the blocks (geometric, as that of all levels here). Divided by the
    /// reference's it gives the ratio.
    pub requests_per_second: Option<Estimate>,
    /// Why a measured row has no throughput.
    pub throughput_finding: Option<Finding>,
    /// Throughput related to the reference's, paired by block.
    pub ratio: Option<Estimate>,
    /// What that says of the ratio of the capacities.
    pub throughput_bound: RatioBound,
    /// The ratio if both had been busy all the time, by how busy they were; absent if both were.
    pub ratio_if_busy: Option<f64>,
    /// CPU time of the service's processes for each answer; the mean of the blocks. Divided by the reference's it gives the
    /// ratio.
    pub cpu_ns_per_request: Option<Estimate>,
    /// The same with the softirq on the service's CPUs, whether or not the kernel counts that among the time of the process;
    /// absent if that is not known.
    pub cpu_ns_per_request_with_softirq: Option<f64>,
    /// CPU time for each answer, related to the reference's.
    pub cpu_ratio: Option<Estimate>,
    /// What the service works with: absent if that is nothing.
    pub backing: Option<BackingCost>,
    /// The share of the measured time in which the service's CPUs were busy with it.
    pub server_cpu_share: Option<f64>,
    /// The same with what it works with, which shares these CPUs; absent if that is nothing.
    pub busy_cpu_share: Option<f64>,
    pub generator_cpu_share: Option<f64>,
    /// Of the service's CPUs in that time: interrupts and softirq, of all processes.
    pub softirq_share: Option<f64>,
    /// Of the measured CPUs: others, stolen time among it.
    pub interference_share: Option<f64>,
    /// Of the measured CPUs: taken by a hypervisor.
    pub steal_share: Option<f64>,
    /// Of the service's CPUs: time that a quota kept the service from running.
    pub throttled_share: Option<f64>,
    /// Of the time: some process on the machine waited for a CPU.
    pub cpu_pressure_share: Option<f64>,
    /// Bytes on the wire for each answer, both ways.
    pub bytes_per_request: Option<f64>,
    /// Of the service's threads, voluntary and forced together; the median of the blocks.
    pub context_switches_per_request: Option<f64>,
    /// Mean of the processes' medians.
    pub latency_ns_p50: Option<Estimate>,
    /// Mean of the processes' 99th percentiles.
    pub latency_ns_p99: Option<Estimate>,
    /// Latency in the open loops, in the order of the plan's rates.
    pub latency_open: Vec<OpenLatency>,
    /// What a request costs at the rates that are the same for all rows.
    pub cost_at_rates: Vec<CostAtRate>,
    /// Peak resident memory; the mean of the processes.
    pub rss_bytes_peak: Option<Estimate>,
    /// From `exec` to the first right answer; the mean of the starts.
    pub start_up_ns: Option<Estimate>,
    /// Requests sent in all complete blocks.
    pub sent: u64,
    /// Wrong and missing answers, by class.
    pub failed: BTreeMap<String, u64>,
    pub findings: Vec<Finding>,
}

/// Whether a row has figures.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum State {
    Measured,
    /// It was measured, and the measurement is not valid.
    Invalid(Finding),
    /// It failed while it was measured.
    Failed(String),
    /// It took no part: not on this machine, not built, or against its contract.
    Excluded(Excluded),
    /// Not yet a complete block.
    #[default]
    Unmeasured,
}

impl State {
    /// What stands in place of figures.
    pub fn word(&self) -> &'static str {
        self.verdict().word(Question::Row)
    }

    /// What that means for a command that needs figures.
    pub fn verdict(&self) -> Verdict {
        match self {
            State::Measured => Verdict::Pass,
            State::Invalid(_) => Verdict::Invalid,
            State::Failed(_) => Verdict::ServiceFailed,
            State::Excluded(excluded) => excluded.why.into(),
            State::Unmeasured => Verdict::Unfinished,
        }
    }

    /// Why there are none; absent if there are some.
    pub fn reason(&self) -> Option<String> {
        match self {
            State::Measured => None,
            State::Invalid(finding) => Some(finding.to_string()),
            State::Failed(reason) => Some(reason.clone()),
            State::Excluded(excluded) => Some(excluded.reason.clone()),
            State::Unmeasured => Some("no complete block".to_owned()),
        }
    }
}

/// Latency of a row at one rate, from the instants at which requests were due.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenLatency {
    /// The rate as the experiment names it: `5000/s`, `80%`.
    pub point: String,
    /// Requests a second that were due; the median of the blocks.
    pub offered_per_second: f64,
    /// Each is of the blocks that had enough requests for it.
    pub p50_ns: Option<Estimate>,
    pub p90_ns: Option<Estimate>,
    pub p99_ns: Option<Estimate>,
    pub p999_ns: Option<Estimate>,
    /// Some requests were never answered, so that the quantiles are lower bounds.
    pub at_least: bool,
    /// How late the generator itself was: the greatest 99th percentile of its slices.
    pub lag_ns_p99: u64,
    pub due: u64,
    /// Why it is not the service's latency; absent if it is.
    pub doubt: Option<Finding>,
}

impl RowReport {
    /// A row that nothing is known of but what was planned.
    fn of(row: &PlannedRow) -> RowReport {
        RowReport {
            label: row.label.clone(),
            language: row.language.clone(),
            framework: row.framework.clone(),
            title: row.title.clone(),
            style: row.style,
            version: row.version.clone(),
            ..RowReport::default()
        }
    }

    /// Whether it has valid figures.
    pub fn verdict(&self) -> Verdict {
        match &self.state {
            State::Measured if self.throughput_finding.is_some() => Verdict::Invalid,
            state => state.verdict(),
        }
    }

    /// Why it has no figures, or no throughput.
    pub fn reason(&self) -> Option<String> {
        self.state.reason().or_else(|| self.throughput_finding.as_ref().map(ToString::to_string))
    }

    /// Throughput as a multiple of `raw-socket`'s, which is 1 for the reference itself where its throughput is valid.
    pub fn times_throughput(&self, reference: &str) -> Option<f64> {
        let own = (self.label == reference && self.requests_per_second.is_some()).then_some(1.0);
        self.ratio.as_ref().map(|ratio| ratio.value).or(own)
    }

    /// CPU per request as a multiple of `raw-socket`'s, which is 1 for the reference itself.
    pub fn times_cpu(&self, reference: &str) -> Option<f64> {
        let own = (self.label == reference && self.cpu_ns_per_request.is_some()).then_some(1.0);
        self.cpu_ratio.as_ref().map(|ratio| ratio.value).or(own)
    }
}

#[cfg(test)]
mod tests;
