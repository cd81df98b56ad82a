//! The claims of published benchmarks, and their outcomes here.

use askama::Template;
use tare_base::units::several;

use super::{
    RunEntry, SiteError, SiteSettings,
    address::{Address, slug},
    catalogue::Catalogue,
    chart::{self, ClaimStrip},
    claim::{ClaimCheck, Held, SiteClaim},
    frame::{self, PageFrame},
};
use tare_report::write::File;

#[derive(Template)]
#[template(path = "site/claims.html")]
struct Claims<'a> {
    tally: Tally,
    experiments: Vec<ClaimedAgain<'a>>,
}

struct ClaimedAgain<'a> {
    run: &'a RunEntry,
    link: String,
    /// The command that repeats it.
    command: String,
    claims: Vec<ClaimCard<'a>>,
}

struct ClaimCard<'a> {
    claim: &'a SiteClaim,
    anchor: String,
    held: Held,
    /// The claimed and the measured values, as SVG.
    picture: String,
}

/// The most comparisons that are drawn for a claim; its run has all of them.
const CHECKS_MAX: usize = 4;

impl<'a> ClaimCard<'a> {
    fn of(claim: &'a SiteClaim, experiment: &str) -> ClaimCard<'a> {
        let strips: Vec<ClaimStrip<'_>> = claim.checks.iter().take(CHECKS_MAX).map(strip).collect();
        ClaimCard {
            claim,
            anchor: format!("{}.{}", slug(experiment), slug(&claim.id)),
            held: claim.held,
            picture: chart::strips(&strips),
        }
    }
}

fn strip(check: &ClaimCheck) -> ClaimStrip<'_> {
    ClaimStrip {
        name: &check.name,
        found: check.found,
        published: check.published,
        claimed: [check.claimed_least, check.claimed_most],
        is_weak: check.is_weak,
    }
}

/// The numbers of claims by outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) claims: usize,
    pub(super) experiments: usize,
    pub(super) counts: Vec<Count>,
}

/// The number of claims with one outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) held: Held,
    pub(super) count: usize,
}

impl Count {
    pub(super) fn verb(&self) -> &'static str {
        self.held.verb(self.count)
    }
}

impl Tally {
    /// `Of 24 claims of 5 published benchmarks 3 hold, ...`.
    pub(super) fn sentence(&self) -> String {
        let part = |of: &Count| format!("{} {}", of.count, of.verb());
        let parts: Vec<String> = self.counts.iter().map(part).collect();
        let Some((last, first)) = parts.split_last().filter(|_| self.claims > 0) else {
            return String::new();
        };
        let claims = several(self.claims, "claim");
        let of = several(self.experiments, "published benchmark");
        let and = if first.is_empty() { "" } else { " and " };
        format!("Of {claims} of {of} {}{and}{last}.", first.join(", "))
    }
}

/// The outcomes of the claims of one experiment, as a bar with one part per claim.
pub(super) fn bar(claims: &[SiteClaim]) -> String {
    let mut held: Vec<Held> = claims.iter().map(|claim| claim.held).collect();
    held.sort_unstable();
    let told: Vec<String> = counts(&held).iter().map(|of| format!("{} {}", of.count, of.verb())).collect();
    let parts = held.iter().map(|held| format!("<i class=\"{}\"></i>", held.tone().name()));
    format!(
        "<p class=\"parts\"><span aria-hidden=\"true\">{}</span> <small>{}</small></p>",
        parts.collect::<String>(),
        told.join(", ")
    )
}

fn counts(held: &[Held]) -> Vec<Count> {
    let count = |one: Held| Count { held: one, count: held.iter().filter(|held| **held == one).count() };
    Held::ALL.into_iter().map(count).filter(|of| of.count > 0).collect()
}

pub(super) fn tally(site: &Catalogue<'_>) -> Tally {
    let claims = site.published().flat_map(|experiment| &experiment.speaker().claims);
    let held: Vec<Held> = claims.map(|claim| claim.held).collect();
    Tally { claims: held.len(), experiments: site.published().count(), counts: counts(&held) }
}

pub(super) fn page(site: &Catalogue<'_>, settings: &SiteSettings) -> Result<File, SiteError> {
    let tally = tally(site);
    let title = "What published benchmarks claimed, measured again";
    let frame = PageFrame::new(Address::Claims, title, &tally.sentence(), settings);
    let frame = frame.image_of(site.featured(), settings);
    let experiments = site.published().map(|experiment| {
        let run = experiment.speaker();
        ClaimedAgain {
            run,
            link: frame.to(Address::Run(&run.id)),
            command: format!("tare run {}", run.experiment),
            claims: run.claims.iter().map(|claim| ClaimCard::of(claim, &run.experiment)).collect(),
        }
    });
    let page = Claims { tally, experiments: experiments.collect() };
    frame::file(&frame, &page.render()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_follows_its_counts() {
        let tally = |counts: &[(Held, usize)]| Tally {
            claims: counts.iter().map(|(_, count)| count).sum(),
            experiments: 1,
            counts: counts.iter().map(|(held, count)| Count { held: *held, count: *count }).collect(),
        };
        let both = tally(&[(Held::Holds, 3), (Held::DoesNotHold, 2), (Held::Inconclusive, 1)]);
        let expected = "Of 6 claims of 1 published benchmark 3 hold, 2 do not hold and 1 is inconclusive.";
        assert_eq!(both.sentence(), expected);
        assert_eq!(tally(&[]).sentence(), "");
        assert_eq!(
            tally(&[(Held::Weak, 1)]).sentence(),
            "Of 1 claim of 1 published benchmark 1 has weak evidence only."
        );
    }
}
