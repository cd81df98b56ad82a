//! All services of a language.

use askama::Template;
use tare_base::units::several;

use super::{
    RunEntry, SiteError, SiteRow, SiteSettings,
    address::Address,
    catalogue::{Catalogue, Service},
    frame::{self, PageFrame, Sections},
    index::{figures, ranks},
    words::times_of,
};
use tare_report::{document::Section, gather::columns::Columns, write::File};
use tare_service::catalogue::language_name;

type Place<'a> = (&'a RunEntry, &'a SiteRow);

pub(super) fn page(
    name: &str,
    services: &[&Service<'_>],
    site: &Catalogue<'_>,
    settings: &SiteSettings,
) -> Result<File, SiteError> {
    let title = format!("HTTP services in {}", language_name(name));
    let blocks = blocks(services);
    let count = several(services.len(), "service");
    let answer = answer(&blocks).unwrap_or_default();
    let described = if answer.is_empty() { &count } else { &answer };
    let frame = PageFrame::new(Address::Language(name), &title, described, settings);
    let frame = frame.command(format!("tare run all --services group:{name}"));
    let frame = frame.image_of(site.featured(), settings);
    let sections: Vec<Section> = blocks.iter().map(|places| section(places)).collect();
    let link = |key: &str, name: &str| (key == "label").then(|| frame.to(Address::Service(name)));
    let page = Sections {
        kind: "language",
        title: language_name(name),
        lead: &format!(
            "{count} in this language. Ranks and ratios are compared within an experiment, and not across."
        ),
        answer: &answer,
        cautions: &[],
        before: "",
        sections: frame::linked(&sections, link),
        after: "",
    };
    frame::file(&frame, &page.render()?)
}

/// The places in each experiment, best first; the experiment with the most of them first.
fn blocks<'a>(services: &[&Service<'a>]) -> Vec<Vec<Place<'a>>> {
    let mut blocks: Vec<Vec<Place<'_>>> = Vec::new();
    for place in services.iter().flat_map(|service| service.places.iter().copied()) {
        match blocks.iter_mut().find(|block| block[0].0.id == place.0.id) {
            Some(block) => block.push(place),
            None => blocks.push(vec![place]),
        }
    }
    for block in &mut blocks {
        let cost = |row: &SiteRow| row.cost().map_or(f64::INFINITY, |figure| figure.value);
        block.sort_by(|(_, one), (_, other)| cost(one).total_cmp(&cost(other)));
    }
    let ranked = |block: &Vec<Place<'_>>| block.iter().filter(|(_, row)| row.ranks.is_some()).count();
    blocks.sort_by_key(|block| (std::cmp::Reverse(ranked(block)), block[0].0.experiment.clone()));
    blocks
}

/// The cheapest of the first block.
fn answer(blocks: &[Vec<Place<'_>>]) -> Option<String> {
    let (run, row) = blocks.first()?.iter().find(|(_, row)| row.ranks.is_some() && row.cost().is_some())?;
    let of = run.rows.iter().filter(|row| row.ranks.is_some()).count();
    Some(format!(
        "{} has the lowest estimate: {}, rank {} of {of}.",
        row.service,
        times_of(row.cost()?, &run.reference, run.cost_name()),
        ranks(row.ranks?)
    ))
}

fn section(places: &[Place<'_>]) -> Section {
    let run = places[0].0;
    let columns = Columns::new()
        .text("label", "service", |place: &&Place<'_>| place.1.service.clone())
        .text("ranks", "rank", |place| place.1.ranks.map(ranks))
        .and(figures(run.has_database(), |place: &&Place<'_>| place.1));
    let lead = match run.reference.as_str() {
        "" => String::new(),
        reference => format!("Related to {reference}. {}", run.day()),
    };
    let id = format!("in-{}", super::address::slug(&run.experiment));
    let caption = format!("{} in {}", language_name(&places[0].1.language), run.experiment);
    Section::new(&id, &run.title, &lead, columns.table(&caption, places))
}
