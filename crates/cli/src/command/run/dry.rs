//! `--dry-run`: the complete list of what would be done.

use std::time::Duration;
use tare_base::units::several;

use tare_analysis::expected::{BLOCKS_ENOUGH, BLOCKS_FEW};
use tare_bench::{
    plan::{Order, Plan, Until},
    slo::SloPlan,
};
use tare_host::cpus::Pinning;
use tare_service::{catalogue::Row, workspace::Workspace};

use super::{before, known};
use crate::{
    output::{Format, print_either},
    progress::duration,
};

pub(super) fn show_plan(
    plan: &Plan,
    rows: &[Row],
    workspace: &Workspace,
    format: Format,
) -> anyhow::Result<()> {
    print_either(format == Format::Json, plan, || {
        text(plan) + &before::text(plan, rows, workspace) + &builds(rows)
    })
}

/// The commands that build revisions: those of a repository, or those for its lock files.
fn builds(rows: &[Row]) -> String {
    let line = |row: &Row| {
        let steps: Vec<String> = row.service.build.iter().map(|step| step.command.join(" ")).collect();
        let is_shown = row.service.apart.is_some() && !steps.is_empty();
        is_shown.then(|| format!("build       {}: {}\n", row.label, steps.join(" && ")))
    };
    rows.iter().filter_map(line).collect()
}

/// Prints the plans of a series.
pub(super) fn show_all(
    members: &[(&Plan, &[Row])],
    workspace: &Workspace,
    format: Format,
) -> anyhow::Result<()> {
    let plans: Vec<&Plan> = members.iter().map(|(plan, _)| *plan).collect();
    let one = |(plan, rows): &(&Plan, &[Row])| text(plan) + &before::text(plan, rows, workspace);
    let texts = || members.iter().map(one).collect::<Vec<_>>().join("\n");
    print_either(format == Format::Json, &plans, texts)
}

fn text(plan: &Plan) -> String {
    match (&plan.order, plan.slo()) {
        (Order::Sequential, _) => sequential(plan),
        (Order::Interleaved(_), Some(slo)) => search(plan, slo),
        (Order::Interleaved(_), None) => interleaved(plan),
    }
}

/// The first lines of every plan.
fn head(plan: &Plan) -> String {
    let labels: Vec<&str> = plan.rows.iter().map(|row| row.label.as_str()).collect();
    let (title, question) = (&plan.title, &plan.question);
    let left_out = plan.rows.iter().filter_map(|row| {
        let excluded = row.excluded.as_ref()?;
        Some(format!("left out    {}: {}\n", row.label, excluded.reason))
    });
    let left_out: String = left_out.collect();
    format!("{title}\n{question}\n\nservices    {} ({})\n{left_out}", labels.len(), labels.join(", "))
}

/// The lines about CPUs, isolation and order.
fn site(plan: &Plan) -> String {
    let Pinning { server, generator } = &plan.pinning;
    let network = if plan.isolates { "network     one of its own for each service\n" } else { "" };
    let agents = plan.agents.as_ref().map_or(String::new(), |agents| {
        let count = several(agents.addresses.len(), "agent");
        format!(
            "agents      {count} ({}), which ask for services at {}\n",
            agents.addresses.join(", "),
            agents.serve_on
        )
    });
    let cpus = match cores(plan) {
        cores if cores.is_empty() => format!("CPUs        services {server:?}, generator {generator:?}\n"),
        cores => cores,
    };
    format!("{cpus}{network}{agents}seed        {}\n", plan.seed)
}

/// One line per number of threads, for an experiment over several cores.
fn cores(plan: &Plan) -> String {
    let line = |threads: &usize| {
        let row = plan.rows.iter().find(|row| row.threads == Some(*threads) && row.pinning.is_some())?;
        let Pinning { server, generator } = row.pinning.as_ref()?;
        Some(format!("CPUs        THREADS={threads}: services {server:?}, generator {generator:?}\n"))
    };
    plan.threads_planned().iter().filter_map(line).collect()
}

fn generator_threads(plan: &Plan) -> String {
    match plan.threads_planned().is_empty() {
        true => several(plan.load().threads, "generator thread"),
        false => "a generator thread for each of its CPUs".to_owned(),
    }
}

/// The settings of services, if any service uses them.
fn settings(plan: &Plan) -> String {
    plan.settings_text().map(|text| format!("settings    {text}\n")).unwrap_or_default()
}

/// A warning with the needed number if too few independent units are planned for a useful interval.
fn interval(planned: usize, what: [&str; 2], remedy: &str) -> String {
    let count = format!("{planned} {}", what[usize::from(planned != 1)]);
    match planned {
        0 | 1 => format!("interval    none comes of about {count}: it takes 2 {}; {remedy}\n", what[1]),
        few if few < BLOCKS_FEW => format!("interval    about {count} are few for one; {remedy}\n"),
        _ => String::new(),
    }
}

/// The budget in round steps.
fn budget_for_enough(plan: &Plan) -> String {
    let seconds = Duration::from_nanos(plan.ns_for_blocks(BLOCKS_ENOUGH)).as_secs().div_ceil(10) * 10;
    format!("--budget {seconds}s has room for about {BLOCKS_ENOUGH}")
}

fn interleaved(plan: &Plan) -> String {
    let time = |ns: u64| duration(Duration::from_nanos(ns));
    let blocks = plan.blocks_expected();
    let until = plan.until.text().map(|text| format!("until       {text}\n")).unwrap_or_default();
    let (interleaved, under_each) =
        if plan.loads().len() > 1 { ("s, interleaved", " under each load") } else { ("", "") };
    format!(
        "{}contract    {}\nload        closed loop{interleaved}, {}{}, {}\n\
         {}{}\
         a block     fresh start and {} ms of warm-up of each service, then {} slices of {} ms each{under_each}, in random \
         order\n\
         blocks      about {blocks} ({} to {}) of about {} each, before the budget of {} is spent\n{}{until}\
         {}measuring   {} in all\n",
        head(plan),
        plan.contract(),
        connections(plan),
        plan.points[0].connection_use.describe(plan.load().connections),
        generator_threads(plan),
        settings(plan),
        site(plan),
        plan.warm_up_ns() / 1_000_000,
        slices(plan),
        plan.slice_ns() / 1_000_000,
        if plan.blocks().is_bound { 1 } else { plan.blocks().min },
        plan.blocks().max,
        time(plan.block_ns_expected()),
        time(plan.blocks().budget_ns),
        interval(blocks, ["block", "blocks"], &budget_for_enough(plan)),
        [known::needed(plan), known::expected(plan)].into_iter().flatten().collect::<String>(),
        expected(plan),
    )
}

fn connections(plan: &Plan) -> String {
    let numbers: Vec<String> = plan.loads().iter().map(|load| load.connections.to_string()).collect();
    let plural = if numbers == ["1"] { "" } else { "s" };
    format!("{} connection{plural}", numbers.join(", "))
}

fn slices(plan: &Plan) -> String {
    let chosen = if plan.blocks().spread.is_some() { "about " } else { "" };
    format!("{chosen}{}", plan.slices_per_block())
}

fn sequential(plan: &Plan) -> String {
    let mut out = format!("{}{}scale       {}\n", head(plan), site(plan), plan.publication.scale);
    let mut part = "";
    for point in &plan.points {
        if point.part != part {
            part = &point.part;
            out += &format!("\npart \"{part}\"\n");
        }
        let services = match point.rows.len() {
            all if all == plan.rows.len() => String::new(),
            some => format!(", {}", several(some, "service")),
        };
        out += &format!("  {}{services}\n", point.describe());
    }
    let (samples, expected) = (plan.samples(), expected(plan));
    out + &format!("\n{samples} samples, each of a fresh process, {expected} if services are fast\n")
}

fn search(plan: &Plan, slo: &SloPlan) -> String {
    let searches = plan.blocks_expected().min(plan.blocks().max);
    let at_least =
        slo.at_least.map(|rate| format!("asked       at least {rate}/s of each\n")).unwrap_or_default();
    format!(
        "{}contract    {}\n{}{at_least}\
         a search    {} windows of {} ms each on a fresh process; as many again may be repeated\n{}\
         searches    {} of each service\n{}measuring   {} in all\n",
        head(plan),
        plan.contract(),
        site(plan),
        slo.windows,
        window_ns(plan) / 1_000_000,
        known::windows(slo),
        plan.blocks().max,
        interval(searches, ["search", "searches"], "--starts and --budget have room for more"),
        expected(plan),
    )
}

/// The expected measuring time, in words.
pub(super) fn expected(plan: &Plan) -> String {
    let may_end_sooner = match &plan.until {
        Until::Gate(_) | Until::Ranks(_) | Until::Precision(_) | Until::Apart(_) => true,
        Until::Search(_) => plan.blocks().is_bound,
        Until::Budget => false,
    };
    let bound = if may_end_sooner { "at most about" } else { "about" };
    format!("{bound} {}", duration(Duration::from_nanos(plan.expected_ns())))
}

fn window_ns(plan: &Plan) -> u64 {
    plan.rates().next().map_or(0, |(point, _)| plan.points[point].load.duration_ns())
}
