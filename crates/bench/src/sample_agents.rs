//! The agents that loaded a slice: the stored facts of each, and why a slice has no figures. Values only.

use serde::{Deserialize, Serialize};

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

impl DiscardedSlice {
    /// A slice without any report, for this reason.
    #[must_use]
    pub fn lost(reason: String) -> DiscardedSlice {
        DiscardedSlice { reasons: vec![reason], is_lost: true, ..DiscardedSlice::default() }
    }
}
