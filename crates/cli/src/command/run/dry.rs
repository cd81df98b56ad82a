//! `--dry-run`: the complete list of what would be done.

use std::{fmt::Write, time::Duration};

use tare_bench::{
    plan::{Order, Plan, Until},
    slo::SloPlan,
};

use crate::{
    output::{Format, print, print_json},
    progress::duration,
};

/// Prints the plan.
pub(super) fn show_plan(plan: &Plan, format: Format) -> anyhow::Result<()> {
    if format == Format::Json { print_json(plan) } else { print(&text(plan)?) }
}

/// Prints the plans of a series.
pub(super) fn show_all(plans: &[&Plan], format: Format) -> anyhow::Result<()> {
    if format == Format::Json {
        return print_json(&plans);
    }
    let texts = plans.iter().map(|plan| text(plan)).collect::<anyhow::Result<Vec<String>>>()?;
    print(&texts.join("\n"))
}

fn text(plan: &Plan) -> anyhow::Result<String> {
    match &plan.order {
        Order::Interleaved(_) => Ok(plan.slo().map_or_else(|| interleaved(plan), |slo| search(plan, slo))),
        Order::Sequential => sequential(plan),
    }
}

fn interleaved(plan: &Plan) -> String {
    let labels: Vec<&str> = plan.rows.iter().map(|row| row.label.as_str()).collect();
    let time = |ns: u64| duration(Duration::from_nanos(ns));
    let blocks = plan.blocks_expected();
    let until = plan.until.text().map(|text| format!("until       {text}\n")).unwrap_or_default();
    format!(
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
        plan.contract(),
        if plan.loads().len() > 1 { "s, interleaved" } else { "" },
        plan.loads().iter().map(|load| load.connections.to_string()).collect::<Vec<_>>().join(", "),
        plan.load().threads,
        plan.points[0].service_settings.threads,
        plan.points[0].service_settings.delay_ms,
        plan.pinning.server,
        plan.pinning.generator,
        plan.seed,
        plan.warm_up_ns() / 1_000_000,
        plan.slices_per_block(),
        plan.slice_ns() / 1_000_000,
        if plan.loads().len() > 1 { " under each load" } else { "" },
        plan.blocks().min,
        plan.blocks().max,
        time(plan.block_ns_expected()),
        time(plan.blocks().budget_ns),
        expected(plan),
    )
}

fn sequential(plan: &Plan) -> anyhow::Result<String> {
    let labels: Vec<&str> = plan.rows.iter().map(|row| row.label.as_str()).collect();
    let mut out = format!(
        "{}\n{}\n\nservices    {} ({})\nCPUs        services {:?}, generator {:?}\nseed        {}\nscale       {}\n",
        plan.title,
        plan.question,
        labels.len(),
        labels.join(", "),
        plan.pinning.server,
        plan.pinning.generator,
        plan.seed,
        plan.publication.scale,
    );
    let mut part = "";
    for point in &plan.points {
        if point.part != part {
            part = &point.part;
            writeln!(out, "\npart \"{part}\"")?;
        }
        let services = if point.rows.len() == plan.rows.len() {
            String::new()
        } else {
            format!(", {} service(s)", point.rows.len())
        };
        writeln!(out, "  {}{services}", point.describe())?;
    }
    writeln!(
        out,
        "\n{} samples, each of a fresh process, {} if services are fast",
        plan.samples(),
        expected(plan)
    )?;
    Ok(out)
}

fn search(plan: &Plan, slo: &SloPlan) -> String {
    let labels: Vec<&str> = plan.rows.iter().map(|row| row.label.as_str()).collect();
    let window_ns = plan.rates().next().map_or(0, |(point, _)| plan.points[point].load.duration_ns());
    let at_least =
        slo.at_least.map(|rate| format!("asked       at least {rate}/s of each\n")).unwrap_or_default();
    format!(
        "{}\n{}\n\nservices    {} ({})\ncontract    {}\nCPUs        services {:?}, generator {:?}\nseed        {}\n{at_least}\
         a search    {} windows of {} ms each on a fresh process; as many again may be repeated\n\
         searches    {} of each service\nmeasuring   {} in all\n",
        plan.title,
        plan.question,
        labels.len(),
        labels.join(", "),
        plan.contract(),
        plan.pinning.server,
        plan.pinning.generator,
        plan.seed,
        slo.windows,
        window_ns / 1_000_000,
        plan.blocks().max,
        expected(plan),
    )
}

/// How long the measuring will take, in words.
pub(super) fn expected(plan: &Plan) -> String {
    if let Some(slo) = plan.slo() {
        return format!("about {}", duration(Duration::from_nanos(search_ns(plan, slo))));
    }
    let bound =
        if matches!(plan.until, Until::Gate(_) | Until::Tiers(_)) { "at most about" } else { "about" };
    format!("{bound} {}", duration(Duration::from_nanos(plan.expected_ns())))
}

/// If no window has to be repeated.
fn search_ns(plan: &Plan, slo: &SloPlan) -> u64 {
    let window_ns = plan.rates().next().map_or(0, |(point, _)| plan.points[point].load.duration_ns());
    let repeated_ns = window_ns * (slo.windows * plan.group(0).len()) as u64;
    plan.block_ns_expected().saturating_sub(repeated_ns) * (plan.blocks().max * plan.groups()) as u64
}
