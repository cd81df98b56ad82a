//! The claims of a published benchmark, the verdict of this run on each, and all comparisons behind them.

use tare_analysis::{
    estimate::UnitEstimate,
    sequential::{CheckReport, CheckedFigure, ClaimOutcome, ClaimReport, Judgement, Weakness},
    verdict::{Question, Verdict},
};

use tare_bench::metric::{self, Metric};

use super::Experiment;
use crate::{
    document::{Chart, Scale, Section, Shape, Tone, Unit, Value},
    gather::columns::Columns,
};

/// A claim's id, with its result.
type Judged<'a> = (&'a str, &'a ClaimReport);

fn judged<'a>(run: &Experiment<'a>) -> Vec<Judged<'a>> {
    let report = run.report;
    report.published.claims.iter().map(|claim| claim.id.as_str()).zip(&report.claims).collect()
}

/// The claims with the comparisons that decided them.
pub(crate) fn verdicts(run: &Experiment) -> Option<Section> {
    let claims = judged(run);
    if claims.is_empty() {
        return None;
    }
    let count = |verdict: Verdict| {
        move |(_, claim): &Judged| claim.checks.iter().filter(|check| check.verdict == verdict).count()
    };
    // Short columns first: writers take the first text of a row as its name.
    let columns = Columns::new()
        .text("id", "claim", |(id, _): &Judged| (*id).to_owned())
        .text("direction", "direction", |(_, claim)| claim.direction.map(judged_word))
        .help("Is that ahead here which is claimed to be, by however much? Absent if no side is claimed.")
        .text("verdict", "as stated", |(_, claim)| word(claim.outcome(), claim.stated.weak))
        .help(
            "With the factors and figures that were claimed. Weak: all that decided it is of one round, or of a load that was at its \
             own ceiling.",
        )
        .text("outcome", "outcome", |(_, claim)| <&str>::from(claim.outcome()))
        .hidden()
        .flag("is_weak", "weak evidence only", |(_, claim)| claim.stated.weak.is_some())
        .hidden()
        .text("measured_for", "measured for", |(_, claim)| claim.measured_for.clone())
        .help("If it is not the published time or number.")
        .text("claim", "what was claimed", |(_, claim)| claim.text.clone())
        .text("evidence", "what decided it", |(_, claim)| decisive(claim))
        .count("holding", "comparisons that hold", count(Verdict::Pass))
        .hidden()
        .count("not_holding", "that do not", count(Verdict::Fail))
        .hidden()
        .count("inconclusive", "inconclusive", count(Verdict::Inconclusive))
        .hidden();
    let lead = "Each claim is checked by comparisons, which are in the experiment's file. It holds if all of them hold, or \
                one of them if it claims no more. A claim can hold in its direction and not in its size. A verdict says \
                nothing about a longer load than the one that was measured.";
    let table = columns.table("Claims and verdicts", claims);
    Some(Section::new("claims", "Does it still hold?", lead, table))
}

/// The comparison that decides the verdict; preferably one with a result that is not weak.
fn decisive(claim: &ClaimReport) -> Option<String> {
    let with = || claim.checks.iter().filter(|check| check.verdict == claim.stated.verdict);
    let worth =
        |check: &&CheckReport| (matches!(check.found, CheckedFigure::Nothing(_)), check.weak.is_some());
    let first = with().min_by_key(worth)?;
    let more = match with().count() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    Some(format!("{}: {}{more}", first.what(), first.found()))
}

fn judged_word(judged: Judgement) -> Value {
    let outcome = match judged.verdict {
        Verdict::Pass => ClaimOutcome::Holds,
        Verdict::Fail => ClaimOutcome::DoesNotHold,
        _ => ClaimOutcome::Inconclusive,
    };
    word(outcome, judged.weak)
}

/// The words for a claim, defined only here. A claim that holds in direction only has another size, which is
/// no contradiction. A claim that rests on weak evidence is open, whatever the evidence says.
fn word(outcome: ClaimOutcome, weak: Option<Weakness>) -> Value {
    use Weakness::{LoadBound, OneRound};
    let open = |word| Value::Word(word, Tone::Open);
    let verdict = |verdict| Value::of_verdict(verdict, Question::Claim);
    match (outcome, weak) {
        (ClaimOutcome::Holds, None) => verdict(Verdict::Pass),
        (ClaimOutcome::Holds, Some(OneRound)) => open("holds (weak: one round)"),
        (ClaimOutcome::Holds, Some(LoadBound)) => open("holds (weak: load-bound)"),
        (ClaimOutcome::OtherSize, None) => open("right direction, different size"),
        (ClaimOutcome::OtherSize, Some(OneRound)) => {
            open("right direction, different size (weak: one round)")
        }
        (ClaimOutcome::OtherSize, Some(LoadBound)) => {
            open("right direction, different size (weak: load-bound)")
        }
        (ClaimOutcome::DoesNotHold, None) => verdict(Verdict::Fail),
        (ClaimOutcome::DoesNotHold, Some(OneRound)) => open("does not hold (weak: one round)"),
        (ClaimOutcome::DoesNotHold, Some(LoadBound)) => open("does not hold (weak: load-bound)"),
        (ClaimOutcome::Inconclusive, _) => verdict(Verdict::Inconclusive),
    }
}

/// The largest ratio up to which all are shown in percent, as in the headline and beside the published figures.
const SHARE_MAX: f64 = 10.0;

#[derive(Clone, Copy)]
struct Evidence<'a> {
    id: &'a str,
    claim: &'a ClaimReport,
    check: &'a CheckReport,
}

impl Evidence<'_> {
    /// The measured metric; `None` if the comparison is about hanging or failing.
    fn metric(&self) -> Option<String> {
        self.check.metric.map(|metric| self.check.metric_words(metric))
    }

    /// `cost: restinio / asio`: the subject of the comparison. It omits the published part, and the quantity
    /// that most comparisons share.
    fn name(&self) -> String {
        let place = if self.check.is_as_published { "" } else { &self.check.place };
        let subject = self.check.subject(place);
        match self.check.metric {
            None | Some(Metric::Throughput | Metric::MsPerMessage) => format!("{}: {subject}", self.id),
            Some(metric) => format!("{}: {subject}, {}", self.id, self.check.metric_words(metric)),
        }
    }

    /// The kind of axis: milliseconds and ratios are not on one.
    fn kind(&self) -> &'static str {
        let is_ratio = self.check.metric.is_some_and(|metric| metric.unit() == metric::FigureUnit::Ratio);
        if is_ratio || self.check.divided_by.is_some() { "ratio" } else { "figure" }
    }

    fn ratio(&self) -> Option<UnitEstimate> {
        self.of_ratio(self.check.estimate())
    }

    fn of_ratio<T>(&self, figure: Option<T>) -> Option<T> {
        figure.filter(|_| self.kind() == "ratio")
    }
}

pub(crate) fn evidence(run: &Experiment) -> Option<Section> {
    let of = |(id, claim)| move |check| Evidence { id, claim, check };
    let rows: Vec<Evidence> =
        judged(run).into_iter().flat_map(|(id, claim)| claim.checks.iter().map(of((id, claim)))).collect();
    if rows.is_empty() {
        return None;
    }
    let most = rows.iter().filter_map(|row| Some(row.ratio()?.value)).fold(0.0, f64::max);
    let unit = if most > SHARE_MAX { Unit::Times } else { Unit::Share };
    let columns = Columns::new()
        .text("comparison", "comparison", Evidence::name)
        .text("metric", "of", Evidence::metric)
        .text("direction", "direction", |row| {
            Some(judged_word(Judgement { verdict: row.check.direction?, weak: row.check.weak }))
        })
        .facet("verdict", "as stated", |row| word(row.check.outcome(), row.check.weak))
        .facet("weak", "weak evidence", |row| row.check.weak.map(Weakness::name))
        .help("One round does not say how far another one would have been from it; a load at its own ceiling says little of a service.")
        .flag("is_weak", "weak evidence", |row| row.check.weak.is_some())
        .hidden()
        .text("found", "what was found", |row| row.check.found())
        .facet("id", "claim", |row| row.id.to_owned())
        .text("claim", "what was claimed", |row| row.claim.text.clone())
        .hidden()
        .text("kind", "kind", Evidence::kind)
        .hidden()
        .estimate(Unit::Number, "value", "found", |row| row.check.estimate())
        .help("A ratio, milliseconds or a count, as the metric says.")
        .hidden()
        .estimate(unit, "ratio", "found", Evidence::ratio)
        .hidden()
        .add(unit, "claimed_ratio_least", "claimed at least", |row| row.of_ratio(row.check.claimed_at_least))
        .hidden()
        .add(unit, "claimed_ratio_most", "claimed at most", |row| row.of_ratio(row.check.claimed_at_most))
        .hidden()
        .number("published", "published", |row| row.check.published)
        .hidden()
        .number("claimed_least", "claimed at least", |row| row.check.claimed_at_least)
        .number("claimed_most", "claimed at most", |row| row.check.claimed_at_most)
        .count("rounds", "rounds", |row| Some(row.check.estimate()?.n));
    let lead = "A comparison holds if its whole 95% interval lies within what is claimed. It does not hold if all of the \
                interval lies outside. A figure of one round is taken as known within a factor that was measured for its \
                metric, and is weak evidence.";
    let charts = ratios(&rows).into_iter().collect();
    let table = columns.table("Comparisons", rows);
    Some(Section { charts, ..Section::new("evidence", "What each verdict is made of", lead, table) })
}

/// Ratios with their intervals, if there is more than one.
fn ratios(rows: &[Evidence]) -> Option<Chart> {
    let is_ratio = |row: &&Evidence| row.check.estimate().is_some() && row.kind() == "ratio";
    let of =
        |is: &dyn Fn(&CheckReport) -> bool| rows.iter().filter(is_ratio).filter(|row| is(row.check)).count();
    let with = |outcome| of(&|check| check.outcome() == outcome);
    let all = of(&|_| true);
    let alt = format!(
        "{all} ratios with their intervals: {} hold, {} hold in direction and not in size, {} do not hold, {} are inconclusive; {} \
         are weak evidence, and hollow. The range that is claimed of each is a band behind it.",
        with(ClaimOutcome::Holds),
        with(ClaimOutcome::OtherSize),
        with(ClaimOutcome::DoesNotHold),
        with(ClaimOutcome::Inconclusive),
        of(&|check| check.weak.is_some())
    );
    let chart = Chart::new(Shape::Points, "ratio", "comparison", &alt)
        .series("verdict")
        .scales(Scale::Log, Scale::Names)
        .title("What was claimed (band), and what was found (with its interval)")
        .n("rounds")
        .apart("is_weak")
        .only("kind", "ratio");
    let band = ["claimed_ratio_least", "claimed_ratio_most"].map(str::to_owned);
    (all > 1).then_some(Chart { band: Some(band), ..chart })
}
