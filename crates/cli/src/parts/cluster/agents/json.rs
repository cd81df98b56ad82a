//! JSON for a load from several generators: the results of each agent, and the counted part of the load.

use serde_json::{Value, json};
use tare_agent::{AgentRow, FleetReport};
use tare_stats::samples::carry;

use crate::command::load::output::{
    json::{doubt, latency},
    printable,
};

/// One row per agent.
pub(super) fn rows(fleet: &FleetReport) -> Vec<Value> {
    fleet.rows.iter().map(|row| json_of(row, fleet)).collect()
}

fn json_of(row: &AgentRow, fleet: &FleetReport) -> Value {
    let (report, tally) = (&row.report, &row.report.total.tally);
    let lag = &report.total.schedule_lag;
    json!({
        "agent": printable(&row.address),
        "verdict": row.verdict(),
        "doubts": row.doubts.iter().map(doubt).collect::<Vec<_>>(),
        "sent": tally.sent,
        "answered": tally.answered,
        "answered_in_window": row.answered_in_window,
        "answers_per_s": fleet.answers_per_s_of(row),
        "failed": tally.failed.total(),
        "in_flight": tally.in_flight,
        "unsent": tally.unsent,
        "connects": tally.connects,
        "latency": latency(&report.total, true),
        "schedule_lag_ns_p99": carry(lag.count(), 0.99).then(|| lag.quantile_ns(0.99)),
        "threads": report.threads,
        "driver": report.driver.kind.name(),
        "cpu_ns": report.generator_cpu_ns,
        "busy_share": report.generator_busy_share(),
        "late_ns": report.aligned.as_ref().map_or(0, |aligned| aligned.late_ns),
        "silent_ns_max": row.silent_ns,
        "clock": row.clock.map(|clock| json!({
            "offset_ns": i64::try_from(clock.offset_ns).unwrap_or(i64::MAX),
            "start_shift_ns": clock.start_shift_ns,
            "start_error_ns": clock.start_error_ns,
            "end_error_ns": clock.end_error_ns,
            "drift_ppm": clock.drift_ppm,
            "round_trip_ns_min": clock.round_trip_ns_min,
        })),
    })
}

/// The counted window.
pub(super) fn alignment(fleet: &FleetReport) -> Option<Value> {
    let window = fleet.counted?;
    Some(json!({
        "from_ns": window.from_ns,
        "to_ns": window.to_ns,
        "uncertainty_ns": window.uncertainty_ns,
    }))
}

pub(super) fn service_cpu(fleet: &FleetReport) -> Option<Value> {
    let cpu = fleet.service_cpu?;
    Some(json!({
        "cpu_ns": cpu.cpu_ns,
        "between_ns": cpu.between_ns,
        "ns_per_answer": cpu.ns_per_answer,
    }))
}
