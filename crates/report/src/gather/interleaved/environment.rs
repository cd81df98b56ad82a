//! Where it was measured, and how to do it again.

use tare_analysis::report::{Report, figures};
use tare_bench::run::{
    about::{About, quoted},
    folder::Kept,
    plan::Plan,
    until::Until,
};
use tare_host::environment::Environment;

use crate::{
    document::{Column, Fact, Section, Status, Unit},
    gather::fields::{field, table},
};

const LEAD: &str = "What is known to move the figures of a machine, read before the first block.";

/// Label and text of everything that was read of the machine.
pub(crate) fn section(environment: &Environment) -> Section {
    let known = |text: &str| if text.is_empty() { "not known".to_owned() } else { text.to_owned() };
    let mut facts = vec![
        ("CPU".to_owned(), known(&environment.cpu)),
        ("CPUs".to_owned(), environment.cpus.to_string()),
        ("Memory".to_owned(), figures::bytes(environment.memory_bytes as f64)),
        ("Kernel".to_owned(), known(&environment.kernel)),
        ("System".to_owned(), known(&environment.system)),
        ("Frequency governor".to_owned(), environment.governor.clone().unwrap_or("none".to_owned())),
        ("Load average before the run".to_owned(), known(&environment.load_average)),
        ("Softirq in the CPU time of a process".to_owned(), softirq(environment.irq_time_apart).to_owned()),
    ];
    let isolation = match environment.isolation.is_empty() {
        true => "none".to_owned(),
        false => environment.isolation.join("; "),
    };
    facts.push(("Isolation".to_owned(), isolation));
    facts.extend(environment.sysctls.iter().map(|(name, value)| (name.clone(), value.clone())));
    type Line = (String, String);
    let fields = vec![
        field(Column::new("what", "what", Unit::Text), |(what, _): &Line| what.clone()),
        field(Column::new("found", "found", Unit::Text), |(_, found): &Line| found.clone()),
    ];
    Section::new("environment", "Environment", LEAD, table("The machine", fields, facts))
}

fn softirq(apart: Option<bool>) -> &'static str {
    match apart {
        Some(true) => "kept apart",
        Some(false) => "counted in it",
        None => "not known",
    }
}

/// For the head of the page.
pub(crate) fn facts(kept: &Kept, report: &Report, about: Option<&About>) -> Vec<Fact> {
    let (plan, environment) = (&kept.header.plan, &kept.header.environment);
    let how = Status::of(report.ending, kept.goes_on).text();
    let took = report.elapsed_ns.map_or_else(|| how.to_owned(), |ns| figures::time(ns as f64));
    let ending = report.ending.map_or(String::new(), |ending| format!(": {}", ending.text()));
    let mut facts = vec![
        Fact::new("Load", &report.load).brief(),
        Fact::new("Contract", &plan.contract),
        Fact::new("Reference", if plan.reference.is_empty() { "none" } else { &plan.reference }),
        Fact::new("Blocks", report.blocks.to_string()).brief(),
        Fact::new("Took", format!("{took}{ending}")).brief(),
        Fact::new("Machine", machine(environment)).brief(),
        Fact::code("Command", command(about, || words_of(plan), plan.seed)),
        Fact::code("Seed", plan.seed.to_string()).brief(),
        Fact::new("Tare", &kept.header.tare),
    ];
    facts.extend(checkout(about));
    facts
}

/// In a line.
pub(crate) fn machine(environment: &Environment) -> String {
    let Environment { cpus, cpu, kernel, system, .. } = environment;
    let memory = figures::bytes(environment.memory_bytes as f64);
    format!("{cpus} CPUs ({cpu}), {memory}, {system}, {kernel}")
}

/// What does the same run again, its seed with it; of a run that did not keep its command, by `otherwise`.
pub(crate) fn command(
    about: Option<&About>,
    otherwise: impl FnOnce() -> Option<Vec<String>>,
    seed: u64,
) -> String {
    let kept = about.map(|about| about.command.clone()).filter(|words| !words.is_empty());
    let Some(mut words) = kept.or_else(otherwise) else {
        return "not kept: the run is of a time before \"about.json\"".to_owned();
    };
    if !words.iter().any(|word| word == "--seed" || word.starts_with("--seed=")) {
        words.extend(["--seed".to_owned(), seed.to_string()]);
    }
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("tare {}", words.join(" "))
}

/// As far as a plan tells: not what was compared, nor what was searched for.
fn words_of(plan: &Plan) -> Option<Vec<String>> {
    if plan.experiment == "slo" || matches!(plan.until, Until::Gate(_)) {
        return None;
    }
    let services: Vec<&str> = plan.rows.iter().map(|row| row.label.as_str()).collect();
    let file = format!("experiments/{}.toml", plan.experiment);
    let mut words = vec!["run".to_owned(), file, "--services".to_owned(), services.join(",")];
    if !plan.reference.is_empty() {
        words.extend(["--reference".to_owned(), plan.reference.clone()]);
    }
    Some(words)
}

/// What was checked out when the run began.
pub(crate) fn checkout(about: Option<&About>) -> Option<Fact> {
    let revision = about?.revision.as_ref()?;
    let changed = if revision.changed { ", with changes" } else { "" };
    Some(Fact::code("Checkout", format!("{}{changed}", revision.commit)))
}
