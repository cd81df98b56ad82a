//! The sections of the document: tables, and charts that are views of them.

use tare_analysis::figures::percent;
use tare_bench::plan::until::Metric;
use tare_stats::{DEFAULT_CONFIDENCE, RatioEstimate, signed_rank, two_level};

use super::{
    changes::{Change, needed},
    comparable::Difference,
    effects::{DECIDES, Effect, names},
    run::{Run, Sample},
    scope::Scope,
};
use crate::document::{Chart, Column, Scale, Section, Shape, Table, Unit, Value};

/// By how much each row differs.
pub(crate) fn effects(scope: &Scope, all: &[Effect]) -> Section {
    let text = |key: &str, title: &str| Column::new(key, title, Unit::Text);
    let share = |key: &str, title: &str| Column::new(key, title, Unit::Share);
    let count = |key: &str, title: &str| Column::new(key, title, Unit::Count);
    let columns = vec![
        text("row", "Service"),
        text("metric", "Metric").facet(),
        text("verdict", "Verdict").facet().help(
            "What is reported at 5% over all rows, throughput and CPU/request together (Holm); p99 and RSS stand beside",
        ),
        share("effect", "After by before")
            .interval("effect_low", "effect_high")
            .help("100% is no difference. Each run is related to its own reference first, but for RSS"),
        share("effect_low", "low").hidden(),
        share("effect_high", "high").hidden(),
        share("before_of_reference", "Before, of reference"),
        share("after_of_reference", "After, of reference"),
        text("before", "Before"),
        text("after", "After"),
        count("n_before", "n before"),
        count("n_after", "n after"),
        text("unit", "n counts").help("What is independent: blocks of two runs, starts where a process was kept, runs"),
        Column::new("p", "p", Unit::Number).hidden(),
        text("build", "Build").facet(),
        text("reason", "Why"),
    ];
    let mut table = Table::new("Services by how much they differ", columns);
    for effect in all {
        table.rows.push(effect_row(scope.runs, effect));
    }
    let lead = if scope.by_runs() {
        "Runs are what is independent, so what makes two runs of one program differ is in the intervals."
    } else {
        "The intervals tell how these two runs differ. What is drawn once for a run (a boot, where memory lies, the \
         machine's other tenants) is not in them, and with one run on each side it cannot be known."
    };
    let mut section = Section::new("effects", "What differs", lead, table);
    for metric in DECIDES {
        section = section.chart(effects_chart(all, metric));
    }
    section
}

fn effect_row(runs: &[Run], effect: &Effect) -> Vec<Value> {
    let ratio = effect.ratio.as_ref();
    let build = match effect.same_build {
        Some(true) => "same",
        Some(false) => "changed",
        None => "not known",
    };
    vec![
        effect.row.as_str().into(),
        effect.metric.name().into(),
        Value::Word(effect.word(), effect.tone()),
        ratio.map(|ratio| ratio.ratio).into(),
        ratio.and_then(|ratio| ratio.low).into(),
        ratio.and_then(|ratio| ratio.high).into(),
        effect.before.of_reference.into(),
        effect.after.of_reference.into(),
        told(&names(runs, &effect.before.runs)),
        told(&names(runs, &effect.after.runs)),
        effect.before.n.into(),
        effect.after.n.into(),
        effect.unit.into(),
        effect.p.into(),
        build.into(),
        told(&effect.reason),
    ]
}

/// Nothing, where there is nothing to say.
fn told(text: &str) -> Value {
    if text.is_empty() { Value::None } else { text.into() }
}

fn effects_chart(all: &[Effect], metric: Metric) -> Chart {
    let of_metric = || {
        let own = all.iter().filter(move |effect| effect.metric == metric);
        own.filter_map(|effect| Some((effect.ratio.as_ref()?.ratio, effect.row.as_str())))
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
    Chart {
        title: format!("{name}, after by before"),
        only: Some(["metric".to_owned(), name.to_owned()]),
        n: Some("n_after".to_owned()),
        ..Chart::new(Shape::Points, "effect", "row", &alt).scales(Scale::Linear, Scale::Names)
    }
}

/// Keys and titles of the figures that are related to the reference.
const RELATED: [(Metric, &str, &str); 3] = [
    (Metric::Throughput, "throughput", "Throughput"),
    (Metric::Cpu, "cpu", "CPU/request"),
    (Metric::P99, "p99", "p99"),
];

/// What each run says of each row, by itself.
pub(crate) fn each_run(scope: &Scope) -> Section {
    let mut columns = vec![
        Column::new("row", "Service", Unit::Text).facet(),
        Column::new("run", "Run", Unit::Text),
        Column::new("place", "Place in time", Unit::Count).hidden(),
        Column::new("began", "Began", Unit::Text),
        Column::new("version", "Version", Unit::Text),
        Column::new("build", "Build", Unit::Text).hidden(),
    ];
    for (_, key, title) in RELATED {
        let [own, low, high] = ["", "_low", "_high"].map(|end| format!("{key}_of_reference{end}"));
        columns.push(Column::new(&own, &format!("{title} of reference"), Unit::Share).interval(&low, &high));
        columns.push(Column::new(&low, "low", Unit::Share).hidden());
        columns.push(Column::new(&high, "high", Unit::Share).hidden());
    }
    columns.extend([
        Column::new("requests_per_second", "Requests/s", Unit::PerSecond),
        Column::new("cpu_ns_per_request", "CPU/request", Unit::Nanoseconds),
        Column::new("latency_ns_p99", "p99", Unit::Nanoseconds),
        Column::new("rss_bytes_peak", "RSS", Unit::Bytes),
        Column::new("n", "n", Unit::Count).help("Blocks, or starts where a process was kept for several"),
        Column::new("reason", "Why not", Unit::Text),
    ]);
    let mut table = Table::new("Services in each run", columns);
    for label in scope.labels() {
        table.rows.extend((0..scope.runs.len()).map(|run| run_row(scope, run, &label)));
    }
    let lead = "Each run by itself, each block related to the reference in it. Figures that are not related to a reference are those \
                of the machine at that time.";
    let section = Section::new("runs", "Run by run", lead, table);
    if scope.by_runs() { lines(section, scope) } else { section }
}

fn run_row(scope: &Scope, at: usize, label: &str) -> Vec<Value> {
    let run = &scope.runs[at];
    let planned = run.planned(label);
    let mut values = vec![
        label.into(),
        run.name.as_str().into(),
        (at + 1).into(),
        run.kept.header.began.as_str().into(),
        planned.and_then(|row| row.version.clone()).into(),
        run.build(label).into(),
    ];
    let samples = RELATED.map(|(metric, ..)| scope.sample(at, label, metric));
    for sample in &samples {
        let estimate = sample.as_ref().ok().and_then(of_reference);
        values.push(estimate.as_ref().map(|estimate| estimate.ratio).into());
        values.push(estimate.as_ref().and_then(|estimate| estimate.low).into());
        values.push(estimate.and_then(|estimate| estimate.high).into());
    }
    values.extend(Metric::COMPARED.map(|metric| Value::from(run.level(label, metric))));
    let n = samples.iter().flatten().map(|sample| sample.units().len()).max();
    let is_reference = label == run.plan().reference();
    values.push(n.into());
    values.push(samples.into_iter().find_map(Result::err).filter(|_| !is_reference).into());
    values
}

/// As the run's own table makes it.
fn of_reference(sample: &Sample) -> Option<RatioEstimate> {
    let estimate = match sample.is_shared() {
        true => two_level::interval(&sample.starts, DEFAULT_CONFIDENCE),
        false => signed_rank::interval(&sample.blocks(), DEFAULT_CONFIDENCE),
    };
    estimate.ok().map(RatioEstimate::from)
}

fn lines(section: Section, scope: &Scope) -> Section {
    let count = scope.runs.len();
    RELATED[..2].iter().fold(section, |section, (_, key, title)| {
        let alt = format!("{title} of the reference's over {count} runs, a line a service");
        let chart = Chart::new(Shape::Lines, "place", &format!("{key}_of_reference"), &alt).series("row");
        section.chart(Chart {
            title: format!("{title} of reference, run after run"),
            n: Some("n".to_owned()),
            first: Some(8),
            ..chart
        })
    })
}

/// Where the level changed, and how much runs differ without a change.
pub(crate) fn changes(scope: &Scope, found: &[Change]) -> Vec<Section> {
    if !scope.by_runs() {
        return Vec::new();
    }
    let (id, title) = ("changes", "Change points");
    let needed = needed();
    let lead = format!(
        "Where the level of a row changed in the order of time: Pettitt's test on what each run says, at 5% for each row and \
         metric, so that about one in twenty of them shows a change where none is. It takes {needed} runs."
    );
    if !scope.is_one_machine {
        let section = Section::without(id, title, &lead);
        return vec![section.note("runs of two machines are no history of one"), spread(scope)];
    }
    if scope.runs.len() < needed {
        let count = scope.runs.len();
        let note = format!(
            "{count} runs are too few: a change shows among {needed} at the least, however great it is"
        );
        return vec![Section::without(id, title, &lead).note(note), spread(scope)];
    }
    let section = Section::new(id, title, &lead, changes_table(scope, found));
    let section = match (found.is_empty(), found.iter().any(|change| change.same_build)) {
        (true, _) => section.note("no level changed"),
        (_, true) => section.note(
            "a level that changed while the build did not is that of the machine, or of what the build does not hold; the \
             environment of each run may say which",
        ),
        _ => section,
    };
    vec![section, spread(scope)]
}

fn changes_table(scope: &Scope, found: &[Change]) -> Table {
    let columns = vec![
        Column::new("row", "Service", Unit::Text).facet(),
        Column::new("metric", "Metric", Unit::Text).facet(),
        Column::new("run", "From run", Unit::Text),
        Column::new("began", "Which began", Unit::Text),
        Column::new("shift", "After by before", Unit::Share),
        Column::new("runs_before", "Runs of the level before", Unit::Count),
        Column::new("runs_after", "Runs of the level after", Unit::Count),
        Column::new("build", "Build", Unit::Text).facet(),
        Column::new("p", "p", Unit::Number).hidden(),
    ];
    let mut table = Table::new("Changes of level", columns);
    table.rows.extend(found.iter().map(|change| {
        let run = &scope.runs[change.run];
        vec![
            change.row.as_str().into(),
            change.metric.name().into(),
            run.name.as_str().into(),
            run.kept.header.began.as_str().into(),
            change.ratio.into(),
            change.before.into(),
            change.after.into(),
            if change.same_build { "same as before" } else { "changed with it" }.into(),
            change.p.into(),
        ]
    }));
    table
}

/// How much runs of one build differ by themselves: what an interval of two runs cannot know.
fn spread(scope: &Scope) -> Section {
    let columns = vec![
        Column::new("row", "Service", Unit::Text).facet(),
        Column::new("metric", "Metric", Unit::Text).facet(),
        Column::new("between_runs", "Between runs", Unit::Share)
            .help("Standard deviation from run to run, beyond what their blocks explain"),
        Column::new("between_blocks", "Between blocks", Unit::Share).help("Standard deviation within a run"),
        Column::new("runs", "Runs", Unit::Count),
    ];
    let mut table = Table::new("How much runs of one build differ", columns);
    for label in scope.labels() {
        for metric in DECIDES {
            table.rows.extend(spread_of(scope, &label, metric));
        }
    }
    let lead = "Standard deviations of ratios to the reference, over the runs of the last build. Where runs differ as much as blocks \
                do, more blocks do not make a run tell more: make more runs.";
    let section = Section::new("spread", "From run to run", lead, table);
    let is_empty = section.table.as_ref().is_some_and(|table| table.rows.is_empty());
    if is_empty { section.note("no build has two runs on one machine") } else { section }
}

fn spread_of(scope: &Scope, label: &str, metric: Metric) -> Option<Vec<Value>> {
    let last = (0..scope.runs.len()).rev().find(|run| scope.sample(*run, label, metric).is_ok())?;
    let is_same = |run: &usize| {
        scope.runs[*run].build(label) == scope.runs[last].build(label)
            && scope.machine(*run) == scope.machine(last)
    };
    let same = (0..scope.runs.len()).filter(is_same);
    let units: Vec<Vec<f64>> =
        same.filter_map(|run| Some(scope.sample(run, label, metric).ok()?.units())).collect();
    let found = two_level::variance(&units).ok()?;
    Some(vec![
        label.into(),
        metric.name().into(),
        found.start.sqrt().into(),
        found.slice.sqrt().into(),
        units.len().into(),
    ])
}

/// What was asked of the runs before anything was compared.
pub(crate) fn comparability(runs: &[Run], differences: &[Difference]) -> Section {
    let mut columns = vec![
        Column::new("what", "What", Unit::Text),
        Column::new("is_same", "Same", Unit::Flag).facet(),
        Column::new("weight", "A difference means", Unit::Text).facet(),
    ];
    for (place, run) in runs.iter().enumerate() {
        columns.push(Column::new(&format!("run_{}", place + 1), &run.name, Unit::Text));
    }
    let mut table = Table::new("What the runs have in common", columns);
    for one in differences {
        let head = [one.what.into(), one.is_same.into(), one.weight.text().into()];
        let values = one.values.iter().map(|value| told(value));
        table.rows.push(head.into_iter().chain(values).collect());
    }
    let lead = "What the runs have in common, the gravest first. Another contract, load, reference, length of a slice or use of CPUs \
                is another measurement, and is refused.";
    Section::new("comparability", "Comparable", lead, table)
}

/// Where and when each run was made, and how it ended.
pub(crate) fn environments(scope: &Scope) -> Section {
    let text = |key: &str, title: &str| Column::new(key, title, Unit::Text);
    let columns = vec![
        text("run", "Run"),
        text("folder", "Folder"),
        text("began", "Began"),
        Column::new("blocks", "Blocks", Unit::Count),
        text("ending", "Ended"),
        Column::new("interference_share", "CPU of others", Unit::Share),
        Column::new("reference_requests_per_second", "Reference's requests/s", Unit::PerSecond)
            .help("The machine's state at that time: what relating to the reference takes out"),
        Column::new("reference_cpu_ns_per_request", "Reference's CPU/request", Unit::Nanoseconds),
        text("seed", "Seed"),
        text("tare", "Tare"),
        text("machine", "Machine"),
        text("kernel", "Kernel"),
        text("system", "System"),
        Column::new("memory_bytes", "Memory", Unit::Bytes),
        text("load_average", "Load before"),
        text("isolation", "Isolation"),
        text("notes", "Notes"),
    ];
    let mut table = Table::new("Runs", columns);
    for run in scope.runs {
        let (environment, reference) = (&run.kept.header.environment, run.plan().reference());
        table.rows.push(vec![
            run.name.as_str().into(),
            run.place.as_str().into(),
            run.kept.header.began.as_str().into(),
            run.report.blocks.into(),
            run.report.ending.map_or(run.status().text(), |ending| ending.text()).into(),
            run.report.interference_share.into(),
            run.level(reference, Metric::Throughput).into(),
            run.level(reference, Metric::Cpu).into(),
            run.plan().seed.to_string().into(),
            run.kept.header.tare.as_str().into(),
            format!("{}, {} CPUs", environment.cpu, environment.cpus).into(),
            environment.kernel.as_str().into(),
            environment.system.as_str().into(),
            environment.memory_bytes.into(),
            told(&environment.load_average),
            environment.isolation.join("; ").into(),
            told(&run.report.findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")),
        ]);
    }
    Section::new(
        "environment",
        "Environment of each run",
        "Where and when each run was made, and how it ended.",
        table,
    )
}
