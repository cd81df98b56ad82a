//! Text for a load from several generators: one row per agent, the uncertainty of the clocks, and the counted
//! part of the load.

use tare_agent::{AgentRow, FleetReport};
use tare_analysis::figures::{percent, rate, time};
use tare_base::units::several;
use tare_load::Load;
use tare_stats::samples::carry;

use crate::command::load::output::{
    printable,
    text::{ABSENT, line, quantile},
};

/// The lines for agents below the rates.
pub(super) fn lines(fleet: &FleetReport, load: &Load) -> String {
    let agents = several(fleet.rows.len() as u64, "agent");
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

/// One row per agent.
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
    let of = |q| if is_measured { quantile(total, q) } else { ABSENT.to_owned() };
    let lag = &total.schedule_lag;
    vec![
        printable(&row.address),
        rate(fleet.answers_per_s_of(row)),
        total.tally.failed.total().to_string(),
        of(0.5),
        of(0.99),
        of(1.0),
        if carry(lag.count(), 0.99) { time(lag.quantile_ns(0.99) as f64) } else { ABSENT.to_owned() },
        percent(row.report.generator_busy_share()),
        time(row.report.aligned.as_ref().map_or(0, |aligned| aligned.late_ns) as f64),
        row.clock.map_or("?".to_owned(), |clock| {
            format!("+-{}", time(clock.start_error_ns.max(clock.end_error_ns) as f64))
        }),
        row.verdict(),
    ]
}
