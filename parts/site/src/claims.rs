//! The claims of published benchmarks, and their outcomes here.

use askama::Template;
use tare_base::units::several;

use super::{
    RunEntry, SiteError, SiteSettings,
    address::{Address, slug},
    catalogue::Catalogue,
    claim::{Held, SiteClaim},
    frame::{self, PageFrame},
    preview::{Card, Picture},
    slope, source,
};
use tare_report::write::File;

#[derive(Template)]
#[template(path = "site/claims.html")]
struct Claims<'a> {
    tally: Tally,
    decided: Vec<ClaimCard<'a>>,
    open: Vec<ClaimCard<'a>>,
    experiments: Vec<ClaimedAgain<'a>>,
}

struct ClaimedAgain<'a> {
    run: &'a RunEntry,
    link: String,
    /// The command that repeats it.
    command: String,
}

struct ClaimCard<'a> {
    run: &'a RunEntry,
    link: String,
    claim: &'a SiteClaim,
    anchor: String,
    held: Held,
    /// The published and the measured values, as SVG.
    picture: String,
}

impl<'a> ClaimCard<'a> {
    fn of(claim: &'a SiteClaim, run: &'a RunEntry, link: &str) -> ClaimCard<'a> {
        ClaimCard {
            run,
            link: link.to_owned(),
            claim,
            anchor: format!("{}.{}", slug(&run.experiment), slug(&claim.id)),
            held: claim.held,
            picture: slope::chart(&claim.checks),
        }
    }
}

/// The numbers of claims by outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) claims: usize,
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
    /// `Of 24 published claims 8 are decided: 2 hold, ...`.
    pub(super) fn sentence(&self) -> String {
        if self.claims == 0 {
            return String::new();
        }
        let (decided, open): (Vec<&Count>, Vec<&Count>) =
            self.counts.iter().partition(|of| of.held.is_decided());
        let claims = several(self.claims, "published claim");
        match decided.iter().map(|of| of.count).sum::<usize>() {
            0 => format!("Of {claims} none is decided at this scale: {}.", listed(&open)),
            1 => format!("Of {claims} 1 is decided: {}.", listed(&decided)),
            count => format!("Of {claims} {count} are decided: {}.", listed(&decided)),
        }
    }
}

/// `2 hold, 3 hold in direction only, 3 do not hold`.
fn listed(counts: &[&Count]) -> String {
    counts.iter().map(|of| format!("{} {}", of.count, of.verb())).collect::<Vec<_>>().join(", ")
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
    Tally { claims: held.len(), counts: counts(&held) }
}

pub(super) fn page(
    site: &Catalogue<'_>,
    settings: &SiteSettings,
    pictures: &mut Vec<Picture>,
) -> Result<File, SiteError> {
    let tally = tally(site);
    let title = "What published benchmarks claimed, measured again";
    let frame = PageFrame::new(Address::Claims, title, &tally.sentence(), settings);
    let experiments: Vec<ClaimedAgain<'_>> = site
        .published()
        .map(|experiment| {
            let run = experiment.speaker();
            ClaimedAgain { run, link: frame.to(Address::Run(&run.id)), command: source::command(run, &[]) }
        })
        .collect();
    let cards = experiments
        .iter()
        .flat_map(|of| of.run.claims.iter().map(|claim| ClaimCard::of(claim, of.run, &of.link)));
    let (mut decided, open): (Vec<_>, Vec<_>) = cards.partition(|card| card.held.is_decided());
    // Of what is decided, a chart says most.
    decided.sort_by_key(|card| card.picture.is_empty());
    let card = Card {
        above: title.to_owned(),
        large: format!("{} of {} decided", decided.len(), tally.claims),
        sentence: tally.sentence(),
        ..Card::default()
    };
    let frame = match tally.claims {
        0 => frame.image_of(site.featured(), settings),
        _ => frame.picture(&card, settings, pictures),
    };
    let frame = match experiments.first() {
        Some(first) => frame.command(first.command.clone()),
        None => frame,
    };
    frame::file(&frame, &Claims { tally, decided, open, experiments }.render()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_follows_its_counts() {
        let tally = |counts: &[(Held, usize)]| Tally {
            claims: counts.iter().map(|(_, count)| count).sum(),
            counts: counts.iter().map(|(held, count)| Count { held: *held, count: *count }).collect(),
        };
        let both = tally(&[(Held::Holds, 3), (Held::DoesNotHold, 2), (Held::Inconclusive, 1)]);
        let expected = "Of 6 published claims 5 are decided: 3 hold, 2 do not hold.";
        assert_eq!(both.sentence(), expected);
        assert_eq!(tally(&[]).sentence(), "");
        assert_eq!(
            tally(&[(Held::Weak, 1)]).sentence(),
            "Of 1 published claim none is decided at this scale: 1 has weak evidence only."
        );
        assert_eq!(tally(&[(Held::Holds, 1)]).sentence(), "Of 1 published claim 1 is decided: 1 holds.");
    }
}
