//! From the records of a run to the figures of a table, by pure functions. `tare-report` formats them.

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
    /// Wall time of the run; absent if it was cut off.
    pub elapsed_ns: Option<u64>,
    /// Why it ended; absent if it was cut off.
    pub ending: Option<Ending>,
    pub load: String,
    /// The share of the measured CPUs that other programs took, on this machine or in other guests.
    pub interference_share: Option<f64>,
    /// Slices left out because of disturbances.
    pub dropped: Dropped,
    /// CPU accounting of the run; absent if no slice has it.
    pub cpu_accounting: Option<CpuAccounting>,
    /// The separated rows and ranks; absent without two rows with figures.
    pub ranks: Option<Ranks>,
    /// The twin of the reference or candidate; absent without one.
    pub twin: Option<Twin>,
    /// References first, then the others from best to worst; rows without figures last. Excludes the twin.
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
    /// Processes that measured them; fewer than blocks if some lasted for several.
    pub starts: usize,
    /// Load time until CPU per request was steady, from the pilot. Absent if it never was.
    pub steady_after_ns: Option<u64>,
    /// Answers per second within the window, as a geometric mean over blocks, like all levels here. Divided
    /// by the reference's it gives the ratio.
    pub requests_per_second: Option<Estimate>,
    /// Why a measured row has no throughput.
    pub throughput_finding: Option<Finding>,
    /// Throughput divided by the reference's, paired by block.
    pub ratio: Option<Estimate>,
    /// What the ratio implies about capacities.
    pub throughput_bound: RatioBound,
    /// The ratio extrapolated to saturation by the busy shares; absent if both were saturated.
    pub ratio_if_busy: Option<f64>,
    /// CPU time of the service's processes per answer. Divided by the reference's it gives the ratio.
    pub cpu_ns_per_request: Option<Estimate>,
    /// The same plus all softirq on the service's CPUs; absent if unknown.
    pub cpu_ns_per_request_with_softirq: Option<f64>,
    /// CPU time per answer divided by the reference's.
    pub cpu_ratio: Option<Estimate>,
    /// The cost of the service's backing; absent without one.
    pub backing: Option<BackingCost>,
    /// The share of time in which the service kept its CPUs busy.
    pub server_cpu_share: Option<f64>,
    /// The same including a backing on these CPUs; absent without one.
    pub busy_cpu_share: Option<f64>,
    pub generator_cpu_share: Option<f64>,
    /// Share of the service's CPU time in interrupts and softirq, for all processes.
    pub softirq_share: Option<f64>,
    /// Share of the measured CPUs that others took, including stolen time.
    pub interference_share: Option<f64>,
    /// Share of the measured CPUs that a hypervisor took.
    pub steal_share: Option<f64>,
    /// Share of the time in which a quota throttled the service.
    pub throttled_share: Option<f64>,
    /// Share of the time in which some process on the machine waited for a CPU.
    pub cpu_pressure_share: Option<f64>,
    /// Bytes on the wire per answer, both ways.
    pub bytes_per_request: Option<f64>,
    /// Voluntary and involuntary switches of the service's threads; the median of the blocks.
    pub context_switches_per_request: Option<f64>,
    /// Mean of the processes' medians.
    pub latency_ns_p50: Option<Estimate>,
    /// Mean of the processes' 99th percentiles.
    pub latency_ns_p99: Option<Estimate>,
    /// Latency in the open loops, in the order of the plan's rates.
    pub latency_open: Vec<OpenLatency>,
    /// The cost per request at the rates common to all rows.
    pub cost_at_rates: Vec<CostAtRate>,
    /// Peak resident memory; the mean of the processes.
    pub rss_bytes_peak: Option<Estimate>,
    /// From `exec` to the first correct answer; the mean of the starts.
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
    /// It was measured, but the measurement is invalid.
    Invalid(Finding),
    /// It failed during the measurement.
    Failed(String),
    /// It took no part: not on this machine, not built, or in violation of its contract.
    Excluded(Excluded),
    /// It has no complete block yet.
    #[default]
    Unmeasured,
}

impl State {
    /// The word that replaces figures in a table.
    pub fn word(&self) -> &'static str {
        self.verdict().word(Question::Row)
    }

    /// The verdict for a command that needs figures.
    pub fn verdict(&self) -> Verdict {
        match self {
            State::Measured => Verdict::Pass,
            State::Invalid(_) => Verdict::Invalid,
            State::Failed(_) => Verdict::ServiceFailed,
            State::Excluded(excluded) => excluded.why.into(),
            State::Unmeasured => Verdict::Unfinished,
        }
    }

    /// Why there are no figures; absent if there are.
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
    /// Requests due per second; the median of the blocks.
    pub offered_per_second: f64,
    /// Each quantile covers the blocks with enough requests for it.
    pub p50_ns: Option<Estimate>,
    pub p90_ns: Option<Estimate>,
    pub p99_ns: Option<Estimate>,
    pub p999_ns: Option<Estimate>,
    /// Some requests were never answered, so the quantiles are lower bounds.
    pub at_least: bool,
    /// Schedule lag of the generator: the largest p99 of its slices.
    pub lag_ns_p99: u64,
    pub due: u64,
    /// Why it is not the service's latency; absent if it is valid.
    pub doubt: Option<Finding>,
}

impl RowReport {
    /// A row before any measurement.
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

    /// Throughput divided by the reference's; 1 for the reference itself if its throughput is valid.
    pub fn times_throughput(&self, reference: &str) -> Option<f64> {
        let own = (self.label == reference && self.requests_per_second.is_some()).then_some(1.0);
        self.ratio.as_ref().map(|ratio| ratio.value).or(own)
    }

    /// CPU per request divided by the reference's; 1 for the reference itself.
    pub fn times_cpu(&self, reference: &str) -> Option<f64> {
        let own = (self.label == reference && self.cpu_ns_per_request.is_some()).then_some(1.0);
        self.cpu_ratio.as_ref().map(|ratio| ratio.value).or(own)
    }
}

#[cfg(test)]
mod tests;
