//! A against B within one run: the verdict, what it is made of, and then all that is reported of the run.

use std::path::Path;
use tare_analysis::estimate::Estimate;

use tare_analysis::{
    checks,
    comparison::{Comparison, Contender, Figure},
    loads,
    report::Report,
    stop::series,
    verdict::Question,
};
use tare_bench::{
    metric::{self, Metric},
    run::{folder::Kept, until::percent},
};

use super::{
    fields::{between, field, table},
    interleaved,
    lay::{column, notes, quiet, text},
};
use crate::document::{Chart, Document, Fact, Kind, Scale, Section, Shape, Unit, Value};

/// What is reported of a comparison, whose first load decides.
pub(crate) fn of_loads(found: &Comparison, kept: &Kept, run: &Path) -> Document {
    let loads = loads::compute(kept);
    let mut document = document(found, &kept.at_load(0), &loads[0].report, run);
    interleaved::loads::enter(&mut document, &loads, kept);
    document
}

/// What is reported of a comparison under one load.
pub(crate) fn document(found: &Comparison, kept: &Kept, report: &Report, run: &Path) -> Document {
    let run_of_both = interleaved::document(kept, report, run);
    let own = [Some(metrics(found)), blocks(found, kept)].into_iter().flatten();
    let mut facts = facts(found);
    facts.extend(run_of_both.facts);
    Document {
        kind: Kind::Comparison,
        answer: answer(found),
        notes: notes(&found.findings),
        facts,
        sections: own.chain(run_of_both.sections).collect(),
        checks: checks::of_comparison(found),
        ..run_of_both
    }
}

/// `PASS: a regression of 3% or more is excluded in throughput (12 blocks).`
fn answer(found: &Comparison) -> String {
    let blocks = match (found.look, found.blocks) {
        (Some(look), _) => format!(" after {look} blocks"),
        (None, blocks) => format!(" with {blocks} blocks"),
    };
    format!("{}{blocks}: {}.", found.head(), found.reason)
}

fn facts(found: &Comparison) -> Vec<Fact> {
    let looks: Vec<String> = found.looks.iter().map(usize::to_string).collect();
    vec![
        Fact::new("Baseline", contender(&found.baseline)).brief(),
        Fact::new("Candidate", contender(&found.candidate)).brief(),
        Fact::new("Regression", format!("{} or more", percent(found.delta))),
        Fact::new("Looks", format!("after {} blocks", looks.join(", "))).brief(),
    ]
}

fn contender(found: &Contender) -> String {
    let more = [found.version.as_ref(), found.title.as_ref()].into_iter().flatten();
    std::iter::once(&found.label).chain(more).cloned().collect::<Vec<_>>().join(", ")
}

fn unit(metric: Metric) -> Unit {
    match metric.unit() {
        metric::Unit::PerSecond => Unit::PerSecond,
        metric::Unit::Nanoseconds => Unit::Nanoseconds,
        metric::Unit::Bytes => Unit::Bytes,
        metric::Unit::Milliseconds | metric::Unit::Count | metric::Unit::Ratio => Unit::Number,
    }
}

fn unit_name(metric: Metric) -> &'static str {
    match unit(metric) {
        Unit::PerSecond => "per second",
        Unit::Bytes => "bytes",
        _ => "nanoseconds",
    }
}

fn ratio(figure: &Figure) -> Option<Estimate> {
    Some(Estimate { low: figure.low, high: figure.high, ..Estimate::known(figure.ratio?) })
}

/// A line for each metric. Its figures have the unit of the metric: they are shown as text, and stand in the data as numbers.
fn metrics(found: &Comparison) -> Section {
    let shown = |figure: &Figure, value: Option<f64>| value.map(|value| unit(figure.metric).show(value));
    let in_base_units = "In the unit of the metric, which the column beside it names.";
    let mut fields = vec![
        field(text("metric", "metric"), |figure: &Figure| figure.name.clone()),
        field(column("decides", "decides", Unit::Flag).facet(), |figure: &Figure| figure.decides),
        field(text("verdict", "verdict").facet(), |figure: &Figure| {
            figure.verdict.map(|verdict| Value::of_verdict(verdict, Question::Gate))
        }),
        field(text("baseline_text", &found.baseline.label), move |figure: &Figure| {
            shown(figure, figure.baseline)
        }),
        field(text("candidate_text", &found.candidate.label), move |figure: &Figure| {
            shown(figure, figure.candidate)
        }),
        field(
            column("baseline", "baseline", Unit::Number).help(in_base_units).hidden(),
            |figure: &Figure| figure.baseline,
        ),
        field(
            column("candidate", "candidate", Unit::Number).help(in_base_units).hidden(),
            |figure: &Figure| figure.candidate,
        ),
        field(text("unit", "unit").hidden(), |figure: &Figure| unit_name(figure.metric)),
    ];
    let of = column("ratio", "change", Unit::Change).help("Candidate by baseline, paired by block.");
    fields.extend(between(of, ratio));
    let bound = column("bound_ratio", "bound", Unit::Change).help(
        "From this change on it is a regression: upwards where less is better, downwards where more is.",
    );
    fields.push(field(bound, |figure: &Figure| figure.decides.then_some(figure.bound)));
    fields.push(field(column("confidence", "confidence", Unit::Share), |figure: &Figure| figure.confidence));
    let more = column("blocks_more", "blocks more", Unit::Count)
        .help("That would settle it, if it goes on as it was.");
    fields.push(field(more, |figure: &Figure| figure.blocks_more));
    fields.push(field(text("remarks", "remarks"), |figure: &Figure| {
        let remarks: Vec<String> = figure.remarks().collect();
        (!remarks.is_empty()).then(|| remarks.join("; "))
    }));
    let lead = format!(
        "The candidate passes where every metric that decides excludes a regression of {delta} with its whole interval. It fails \
         where one of them is worse for certain, its whole interval on the worse side of no change, and by {delta} or more as it is \
         estimated. The confidence is that over all looks together.",
        delta = percent(found.delta)
    );
    let shown = quiet(table("Metrics of both", fields, found.figures.iter().cloned()));
    let section = Section::new("metrics", "Effect by metric", &lead, shown);
    let known: Vec<String> = found.figures.iter().filter_map(Figure::text).collect();
    if known.is_empty() {
        return section.note("there is no block that both have");
    }
    let alt = format!(
        "Candidate by baseline, with intervals and the bound of each metric that decides. {}",
        known.join(" ")
    );
    let chart = Chart::new(Shape::Points, "ratio", "metric", &alt).scales(Scale::Linear, Scale::Names);
    let title = "Effects, with the bound of a regression as a dashed mark".to_owned();
    section.chart(Chart { title, bound: Some("bound_ratio".to_owned()), ..chart })
}

/// One metric in one block that both have.
#[derive(Debug, Clone)]
struct Block {
    metric: String,
    unit: &'static str,
    block: usize,
    baseline: f64,
    candidate: f64,
    is_after: bool,
}

/// The ratio of every block; absent if there is no block.
fn blocks(found: &Comparison, kept: &Kept) -> Option<Section> {
    let plan = &kept.header.plan;
    let each = found.figures.iter().flat_map(|figure| {
        let place = |label: &str| plan.rows.iter().position(|row| row.label == label);
        let of = |label: &str| {
            place(label).map(|row| series::of(plan, &kept.records, row, figure.metric)).unwrap_or_default()
        };
        let candidate = of(&found.candidate.label);
        let both = of(&found.baseline.label)
            .into_iter()
            .filter_map(move |(block, baseline)| Some((block, baseline, *candidate.get(&block)?)));
        both.enumerate().map(|(place, (block, baseline, candidate))| Block {
            metric: figure.name.clone(),
            unit: unit_name(figure.metric),
            block: block + 1,
            baseline,
            candidate,
            is_after: found.look.is_some_and(|look| place >= look),
        })
    });
    let blocks: Vec<Block> = each.collect();
    let last = blocks.iter().map(|block| block.block).max()?;
    let fields = vec![
        field(text("metric", "metric").facet(), |block: &Block| block.metric.clone()),
        field(column("block", "block", Unit::Count), |block: &Block| block.block),
        field(column("ratio", "change", Unit::Change), |block: &Block| block.candidate / block.baseline),
        field(column("baseline", "baseline", Unit::Number).hidden(), |block: &Block| block.baseline),
        field(column("candidate", "candidate", Unit::Number).hidden(), |block: &Block| block.candidate),
        field(text("unit", "unit").hidden(), |block: &Block| block.unit),
        field(column("after_the_look", "after the look", Unit::Flag).facet(), |block: &Block| block.is_after),
    ];
    let lead = "The ratio of both in each block: what the intervals are made of. Blocks after the look that the verdict is from \
                are shown, and have no say.";
    let shown = quiet(table("Ratios by block", fields, blocks));
    let alt = format!("A line for each metric over {last} blocks: steady where nothing drifts.");
    let chart = Chart::new(Shape::Lines, "block", "ratio", &alt).series("metric");
    let chart = Chart { apart: Some("after_the_look".to_owned()), ..chart };
    Some(Section::new("ratios", "Block by block", lead, shown).chart(chart))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use tare_analysis::comparison::compute;
    use tare_bench::{
        fixture,
        run::record::{Ended, Ending, Failed, Record},
    };

    use super::*;
    use crate::{document::Verdict, gather::tests::golden::text};

    /// This many blocks of `a` and of `b`, which has `ratio` times its rate.
    fn kept(blocks: usize, ratio: f64) -> Kept {
        let records = (0..blocks).flat_map(|block| fixture::block(block, &[1.0, ratio]));
        let ended = Ended { reason: Ending::Decided, elapsed_ns: blocks as u64 * 4_000_000_000 };
        Kept {
            header: fixture::compared(),
            records: records.chain([Record::Ended(ended)]).collect(),
            damage: Vec::new(),
            goes_on: false,
        }
    }

    /// Without the sections of the run, which have their own tests.
    fn told(kept: &Kept) -> Document {
        let found = compute(kept).unwrap();
        let mut document =
            document(&found, kept, &tare_analysis::report::compute(kept), Path::new("runs/none"));
        assert_eq!(document.check(), Vec::<String>::new());
        document.sections.retain(|section| ["metrics", "ratios"].contains(&section.id.as_str()));
        document.facts.truncate(4);
        document
    }

    #[test]
    fn a_candidate_that_is_worse_fails() {
        assert_snapshot!(text(&told(&kept(14, 0.9))));
    }

    #[test]
    fn each_metric_that_decides_is_a_check() {
        let verdicts = |kept: &Kept| -> Vec<(String, Verdict)> {
            told(kept).checks.into_iter().map(|check| (check.name, check.verdict)).collect()
        };
        let both = |verdict| ["throughput", "CPU/request"].map(|name| (name.to_owned(), verdict));
        assert_eq!(verdicts(&kept(14, 0.9)), both(Verdict::Fail));
        assert_eq!(verdicts(&kept(14, 1.0)), both(Verdict::Pass));
        let mut dead = kept(12, 1.0);
        let reason = "was killed".to_owned();
        dead.records.push(Record::Failed(Failed { block: 12, row: 1, reason }));
        assert_eq!(verdicts(&dead), [("comparison".to_owned(), Verdict::ServiceFailed)]);
    }

    #[test]
    fn what_is_too_early_to_tell_has_figures_and_no_verdict() {
        let found = told(&kept(3, 0.9));
        let expected = "INCONCLUSIVE with 3 blocks: 3 blocks say nothing yet: the first look is after 12.";
        assert_eq!(found.answer, expected);
        let none = told(&kept(0, 1.0));
        assert_eq!(none.sections.len(), 1, "{:?}", none.sections);
        assert_eq!(none.sections[0].notes, ["there is no block that both have"]);
    }
}
