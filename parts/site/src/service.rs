//! A service over all experiments, and its badge for a README.

use askama::Template;

use super::{
    RunEntry, SiteError, SiteSettings,
    address::Address,
    badge, calculator,
    catalogue::{Catalogue, Service},
    chart::escaped,
    figure::RunFigure,
    frame::{self, PageFrame, Sections},
    index::{figures, ranks},
    preview::{Card, Picture, below},
    row::SiteRow,
    source,
    words::times_of,
};
use tare_report::{
    document::{Column, Section},
    gather::columns::Columns,
    write::File,
};
use tare_service::catalogue::language_name;

type Place<'a> = (&'a RunEntry, &'a SiteRow);

/// The most neighbours that a page links to.
const NEIGHBOURS_MAX: usize = 6;
/// The rows of its preview.
const CARD_ROWS: usize = 7;

pub(super) fn page(
    service: &Service<'_>,
    site: &Catalogue<'_>,
    settings: &SiteSettings,
    pictures: &mut Vec<Picture>,
) -> Result<File, SiteError> {
    let answer = answer(service);
    let spoken = spoken(service);
    let title = &format!("What {} costs", service.name);
    let frame = PageFrame::new(Address::Service(service.name), title, &answer, settings);
    let frame = match spoken {
        Some((run, _)) => frame.command(source::command(run, &[service.name])).picture(
            &card(service, run, &answer),
            settings,
            pictures,
        ),
        None => frame,
    };
    let calculator = spoken.map(|(run, _)| calculator::section(run, &[service.name])).transpose()?;
    let calculator = calculator.unwrap_or_default();
    let sections = [places(service)];
    let experiment =
        |id: &str| site.experiments.get(id).map(|found| frame.to(Address::Experiment(found.name)));
    let link = |key: &str, text: &str| if key == "experiment" { experiment(text) } else { None };
    let page = Sections {
        kind: "service",
        title: service.name,
        lead: &lead(service),
        answer: &answer,
        cautions: &[],
        before: &(links(service, site, &frame, settings) + &badge(service, &frame, settings)),
        sections: frame::linked(&sections, link),
        after: &calculator,
    };
    frame::file(&frame, &page.render()?)
}

/// Its place in the experiment with the most services.
fn spoken<'a>(service: &Service<'a>) -> Option<Place<'a>> {
    let ranked = service.places.iter().filter(|(_, row)| row.ranks.is_some() && row.cost().is_some());
    ranked.max_by_key(|(run, _)| run.rows.len()).copied()
}

/// The service among its neighbours in a run.
fn card<'a>(service: &Service<'_>, run: &'a RunEntry, answer: &str) -> Card<'a> {
    let rows: Vec<(&str, RunFigure)> = run
        .rows
        .iter()
        .filter_map(|row| Some((row.service.as_str(), row.cost().filter(|_| row.ranks.is_some())?)))
        .collect();
    let place = rows.iter().position(|(name, _)| *name == service.name).unwrap_or_default();
    let from = place.saturating_sub(CARD_ROWS / 2).min(rows.len().saturating_sub(CARD_ROWS));
    Card {
        above: lead(service),
        sentence: answer.to_owned(),
        rows: rows.into_iter().skip(from).take(CARD_ROWS).collect(),
        below: below(run),
        ..Card::default()
    }
}

/// `axum 0.8.9, Rust`.
fn lead(service: &Service<'_>) -> String {
    let framework = if service.framework == service.name { "" } else { service.framework };
    let parts = [framework, service.version, language_name(service.language)];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// Its cost and rank there.
fn answer(service: &Service<'_>) -> String {
    let Some((run, row)) = spoken(service) else { return String::new() };
    let (Some(cost), Some(place)) = (row.cost(), row.ranks) else { return String::new() };
    let of = run.rows.iter().filter(|row| row.ranks.is_some()).count();
    format!(
        "{} needs {}: rank {} of {of}.",
        service.name,
        times_of(cost, &run.reference, run.cost_name()),
        ranks(place)
    )
}

fn places(service: &Service<'_>) -> Section {
    let columns = Columns::new()
        .text("experiment", "experiment", |place: &&Place<'_>| place.0.experiment.clone())
        .text("ranks", "rank", |place| place.1.ranks.map(ranks))
        // A date does not wrap.
        .text("day", "measured", |place| place.0.day().replace(' ', "\u{a0}"))
        .text("reference", "reference", |place| place.0.reference.clone())
        .and(figures(false, |place: &&Place<'_>| place.1))
        .rate("requests_per_second_published", "req/s, published", |place| {
            place.1.requests_per_second_published
        })
        .text("machine", "machine", |place| place.0.machine.clone())
        .with(Column::facet);
    let lead = "The newest run of each experiment that has it. Absolute figures of two machines are not comparable; ratios to the \
                reference of the same run are, with care.";
    Section::new(
        "experiments",
        "In each experiment",
        lead,
        columns.table("Experiments", service.places.iter()),
    )
}

/// Links to its code, its framework and its language, and to comparisons with it.
fn links(
    service: &Service<'_>,
    site: &Catalogue<'_>,
    frame: &PageFrame<'_>,
    settings: &SiteSettings,
) -> String {
    let mut links: Vec<String> = source::links(service, spoken(service).map(|(run, _)| run), settings);
    let settings_of = service.places.iter().map(|(run, _)| run).find(|run| !run.rows.is_empty());
    if let Some(run) = settings_of {
        let link = frame.to(Address::Run(&run.id));
        links.push(format!("<a href=\"{link}\">all figures and settings</a>"));
    }
    if site.languages().contains_key(service.language) {
        let link = frame.to(Address::Language(service.language));
        links.push(format!("<a href=\"{link}\">all of {}</a>", escaped(language_name(service.language))));
    }
    for other in site.neighbours(service.name).into_iter().take(NEIGHBOURS_MAX) {
        let link = frame.to(Address::pair(service.name, other));
        links.push(format!("<a href=\"{link}\">against {}</a>", escaped(other)));
    }
    if links.is_empty() { String::new() } else { format!("<p class=\"go\">{}</p>", links.join(" ")) }
}

/// The badge, and the line that embeds it elsewhere.
fn badge(service: &Service<'_>, frame: &PageFrame<'_>, settings: &SiteSettings) -> String {
    let with_badge = service.places.iter().filter(|(_, row)| badge::message(row).is_some());
    let Some((run, row)) = with_badge.max_by_key(|(run, _)| run.rows.len()) else { return String::new() };
    let path = badge::path(&run.experiment, service.name, "svg");
    let alt = badge::message(row).unwrap_or_default();
    let url = settings.url.as_deref().unwrap_or("https://YOUR.SITE/");
    let page = Address::Service(service.name).path();
    let markdown = format!("[![{alt}]({url}{path})]({url}{page})");
    format!(
        "<section class=\"about badge\" aria-label=\"Badge\"><img src=\"{}{path}\" alt=\"{}\"> <code>{}</code></section>",
        frame.root,
        escaped(&alt),
        escaped(&markdown)
    )
}
