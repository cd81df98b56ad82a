//! The answer of a published experiment: what was found of the frameworks, and how the claims fared.

use std::collections::BTreeSet;

use tare_analysis::sequential::{ClaimOutcome, ClaimReport, Weakness};

use super::{Experiment, headline};
use crate::document::Status;

pub(crate) fn answer(run: &Experiment) -> String {
    let (done, all) = run.report.cells;
    let ended = match run.status() {
        Status::Complete => None,
        Status::Interrupted => Some(format!("Interrupted after {done} of {all} cells.")),
        Status::Running => Some(format!("So far, {done} of {all} cells.")),
        Status::CutOff | Status::Unknown => Some(format!("Cut off after {done} of {all} cells.")),
    };
    let has_figures = run.report.points.iter().flat_map(|point| &point.cells).any(|cell| cell.rounds > 0);
    let found = match has_figures {
        true => headline::sentences(run).into_iter().chain(claims(run)).collect(),
        false => vec![nothing(run)],
    };
    ended.into_iter().chain(found).collect::<Vec<_>>().join(" ")
}

fn nothing(run: &Experiment) -> String {
    let cells = run.cells(|_| true);
    let reason = cells.iter().find_map(|cell| Some(format!("{}: {}", cell.label(), cell.remarks()?)));
    match reason {
        Some(reason) => format!("No service has a figure. The first reason: {reason}"),
        None => "No service has a figure yet.".to_owned(),
    }
}

fn claims(run: &Experiment) -> Option<String> {
    tally(&run.report.claims, run.report.scale).map(|tally| tally + ".")
}

/// `Of 5 published claims, run at scale 0.6, 2 hold in direction and not in size, 2 do not hold, and 1 is inconclusive`; absent if
/// there is none.
pub(crate) fn tally<'a>(claims: impl IntoIterator<Item = &'a ClaimReport>, scale: f64) -> Option<String> {
    let claims: Vec<(ClaimOutcome, Option<Weakness>)> =
        claims.into_iter().map(|claim| (claim.outcome(), claim.stated.weak)).collect();
    let words = [
        (ClaimOutcome::Holds, "holds", "hold"),
        (ClaimOutcome::OtherSize, "holds in direction and not in size", "hold in direction and not in size"),
        (ClaimOutcome::DoesNotHold, "does not hold", "do not hold"),
        (ClaimOutcome::Inconclusive, "is inconclusive", "are inconclusive"),
    ];
    let part = |(wanted, one, many)| match claims.iter().filter(|(outcome, _)| *outcome == wanted).count() {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{count} {many}")),
    };
    let parts: Vec<String> = words.into_iter().filter_map(part).collect();
    let told = match parts.as_slice() {
        [rest @ .., last] if rest.len() > 1 => format!("{}, and {last}", rest.join(", ")),
        parts => parts.join(" and "),
    };
    let plural = if claims.len() == 1 { "claim" } else { "claims" };
    let scale = if scale == 1.0 { String::new() } else { format!(", run at scale {scale},") };
    (!claims.is_empty())
        .then(|| format!("Of {} published {plural}{scale} {told}{}", claims.len(), weak(&claims)))
}

/// `; all on weak evidence (one round)`, `; 2 of the 3 decided on weak evidence (load-bound)`; empty if none is.
fn weak(claims: &[(ClaimOutcome, Option<Weakness>)]) -> String {
    let decided = claims.iter().filter(|(outcome, _)| *outcome != ClaimOutcome::Inconclusive).count();
    let reasons: Vec<Weakness> = claims.iter().filter_map(|(_, weak)| *weak).collect();
    let names: BTreeSet<Weakness> = reasons.iter().copied().collect();
    let names = names.into_iter().map(Weakness::name).collect::<Vec<_>>().join(" or ");
    match reasons.len() {
        0 => String::new(),
        1 if claims.len() == 1 => format!(", on weak evidence ({names})"),
        count if count == claims.len() => format!(", all on weak evidence ({names})"),
        count if count == decided => format!("; what is decided rests on weak evidence ({names})"),
        count => format!("; {count} of the {decided} decided rest on weak evidence ({names})"),
    }
}
