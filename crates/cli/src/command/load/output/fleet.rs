//! What is printed of a load from several generators: each agent in a row of its own, how well their clocks are known, and which
//! part of the load is counted.

use serde_json::{Value, json};
use tare_agent::{AgentRow, FleetReport};
use tare_load::Load;

use super::{
    figures::{percent, rate, time},
    json::{doubt, latency},
    printable,
    text::{line, quantile},
};
use crate::command::load::plan::counted as number_of;

/// The lines beside the rates.
pub(super) fn lines(fleet: &FleetReport, load: &Load) -> String {
    let agents = number_of(fleet.rows.len() as u64, "agent");
    let of = time(load.stop.window().as_nanos() as f64);
    let counted = match &fleet.counted {
        Some(window) => format!(
            "{agents}; counted is the time in which all of them loaded, {} of {of}; their clocks are known to {}",
            time(window.ns() as f64),
            time(window.uncertainty_ns as f64)
        ),
        None => format!("{agents}; there is no time of {of} in which all of them loaded"),
    };
    let mut lines = line("agents", &counted);
    if let Some(cpu) = &fleet.service_cpu {
        let (each, all) = (time(cpu.ns_per_answer), time(cpu.cpu_ns as f64));
        lines += &line(
            "service CPU",
            &format!("{each} for each answer, {all} in {}", time(cpu.between_ns as f64)),
        );
    }
    lines
}

/// A row for each agent.
pub(super) fn table(fleet: &FleetReport) -> Vec<Vec<String>> {
    let head =
        ["agent", "answers/s", "failed", "p50", "p99", "max", "lag p99", "busy", "late", "clock", "verdict"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(fleet.rows.iter().map(|row| cells(row, fleet)));
    rows
}

fn cells(row: &AgentRow, fleet: &FleetReport) -> Vec<String> {
    let total = &row.report.total;
    let is_measured = total.latency.count() + total.unanswered.count() > 0;
    let of = |q| if is_measured { quantile(total, q) } else { "-".to_owned() };
    let lag = &total.schedule_lag;
    vec![
        printable(&row.address),
        rate(answers_per_s(row, fleet)),
        total.tally.failed.total().to_string(),
        of(0.5),
        of(0.99),
        of(1.0),
        if lag.count() > 0 { time(lag.quantile_ns(0.99) as f64) } else { "-".to_owned() },
        percent(row.report.generator_busy_share()),
        time(row.report.aligned.as_ref().map_or(0, |aligned| aligned.late_ns) as f64),
        row.clock.map_or("?".to_owned(), |clock| {
            format!("+-{}", time(clock.start_error_ns.max(clock.end_error_ns) as f64))
        }),
        verdict(row),
    ]
}

fn answers_per_s(row: &AgentRow, fleet: &FleetReport) -> f64 {
    match &fleet.counted {
        Some(window) => row.answered_in_window as f64 * 1e9 / window.ns() as f64,
        None => 0.0,
    }
}

/// Its own: what all agents show together is in the verdict of the whole.
fn verdict(row: &AgentRow) -> String {
    let names: Vec<&str> = row.doubts.iter().map(tare_load::Doubt::name).collect();
    if names.is_empty() { "valid".to_owned() } else { names.join(", ") }
}

/// The same for programs.
pub(super) fn rows(fleet: &FleetReport) -> Vec<Value> {
    fleet.rows.iter().map(|row| json_of(row, fleet)).collect()
}

fn json_of(row: &AgentRow, fleet: &FleetReport) -> Value {
    let (report, tally) = (&row.report, &row.report.total.tally);
    let lag = &report.total.schedule_lag;
    json!({
        "agent": printable(&row.address),
        "verdict": verdict(row),
        "doubts": row.doubts.iter().map(doubt).collect::<Vec<_>>(),
        "sent": tally.sent,
        "answered": tally.answered,
        "answered_in_window": row.answered_in_window,
        "answers_per_s": answers_per_s(row, fleet),
        "failed": tally.failed.total(),
        "in_flight": tally.in_flight,
        "unsent": tally.unsent,
        "connects": tally.connects,
        "latency": latency(&report.total, true),
        "schedule_lag_ns_p99": (lag.count() > 0).then(|| lag.quantile_ns(0.99)),
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

/// The window that is counted.
pub(super) fn alignment(fleet: &FleetReport) -> Option<Value> {
    let window = fleet.counted?;
    Some(json!({
        "from_ns": window.from_ns,
        "to_ns": window.to_ns,
        "uncertainty_ns": window.uncertainty_ns,
    }))
}

/// CPU time of the service.
pub(super) fn service_cpu(fleet: &FleetReport) -> Option<Value> {
    let cpu = fleet.service_cpu?;
    Some(json!({
        "cpu_ns": cpu.cpu_ns,
        "between_ns": cpu.between_ns,
        "ns_per_answer": cpu.ns_per_answer,
    }))
}
