//! The ratio of each service to the reference: over all machines, on each of them, and within each class.

use tare_analysis::{estimate::UnitEstimate, verdict::Tone};
use tare_report::{
    document::{Chart, Column, Scale, Section, Sentences, Shape, Table, Unit, Value},
    gather::columns::Columns,
};

use crate::{
    Agreement, Machine, MachineRatio, Merged, OverMachines, PooledLoad, PooledRatio, PooledRow, RatioMetric,
};

/// Keys and titles.
pub(super) const METRICS: [(RatioMetric, &str, &str); 2] =
    [(RatioMetric::Throughput, "throughput", "Throughput"), (RatioMetric::Cpu, "cpu", "CPU/request")];

/// The most charts on a page.
const CHARTS_MAX: usize = 12;

/// With more classes, the main table has no columns for them; their section has.
const CLASSES_MAX: usize = 6;

/// The main table: one row per service.
pub(super) fn pooled(merged: &Merged, load: &PooledLoad) -> Section {
    let mut columns = Columns::new().text("row", "Service", |row: &&PooledRow| row.label.clone());
    for (metric, key, title) in METRICS {
        columns = columns.and(over(merged, metric, key, title));
    }
    let columns = columns
        .facet("agreement", "Machines differ", |row| agreement(worst(row)))
        .help(
            "Whether machines differ in throughput or CPU/request by more than their own errors explain: Cochran's Q by Welch's test, \
             at 5% over all services, metrics and loads (Holm). \"Not shown\" is no proof that they do not",
        )
        .priority(60)
        .count("machines", "Machines", |row| row.throughput.all.machines().max(row.cpu.all.machines()))
        .help("Machines that say something of the service. They are what is independent, and not their blocks")
        .text("version", "Version", |row| row.version.clone())
        .priority(10)
        .text("reason", "Why not", |row| reason(row));
    let reference = merged.runs[0].run.plan().reference();
    let lead = format!(
        "Each service as a multiple of {reference} on the same machine, as the mean over machines with its interval of 95%. \
         The interval is for machines such as these, and not only for these. \"Another machine\" is where one that was not asked would \
         lie with 95%."
    );
    Section::new("pooled", "Over machines", &lead, columns.table("Services over machines", &load.rows))
        .brief()
}

fn over<'a>(merged: &Merged, metric: RatioMetric, key: &str, title: &str) -> Columns<'a, &'a PooledRow> {
    let all = move |row: &&PooledRow| row.of(metric).all.clone();
    let shown = move |row: &&PooledRow| {
        // With one machine it is that machine's figure, without an interval over machines.
        all(row).mean().or_else(|| all(row).figure().map(|found| UnitEstimate::known(found.value)))
    };
    let is_main = metric == RatioMetric::Throughput;
    let shown_if_main = move |column: Column| if is_main { column } else { column.hidden() };
    let mut columns = Columns::new()
        .estimate(Unit::Share, &format!("{key}_of_reference"), title, shown)
        .help(
            "As a multiple of the reference's. The mean over machines (random effects; interval by Hartung and Knapp). Without an \
             interval: one machine alone",
        )
        .with(|column| if is_main { column.digest() } else { column.track().digest() })
        .text(&format!("{key}_another"), "Another machine", move |row: &&PooledRow| another(&all(row)))
        .help(&format!(
            "Prediction interval: where it would lie on a machine that was not asked, with 95%. It takes three machines. {title}, as a \
             multiple of the reference's"
        ))
        .priority(50)
        .with(shown_if_main)
        .text(&format!("{key}_agreement"), "Machines differ in it", move |row| agreement(row.of(metric).agreement))
        .hidden();
    let classes = merged.classes();
    if (2..=CLASSES_MAX).contains(&classes.len()) {
        for (place, class) in classes.into_iter().enumerate() {
            let name = class.clone();
            let of_class = move |row: &&PooledRow| {
                let found = row.of(metric).classes.iter().find(|(own, _)| *own == name)?;
                found.1.figure().map(|found| found.value)
            };
            columns = columns
                .share(&format!("{key}_of_reference_class_{}", place + 1), &class, of_class)
                .help(&format!("{title}: the mean over the machines of this class. The section \"Classes\" has its interval"))
                .priority(40)
                .with(shown_if_main);
        }
    }
    columns
}

/// The worse agreement of both metrics.
fn worst(row: &PooledRow) -> Agreement {
    let [throughput, cpu] = [row.throughput.agreement, row.cpu.agreement];
    match (throughput, cpu) {
        (Agreement::Differ { .. }, _) | (_, Agreement::NotKnown) => throughput,
        _ => cpu,
    }
}

pub(super) fn agreement(of: Agreement) -> Value {
    let tone = if matches!(of, Agreement::Differ { .. }) { Tone::Open } else { Tone::Plain };
    Value::Word(of.word(), tone)
}

pub(super) fn another(all: &OverMachines) -> Option<String> {
    let [low, high] = all.prediction()?;
    Some(Unit::Share.show_interval(low, high))
}

fn reason(row: &PooledRow) -> Option<Sentences> {
    let nothing = |ratio: &PooledRatio| match &ratio.all {
        OverMachines::Nothing(reason) => Some(format!("{}: {reason}", ratio.metric.name())),
        OverMachines::Pooled { .. } => None,
    };
    Sentences::new([nothing(&row.throughput), nothing(&row.cpu)].into_iter().flatten())
}

/// A line of a forest plot: a machine, a class, or all machines.
struct ForestLine<'a> {
    row: &'a PooledRow,
    who: String,
    kind: &'static str,
    class: String,
    of: [Option<ForestFigure>; 2],
    reason: Option<Sentences>,
}

struct ForestFigure {
    estimate: UnitEstimate,
    prediction: Option<[f64; 2]>,
    /// The number of blocks of a machine, or of machines in a class.
    n: usize,
}

/// The figures of each machine, and below them the pooled one: a forest plot per service.
pub(super) fn each(merged: &Merged, load: &PooledLoad) -> Section {
    let lines = load.rows.iter().flat_map(|row| forest(merged, row));
    let mut columns = Columns::new()
        .text("machine", "Machine", |line: &ForestLine| line.who.clone())
        .facet("row", "Service", |line| line.row.label.clone())
        .facet("kind", "Line", |line| line.kind)
        .facet("class", "Class", |line| line.class.clone());
    for (place, (_, key, title)) in METRICS.into_iter().enumerate() {
        let figure = move |line: &ForestLine| line.of[place].as_ref().map(|found| found.estimate);
        let end = move |line: &ForestLine, end: usize| Some(line.of[place].as_ref()?.prediction?[end]);
        columns = columns
            .estimate(Unit::Share, &format!("{key}_of_reference"), title, figure)
            .help("Of one machine: its own interval, by its blocks. Of several: that of their mean")
            .share(&format!("{key}_another_low"), "Another machine from", move |line| end(line, 0))
            .hidden()
            .share(&format!("{key}_another_high"), "Another machine to", move |line| end(line, 1))
            .hidden();
    }
    let columns = columns
        .count("n", "n", |line| line.of.iter().flatten().map(|found| found.n).max())
        .help("Blocks of a machine (starts, if a process was kept for several); machines of a mean")
        .text("reason", "Why not", |line| line.reason.clone());
    let table = columns.table("Services on each machine", lines);
    let charts = charts(load, &table);
    let lead = "What each machine says by itself, each service related to the reference in the same blocks, and below it the means. \
                The band of a mean is where another machine would lie.";
    Section { charts, ..Section::new("each-machine", "Machine by machine", lead, table) }
}

fn forest<'a>(merged: &Merged, row: &'a PooledRow) -> Vec<ForestLine<'a>> {
    let of_machine = |(place, machine): (usize, &Machine)| {
        let found = METRICS.map(|(metric, ..)| {
            row.of(metric).each.iter().find(|(own, _)| *own == place).map(|(_, found)| found.as_ref())
        });
        let reason = found.iter().flatten().find_map(|found| found.err().cloned());
        (!machine.counted.is_empty()).then(|| ForestLine {
            row,
            who: machine.name.clone(),
            kind: "machine",
            class: machine.classes.join(", "),
            of: found.map(|found| found.and_then(Result::ok).map(of_ratio)),
            reason: Sentences::new(reason),
        })
    };
    let mut lines: Vec<ForestLine> = merged.machines.iter().enumerate().filter_map(of_machine).collect();
    let classes = merged.classes();
    if classes.len() > 1 {
        for class in classes {
            let of = METRICS.map(|(metric, ..)| {
                let own = row.of(metric).classes.iter().find(|(own, _)| *own == class);
                own.and_then(|(_, found)| of_mean(found))
            });
            let who = format!("mean of {class}");
            lines.push(ForestLine { row, who, kind: "class", class, of, reason: None });
        }
    }
    let of = METRICS.map(|(metric, ..)| of_mean(&row.of(metric).all));
    lines.push(ForestLine {
        row,
        who: "mean of all machines".to_owned(),
        kind: "all",
        class: String::new(),
        of,
        reason: reason(row),
    });
    lines
}

fn of_ratio(ratio: &MachineRatio) -> ForestFigure {
    ForestFigure { estimate: ratio.estimate(), prediction: None, n: ratio.blocks() }
}

/// The mean over more than one machine.
fn of_mean(of: &OverMachines) -> Option<ForestFigure> {
    Some(ForestFigure { estimate: of.mean()?, prediction: of.prediction(), n: of.machines() })
}

/// A forest plot per service; by throughput if that is the metric of the answer.
fn charts(load: &PooledLoad, table: &Table) -> Vec<Chart> {
    let has = |metric: RatioMetric| load.rows.iter().any(|row| row.of(metric).all.figure().is_some());
    let known = METRICS.into_iter().find(|(metric, ..)| has(*metric));
    let Some((metric, key, title)) = known else { return Vec::new() };
    let rows = load.rows.iter().filter(|row| row.of(metric).all.figure().is_some());
    let chart = |row: &PooledRow| {
        let alt = format!(
            "{title} of {} as a multiple of the reference's on each machine, with intervals",
            row.label
        );
        let (x, low, high) =
            (format!("{key}_of_reference"), format!("{key}_another_low"), format!("{key}_another_high"));
        Chart::new(Shape::Points, &x, "machine", &alt)
            .scales(Scale::Linear, Scale::Names)
            .title(&format!("{}, {} of reference", row.label, title.to_lowercase()))
            .only("row", &row.label)
            .band(&low, &high)
            .n("n")
    };
    if table.rows.is_empty() { Vec::new() } else { rows.take(CHARTS_MAX).map(chart).collect() }
}

/// The mean of each class of machines; `None` for one class.
pub(super) fn classes(merged: &Merged, load: &PooledLoad) -> Option<Section> {
    if merged.classes().len() < 2 {
        return None;
    }
    let of_row = |row: &'_ PooledRow| {
        let each = merged.classes().into_iter();
        each.map(|class| {
            let [throughput, cpu] = METRICS.map(|(metric, ..)| {
                let found = row.of(metric).classes.iter().find(|(own, _)| *own == class);
                found.map(|(_, found)| found.clone())
            });
            ClassLine { row: row.label.clone(), class, of: [throughput, cpu] }
        })
        .collect::<Vec<_>>()
    };
    let mut columns = Columns::new().facet("row", "Service", |line: &ClassLine| line.row.clone()).facet(
        "class",
        "Class",
        |line| line.class.clone(),
    );
    for (place, (_, key, title)) in METRICS.into_iter().enumerate() {
        let figure = move |line: &ClassLine| {
            let found = line.of[place].as_ref()?;
            found.mean().or_else(|| found.figure().map(|found| UnitEstimate::known(found.value)))
        };
        columns = columns
            .estimate(Unit::Share, &format!("{key}_of_reference"), title, figure)
            .help("The mean over the machines of the class. Without an interval: one machine alone");
    }
    let columns = columns
        .count("machines", "Machines", |line| {
            line.of.iter().flatten().map(OverMachines::machines).max().unwrap_or(0)
        })
        .text("another", "Another machine: throughput", |line| line.of[0].as_ref().and_then(another))
        .help("Where another machine of this class would lie, with 95%");
    let table = columns.table("Services by class of machines", load.rows.iter().flat_map(of_row));
    let lead = "The same within each class: the class that a job gave, else the architecture.";
    Some(Section::new("classes", "Classes", lead, table))
}

struct ClassLine {
    row: String,
    class: String,
    of: [Option<OverMachines>; 2],
}
