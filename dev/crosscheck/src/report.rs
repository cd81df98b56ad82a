//! The result of a cross-validation, as data: what is stored and printed.

use serde::Serialize;
use tare_bench::metric::Metric;
use tare_stats::summary;

use super::{
    Found, Shape, Tool, evaluation,
    finding::{Finding, Verdict},
    rounds::{Pair, Sample, Series},
};
use tare_host::cpus::Pinning;
use tare_service::settings::ServiceSettings;

/// The format of `crosscheck.json`, `major.minor`.
pub const FORMAT: &str = "1.0";

/// All of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// [`FORMAT`].
    pub format: &'static str,
    /// Version of tare.
    pub tare: String,
    /// When it began.
    pub began: String,
    /// The row that was loaded.
    pub service: String,
    /// The version that its build reported.
    pub version: String,
    /// The contract, and what was asked.
    pub contract: String,
    /// Method and path.
    pub request: String,
    pub service_settings: ServiceSettings,
    /// Which CPUs the service and the generators had.
    pub pinning: Pinning,
    pub rounds: usize,
    /// Of the orders.
    pub seed: u64,
    /// Ended early by a signal.
    pub interrupted: bool,
    /// How the service failed. Then no figure counts.
    pub failure: Option<String>,
    pub tools: Vec<ToolResult>,
    /// Tools that are not installed.
    pub missing: Vec<Missing>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Missing {
    pub tool: Tool,
    /// The command that installs it.
    pub install: &'static str,
}

/// One tool beside Tare's generator.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolResult {
    pub tool: Tool,
    pub version: String,
    /// The load of both.
    pub load: Shape,
    /// Length of the request that the tool sends, and Tare's generator after it.
    pub request_bytes: Option<usize>,
    /// Why there are no figures, or no more.
    pub fault: Option<String>,
    /// One for each metric that the tool reports.
    pub findings: Vec<Finding>,
    /// Rounds in which other processes took more than a tenth of the measured CPUs. They are dropped, unless they are more than
    /// half.
    pub rounds_disturbed: usize,
    /// Whether they are more than half.
    pub machine_noisy: bool,
    pub costs: Option<Costs>,
    pub pairs: Vec<Pair>,
}

/// Medians over the rounds: the tool's, then ours.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Costs {
    /// CPU time of the generator for an answer.
    pub client_ns: (f64, f64),
    /// The share of its threads' time that the generator was on a CPU.
    pub client_busy: (f64, f64),
    /// CPU time of the service for a request.
    pub server_ns: (f64, f64),
    /// The share of its CPUs' time that the service was on one.
    pub server_busy: (f64, f64),
    /// Segments with data that the kernel sent, for a request.
    pub segments: Option<(f64, f64)>,
}

impl ToolResult {
    /// From its rounds.
    pub fn new(found: &Found, load: Shape, request_bytes: Option<usize>, series: Series) -> ToolResult {
        let counted = series.counted();
        ToolResult {
            tool: found.tool,
            version: found.version.clone(),
            load,
            request_bytes,
            findings: evaluation::evaluate(&load, &counted),
            rounds_disturbed: counted.disturbed,
            machine_noisy: counted.noisy,
            costs: Costs::of(&counted.series.pairs),
            fault: series.fault,
            pairs: series.pairs,
        }
    }

    /// The finding that decides.
    pub(crate) fn deciding(&self) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.metric == Metric::Throughput)
    }
}

impl Costs {
    fn of(pairs: &[Pair]) -> Option<Costs> {
        let both = |of: &dyn Fn(&Sample) -> f64| {
            let median = |side: fn(&Pair) -> &Sample| {
                summary::median(&pairs.iter().map(|pair| of(side(pair))).collect::<Vec<_>>()).ok()
            };
            median(|pair| &pair.theirs).zip(median(|pair| &pair.ours))
        };
        Some(Costs {
            client_ns: both(&Sample::client_cost_ns)?,
            client_busy: both(&Sample::client_busy)?,
            server_ns: both(&Sample::server_cost_ns)?,
            server_busy: both(&Sample::server_busy)?,
            // One that the kernel did not tell is no number, and then there is no median.
            segments: both(&|sample| sample.segments_per_request().unwrap_or(f64::NAN)),
        })
    }
}

impl Report {
    /// What each tool's throughput says; a tool with a fault says nothing.
    pub fn verdicts(&self) -> impl Iterator<Item = Verdict> {
        let sound = self.tools.iter().filter(|result| result.fault.is_none());
        sound.filter_map(|result| result.deciding().map(|finding| finding.verdict))
    }

    /// Whether a tool has a fault.
    pub fn some_fault(&self) -> bool {
        self.tools.iter().any(|result| result.fault.is_some())
    }
}
