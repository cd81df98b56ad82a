//! Any two services of a run; each pair has an address: `vs/#axum,hyper`. The sentences are part of the page,
//! so they are there without a script. The script only shows the requested pair.

use std::collections::BTreeMap;

use askama::Template;

use super::{
    RunEntry, SiteError, SiteSettings,
    address::{Address, pair, slug},
    catalogue::Catalogue,
    frame::{self, PageFrame},
    pair::ServicePair,
    words::sentence,
};
use tare_report::write::File;

#[derive(Template)]
#[template(path = "site/versus.html")]
struct Versus<'a> {
    /// All services that occur in a pair, by their part of the address, with their names.
    services: Vec<(String, &'a str)>,
    pairs: Vec<Asked<'a>>,
}

/// The comparison of two services.
struct Asked<'a> {
    /// The anchors in alphabetical order, and in the reverse order.
    ids: [String; 2],
    names: [&'a str; 2],
    found: Vec<PairFound<'a>>,
}

/// The result of one run.
struct PairFound<'a> {
    run: &'a RunEntry,
    link: String,
    sentence: String,
}

pub(super) fn page(site: &Catalogue<'_>, settings: &SiteSettings) -> Result<File, SiteError> {
    let title = "X against Y";
    let lead = "Any two services that were measured in the same blocks of one run, with an interval that is of the pair.";
    let frame = PageFrame::new(Address::Versus, title, lead, settings).image_of(site.featured(), settings);
    let mut pairs: BTreeMap<[&str; 2], Vec<PairFound<'_>>> = BTreeMap::new();
    for run in site.experiments.values().map(super::catalogue::ExperimentRuns::speaker) {
        for pair in &run.pairs {
            if let Some(sentence) = of_pair(run, pair) {
                let found = PairFound { run, link: frame.to(Address::Run(&run.id)), sentence };
                pairs.entry(names(pair)).or_default().push(found);
            }
        }
    }
    let mut services: Vec<&str> = pairs.keys().flatten().copied().collect();
    services.sort_unstable();
    services.dedup();
    let pairs = pairs.into_iter().map(|(names, found)| {
        let [one, other] = names;
        Asked { ids: [pair(one, other), pair(other, one)], names, found }
    });
    let page = Versus {
        services: services.into_iter().map(|name| (slug(name), name)).collect(),
        pairs: pairs.collect(),
    };
    frame::file(&frame, &page.render()?)
}

/// The names of a pair in alphabetical order.
fn names(pair: &ServicePair) -> [&str; 2] {
    let mut names = [pair.first.as_str(), pair.second.as_str()];
    names.sort_unstable();
    names
}

fn of_pair(run: &RunEntry, pair: &ServicePair) -> Option<String> {
    let dearer = pair.cpu_ratio.is_some_and(|ratio| ratio.value > 1.0);
    let pair = if dearer { pair.inverse() } else { pair.clone() };
    sentence(&pair, run.row(&pair.first), run.row(&pair.second))
}
