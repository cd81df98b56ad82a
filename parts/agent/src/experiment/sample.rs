//! What a run stores of a slice that agents loaded, from their merged report.

use tare_bench::sample_agents::{AgentSample, DiscardedSlice, FleetSample};
use tare_load::EngineFinding;

use crate::merge::{AgentRow, FleetFinding, FleetReport};

pub(super) fn sample_of(report: &FleetReport) -> FleetSample {
    let window = report.counted;
    FleetSample {
        from_ns: window.map_or(0, |window| window.from_ns),
        to_ns: window.map_or(0, |window| window.to_ns),
        uncertainty_ns: window.map_or(0, |window| window.uncertainty_ns),
        agents: report.rows.iter().map(of_row).collect(),
        notes: of_findings(report, |finding| !discards(finding)),
    }
}

fn of_row(row: &AgentRow) -> AgentSample {
    let (report, total) = (&row.report, &row.report.total);
    AgentSample {
        address: row.address.clone(),
        verdict: row.verdict(),
        answered: total.tally.answered,
        answered_in_window: row.answered_in_window,
        latency_ns_p99: total.quantile(0.99).ns,
        schedule_lag_ns_p99: (total.schedule_lag.count() > 0).then(|| total.schedule_lag.quantile_ns(0.99)),
        late_ns: report.aligned.as_ref().map_or(0, |aligned| aligned.late_ns),
        clock_error_ns: row.clock.map(|clock| clock.start_error_ns.max(clock.end_error_ns)),
        silent_ns: row.silent_ns,
        generator_cpu_ns: report.generator_cpu_ns,
    }
}

/// The reasons why this load has no figures; absent if it has figures.
pub(super) fn discarded_of(report: &FleetReport) -> Option<DiscardedSlice> {
    let reasons = of_findings(report, discards);
    let agents = || report.rows.iter().map(of_row).collect();
    (!reasons.is_empty()).then(|| DiscardedSlice { reasons, agents: agents(), ..DiscardedSlice::default() })
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
        EngineFinding::Gone { .. } | EngineFinding::NoEvents | EngineFinding::Failing { .. } => false,
    }
}
