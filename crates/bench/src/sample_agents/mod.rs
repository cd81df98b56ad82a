//! The agents that loaded a slice: the stored facts of each, and why a slice has no figures. Values only.

use serde::{Deserialize, Serialize};
use tare_agent::{AgentRow, FleetFinding, FleetReport};
use tare_load::EngineFinding;

/// The agents of a slice.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FleetSample {
    /// The window of the slice, in which all agents certainly loaded, from the common start.
    pub from_ns: u64,
    pub to_ns: u64,
    /// Bound on the disagreement of all clocks.
    pub uncertainty_ns: u64,
    /// In the order of the plan.
    pub agents: Vec<AgentSample>,
    /// Findings about all agents together that leave the figures valid.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One agent in one slice.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentSample {
    pub address: String,
    /// `valid`, or the names of its findings.
    pub verdict: String,
    /// Correct answers, including those after the window.
    pub answered: u64,
    pub answered_in_window: u64,
    pub latency_ns_p99: u64,
    /// The agent's own schedule lag; absent in a closed loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule_lag_ns_p99: Option<u64>,
    /// How long after the common start it began.
    pub late_ns: u64,
    /// Error of its clock; absent if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_error_ns: Option<u64>,
    /// The longest time that it took to answer the controller.
    pub silent_ns: u64,
    /// CPU time of its threads, on its own machine.
    pub generator_cpu_ns: u64,
}

/// A slice without figures, for a reason that is not the service.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DiscardedSlice {
    pub block: usize,
    pub round: usize,
    pub point: usize,
    pub row: usize,
    /// Whether it belongs to a closed loop, and so has a place in a round.
    pub is_closed: bool,
    /// At least one reason; each names its agent.
    pub reasons: Vec<String>,
    /// An agent was lost, or could not begin: the counts of the others are unknown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_lost: bool,
    /// The reports of the agents; empty if one was lost.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentSample>,
}

impl FleetSample {
    #[must_use]
    pub fn of(report: &FleetReport) -> FleetSample {
        let window = report.counted;
        FleetSample {
            from_ns: window.map_or(0, |window| window.from_ns),
            to_ns: window.map_or(0, |window| window.to_ns),
            uncertainty_ns: window.map_or(0, |window| window.uncertainty_ns),
            agents: report.rows.iter().map(AgentSample::of).collect(),
            notes: of_findings(report, |finding| !discards(finding)),
        }
    }
}

impl AgentSample {
    fn of(row: &AgentRow) -> AgentSample {
        let (report, total) = (&row.report, &row.report.total);
        AgentSample {
            address: row.address.clone(),
            verdict: row.verdict(),
            answered: total.tally.answered,
            answered_in_window: row.answered_in_window,
            latency_ns_p99: total.quantile(0.99).ns,
            schedule_lag_ns_p99: (total.schedule_lag.count() > 0)
                .then(|| total.schedule_lag.quantile_ns(0.99)),
            late_ns: report.aligned.as_ref().map_or(0, |aligned| aligned.late_ns),
            clock_error_ns: row.clock.map(|clock| clock.start_error_ns.max(clock.end_error_ns)),
            silent_ns: row.silent_ns,
            generator_cpu_ns: report.generator_cpu_ns,
        }
    }
}

impl DiscardedSlice {
    /// The reasons why this load has no figures; absent if it has figures.
    #[must_use]
    pub fn of(report: &FleetReport) -> Option<DiscardedSlice> {
        let reasons = of_findings(report, discards);
        let agents = || report.rows.iter().map(AgentSample::of).collect();
        (!reasons.is_empty()).then(|| DiscardedSlice {
            reasons,
            agents: agents(),
            ..DiscardedSlice::default()
        })
    }

    /// A slice without any report, for this reason.
    #[must_use]
    pub fn lost(reason: String) -> DiscardedSlice {
        DiscardedSlice { reasons: vec![reason], is_lost: true, ..DiscardedSlice::default() }
    }
}

fn of_findings(report: &FleetReport, is_wanted: impl Fn(&FleetFinding) -> bool) -> Vec<String> {
    // The counts of the slice already contain failed requests.
    let is_known = |finding: &&FleetFinding| match finding {
        FleetFinding::Agent { doubts, .. } => doubts.iter().any(is_of_agent),
        _ => true,
    };
    let findings = report.findings.iter().filter(is_known);
    findings.filter(|finding| is_wanted(finding)).map(ToString::to_string).collect()
}

/// Whether a finding discards the slice. One invalid agent is enough: its part cannot be subtracted from the
/// CPU time of the service. Tails that differ between agents affect neither cost nor throughput.
fn discards(finding: &FleetFinding) -> bool {
    match finding {
        FleetFinding::Agent { doubts, .. } => doubts.iter().any(is_of_agent),
        FleetFinding::Silent { .. } | FleetFinding::Clocks { .. } | FleetFinding::Unaligned => true,
        FleetFinding::Tails { .. } => false,
    }
}

/// Failures of the service are results: failed requests count against its row, as with one generator.
fn is_of_agent(doubt: &EngineFinding) -> bool {
    match doubt {
        EngineFinding::GeneratorBound { .. }
        | EngineFinding::Late { .. }
        | EngineFinding::Inconsistent { .. } => true,
        EngineFinding::Gone { .. } | EngineFinding::Failing { .. } => false,
    }
}

#[cfg(test)]
mod tests;
