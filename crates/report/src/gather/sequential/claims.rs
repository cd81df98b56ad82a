//! The claims of a published benchmark, what this run says to each, and every comparison that it is said by.

use tare_analysis::{
    published::{CheckReport, ClaimReport},
    verdict::{Question, Verdict},
};

use tare_bench::metric::{self, Metric};

use super::{
    super::{
        fields::{between, field, table},
        lay::{column, quiet, text},
    },
    Grid,
};
use crate::document::{Chart, Scale, Section, Shape, Unit, Value};

/// A claim, its id, and what was found.
type Judged<'a> = (&'a str, &'a ClaimReport);

fn judged<'a>(grid: &Grid<'a>) -> Vec<Judged<'a>> {
    let report = grid.report;
    report.published.claims.iter().map(|claim| claim.id.as_str()).zip(&report.claims).collect()
}

/// A claim with what decided it.
pub(crate) fn verdicts(grid: &Grid) -> Option<Section> {
    let claims = judged(grid);
    if claims.is_empty() {
        return None;
    }
    let count = |verdict: Verdict| {
        move |(_, claim): &Judged| claim.checks.iter().filter(|check| check.verdict == verdict).count()
    };
    let fields = vec![
        // First what is short: whoever writes a table names its rows by the first text of each.
        field(text("id", "claim"), |(id, _): &Judged| (*id).to_owned()),
        field(text("verdict", "verdict here"), |(_, claim): &Judged| word(claim.verdict)),
        field(
            text("measured_for", "measured for").help("Where it is not the published time or number."),
            |(_, claim): &Judged| claim.measured_for.clone(),
        ),
        field(text("claim", "what was claimed"), |(_, claim): &Judged| claim.text.clone()),
        field(text("evidence", "what decided it"), |(_, claim): &Judged| decisive(claim)),
        field(column("holding", "comparisons that hold", Unit::Count).hidden(), count(Verdict::Pass)),
        field(column("not_holding", "that do not", Unit::Count).hidden(), count(Verdict::Fail)),
        field(column("untold", "inconclusive", Unit::Count).hidden(), count(Verdict::Inconclusive)),
    ];
    let lead = "Each claim is checked by comparisons that stand in the experiment's file. One that is refuted refutes it; \
                an inconclusive one leaves it open. A verdict says nothing of a longer load than it was measured for.";
    Some(Section::new(
        "claims",
        "Does it still hold?",
        lead,
        quiet(table("Claims and verdicts", fields, claims.iter().cloned())),
    ))
}

/// The comparison that the verdict hangs on.
fn decisive(claim: &ClaimReport) -> Option<String> {
    let with = |verdict: Verdict| claim.checks.iter().filter(move |check| check.verdict == verdict);
    let first = with(claim.verdict).next()?;
    let more = match with(claim.verdict).count() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    Some(format!("{}: {}{more}", first.what(), first.found()))
}

fn word(verdict: Verdict) -> Value {
    Value::of_verdict(verdict, Question::Claim)
}

/// A comparison of a claim.
#[derive(Clone, Copy)]
struct Evidence<'a> {
    id: &'a str,
    claim: &'a ClaimReport,
    check: &'a CheckReport,
}

impl Evidence<'_> {
    /// What is measured; nothing where it is whether a service hangs, or fails.
    fn metric(&self) -> Option<String> {
        self.check.metric.map(|metric| self.check.metric_words(metric))
    }

    /// `cost: restinio / asio`: what it is about. The part that was published goes without saying, and so does what all
    /// but a few comparisons are of.
    fn name(&self) -> String {
        let place = if self.check.is_as_published { "" } else { &self.check.place };
        let subject = self.check.subject(place);
        match self.check.metric {
            None | Some(Metric::Throughput | Metric::MsPerMessage) => format!("{}: {subject}", self.id),
            Some(metric) => format!("{}: {subject}, {}", self.id, self.check.metric_words(metric)),
        }
    }

    /// Milliseconds and ratios are not to be read on one axis.
    fn kind(&self) -> &'static str {
        let is_ratio = self.check.metric.is_some_and(|metric| metric.unit() == metric::Unit::Ratio);
        if is_ratio || self.check.divided_by.is_some() { "ratio" } else { "figure" }
    }
}

/// Every comparison.
pub(crate) fn evidence(grid: &Grid) -> Option<Section> {
    let of = |(id, claim)| move |check| Evidence { id, claim, check };
    let rows: Vec<Evidence> =
        judged(grid).into_iter().flat_map(|(id, claim)| claim.checks.iter().map(of((id, claim)))).collect();
    if rows.is_empty() {
        return None;
    }
    let mut fields = vec![
        field(text("comparison", "comparison"), Evidence::name),
        field(text("metric", "of"), |row: &Evidence| row.metric()),
        field(text("verdict", "verdict").facet(), |row: &Evidence| word(row.check.verdict)),
        field(text("found", "what was found"), |row: &Evidence| row.check.found()),
        field(text("id", "claim").facet(), |row: &Evidence| row.id.to_owned()),
        field(text("claim", "what was claimed").hidden(), |row: &Evidence| row.claim.text.clone()),
        field(text("kind", "kind").hidden(), Evidence::kind),
    ];
    let value =
        column("value", "found", Unit::Number).help("A ratio, milliseconds or a count, as the metric says.");
    fields.extend(between(value.hidden(), |row: &Evidence| row.check.estimate()));
    let bound = |key: &str, title: &str| column(key, title, Unit::Number);
    fields
        .push(field(bound("claimed_least", "claimed at least"), |row: &Evidence| row.check.claimed_at_least));
    fields.push(field(bound("claimed_most", "claimed at most"), |row: &Evidence| row.check.claimed_at_most));
    let rounds = column("rounds", "rounds", Unit::Count);
    fields.push(field(rounds, |row: &Evidence| row.check.estimate().map(|found| found.n)));
    let lead = "A comparison holds where its whole interval of 95% lies within what is claimed, and does not where all of it \
                lies outside. A figure of one round is taken for known within a factor of 1.25.";
    let shown = quiet(table("Comparisons", fields, rows.iter().copied()));
    let section = Section::new("evidence", "What each verdict is made of", lead, shown);
    Some(Section { charts: ratios(&rows).into_iter().collect(), ..section })
}

/// Ratios with their intervals, where there is more than one.
fn ratios(rows: &[Evidence]) -> Option<Chart> {
    let is_ratio = |row: &&Evidence| row.check.estimate().is_some() && row.kind() == "ratio";
    let with =
        |verdict: Verdict| rows.iter().filter(is_ratio).filter(|row| row.check.verdict == verdict).count();
    let all = rows.iter().filter(is_ratio).count();
    let alt = format!(
        "{all} ratios with their intervals: {} hold, {} do not, {} inconclusive. What is claimed of each stands in the table.",
        with(Verdict::Pass),
        with(Verdict::Fail),
        with(Verdict::Inconclusive)
    );
    let chart = Chart::new(Shape::Points, "value", "comparison", &alt).series("verdict");
    let chart = Chart {
        title: "Ratios that were compared".to_owned(),
        n: Some("rounds".to_owned()),
        only: Some(["kind".to_owned(), "ratio".to_owned()]),
        ..chart.scales(Scale::Log, Scale::Names)
    };
    (all > 1).then_some(chart)
}
