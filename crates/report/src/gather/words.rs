//! Words and sentences that all kinds of documents share.

use tare_analysis::{
    estimate::UnitEstimate,
    findings::{Finding, RunIssue},
};

use crate::document::{Document, Status, Unit};

/// `from 4.2% (flask) to 102.1% (asio)`; for a single figure `102.1% (asio)`, for equal ones `600 ms (all
/// alike)`; `None` without figures.
pub(crate) fn span<'a>(unit: Unit, figures: impl IntoIterator<Item = (&'a str, f64)>) -> Option<String> {
    let mut figures: Vec<(&str, f64)> = figures.into_iter().collect();
    figures.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let text = |(label, figure): &(&str, f64)| format!("{} ({label})", unit.show(*figure));
    match figures.as_slice() {
        [] => None,
        [only] => Some(text(only)),
        [(_, least), .., (_, most)] if unit.show(*least) == unit.show(*most) => {
            Some(format!("{} (all alike)", unit.show(*most)))
        }
        [least, .., most] => Some(format!("from {} to {}", text(least), text(most))),
    }
}

/// A ratio with its interval: `102.1% (99.5 .. 104.7%)`, `-4.1% (-5.0 .. -3.2%)`.
pub fn with_interval(ratio: &UnitEstimate, unit: Unit) -> String {
    let interval = ratio.low.zip(ratio.high);
    let interval = interval.map(|(low, high)| format!(" ({})", unit.show_interval(low, high)));
    unit.show(ratio.value) + &interval.unwrap_or_default()
}

/// `a or b`, `one of a, b and c`, `one of a, b and 4 others`: one of these is first, but it is unknown which.
pub(crate) fn either(labels: &[&str]) -> String {
    match labels {
        [one, other] => format!("{one} or {other}"),
        [_, _, _, ..] => format!("one of {}", listed(labels)),
        _ => listed(labels),
    }
}

/// `a, b and c`, `a, b and 4 others`.
pub(crate) fn listed(labels: &[&str]) -> String {
    match labels {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [one, other] => format!("{one} and {other}"),
        [one, two, three] => format!("{one}, {two} and {three}"),
        [one, two, rest @ ..] => format!("{one}, {two} and {} others", rest.len()),
    }
}

/// The notes of a run. Damage of its folder and cautions have places of their own.
pub(crate) fn notes(findings: &[Finding]) -> Vec<String> {
    let is_damage = |found: &Finding| matches!(found.run_issue(), Some(RunIssue::Damaged { .. }));
    let others = findings.iter().filter(|found| !is_damage(found) && !is_caution(found));
    others.map(Finding::scoped).collect()
}

/// Reasons to distrust all figures of a run.
pub(crate) fn cautions(findings: &[Finding]) -> Vec<String> {
    findings.iter().filter(|found| is_caution(found)).map(Finding::scoped).collect()
}

fn is_caution(found: &Finding) -> bool {
    matches!(found.run_issue(), Some(RunIssue::NoisyHost { .. }))
}

/// Why an incomplete run decides nothing; `None` for a complete run, or one in progress.
pub(crate) fn cut_short(status: Status) -> Option<&'static str> {
    match status {
        Status::Interrupted => Some("the run was interrupted"),
        Status::CutOff => Some("the run was cut off"),
        Status::Complete | Status::Running | Status::Unknown => None,
    }
}

/// What a run says: the answer at a glance, and what it rests on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headline {
    /// A sentence of at most [`crate::document::ANSWER_WORDS_MAX`] words.
    pub said: String,
    /// Intervals, and the figures of others, in a sentence or two; empty if the answer says all.
    pub basis: String,
}

impl Headline {
    pub fn new(said: impl Into<String>, basis: impl Into<String>) -> Headline {
        Headline { said: said.into(), basis: basis.into() }
    }

    /// Both as one paragraph.
    pub fn whole(&self) -> String {
        [self.said.as_str(), self.basis.as_str()].join(" ").trim().to_owned()
    }

    /// The first sentence is the answer; the others are its basis.
    pub(crate) fn of_sentences(sentences: impl IntoIterator<Item = String>) -> Headline {
        let mut sentences = sentences.into_iter();
        let said = sentences.next().unwrap_or_default();
        Headline { said, basis: sentences.collect::<Vec<_>>().join(" ") }
    }

    /// The result so far, after the progress of the run: `after` is its number of blocks or cells, such as `4
    /// blocks`. An incomplete run is undecided, whatever its figures.
    pub(crate) fn so_far(self, status: Status, after: &str) -> Headline {
        match (status, cut_short(status)) {
            (_, Some(why)) => self.behind(format!("Undecided after {after}: {why}."), "So far: "),
            (Status::Running, _) => {
                Headline { said: format!("So far, after {after}: {}", self.said), ..self }
            }
            _ => self,
        }
    }

    /// Another answer, of which this one becomes the basis.
    pub(crate) fn behind(self, said: String, word: &str) -> Headline {
        Headline { said, basis: format!("{word}{} {}", self.said, self.basis).trim_end().to_owned() }
    }
}

impl Document {
    /// The document with this answer.
    #[must_use]
    pub fn answered(self, Headline { said, basis }: Headline) -> Document {
        Document { answer: said, basis, ..self }
    }
}

impl From<String> for Headline {
    fn from(said: String) -> Headline {
        Headline { said, basis: String::new() }
    }
}

/// Capitalises the first letter.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_named_from_the_least_to_the_most() {
        let of = |figures: &[(&str, f64)]| span(Unit::Share, figures.iter().copied());
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("a", 1.0)]).as_deref(), Some("100.0% (a)"));
        assert_eq!(of(&[("a", 0.5), ("b", 0.5), ("c", 0.50001)]).as_deref(), Some("50.0% (all alike)"));
        assert_eq!(of(&[("b", 1.2), ("a", 0.5)]).as_deref(), Some("from 50.0% (a) to 120.0% (b)"));
    }

    #[test]
    fn what_did_not_come_to_its_end_is_undecided() {
        let of = |status| Headline::new("A is first.", "B follows.").so_far(status, "2 blocks");
        assert_eq!(of(Status::Complete), Headline::new("A is first.", "B follows."));
        assert_eq!(of(Status::Running).said, "So far, after 2 blocks: A is first.");
        let interrupted = "Undecided after 2 blocks: the run was interrupted.";
        assert_eq!(of(Status::Interrupted), Headline::new(interrupted, "So far: A is first. B follows."));
        assert_eq!(of(Status::CutOff).said, "Undecided after 2 blocks: the run was cut off.");
    }

    #[test]
    fn a_sentence_begins_with_a_capital() {
        assert_eq!(
            ["of two", "\u{e9}t\u{e9}", "", "2 of"].map(capital),
            ["Of two", "\u{c9}t\u{e9}", "", "2 of"]
        );
    }
}
