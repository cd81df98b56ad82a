//! `tare run --dry-run`: the complete list of what would be done.

use std::time::Duration;

use tare_bench::run::{plan::Plan, until::Until};

use crate::{
    output::{Format, print, print_json},
    progress::duration,
};

/// Prints the plan.
pub fn show_plan(plan: &Plan, format: Format) -> anyhow::Result<()> {
    if format == Format::Json {
        return print_json(plan);
    }
    let labels: Vec<&str> = plan.rows.iter().map(|row| row.label.as_str()).collect();
    let time = |ns: u64| duration(Duration::from_nanos(ns));
    let blocks = plan.blocks_expected();
    let until = plan.until.text().map(|text| format!("until       {text}\n")).unwrap_or_default();
    print(&format!(
        "{}\n{}\n\nservices    {} ({})\ncontract    {}\nload        closed loop{}, {} connections, {} generator thread(s)\n\
         settings    THREADS={} DELAY_MS={}\nCPUs        services {:?}, generator {:?}\nseed        {}\n\
         a block     fresh start and {} ms of warm-up of each service, then {} slices of {} ms each{}, in random order\n\
         blocks      about {blocks} ({} to {}) of about {} each, before the budget of {} is spent\n{until}\
         measuring   {} in all\n\
         before      every service is built if it changed, and verified: some seconds if nothing changed\n",
        plan.title,
        plan.question,
        labels.len(),
        labels.join(", "),
        plan.contract,
        if plan.loads.len() > 1 { "s, interleaved" } else { "" },
        plan.loads.iter().map(|load| load.connections.to_string()).collect::<Vec<_>>().join(", "),
        plan.load().threads,
        plan.service_settings.threads,
        plan.service_settings.delay_ms,
        plan.pinning.server,
        plan.pinning.generator,
        plan.seed,
        plan.warm_up_ns / 1_000_000,
        plan.slices_per_block,
        plan.slice_ns / 1_000_000,
        if plan.loads.len() > 1 { " under each load" } else { "" },
        plan.blocks_min,
        plan.blocks_max,
        time(plan.block_ns_expected()),
        time(plan.budget_ns),
        expected(plan),
    ))
}

/// How long the measuring will take, in words.
pub fn expected(plan: &Plan) -> String {
    let bound = if plan.until == Until::Budget { "about" } else { "at most about" };
    format!("{bound} {}", duration(Duration::from_nanos(plan.expected_ns())))
}
