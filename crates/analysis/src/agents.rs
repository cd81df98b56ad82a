//! The agents of a run, how many slices they spoiled, and whose slow answers dominate a percentile.

use std::collections::BTreeMap;

use serde::Serialize;
use tare_bench::{folder::StoredRun, record::Record, sample_agents::AgentSample};

/// Slices without figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct DiscardedSlices {
    pub slices: usize,
    /// All slices that were begun.
    pub of: usize,
    /// Slices in which an agent was lost.
    pub lost: usize,
    /// Counts by the label of their row.
    pub by_row: BTreeMap<String, usize>,
    /// The reasons of the first one.
    pub first: String,
}

/// Slices whose slow answers come from some agents only.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct UnequalAgents {
    pub slices: usize,
    pub of: usize,
    /// The note of the first one.
    pub first: String,
}

/// One agent over a whole run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentSummary {
    pub address: String,
    /// Slices that it reported, including those without figures.
    pub slices: usize,
    /// Count of each verdict about it.
    pub verdicts: BTreeMap<String, usize>,
    /// Largest delay of its beginning after the common start.
    pub late_ns_max: u64,
    /// Largest error of its clock.
    pub clock_error_ns_max: u64,
}

/// The agents of a run, in the order of its plan; empty if the local generator loaded it.
pub fn summaries(stored: &StoredRun) -> Vec<AgentSummary> {
    let Some(planned) = &stored.header.plan.agents else { return Vec::new() };
    let named = |address: &String| AgentSummary { address: address.clone(), ..AgentSummary::default() };
    let mut all: Vec<AgentSummary> = planned.addresses.iter().map(named).collect();
    for agent in stored.records.iter().flat_map(agents) {
        if let Some(summary) = all.iter_mut().find(|summary| summary.address == agent.address) {
            summary.add(agent);
        }
    }
    all
}

pub(crate) fn agents(record: &Record) -> &[AgentSample] {
    match record {
        Record::Sample(sample) => sample.fleet.as_ref().map_or(&[], |fleet| &fleet.agents),
        Record::Discarded(slice) => &slice.agents,
        _ => &[],
    }
}

impl AgentSummary {
    fn add(&mut self, agent: &AgentSample) {
        self.slices += 1;
        *self.verdicts.entry(agent.verdict.clone()).or_default() += 1;
        self.late_ns_max = self.late_ns_max.max(agent.late_ns);
        self.clock_error_ns_max = self.clock_error_ns_max.max(agent.clock_error_ns.unwrap_or(0));
    }
}

/// Slices without figures; absent if there are none.
pub(crate) fn discarded(stored: &StoredRun) -> Option<DiscardedSlices> {
    let slices: Vec<_> = stored.records.iter().filter_map(Record::discarded).collect();
    let first = slices.first()?.reasons.join("; ");
    let mut by_row = BTreeMap::new();
    for slice in &slices {
        let label = stored.header.plan.rows.get(slice.row).map(|row| row.label.clone()).unwrap_or_default();
        *by_row.entry(label).or_default() += 1;
    }
    let measured = stored.records.iter().filter_map(Record::sample).count();
    let lost = slices.iter().filter(|slice| slice.is_lost).count();
    Some(DiscardedSlices { slices: slices.len(), of: slices.len() + measured, lost, by_row, first })
}

/// Slices whose slow answers are unevenly distributed over agents.
pub(crate) fn unequal(stored: &StoredRun) -> Option<UnequalAgents> {
    let fleets =
        || stored.records.iter().filter_map(Record::sample).filter_map(|sample| sample.fleet.as_ref());
    let noted: Vec<&String> = fleets().filter_map(|fleet| fleet.notes.first()).collect();
    let first = (*noted.first()?).clone();
    Some(UnequalAgents { slices: noted.len(), of: fleets().count(), first })
}
