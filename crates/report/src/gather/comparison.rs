//! A against B within one run: the verdict, its basis, and then the report of the run.

use std::path::Path;
use tare_base::units::several;

use tare_analysis::{
    comparison::{Comparison, Contender, Figure, TwinComparison},
    loads::AtLoad,
    series,
    verdict::{Question, Verdict},
};
use tare_bench::{
    folder::StoredRun,
    metric::{self, Metric},
    plan::until::percent,
};

use super::{
    columns::Columns,
    interleaved, why,
    words::{Headline, cautions, cut_short, notes, with_interval},
};
use crate::document::{
    Chart, Column, Document, Fact, Kind, Scale, Section, SectionLevel, Sentences, Shape, Status, Tone, Unit,
    Value,
};

/// The document of a comparison, which its first load decides, followed by that of the run.
pub(crate) fn document(found: &Comparison, loads: &[AtLoad], stored: &StoredRun, run: &Path) -> Document {
    let table = interleaved::document(stored, loads, run);
    let (why, behind) = why::of_run(run).unzip();
    let own = [found.again.as_ref().map(again), blocks(found, &stored.at_load(0))];
    let own =
        [metrics(found)].into_iter().chain(behind.into_iter().flatten()).chain(own.into_iter().flatten());
    let why = why.map(|answer| Fact::new("Why", answer).brief());
    let status = Status::of(found.ending, stored.in_progress);
    let said = interleaved::loads::answer_at(loads, answer(found, status));
    let has_nothing = found.blocks == 0 && found.verdict.tone() == Tone::Bad;
    let is_shown = |section: &Section| {
        // The only pair is the comparison itself; a reader of one without a block needs the reason alone.
        section.id != "pairs" && !(has_nothing && section.level() == SectionLevel::Result)
    };
    Document {
        kind: Kind::Comparison,
        cautions: cautions(&found.findings),
        notes: notes(&found.findings),
        facts: facts(found)
            .into_iter()
            .chain(why)
            .chain(table.facts.into_iter().map(|fact| of_run(fact, has_nothing)))
            .collect(),
        sections: own.chain(table.sections).filter(is_shown).collect(),
        ..table
    }
    .answered(said)
}

/// A sentence such as `PASS after 12 blocks: a regression of 3% or more is excluded in throughput.`
/// The basis has the change of each metric that decides.
fn answer(found: &Comparison, status: Status) -> Headline {
    let blocks = match (found.look, found.blocks) {
        (Some(look), _) => format!(" after {}", several(look, "block")),
        (None, blocks) => format!(" with {}", several(blocks, "block")),
    };
    // The decision of a look is final, whatever follows.
    let undecided = cut_short(status).filter(|_| found.verdict == Verdict::Inconclusive);
    let undecided = undecided.map(|why| format!("undecided, since {why}; ")).unwrap_or_default();
    let said = format!("{}{blocks}: {undecided}{}.", found.head(), found.reason.trim_end_matches('.'));
    if found.verdict == Verdict::ServiceFailed && found.blocks == 0 {
        return Headline::new(
            said,
            "Its output is below services/ in the run folder. `tare verify` starts it alone.",
        );
    }
    let decides = found.figures.iter().filter(|figure| figure.decides);
    Headline::new(said, decides.filter_map(Figure::text).collect::<Vec<_>>().join(" "))
}

fn facts(found: &Comparison) -> Vec<Fact> {
    let looks: Vec<String> = found.looks.iter().map(usize::to_string).collect();
    let itself = found.again.as_ref().and_then(|again| could_have_seen(again, found));
    let has_errors = [&found.baseline, &found.candidate].iter().any(|of| !of.failed.is_empty());
    let errors = Fact::new("Errors", errors(found));
    let facts = [
        Fact::new("A, baseline", contender(&found.baseline)).brief(),
        Fact::new("B, candidate", contender(&found.candidate)).brief(),
        if has_errors { errors.brief() } else { errors },
        Fact::new("Regression", format!("{} or more", percent(found.delta))),
        Fact::new("Looks", format!("after {} blocks", looks.join(", "))),
    ];
    facts.into_iter().chain(itself.map(|text| Fact::new("This machine", text).brief())).collect()
}

/// What a comparison needs of the facts of its run is its load and how long it took.
fn of_run(fact: Fact, has_nothing: bool) -> Fact {
    let is_brief = !has_nothing && ["Load", "Blocks", "Took"].contains(&fact.label.as_str());
    Fact { brief: fact.brief && is_brief, ..fact }
}

/// `could have seen 1.2% in CPU/request: between two processes of the candidate it found +0.3% (-0.9 ..
/// +1.4%)`, for each deciding metric; `None` with too few blocks.
fn could_have_seen(again: &TwinComparison, found: &Comparison) -> Option<String> {
    let decides = |metric| found.figures.iter().any(|figure| figure.metric == metric && figure.decides);
    let figures = again.figures.iter().filter(|figure| decides(figure.metric));
    let of = |figure: &Figure| {
        let least = Unit::Share.show(figure.resolution()?);
        let found = with_interval(figure.ratio.as_ref()?, Unit::Change);
        Some(format!("{least} in {}, since two processes of the candidate differ by {found}", figure.name))
    };
    let seen: Vec<String> = figures.filter_map(of).collect();
    (!seen.is_empty()).then(|| format!("could have seen {}", seen.join("; ")))
}

/// `hyper: none of 875032 requests; axum: 2 of 875032 requests: reset 2`.
fn errors(found: &Comparison) -> String {
    let both = [&found.baseline, &found.candidate];
    let names = called(both.map(|of| of.label.as_str()), ["A", "B"]);
    let of = |(name, of): (&str, &Contender)| format!("{name}: {}", of.errors());
    names.into_iter().zip(both).map(of).collect::<Vec<_>>().join("; ")
}

/// A longer name, such as a command with options, would make a column as wide as a terminal.
const NAME_CHARS_MAX: usize = 24;

/// The names of two contenders in a line: letters, if a label is long. The facts have both.
fn called<'a>(labels: [&'a str; 2], letters: [&'a str; 2]) -> [&'a str; 2] {
    let is_long = |label: &&str| label.chars().count() > NAME_CHARS_MAX;
    if labels.iter().any(is_long) { letters } else { labels }
}

fn contender(found: &Contender) -> String {
    let more = [found.version.as_ref(), found.title.as_ref()].into_iter().flatten();
    std::iter::once(&found.label).chain(more).cloned().collect::<Vec<_>>().join(", ")
}

fn unit(metric: Metric) -> Unit {
    match metric.unit() {
        metric::FigureUnit::PerSecond => Unit::PerSecond,
        metric::FigureUnit::Nanoseconds => Unit::Nanoseconds,
        metric::FigureUnit::Bytes => Unit::Bytes,
        metric::FigureUnit::Milliseconds | metric::FigureUnit::Count | metric::FigureUnit::Ratio => {
            Unit::Number
        }
    }
}

fn unit_name(metric: Metric) -> &'static str {
    match unit(metric) {
        Unit::PerSecond => "per second",
        Unit::Bytes => "bytes",
        _ => "nanoseconds",
    }
}

/// One row per metric.
pub(crate) fn metrics(found: &Comparison) -> Section {
    let lead = format!(
        "The candidate passes if the interval of every deciding metric excludes a regression of {delta}. It fails if the whole \
         interval of one of them lies beyond {delta}. It is worse if an interval excludes no change, and neither shows nor \
         excludes {delta}. The confidence holds for all looks together.",
        delta = percent(found.delta)
    );
    let labels = called([&found.baseline.label, &found.candidate.label], ["A", "B"]);
    let table = columns(labels).and(effects()).table("Metrics of both", found.figures.iter().cloned());
    let section = Section::new("metrics", "Effect by metric", &lead, table);
    let known: Vec<String> = found.figures.iter().filter_map(Figure::text).collect();
    if known.is_empty() {
        return section.note("there is no block that both have");
    }
    let known = known.join(" ");
    let alt =
        format!("Candidate by baseline, with intervals and the bound of each metric that decides. {known}");
    let chart = Chart::new(Shape::Points, "ratio", "metric", &alt).scales(Scale::Linear, Scale::Names);
    let chart = chart.title("Effects, with the bound of a regression as a dashed mark");
    section.chart(Chart { bound: Some("bound_ratio".to_owned()), ..chart })
}

/// The candidate compared with itself.
fn again(found: &TwinComparison) -> Section {
    let lead = "The candidate was measured a second time, in a process of its own. The two are the same build, so what differs \
                was made by this machine. If one build differs from itself by a regression or more in a deciding metric, the \
                comparison is not valid.";
    let labels = called([&found.original, &found.label], ["B", "B again"]);
    let table = columns(labels).and(effects()).table("Metrics of one build", found.figures.iter().cloned());
    Section::new("again", "The candidate against itself", lead, table)
}

/// Both figures have the unit of the metric: they are shown as text, and are in the data as numbers.
fn columns<'a>([baseline, candidate]: [&str; 2]) -> Columns<'a, Figure> {
    let shown = |figure: &Figure, value: Option<f64>| value.map(|value| unit(figure.metric).show(value));
    let in_base_units = "In the unit of the metric, which the column beside it names.";
    let verdict = |figure: &Figure| Some(Value::of_verdict(figure.verdict?, Question::Gate));
    Columns::new()
        .text("metric", "metric", |figure: &Figure| figure.name.clone())
        .with(Column::digest)
        .flag("decides", "decides", |figure| figure.decides)
        .with(Column::facet)
        .facet("verdict", "verdict", verdict)
        .with(Column::digest)
        .text("baseline_text", baseline, move |figure| shown(figure, figure.baseline))
        .with(Column::digest)
        .text("candidate_text", candidate, move |figure| shown(figure, figure.candidate))
        .with(Column::digest)
        .number("baseline", "baseline", |figure| figure.baseline)
        .help(in_base_units)
        .hidden()
        .number("candidate", "candidate", |figure| figure.candidate)
        .help(in_base_units)
        .hidden()
        .text("unit", "unit", |figure| unit_name(figure.metric))
        .hidden()
}

fn effects<'a>() -> Columns<'a, Figure> {
    Columns::new()
        .estimate(Unit::Change, "ratio", "change", |figure: &Figure| figure.ratio)
        .with(Column::digest)
        .help("Candidate by baseline, paired by block.")
        .add(Unit::Change, "bound_ratio", "bound", |figure| figure.decides.then_some(figure.bound))
        .help("From this change on it is a regression: upwards if less is better, downwards if more is.")
        .share("confidence", "confidence", |figure| figure.confidence)
        .share("regression_most", "worse by at most", |figure| figure.regression_most)
        .help("The greatest regression that the interval contains: a greater one is excluded. Below 0 it is better.")
        .text("remarks", "remarks", |figure| Sentences::new(figure.remarks()))
        .with(Column::digest)
}

/// A metric in a block that both have.
struct BlockRatio {
    metric: String,
    unit: &'static str,
    block: usize,
    baseline: f64,
    candidate: f64,
    is_after: bool,
}

/// The blocks that both have, in order of time.
fn ratios(found: &Comparison, stored: &StoredRun, figure: &Figure) -> Vec<BlockRatio> {
    let plan = &stored.header.plan;
    let of = |label: &str| series::of(plan, &stored.records, label, figure.metric);
    let candidate = of(&found.candidate.label);
    let baseline = of(&found.baseline.label).into_iter();
    let both = baseline.filter_map(|(block, value)| Some((block, value, *candidate.get(&block)?)));
    let ratio = |(place, (block, baseline, candidate)): (usize, _)| BlockRatio {
        metric: figure.name.clone(),
        unit: unit_name(figure.metric),
        block: block + 1,
        baseline,
        candidate,
        is_after: found.look.is_some_and(|look| place >= look),
    };
    both.enumerate().map(ratio).collect()
}

/// The ratio of every block; `None` without blocks.
fn blocks(found: &Comparison, stored: &StoredRun) -> Option<Section> {
    let blocks: Vec<BlockRatio> =
        found.figures.iter().flat_map(|figure| ratios(found, stored, figure)).collect();
    let last = blocks.iter().map(|block| block.block).max()?;
    let columns = Columns::new()
        .facet("metric", "metric", |block: &BlockRatio| block.metric.clone())
        .count("block", "block", |block| block.block)
        .add(Unit::Change, "ratio", "change", |block| block.candidate / block.baseline)
        .number("baseline", "baseline", |block| block.baseline)
        .hidden()
        .number("candidate", "candidate", |block| block.candidate)
        .hidden()
        .text("unit", "unit", |block| block.unit)
        .hidden()
        .flag("after_the_look", "after the look", |block| block.is_after)
        .with(Column::facet);
    let lead = "The ratio of both in each block: what the intervals are made of. Blocks after the look that the verdict is from \
                are shown, and have no say.";
    let alt = format!("A line for each metric over {last} blocks: steady if nothing drifts.");
    let chart = Chart::new(Shape::Lines, "block", "ratio", &alt).series("metric").apart("after_the_look");
    let table = columns.table("Ratios by block", blocks);
    Some(Section::new("ratios", "Block by block", lead, table).chart(chart))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use tare_bench::{
        fixture,
        record::{EndedRun, Ending, Failed, Record},
    };

    use super::*;
    use crate::gather::tests::golden::text;

    /// A run with this many blocks of `a` and of `b`, which has `ratio` times its rate.
    fn kept(blocks: usize, ratio: f64) -> StoredRun {
        let records = (0..blocks).flat_map(|block| fixture::block(block, &[1.0, ratio]));
        let ended = EndedRun { reason: Ending::Decided, elapsed_ns: blocks as u64 * 4_000_000_000 };
        StoredRun {
            header: fixture::compared(),
            records: records.chain([Record::Ended(ended)]).collect(),
            damage: Vec::new(),
            in_progress: false,
        }
    }

    /// The document without the sections of the run, which have their own tests.
    fn told(stored: &StoredRun) -> Document {
        let mut document = crate::gather::document(stored, Path::new("runs/none"));
        assert_eq!(document.check(), Vec::<String>::new());
        document.sections.retain(|section| ["metrics", "ratios"].contains(&section.id.as_str()));
        document.facts.truncate(5);
        document
    }

    #[test]
    fn a_candidate_that_is_worse_fails() {
        assert_snapshot!(text(&told(&kept(14, 0.9))));
    }

    #[test]
    fn a_long_command_is_no_column() {
        let mut stored = kept(14, 1.0);
        let command = "node server.js --with options --of all kinds";
        let plan = &mut stored.header.plan;
        plan.rows[1].label = command.to_owned();
        if let tare_bench::plan::Until::Gate(gate) = &mut plan.until {
            gate.candidate = command.to_owned();
        }
        let found = told(&stored);
        let table = found.sections[0].table.as_ref().unwrap();
        let titles: Vec<&str> = table.columns.iter().map(|column| column.title.as_str()).collect();
        assert_eq!(titles[3..5], ["A", "B"]);
        let fact = |label: &str| found.facts.iter().find(|fact| fact.label == label).unwrap().text.clone();
        assert!(fact("B, candidate").starts_with(command), "{}", fact("B, candidate"));
        assert!(fact("Errors").contains("; B: none of "), "{}", fact("Errors"));
    }

    #[test]
    fn each_metric_that_decides_is_a_check() {
        let verdicts = |stored: &StoredRun| -> Vec<(String, Verdict)> {
            told(stored).checks.into_iter().map(|check| (check.name, check.verdict)).collect()
        };
        let both = |verdict| ["throughput", "CPU/request"].map(|name| (name.to_owned(), verdict));
        assert_eq!(verdicts(&kept(14, 0.9)), both(Verdict::Fail));
        assert_eq!(verdicts(&kept(14, 1.0)), both(Verdict::Pass));
        let mut dead = kept(12, 1.0);
        let reason = "was killed".to_owned();
        dead.records.push(Record::Failed(Failed { block: 12, row: 1, reason }));
        let expected = [("comparison", Verdict::ServiceFailed), ("complete", Verdict::Unfinished)];
        assert_eq!(verdicts(&dead), expected.map(|(name, verdict)| (name.to_owned(), verdict)));
    }

    #[test]
    fn what_is_too_early_to_tell_has_figures_and_no_verdict() {
        let found = told(&kept(3, 0.9));
        let expected =
            "INCONCLUSIVE with 3 blocks: the first look is after 12 blocks, and nothing is said before it.";
        assert_eq!(found.answer, expected);
        let mut interrupted = kept(3, 0.9);
        interrupted.records.pop();
        interrupted.records.push(Record::Ended(EndedRun { reason: Ending::Interrupted, elapsed_ns: 1 }));
        let expected = "INCONCLUSIVE with 3 blocks: undecided, since the run was interrupted; the first look is after 12 blocks, \
                        and nothing is said before it.";
        assert_eq!(told(&interrupted).answer, expected);
        let none = told(&kept(0, 1.0));
        assert_eq!(none.sections.len(), 1, "{:?}", none.sections);
        assert_eq!(none.sections[0].notes, ["there is no block that both have"]);
    }
}
