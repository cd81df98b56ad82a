//! The answer of a published experiment: the result for the frameworks, and the outcomes of the claims.

use std::collections::BTreeSet;

use tare_analysis::sequential::{ClaimOutcome, ClaimReport, Weakness};

use super::{Experiment, headline};
use crate::gather::words::Headline;

pub(crate) fn answer(run: &Experiment) -> Headline {
    let has_figures = run.report.points.iter().flat_map(|point| &point.cells).any(|cell| cell.rounds > 0);
    let found: Vec<String> = match has_figures {
        true => headline::sentences(run).into_iter().chain(claims(run)).collect(),
        false => nothing(run),
    };
    let (done, all) = run.report.cells;
    Headline::of_sentences(found).so_far(run.status(), &format!("{done} of {all} cells"))
}

fn nothing(run: &Experiment) -> Vec<String> {
    let cells = run.cells(|_| true);
    let reason = cells.iter().find_map(|cell| Some(format!("{}: {}", cell.label(), cell.remarks()?.text())));
    match reason {
        Some(reason) => vec!["No service has a figure.".to_owned(), format!("The first reason: {reason}")],
        None => vec!["No service has a figure yet.".to_owned()],
    }
}

fn claims(run: &Experiment) -> Option<String> {
    tally(&run.report.claims, run.report.scale).map(|tally| tally + ".")
}

/// `2%`, `0.5%`.
fn percent_of(share: f64) -> String {
    format!("{}%", (share * 1e4).round() / 100.0)
}

/// `Of 5 published claims 2 hold in direction only, 2 do not hold, and 1 is inconclusive, with 60% of the published times and counts`;
/// `None` without claims. Claims with only weak evidence count as neither.
pub(crate) fn tally<'a>(claims: impl IntoIterator<Item = &'a ClaimReport>, scale: f64) -> Option<String> {
    let claims: Vec<(ClaimOutcome, Option<Weakness>)> =
        claims.into_iter().map(|claim| (claim.outcome(), claim.stated.weak)).collect();
    let reasons: BTreeSet<Weakness> = claims.iter().filter_map(|(_, weak)| *weak).collect();
    let reasons = reasons.into_iter().map(Weakness::name).collect::<Vec<_>>().join(" or ");
    let outcome = |wanted| claims.iter().filter(|(of, weak)| *of == wanted && weak.is_none()).count();
    let weak = claims.iter().filter(|(_, weak)| weak.is_some()).count();
    let counts = [
        (outcome(ClaimOutcome::Holds), "holds", "hold", String::new()),
        (
            outcome(ClaimOutcome::OtherSize),
            "holds in direction only",
            "hold in direction only",
            String::new(),
        ),
        (outcome(ClaimOutcome::DoesNotHold), "does not hold", "do not hold", String::new()),
        (outcome(ClaimOutcome::Inconclusive), "is inconclusive", "are inconclusive", String::new()),
        (weak, "has weak evidence only", "have weak evidence only", format!(" ({reasons})")),
    ];
    let part = |(count, one, many, reason): (usize, &str, &str, String)| match count {
        0 => None,
        1 => Some(format!("1 {one}{reason}")),
        count if count == claims.len() => Some(format!("all {many}{reason}")),
        count => Some(format!("{count} {many}{reason}")),
    };
    let parts: Vec<String> = counts.into_iter().filter_map(part).collect();
    let told = match parts.as_slice() {
        [rest @ .., last] if rest.len() > 1 => format!("{}, and {last}", rest.join(", ")),
        parts => parts.join(" and "),
    };
    let plural = if claims.len() == 1 { "claim" } else { "claims" };
    let scale = if scale == 1.0 {
        String::new()
    } else {
        format!(", with {} of the published times and counts", percent_of(scale))
    };
    (!claims.is_empty()).then(|| format!("Of {} published {plural} {told}{scale}", claims.len()))
}
