//! Whether runs are comparable, decided from their heads before any figure is computed.
//!
//! There are three kinds of differences. A different *measurement* forbids comparison: contract, load,
//! service settings, reference, slice length, or separate CPUs. A different *machine* allows ratios to the
//! reference only, side by side. All other differences are reported.

use tare_bench::{
    metric::Metric,
    plan::{Plan, PlannedRow},
};

use super::run::NamedRun;
use crate::figures;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DifferenceWeight {
    Told,
    Metric(Metric),
    Machine,
    Forbids,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Such as `contract`.
    pub what: &'static str,
    /// The consequence of different values.
    pub weight: DifferenceWeight,
    /// The value of each run, in order.
    pub values: Vec<String>,
    /// Whether all values are equal.
    pub is_same: bool,
}

impl DifferenceWeight {
    pub fn text(self) -> String {
        match self {
            DifferenceWeight::Told => "is reported".to_owned(),
            DifferenceWeight::Metric(metric) => format!("{} is not compared", metric.name()),
            DifferenceWeight::Machine => "two machines: ratios to the reference alone".to_owned(),
            DifferenceWeight::Forbids => "not comparable".to_owned(),
        }
    }
}

impl Difference {
    /// The difference over the runs' values.
    pub fn new(what: &'static str, weight: DifferenceWeight, values: Vec<String>) -> Difference {
        // A value that an older run lacks is no difference.
        let mut known = values.iter().filter(|value| *value != NOT_KNOWN);
        let first = known.next();
        let is_same = known.all(|value| Some(value) == first);
        Difference { what, weight, values, is_same }
    }

    /// The value of each run; common values are listed once.
    pub fn text(&self, runs: &[NamedRun]) -> String {
        self.text_with(&runs.iter().map(|run| run.name.clone()).collect::<Vec<String>>())
    }

    /// The same, with these names for the runs.
    pub fn text_with(&self, names: &[String]) -> String {
        let mut each: Vec<(&str, Vec<&str>)> = Vec::new();
        for (value, name) in self.values.iter().zip(names) {
            match each.iter_mut().find(|(known, _)| known == value) {
                Some((_, names)) => names.push(name),
                None => each.push((value, vec![name])),
            }
        }
        let each: Vec<String> =
            each.into_iter().map(|(value, names)| format!("\"{value}\" in {}", names.join(", "))).collect();
        format!("{}: {}", self.what, each.join(", "))
    }
}

/// All comparisons, the most severe first.
pub fn compare(runs: &[NamedRun]) -> Vec<Difference> {
    compare_all(&runs.iter().collect::<Vec<_>>())
}

/// The same for references to runs.
pub fn compare_all(runs: &[&NamedRun]) -> Vec<Difference> {
    let of = |(what, weight, value): Asked| {
        Difference::new(what, weight, runs.iter().map(|run| value(run)).collect())
    };
    let mut all: Vec<Difference> = asked().into_iter().map(of).collect();
    all.sort_by_key(|one| std::cmp::Reverse(one.weight));
    all
}

/// A value that a run did not store.
pub const NOT_KNOWN: &str = "not known";

type Asked = (&'static str, DifferenceWeight, fn(&NamedRun) -> String);

fn asked() -> Vec<Asked> {
    vec![
        ("contract", DifferenceWeight::Forbids, |run| run.plan().contract().to_owned()),
        ("connections", DifferenceWeight::Forbids, |run| connections(run)),
        ("generator threads", DifferenceWeight::Forbids, |run| run.plan().load().threads.to_string()),
        ("THREADS of services", DifferenceWeight::Forbids, |run| threads(run.plan())),
        ("DELAY_MS of services", DifferenceWeight::Forbids, |run| {
            run.plan().points[0].service_settings.delay_ms.to_string()
        }),
        ("reference", DifferenceWeight::Forbids, |run| run.plan().reference().to_owned()),
        ("ballast of the reference", DifferenceWeight::Forbids, |run| ballast(run.plan())),
        ("length of a slice", DifferenceWeight::Forbids, |run| milliseconds(run.plan().slice_ns())),
        ("CPUs of services and generator", DifferenceWeight::Forbids, pinning),
        ("CPU", DifferenceWeight::Machine, |run| run.environment().cpu.clone()),
        ("number of CPUs", DifferenceWeight::Machine, |run| run.environment().cpus.to_string()),
        ("kernel", DifferenceWeight::Machine, kernel),
        ("latency at", DifferenceWeight::Metric(Metric::P99), latency),
        ("softirq in CPU time of processes", DifferenceWeight::Metric(Metric::Cpu), softirq),
        ("CPU time from", DifferenceWeight::Metric(Metric::Cpu), cpu_time),
        ("kernel release", DifferenceWeight::Told, |run| run.environment().kernel.clone()),
        ("system", DifferenceWeight::Told, |run| run.environment().system.clone()),
        ("governor", DifferenceWeight::Told, governor),
        ("system settings", DifferenceWeight::Told, sysctls),
        ("version of Tare", DifferenceWeight::Told, |run| run.stored.header.tare.clone()),
        ("experiment", DifferenceWeight::Told, |run| run.plan().experiment.clone()),
        ("slices in a block", DifferenceWeight::Told, slices),
        ("warm-up", DifferenceWeight::Told, warm_up),
        ("rows side by side", DifferenceWeight::Told, rows),
        ("ended by", DifferenceWeight::Told, until),
    ]
}

/// A request of a reference without ballast costs a few per cent more or less than one of the same server with it.
fn ballast(plan: &Plan) -> String {
    plan.reference_ballast_ns().map_or_else(|| "none".to_owned(), |ns| figures::time(ns as f64))
}

fn connections(run: &NamedRun) -> String {
    let loads = run.plan().loads();
    loads.iter().map(|load| load.connections.to_string()).collect::<Vec<_>>().join(", ")
}

fn milliseconds(ns: u64) -> String {
    format!("{} ms", ns / 1_000_000)
}

/// `THREADS` of the services: one number, or all numbers of an experiment over several cores.
fn threads(plan: &Plan) -> String {
    match plan.threads_planned().as_slice() {
        [] => plan.points[0].service_settings.threads.to_string(),
        numbers => numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
    }
}

fn pinning(run: &NamedRun) -> String {
    let pinning = &run.plan().pinning;
    let apart = if pinning.apart() { "apart" } else { "shared" };
    format!("{} and {}, {apart}", pinning.server.len(), pinning.generator.len())
}

/// Kernel name, major and minor version. Patches are reported, but count as the same machine.
fn kernel(run: &NamedRun) -> String {
    let kernel = &run.environment().kernel;
    let (name, release) = kernel.split_once(' ').unwrap_or((kernel, ""));
    let parts: Vec<&str> = release.split(['.', '-']).take(2).collect();
    format!("{name} {}", parts.join("."))
}

fn latency(run: &NamedRun) -> String {
    let rate = run.plan().rates().next();
    rate.map(|(_, rate)| rate.label()).unwrap_or_else(|| "saturation".to_owned())
}

fn governor(run: &NamedRun) -> String {
    run.environment().governor.clone().unwrap_or_else(|| "none".to_owned())
}

fn softirq(run: &NamedRun) -> String {
    match run.environment().irq_time_apart {
        Some(true) => "left out",
        Some(false) => "counted",
        None => NOT_KNOWN,
    }
    .to_owned()
}

fn cpu_time(run: &NamedRun) -> String {
    run.environment().cpu_time.clone().unwrap_or_else(|| NOT_KNOWN.to_owned())
}

fn sysctls(run: &NamedRun) -> String {
    let all = &run.environment().sysctls;
    all.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
}

fn warm_up(run: &NamedRun) -> String {
    let plan = run.plan();
    let most =
        plan.blocks().warm_up_ns_max.map(|most| format!(" to {}", milliseconds(most))).unwrap_or_default();
    format!("{}{most}", milliseconds(plan.warm_up_ns()))
}

fn slices(run: &NamedRun) -> String {
    match run.plan().blocks().spread {
        Some(_) => "as many as its budget has room for".to_owned(),
        None => run.plan().slices_per_block().to_string(),
    }
}

/// The rows matter, because the previous slice leaves its state in the caches.
fn rows(run: &NamedRun) -> String {
    let plan = run.plan();
    let takes_part = |row: &&PlannedRow| row.excluded.is_none() && !plan.is_twin(&row.label);
    let mut labels: Vec<&str> = plan.rows.iter().filter(takes_part).map(|row| row.label.as_str()).collect();
    labels.sort_unstable();
    labels.join(", ")
}

fn until(run: &NamedRun) -> String {
    use tare_bench::plan::until::Until;
    match run.plan().until {
        Until::Budget => "its budget",
        Until::Precision(_) => "the width of its intervals",
        Until::Apart(_) => "a row that is above or below others",
        Until::Gate(_) => "a verdict on a candidate",
        Until::Ranks(_) => "its ranks",
        Until::Search(_) => "its searches",
    }
    .to_owned()
}
