//! The result of a bisection, in words and as data.

use serde::Serialize;
use tare_analysis::{
    apart::Position,
    bisection::{Bisection, BisectionAnswer, BisectionSearch, StepOutcome},
    estimate::UnitEstimate,
    figures::{change, interval, parts, up_to},
    why::WhyReport,
};
use tare_base::units::several;
use tare_bench::{metric::Metric, plan::until};
use tare_report::document::{Unit, Value};
use tare_service::revisions::Commit;

use crate::output::{look, table};

/// The version of `bisect.json`.
const FORMAT: &str = "1.0";
const COMMIT_DIGITS: usize = 12;

/// The commit as `1a2b3c4d5e6f "faster routes"`.
pub(super) fn named(commit: &Commit) -> String {
    format!("{} \"{}\"", short(commit), commit.subject)
}

fn short(commit: &Commit) -> &str {
    &commit.name[..COMMIT_DIGITS.min(commit.name.len())]
}

/// The output of `--dry-run`; `more` describes each step.
pub(super) fn planned(commits: &[Commit], steps: usize, more: &str) -> String {
    let lines: String = commits.iter().map(|commit| format!("  {}\n", named(commit))).collect();
    format!(
        "{} after the good one; about {}, and one to compare the ends\n{more}{lines}",
        several(commits.len() - 1, "commit"),
        several(steps, "step"),
    )
}

/// One commit that was examined.
#[derive(Debug, Serialize)]
pub(super) struct Step {
    place: usize,
    result: &'static str,
    /// Why a commit was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    blocks: usize,
    /// The ratio to the good commit; the next field is the ratio to the bad one.
    against_good: Option<Change>,
    against_bad: Option<Change>,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct Change {
    ratio: f64,
    low: Option<f64>,
    high: Option<f64>,
}

impl From<UnitEstimate> for Change {
    fn from(found: UnitEstimate) -> Change {
        Change { ratio: found.value, low: found.low, high: found.high }
    }
}

impl Change {
    /// The change as `+8.1% (+6.9 .. +9.4%)`.
    fn text(&self) -> String {
        let ends = self.low.zip(self.high);
        let ends =
            ends.map(|(low, high)| format!(" ({})", interval(parts::change(low), parts::change(high))));
        format!("{}{}", change(self.ratio), ends.unwrap_or_default())
    }
}

impl Step {
    /// The result for the commit at this position, after it was examined.
    pub(super) fn new(place: usize, bisection: &Bisection, position: Option<&Position>) -> Step {
        let against =
            |end: usize| position.and_then(|position| (*position.against.get(end)?).map(Change::from));
        let (result, reason) = match bisection.outcome(place) {
            Some(StepOutcome::Good) => ("good", None),
            Some(StepOutcome::Bad) => ("bad", None),
            Some(StepOutcome::Neither) | None => ("neither", None),
            Some(StepOutcome::Skipped(reason)) => ("left out", Some(reason.clone())),
        };
        let blocks = position.map_or(0, |position| position.blocks);
        Step { place, result, reason, blocks, against_good: against(0), against_bad: against(1) }
    }
}

/// The whole result.
#[derive(Debug, Serialize)]
pub(super) struct Bisected<'a> {
    format: &'static str,
    metric: &'static str,
    commits: &'a [Commit],
    /// The ratio of the bad commit to the good one.
    change: Option<Change>,
    /// Why the two cannot be distinguished.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The first bad commit, or several candidates; empty if the ends cannot be distinguished.
    first_bad: Vec<usize>,
    /// The error probability of all steps together.
    alpha: f64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_interrupted: bool,
    steps: &'a [Step],
    /// The functions behind the change, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// Why the ends are not distinguished, or that there are too few blocks for an interval.
fn alike(blocks: usize, change: Option<Change>, is_interrupted: bool) -> String {
    let after = several(blocks, "block");
    let ends = change.and_then(|change| change.low.zip(change.high));
    match ends.map(|(low, high)| up_to((1.0 - low).max(high - 1.0))) {
        _ if is_interrupted => {
            format!("undecided after {after}: it was interrupted before the ends were distinguished")
        }
        Some(most) => format!("they cannot be distinguished; a change of {most} is not excluded"),
        None => format!("undecided after {after}: too few for an interval"),
    }
}

impl<'a> Bisected<'a> {
    pub(super) fn new(
        commits: &'a [Commit],
        metric: Metric,
        both: &Position,
        steps: &'a [Step],
        search: &BisectionSearch,
        is_interrupted: bool,
    ) -> Bisected<'a> {
        let change = both.against.first().copied().flatten().map(Change::from);
        let answer = search.answer();
        let reason = match &answer {
            BisectionAnswer::Found(_) => None,
            BisectionAnswer::Alike => Some(alike(both.blocks, change, is_interrupted)),
            BisectionAnswer::Failed(failed) => Some(failed.to_string()),
        };
        let (alpha, metric) = (search.bisection().alpha(), metric.name());
        let first_bad = answer.first_bad();
        Bisected {
            format: FORMAT,
            metric,
            commits,
            change,
            reason,
            first_bad,
            alpha,
            is_interrupted,
            steps,
            why: None,
        }
    }

    pub(super) fn with_why(self, why: Option<&WhyReport>) -> Bisected<'a> {
        Bisected { why: why.map(WhyReport::answer_text), ..self }
    }

    pub(super) fn text(&self) -> String {
        let steps = if self.steps.is_empty() { String::new() } else { format!("\n{}", self.table()) };
        let reasons = self.steps.iter().filter_map(|step| {
            // The output of the service follows in further lines, which the run of the step stores.
            let reason = step.reason.as_ref()?.lines().next()?.trim_end_matches(':');
            Some(format!("note: {} was left out: {reason}\n", short(&self.commits[step.place])))
        });
        format!("{}{}{steps}", self.answer(), reasons.collect::<String>())
    }

    fn answer(&self) -> String {
        let [good, bad] =
            [self.commits.first(), self.commits.last()].map(|end| end.map(named).unwrap_or_default());
        let change = self.change.map_or("not measured".to_owned(), |change| change.text());
        let ends = format!("{} from {good} to {bad}: {change}\n", self.metric);
        let confidence = until::percent(1.0 - self.alpha);
        match (&self.reason, self.first_bad.as_slice()) {
            (Some(reason), _) => format!("INCONCLUSIVE: {reason}\n{ends}"),
            (None, [place]) => {
                format!(
                    "the first commit that changed it is {}, with a confidence of {confidence}\n{ends}",
                    named(&self.commits[*place])
                )
            }
            (None, places) => {
                let named: String =
                    places.iter().map(|place| format!("  {}\n", named(&self.commits[*place]))).collect();
                let why = if self.is_interrupted { "undecided, since it was interrupted: " } else { "" };
                format!(
                    "INCONCLUSIVE: {why}the change is in one of {} commits, with a confidence of {confidence}\n{named}{ends}",
                    places.len()
                )
            }
        }
    }

    fn table(&self) -> String {
        let columns = [
            ("commit", Unit::Text, 0),
            ("is", Unit::Text, 0),
            ("against good", Unit::Text, 0),
            ("against bad", Unit::Text, 0),
            ("blocks", Unit::Count, 0),
            ("subject", Unit::Text, 1),
        ];
        let mut steps: Vec<&Step> = self.steps.iter().collect();
        steps.sort_by_key(|step| step.place);
        let text =
            |change: Option<Change>| Value::Text(change.map_or("-".to_owned(), |change| change.text()));
        let row = |step: &Step| {
            let commit = &self.commits[step.place];
            [
                Value::Text(short(commit).to_owned()),
                Value::Text(step.result.to_owned()),
                text(step.against_good),
                text(step.against_bad),
                Value::Number(step.blocks as f64),
                Value::Text(commit.subject.clone()),
            ]
        };
        table(columns, steps.into_iter().map(row).collect(), look())
    }
}

#[cfg(test)]
mod tests {
    use tare_analysis::{
        apart::{PositionFound, SideOfMean},
        bisection::Subject,
    };

    use super::*;

    const ABOVE: PositionFound = PositionFound::Side(SideOfMean::Above);

    fn commits() -> Vec<Commit> {
        let commit = |number: usize| Commit { name: number.to_string(), subject: format!("change {number}") };
        (0..4).map(commit).collect()
    }

    fn position(found: PositionFound) -> Position {
        let dearer = UnitEstimate { low: Some(1.05), high: Some(1.15), ..UnitEstimate::known(1.1) };
        Position { found, against: vec![Some(dearer)], blocks: 12 }
    }

    /// The text for four commits, given the results of the ends and of the second and third commit.
    fn text(ends: PositionFound, found: &[(usize, PositionFound)]) -> String {
        text_of(ends, found, false)
    }

    fn text_of(ends: PositionFound, found: &[(usize, PositionFound)], is_interrupted: bool) -> String {
        let (commits, both) = (commits(), position(ends));
        let mut search = BisectionSearch::new(3, 0.05);
        search.measured(Subject::Ends, "3", &both.found).unwrap();
        let step = |(place, found): &(usize, PositionFound)| {
            search.measured(Subject::Commit(*place), &place.to_string(), found).unwrap();
            Step::new(*place, search.bisection(), Some(&position(found.clone())))
        };
        let steps: Vec<Step> = found.iter().map(step).collect();
        Bisected::new(&commits, Metric::Cpu, &both, &steps, &search, is_interrupted).text()
    }

    fn failed(label: &str) -> PositionFound {
        PositionFound::Failed { label: label.to_owned(), reason: "was killed".to_owned() }
    }

    const ENDS: &str = "CPU/request from 0 \"change 0\" to 3 \"change 3\": +10.0% (+5.0 .. +15.0%)\n";

    #[test]
    fn an_answer_that_is_none_says_why() {
        let alike = text(PositionFound::Neither, &[]);
        let most = "they cannot be distinguished; a change of up to 15.0% is not excluded";
        assert_eq!(alike, format!("INCONCLUSIVE: {most}\n{ENDS}"));
        assert_eq!(text(failed("0"), &[]), format!("INCONCLUSIVE: 0: was killed\n{ENDS}"));
    }

    #[test]
    fn what_was_interrupted_or_too_short_is_undecided() {
        let early = text_of(PositionFound::Neither, &[], true);
        assert!(
            early.starts_with("INCONCLUSIVE: undecided after 12 blocks: it was interrupted before"),
            "{early}"
        );
        let later = text_of(ABOVE, &[(1, failed("1")), (2, ABOVE)], true);
        let expected = "INCONCLUSIVE: undecided, since it was interrupted: the change is in one of 2 commits";
        assert!(later.starts_with(expected), "{later}");
        let wide = Change { ratio: 1.0, low: Some(1e-9), high: Some(1e9) };
        let expected = "they cannot be distinguished; a change of any size is not excluded";
        assert_eq!(alike(2, Some(wide), false), expected);
        assert_eq!(alike(1, None, false), "undecided after 1 block: too few for an interval");
    }

    #[test]
    fn the_first_bad_commit_is_named_or_those_of_which_it_is_one() {
        let known = text(ABOVE, &[(1, PositionFound::Side(SideOfMean::Below)), (2, ABOVE)]);
        let answer = "the first commit that changed it is 2 \"change 2\", with a confidence of 95%\n";
        assert!(known.starts_with(&format!("{answer}{ENDS}")), "{known}");
        let open = text(ABOVE, &[(1, failed("1")), (2, ABOVE)]);
        let answer = "INCONCLUSIVE: the change is in one of 2 commits, with a confidence of 95%\n";
        let named = "  1 \"change 1\"\n  2 \"change 2\"\n";
        let note = "note: 1 was left out: was killed\n";
        assert!(open.starts_with(&format!("{answer}{named}{ENDS}{note}")), "{open}");
    }
}
