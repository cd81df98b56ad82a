//! The merged machines and runs, what is left out and why, and the common properties of the runs.

use tare_analysis::{
    figures::percent,
    history::comparable::{Difference, DifferenceWeight},
};
use tare_report::{
    document::{Section, Tone, Unit, Value},
    gather::columns::Columns,
};

use crate::{Certified, LeftOutMachine, Machine, Merged, MergedRun};

pub(super) fn machines(merged: &Merged) -> Section {
    let columns = Columns::new()
        .text("machine", "Machine", |machine: &&Machine| machine.name.clone())
        .facet("class", "Class", |machine| machine.classes.join(", "))
        .facet("state", "Counts", |machine| counts(machine))
        .text("cpu", "CPU", |machine| some(&machine.environment.cpu))
        .count("cpus", "CPUs", |machine| machine.environment.cpus)
        .help("That this Tare may use")
        .bytes("memory_bytes", "Memory", |machine| machine.environment.memory_bytes)
        .text("kernel", "Kernel", |machine| some(&machine.kernels.join(", ")))
        .text("system", "System", |machine| some(&machine.environment.system))
        .count("runs", "Runs", |machine| machine.counted.len())
        .help("Runs that count. They are combined within the machine: a machine is one observation")
        .count("blocks", "Blocks", |machine| machine.blocks)
        .estimate(Unit::Share, "twin", "Twin", |machine| machine.twin)
        .help(
            "The reference under its second name as a multiple of itself, over the runs of the machine: 100%, but for chance. A machine \
             whose interval excludes 100% is left out, which befalls one sound machine in twenty",
        )
        .facet("selftest", "Selftest", |machine| selftest(&machine.certified))
        .help("What the certificate of `tare selftest` beside the runs says")
        .text("known_by", "Known by", |machine| machine.identity.text())
        .help("How runs of one machine are recognised");
    let lead = "The machines, each as its first run found it. No figure of one is compared with that of another, but for ratios to the \
                reference.";
    Section::new("machines", "Machines", lead, columns.table("Machines", &merged.machines))
}

fn counts(machine: &Machine) -> Value {
    match machine.counted.is_empty() {
        true => Value::Word("left out", Tone::Open),
        false => Value::Word("counts", Tone::Plain),
    }
}

fn selftest(certified: &Certified) -> Value {
    match certified {
        Certified::Unknown => Value::Word("none", Tone::Plain),
        Certified::Passed => Value::Word("passed", Tone::Good),
        Certified::OfAnotherMachine => Value::Word("of another machine", Tone::Bad),
        Certified::Unreadable(_) => Value::Word("cannot be read", Tone::Bad),
        Certified::Failed(_) => Value::Word("failed", Tone::Bad),
    }
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// The runs and rows that are in no figure, with their reasons.
pub(super) fn left_out(merged: &Merged) -> Section {
    let lead = "A machine that disagrees with itself has no part in any figure: its twin differs, its run is not whole or not valid, or \
                `tare selftest` failed there.";
    let (id, title) = ("left-out", "Left out");
    if merged.left_out.is_empty() {
        return Section::without(id, title, lead).note("nothing is left out");
    }
    let run = |place: Option<usize>| place.map(|run| merged.runs[run].run.name.clone());
    let columns = Columns::new()
        .text("machine", "Machine", |one: &&LeftOutMachine| merged.machines[one.machine].name.clone())
        .text("run", "Run", move |one| run(one.run).unwrap_or_else(|| "all".to_owned()))
        .facet("code", "Reason", |one| one.reason.code())
        .text("reason", "Why", |one| one.reason.to_string());
    Section::new(id, title, lead, columns.table("What is left out", &merged.left_out)).brief()
}

/// Each run, wherever its folder is.
pub(super) fn runs(merged: &Merged) -> Section {
    let machine = |run: &MergedRun| merged.machines[run.machine].name.clone();
    let counts = |run: &MergedRun| {
        let place = merged.runs.iter().position(|other| other.id == run.id);
        merged.machines[run.machine].counted.iter().any(|counted| Some(*counted) == place)
    };
    let ended =
        |run: &MergedRun| run.run.report.ending.map_or(run.run.status().text(), |ending| ending.text());
    let others = |run: &MergedRun| run.run.report.interference_share.map(percent);
    let columns = Columns::new()
        .text("run", "Run", |run: &&MergedRun| run.run.name.clone())
        .text("machine", "Machine", move |run| machine(run))
        .facet("class", "Class", |run| run.class.clone())
        .flag("counts", "Counts", move |run| counts(run))
        .text("began", "Began", |run| run.id.began.clone())
        .text("seed", "Seed", |run| run.id.seed.to_string())
        .count("blocks", "Blocks", |run| run.run.report.blocks)
        .text("ending", "Ended", move |run| ended(run))
        .text("interference", "CPU of others", move |run| others(run))
        .text("kernel", "Kernel", |run| some(&run.run.environment().kernel))
        .text("tare", "Tare", |run| run.run.stored.header.tare.clone());
    let lead = "The runs, each once, by when they began. A run is known by its experiment, when it began and its seed.";
    Section::new("runs", "Runs", lead, columns.table("Runs", &merged.runs))
}

/// The checks of the runs before pooling.
pub(super) fn agreement(merged: &Merged) -> Section {
    let means = |one: &Difference| match one.weight {
        DifferenceWeight::Forbids => "refused".to_owned(),
        DifferenceWeight::Machine => "another machine".to_owned(),
        DifferenceWeight::Metric(metric) => format!("{} is not pooled", metric.name()),
        DifferenceWeight::Told => "is reported".to_owned(),
    };
    let names: Vec<String> = merged.runs.iter().map(|run| run.run.name.clone()).collect();
    let value = move |one: &Difference| match one.is_same {
        true => one.values.first().cloned(),
        false => Some(one.text_with(&names)),
    };
    let columns = Columns::new()
        .text("what", "What", |one: &&Difference| one.what)
        .flag("is_same", "Same", |one| one.is_same)
        .text("weight", "A difference means", move |one| means(one))
        .text("value", "Value", move |one| value(one));
    let lead = "What the runs have in common. They are of one experiment: what is measured is the same, and seed and machine may differ.";
    let table = columns.table("What the runs have in common", &merged.agreement);
    Section::new("comparability", "One experiment", lead, table)
}
