//! The machine of a run, and how to repeat it: the same for every kind of run.

use tare_analysis::figures;
use tare_bench::folder::{
    Header, StoredRun,
    about::{About, quoted},
};
use tare_host::environment::Environment;

use super::columns::Columns;
use crate::document::{Fact, Section};

const LEAD: &str = "What is known to move the figures of a machine, read before the first load.";
const BESIDE: &str = " What has nothing beside it was not published.";

/// A row of the table, with the published value if there is one.
pub(crate) struct Setting {
    what: String,
    here: String,
    published: Option<String>,
}

impl Setting {
    pub(crate) fn new(what: impl Into<String>, here: impl Into<String>) -> Setting {
        Setting { what: what.into(), here: here.into(), published: None }
    }

    pub(crate) fn published(self, text: &str) -> Setting {
        Setting { published: Some(text.to_owned()), ..self }
    }
}

/// All facts about the machine, below the settings of the run.
pub(crate) fn section(environment: &Environment, settings: Vec<Setting>) -> Section {
    let beside = if settings.is_empty() { "" } else { BESIDE };
    let lines = settings.into_iter().chain(of_machine(environment));
    let columns = Columns::new()
        .text("what", "what", |line: &Setting| line.what.clone())
        .text("here", "here", |line| Some(line.here.clone()).filter(|text| !text.is_empty()))
        .text("published", "published", |line| line.published.clone());
    let table = columns.table("The machine", lines);
    Section::new("environment", "Environment", &format!("{LEAD}{beside}"), table)
}

fn of_machine(of: &Environment) -> Vec<Setting> {
    let known = |text: &str| if text.is_empty() { "not known" } else { text }.to_owned();
    let isolation = if of.isolation.is_empty() { "none".to_owned() } else { of.isolation.join("; ") };
    let softirq = match of.irq_time_apart {
        Some(true) => "kept apart",
        Some(false) => "counted in it",
        None => "not known",
    };
    let mut lines = vec![
        Setting::new("CPU", known(&of.cpu)),
        Setting::new("CPUs", of.cpus.to_string()),
        Setting::new("Memory", figures::bytes(of.memory_bytes as f64)),
        Setting::new("Kernel", known(&of.kernel)),
        Setting::new("System", known(&of.system)),
        Setting::new("Frequency governor", of.governor.clone().unwrap_or("none".to_owned())),
        Setting::new("Load average before the run", known(&of.load_average)),
        Setting::new("Softirq in the CPU time of a process", softirq),
        Setting::new("Isolation", isolation),
    ];
    lines.extend(of.sysctls.iter().map(|(name, value)| Setting::new(name, value)));
    lines
}

pub(crate) fn machine(environment: &Environment) -> String {
    let Environment { cpus, cpu, kernel, system, .. } = environment;
    let memory = figures::bytes(environment.memory_bytes as f64);
    format!("{cpus} CPUs ({cpu}), {memory}, {system}, {kernel}")
}

/// The last facts in the head of every document.
pub(crate) fn facts(
    run: &StoredRun,
    about: Option<&About>,
    otherwise: impl FnOnce() -> Option<Vec<String>>,
) -> Vec<Fact> {
    let Header { tare, environment, plan, .. } = &run.header;
    let (pinning, seed) = (&plan.pinning, plan.seed);
    let cpus = |cpus: &[usize]| cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let (served, generated) = (cpus(&pinning.server), cpus(&pinning.generator));
    let of_largest =
        if plan.threads_planned().is_empty() { "" } else { ": those of the row with most threads" };
    let facts = [
        Fact::new("Machine", machine(environment)).brief(),
        Fact::new("CPUs", format!("services on {served}, generator on {generated}{of_largest}")),
        Fact::code("Command", command(about, otherwise, seed)),
        Fact::code("Seed", seed.to_string()).brief(),
        Fact::new("Tare", tare),
    ];
    let network = plan.isolates.then(|| Fact::new("Network", "each service has one of its own"));
    facts.into_iter().chain(network).chain(checkout(about)).collect()
}

/// The command that repeats the run, with its seed; `otherwise` gives it for a run that did not store it.
fn command(about: Option<&About>, otherwise: impl FnOnce() -> Option<Vec<String>>, seed: u64) -> String {
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

/// The checked-out commit when the run began.
fn checkout(about: Option<&About>) -> Option<Fact> {
    let revision = about?.revision.as_ref()?;
    let changed = if revision.changed { ", with changes" } else { "" };
    Some(Fact::code("Checkout", format!("{}{changed}", revision.commit)))
}
