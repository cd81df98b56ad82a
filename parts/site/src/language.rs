//! All services of a language.

use askama::Template;
use tare_base::units::several;

use super::{
    SiteError, SiteSettings,
    address::Address,
    catalogue::Service,
    frame::{self, PageFrame, Sections},
    index::{figures, ranks},
};
use tare_report::{
    document::{Column, Section},
    gather::columns::Columns,
    write::File,
};

pub(super) fn page(
    language: &str,
    services: &[&Service<'_>],
    settings: &SiteSettings,
) -> Result<File, SiteError> {
    let count = several(services.len(), "service");
    let frame = PageFrame::new(Address::Language(language), language, &count, settings);
    let sections = [table(services)];
    let link = |key: &str, name: &str| match key {
        "label" => Some(frame.to(Address::Service(name))),
        "experiment" => Some(frame.to(Address::Experiment(name))),
        _ => None,
    };
    let page = Sections {
        kind: "language",
        title: language,
        lead: &format!("{count} in this language, in each experiment that has them."),
        answer: "",
        cautions: &[],
        before: "",
        sections: frame::linked(&sections, link),
    };
    frame::file(&frame, &page.render()?)
}

fn table(services: &[&Service<'_>]) -> Section {
    let places = services.iter().flat_map(|service| service.places.iter());
    let mut places: Vec<_> = places.collect();
    places.sort_by_key(|(run, row)| (run.experiment.as_str(), row.ranks.unwrap_or([u32::MAX; 2])));
    let columns = Columns::new()
        .text("label", "service", |place: &&(&super::RunEntry, &super::SiteRow)| place.1.service.clone())
        .text("experiment", "experiment", |place| place.0.experiment.clone())
        .with(Column::facet)
        .text("ranks", "rank", |place| place.1.ranks.map(ranks))
        .and(figures(|place: &&(&super::RunEntry, &super::SiteRow)| place.1));
    let lead =
        "Ranks and ratios are of one run each: they are compared within an experiment, and not across.";
    Section::new("services", "Services", lead, columns.table("Services by experiment", places))
}
