//! The sections of the document: tables, and charts that are views of them.

use tare_analysis::figures::percent;
use tare_bench::metric::Metric;

use crate::{
    document::{Chart, Column, Scale, Section, Sentences, Shape, Table, Unit, Value},
    gather::columns::Columns,
};
use tare_analysis::history::{
    changes::{Change, needed},
    comparable::Difference,
    effects::{DECIDES, Effect, names},
    run::{NamedRun, RowRatios},
    scope::RunSet,
    spread::{HistorySpread, spreads},
};

/// The difference of each row.
pub(crate) fn effects(scope: &RunSet, all: &[Effect]) -> Section {
    let columns = effect_columns(scope.runs).and(effect_sides());
    let table = columns.table("Services by how much they differ", all.iter().cloned());
    let lead = if scope.by_runs() {
        "Runs are what is independent, so what makes two runs of one program differ is in the intervals."
    } else {
        "The intervals tell how these two runs differ. What is drawn once for a run (a boot, where memory lies, the \
         machine's other tenants) is not in them, and with one run on each side it cannot be known."
    };
    let charts = DECIDES.iter().map(|metric| effects_chart(all, *metric)).collect();
    Section { charts, ..Section::new("effects", "What differs", lead, table) }
}

fn effect_columns<'a>(runs: &'a [NamedRun]) -> Columns<'a, Effect> {
    let name = |side: fn(&Effect) -> &[usize]| move |effect: &Effect| some(&names(runs, side(effect)));
    Columns::new()
        .text("row", "Service", |effect: &Effect| effect.row.clone())
        .facet("metric", "Metric", |effect| effect.metric.name())
        .facet("verdict", "Verdict", |effect| Value::Word(effect.word(), effect.tone()))
        .help(
            "What is reported at 5% over all rows, throughput and CPU/request together (Holm); p99 and RSS stand beside",
        )
        .estimate(Unit::Share, "effect", "After by before", |effect| effect.ratio)
        .help("100% is no difference. Each run is related to its own reference first, but for RSS")
        .share("before_of_reference", "Before, of reference", |effect| effect.before.of_reference)
        .share("after_of_reference", "After, of reference", |effect| effect.after.of_reference)
        .text("before", "Before", name(|effect| &effect.before.runs))
        .text("after", "After", name(|effect| &effect.after.runs))
}

fn effect_sides<'a>() -> Columns<'a, Effect> {
    let build = |effect: &Effect| match effect.same_build {
        Some(true) => "same",
        Some(false) => "changed",
        None => "not known",
    };
    Columns::new()
        .count("n_before", "n before", |effect: &Effect| effect.before.n)
        .count("n_after", "n after", |effect| effect.after.n)
        .text("unit", "n counts", |effect| effect.unit)
        .help("What is independent: blocks of two runs, starts if a process was kept, runs")
        .add(Unit::Probability, "p", "p", |effect| effect.p)
        .hidden()
        .facet("build", "Build", build)
        .text("reason", "Why", |effect| some(&effect.reason))
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn effects_chart(all: &[Effect], metric: Metric) -> Chart {
    let of_metric = || {
        let own = all.iter().filter(move |effect| effect.metric == metric);
        own.filter_map(|effect| Some((effect.ratio.as_ref()?.value, effect.row.as_str())))
    };
    let least = of_metric().min_by(|a, b| a.0.total_cmp(&b.0));
    let most = of_metric().max_by(|a, b| a.0.total_cmp(&b.0));
    let name = metric.name();
    let alt = match (least, most) {
        (Some((least, one)), Some((most, other))) => {
            format!("{name} after by before: from {} ({one}) to {} ({other})", percent(least), percent(most))
        }
        _ => format!("{name} after by before: there is none"),
    };
    Chart::new(Shape::Points, "effect", "row", &alt)
        .scales(Scale::Linear, Scale::Names)
        .title(&format!("{name}, after by before"))
        .only("metric", name)
        .n("n_after")
}

/// Keys and titles of the figures that are compared with the reference.
const RELATED: [(Metric, &str, &str); 3] = [
    (Metric::Throughput, "throughput", "Throughput"),
    (Metric::Cpu, "cpu", "CPU/request"),
    (Metric::P99, "p99", "p99"),
];

struct RunRow<'a> {
    run: &'a NamedRun,
    place: usize,
    label: String,
    /// The ratios in the order of [`RELATED`].
    related: [Result<RowRatios, String>; 3],
}

impl RunRow<'_> {
    fn n(&self) -> Option<usize> {
        self.related.iter().flatten().map(|ratios| ratios.units().len()).max()
    }

    fn reason(&self) -> Option<String> {
        let is_reference = self.label == self.run.plan().reference();
        self.related.iter().find_map(|ratios| ratios.as_ref().err()).filter(|_| !is_reference).cloned()
    }

    fn level(&self, metric: Metric) -> Option<f64> {
        self.run.level(&self.label, metric)
    }
}

/// The figures of each row in each run by itself.
pub(crate) fn each_run(scope: &RunSet) -> Section {
    let labels = scope.labels();
    let rows = labels.iter().flat_map(|label| {
        scope.runs.iter().enumerate().map(move |(place, run)| RunRow {
            run,
            place,
            label: label.clone(),
            related: RELATED.map(|(metric, ..)| scope.ratios(place, label, metric)),
        })
    });
    let lead = "Each run by itself, each block related to the reference in it. Figures that are not related to a reference are those \
                of the machine at that time.";
    let table = run_columns().table("Services in each run", rows);
    let section = Section::new("runs", "Run by run", lead, table);
    if scope.by_runs() { lines(section, scope) } else { section }
}

fn run_columns<'a>() -> Columns<'a, RunRow<'a>> {
    let mut columns = Columns::new()
        .facet("row", "Service", |row: &RunRow| row.label.clone())
        .text("run", "Run", |row| row.run.name.clone())
        .count("place", "Place in time", |row| row.place + 1)
        .hidden()
        .text("began", "Began", |row| row.run.stored.header.began.clone())
        .text("version", "Version", |row| row.run.planned(&row.label)?.version.clone())
        .text("build", "Build", |row| row.run.build(&row.label))
        .hidden();
    for (place, (_, key, title)) in RELATED.into_iter().enumerate() {
        let (key, title) = (format!("{key}_of_reference"), format!("{title} of reference"));
        columns = columns
            .estimate(Unit::Share, &key, &title, move |row| row.related[place].as_ref().ok()?.of_reference());
    }
    columns
        .rate("requests_per_second", "Requests/s", |row| row.level(Metric::Throughput))
        .ns("cpu_ns_per_request", "CPU/request", |row| row.level(Metric::Cpu))
        .ns("latency_ns_p99", "p99", |row| row.level(Metric::P99))
        .bytes("rss_bytes_peak", "RSS", |row| row.level(Metric::Rss))
        .count("n", "n", RunRow::n)
        .help("Blocks, or starts if a process was kept for several")
        .text("reason", "Why not", RunRow::reason)
}

fn lines(section: Section, scope: &RunSet) -> Section {
    let count = scope.runs.len();
    RELATED[..2].iter().fold(section, |section, (_, key, title)| {
        let alt = format!("{title} of the reference's over {count} runs, a line a service");
        let chart = Chart::new(Shape::Lines, "place", &format!("{key}_of_reference"), &alt).series("row");
        section.chart(chart.title(&format!("{title} of reference, run after run")).n("n").first(8))
    })
}

/// Where the level changed, and how much runs differ without a change.
pub(crate) fn changes(scope: &RunSet, found: &[Change]) -> Vec<Section> {
    if !scope.by_runs() {
        return Vec::new();
    }
    let (id, title, needed, count) = ("changes", "Change points", needed(scope), scope.runs.len());
    let lead = format!(
        "Where the level of a row changed in the order of time, at 5% over all rows, throughput and CPU/request together \
         (Holm). With these rows it takes {needed} runs."
    );
    let none = |note: String| Section::without(id, title, &lead).note(note);
    let section = match () {
        () if !scope.is_one_machine => none("runs of two machines are no history of one".to_owned()),
        () if count < needed => none(format!(
            "{count} runs are too few: a change shows among {needed} at the least, however great it is"
        )),
        () => Section::new(id, title, &lead, changes_table(scope, found)),
    };
    let section = match (&section.table, found) {
        (Some(_), []) => section.note("no change of level is shown"),
        (Some(_), found) if found.iter().any(|change| change.same_build) => section.note(
            "a level that changed while the build did not is that of the machine, or of what the build does not hold; the \
             environment of each run may say which",
        ),
        _ => section,
    };
    vec![section, spread(scope)]
}

fn changes_table(scope: &RunSet, found: &[Change]) -> Table {
    let run = |change: &Change| &scope.runs[change.run];
    let columns = Columns::new()
        .facet("row", "Service", |change: &Change| change.row.clone())
        .facet("metric", "Metric", |change| change.metric.name())
        .text("run", "From run", |change| run(change).name.clone())
        .text("began", "Which began", |change| run(change).stored.header.began.clone())
        .share("shift", "After by before", |change| change.ratio)
        .count("runs_before", "Runs of the level before", |change| change.before)
        .count("runs_after", "Runs of the level after", |change| change.after)
        .facet(
            "build",
            "Build",
            |change| if change.same_build { "same as before" } else { "changed with it" },
        )
        .add(Unit::Probability, "p", "p", |change| change.p)
        .hidden();
    columns.table("Changes of level", found.iter().cloned())
}

/// The spread between runs of one build, which an interval of two runs does not include.
fn spread(scope: &RunSet) -> Section {
    let spreads = spreads(scope);
    let is_empty = spreads.is_empty();
    let columns = Columns::new()
        .facet("row", "Service", |spread: &HistorySpread| spread.row.clone())
        .facet("metric", "Metric", |spread| spread.metric.name())
        .share("between_runs", "Between runs", |spread| spread.between_runs)
        .help("Standard deviation from run to run, beyond what their blocks explain")
        .share("between_blocks", "Between blocks", |spread| spread.between_blocks)
        .help("Standard deviation within a run")
        .count("runs", "Runs", |spread| spread.runs);
    let lead = "Standard deviations of ratios to the reference, over the runs of the last build. Where runs differ as much as blocks \
                do, more blocks do not make a run tell more: make more runs.";
    let table = columns.table("How much runs of one build differ", spreads);
    let section = Section::new("spread", "From run to run", lead, table);
    if is_empty { section.note("no build has two runs on one machine") } else { section }
}

pub(crate) fn comparability(runs: &[NamedRun], differences: &[Difference]) -> Section {
    let mut columns = Columns::new()
        .text("what", "What", |one: &Difference| one.what)
        .flag("is_same", "Same", |one| one.is_same)
        .with(Column::facet)
        .facet("weight", "A difference means", |one| one.weight.text());
    for (place, run) in runs.iter().enumerate() {
        let key = format!("run_{}", place + 1);
        columns = columns.text(&key, &run.name, move |one| some(&one.values[place]));
    }
    let lead = "What the runs have in common, the gravest first. Another contract, load, reference, length of a slice or use of CPUs \
                is another measurement, and is refused.";
    let table = columns.table("What the runs have in common", differences.iter().cloned());
    Section::new("comparability", "Comparable", lead, table)
}

/// Where and when each run was made, and how it ended.
pub(crate) fn environments(scope: &RunSet) -> Section {
    let lead = "Where and when each run was made, and how it ended.";
    let table = of_run().and(of_machine()).table("Runs", scope.runs);
    Section::new("environment", "Environment of each run", lead, table)
}

fn of_run<'a>() -> Columns<'a, &'a NamedRun> {
    let reference = |run: &NamedRun, metric| run.level(run.plan().reference(), metric);
    let ending = |run: &&NamedRun| run.report.ending.map_or(run.status().text(), |ending| ending.text());
    Columns::new()
        .text("run", "Run", |run: &&NamedRun| run.name.clone())
        .text("folder", "Folder", |run| run.place.clone())
        .text("began", "Began", |run| run.stored.header.began.clone())
        .count("blocks", "Blocks", |run| run.report.blocks)
        .text("ending", "Ended", ending)
        .share("interference_share", "CPU of others", |run| run.report.interference_share)
        .rate("reference_requests_per_second", "Reference's requests/s", move |run| {
            reference(run, Metric::Throughput)
        })
        .help("The machine's state at that time: what relating to the reference takes out")
        .ns("reference_cpu_ns_per_request", "Reference's CPU/request", move |run| reference(run, Metric::Cpu))
        .text("seed", "Seed", |run| run.plan().seed.to_string())
        .text("tare", "Tare", |run| run.stored.header.tare.clone())
}

fn of_machine<'a>() -> Columns<'a, &'a NamedRun> {
    Columns::new()
        .text("machine", "Machine", |run: &&NamedRun| {
            format!("{}, {} CPUs", run.environment().cpu, run.environment().cpus)
        })
        .text("kernel", "Kernel", |run| run.environment().kernel.clone())
        .text("system", "System", |run| run.environment().system.clone())
        .bytes("memory_bytes", "Memory", |run| run.environment().memory_bytes)
        .text("load_average", "Load before", |run| some(&run.environment().load_average))
        .text("isolation", "Isolation", |run| run.environment().isolation.join("; "))
        .text("notes", "Notes", |run| Sentences::new(&run.report.findings))
}
