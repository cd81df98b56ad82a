//! What must be known of the agents that sent the load of a run: which they were, how many slices have no figures because of them, and
//! whose slow answers a percentile is of.

use std::collections::BTreeMap;

use serde::Serialize;
use tare_bench::{folder::StoredRun, record::Record, sample_agents::AgentSample};

/// Slices without figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct DiscardedSlices {
    pub slices: usize,
    /// Of all that were begun.
    pub of: usize,
    /// In which an agent was lost.
    pub lost: usize,
    /// By the label of their row.
    pub by_row: BTreeMap<String, usize>,
    /// Why the first one has none.
    pub first: String,
}

/// Slices of which the slow answers are those of some agents.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct UnequalAgents {
    pub slices: usize,
    pub of: usize,
    /// Of the first one.
    pub first: String,
}

/// One agent over a whole run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentSummary {
    pub address: String,
    /// Slices that it has reported, those without figures among them.
    pub slices: usize,
    /// How often each verdict was its own.
    pub verdicts: BTreeMap<String, usize>,
    /// How long after the start in common it began, at the most.
    pub late_ns_max: u64,
    /// How badly its clock was known, at the most.
    pub clock_error_ns_max: u64,
}

/// The agents of a run, in the order of its plan; none if the load came from this machine's generator.
pub fn summaries(kept: &StoredRun) -> Vec<AgentSummary> {
    let Some(planned) = &kept.header.plan.agents else { return Vec::new() };
    let named = |address: &String| AgentSummary { address: address.clone(), ..AgentSummary::default() };
    let mut all: Vec<AgentSummary> = planned.addresses.iter().map(named).collect();
    for agent in kept.records.iter().flat_map(agents) {
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

/// Slices without figures; absent if each has some.
pub(crate) fn discarded(kept: &StoredRun) -> Option<DiscardedSlices> {
    let slices: Vec<_> = kept.records.iter().filter_map(Record::discarded).collect();
    let first = slices.first()?.reasons.join("; ");
    let mut by_row = BTreeMap::new();
    for slice in &slices {
        let label = kept.header.plan.rows.get(slice.row).map(|row| row.label.clone()).unwrap_or_default();
        *by_row.entry(label).or_default() += 1;
    }
    let measured = kept.records.iter().filter_map(Record::sample).count();
    let lost = slices.iter().filter(|slice| slice.is_lost).count();
    Some(DiscardedSlices { slices: slices.len(), of: slices.len() + measured, lost, by_row, first })
}

/// Slices whose slow answers are not those of all agents alike.
pub(crate) fn unequal(kept: &StoredRun) -> Option<UnequalAgents> {
    let fleets = || kept.records.iter().filter_map(Record::sample).filter_map(|sample| sample.fleet.as_ref());
    let noted: Vec<&String> = fleets().filter_map(|fleet| fleet.notes.first()).collect();
    let first = (*noted.first()?).clone();
    Some(UnequalAgents { slices: noted.len(), of: fleets().count(), first })
}
