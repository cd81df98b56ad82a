//! The page of two services that were measured in the same run: one sentence, two tracks, all figures, and what
//! would settle what is open.

use askama::Template;

use super::{
    RunEntry, SiteError, SiteRow, SiteSettings,
    address::Address,
    catalogue::{Catalogue, PairRun, Service},
    chart::{Tracks, tracks},
    figure::RunFigure,
    frame::{self, PageFrame},
    pair::ServicePair,
    preview::{Card, Picture, below},
    source,
    strip::METRICS,
    words::{self, shown, times},
};
use tare_report::{document::Unit, write::File};
use tare_service::catalogue::language_name;

#[derive(Template)]
#[template(path = "site/against.html")]
struct Against<'a> {
    run: &'a RunEntry,
    link: String,
    names: [&'a str; 2],
    answer: String,
    /// What they are compared by.
    cost_name: &'static str,
    /// Further sentences below it.
    more: Vec<String>,
    tracks: Option<Tracks>,
    figures: Vec<FigureRow>,
    settled: String,
    /// The command that settles what is open; empty if nothing is.
    command: String,
    others: Vec<Other<'a>>,
    services: Vec<Side<'a>>,
}

/// A figure of both services.
struct FigureRow {
    name: &'static str,
    texts: [String; 2],
}

/// The result of another run.
struct Other<'a> {
    run: &'a RunEntry,
    link: String,
    sentence: String,
}

/// One of the two services, with its ways out.
struct Side<'a> {
    name: &'a str,
    link: String,
    about: String,
    /// Links to its code and its framework; HTML.
    links: Vec<String>,
    /// Other pairs with it: names and links.
    pairs: Vec<(&'a str, String)>,
}

/// The most other pairs that are linked for a service.
const PAIRS_MAX: usize = 4;

pub(super) fn page<'a>(
    names: [&'a str; 2],
    found: &[PairRun<'a>],
    site: &Catalogue<'a>,
    settings: &SiteSettings,
    pictures: &mut Vec<Picture>,
) -> Result<Option<File>, SiteError> {
    let Some(&(run, pair)) = found.iter().max_by_key(|(run, pair)| weight(run, pair)) else {
        return Ok(None);
    };
    let pair = words::dearer_first(run, pair);
    let answer = words::answer(run, &pair);
    let command = source::command(run, &[&pair.first, &pair.second]);
    let title = format!("{} against {}", names[0], names[1]);
    let frame = PageFrame::new(Address::Pair(names), &title, &answer, settings)
        .command(command.clone())
        .picture(&card(&title, run, &pair, &answer), settings, pictures);
    let (settled, is_open) = settled(run, &pair);
    let others = found.iter().filter(|(other, _)| other.id != run.id);
    let rows = names.map(|name| run.row(name));
    let page = Against {
        run,
        link: frame.to(Address::Run(&run.id)),
        names,
        answer,
        cost_name: run.cost_name(),
        more: words::more(run, &pair),
        tracks: tracks_of(run, names),
        figures: figures(rows),
        settled,
        command: if is_open { command } else { String::new() },
        others: others.map(|(run, pair)| other(run, pair, &frame)).collect(),
        services: names
            .into_iter()
            .filter_map(|name| Some(side(site.services.get(name)?, run, names, site, &frame, settings)))
            .collect(),
    };
    frame::file(&frame, &page.render()?).map(Some)
}

/// A sound run with an interval of the pair says most, then one with valid throughputs, then the most blocks.
fn weight(run: &RunEntry, pair: &ServicePair) -> (bool, bool, bool, u32) {
    let has_interval = pair.cost().is_some_and(|ratio| ratio.ends().is_some());
    (run.is_sound(), has_interval, pair.throughput_ratio.is_some(), pair.blocks)
}

fn card<'a>(title: &str, run: &'a RunEntry, pair: &'a ServicePair, answer: &str) -> Card<'a> {
    let rows = [&pair.first, &pair.second].map(|name| (name.as_str(), run.row(name).and_then(SiteRow::cost)));
    Card {
        above: format!("{title}. {}", run.title),
        large: pair.cost().map(times).unwrap_or_default(),
        sentence: answer.to_owned(),
        rows: rows.into_iter().filter_map(|(name, figure)| Some((name, figure?))).collect(),
        below: below(run),
    }
}

/// What is decided, and whether anything is open.
fn settled(run: &RunEntry, pair: &ServicePair) -> (String, bool) {
    let has_interval = pair.cost().is_some_and(|ratio| ratio.ends().is_some());
    let alone = match words::lacking(run, pair).is_empty() {
        true => "A run of these two alone puts both into every block",
        false => "It takes a run in which both have one",
    };
    match (pair.separated, has_interval) {
        (Some(true), true) => {
            let blocks = tare_base::units::several(pair.blocks as usize, "block");
            (format!("The data of this run separate them, and {blocks} had both."), false)
        }
        (Some(true), false) => (
            format!("Which of them needs less is settled by their ranks; by how much is open. {alone}:"),
            true,
        ),
        (Some(false), true) => (
            format!(
                "Which of them needs less is open. Four times as many blocks, {}, would about halve the interval. {alone}:",
                4 * pair.blocks
            ),
            true,
        ),
        (Some(false), false) => {
            (format!("Which of them needs less is open, and by how much. {alone}:"), true)
        }
        (None, _) => (format!("The run has too few blocks to say which of them needs less. {alone}:"), true),
    }
}

/// Both on the scale of the reference.
fn tracks_of(run: &RunEntry, names: [&str; 2]) -> Option<Tracks> {
    let figure = |name: &str| -> Option<RunFigure> { run.row(name)?.cost() };
    let rows = [(names[0], figure(names[0])?), (names[1], figure(names[1])?)];
    Some(tracks(&rows, Unit::Times))
}

/// The figures that at least one of both has.
fn figures(rows: [Option<&SiteRow>; 2]) -> Vec<FigureRow> {
    let cpu = FigureRow::of("CPU time per request", Unit::Nanoseconds, |row| row.cpu_ns_per_request, rows);
    let total = "CPU time per request with the database";
    let total = FigureRow::of(total, Unit::Nanoseconds, |row| row.total_cpu_ns_per_request, rows);
    let others = METRICS.iter().skip(1);
    let others = others.map(|metric| FigureRow::of(metric.about, metric.unit, metric.figure, rows));
    [cpu, total].into_iter().chain(others).flatten().collect()
}

impl FigureRow {
    fn of(
        name: &'static str,
        unit: Unit,
        figure: fn(&SiteRow) -> Option<RunFigure>,
        rows: [Option<&SiteRow>; 2],
    ) -> Option<FigureRow> {
        let found = rows.map(|row| row.and_then(figure));
        let text =
            |found: Option<RunFigure>| found.map_or_else(|| "-".to_owned(), |figure| shown(figure, unit));
        found.iter().any(Option::is_some).then(|| FigureRow { name, texts: found.map(text) })
    }
}

fn other<'a>(run: &'a RunEntry, pair: &ServicePair, frame: &PageFrame<'_>) -> Other<'a> {
    Other { run, link: frame.to(Address::Run(&run.id)), sentence: words::sentence(run, pair) }
}

fn side<'a>(
    service: &Service<'a>,
    run: &RunEntry,
    names: [&str; 2],
    site: &Catalogue<'a>,
    frame: &PageFrame<'_>,
    settings: &SiteSettings,
) -> Side<'a> {
    let about = [service.framework, service.version, language_name(service.language)];
    let about: Vec<&str> =
        about.into_iter().filter(|part| !part.is_empty() && *part != service.name).collect();
    let others = site.neighbours(service.name).into_iter().filter(|other| !names.contains(other));
    Side {
        name: service.name,
        link: frame.to(Address::Service(service.name)),
        about: about.join(", "),
        links: source::links(service, Some(run), settings),
        pairs: others
            .take(PAIRS_MAX)
            .map(|other| (other, frame.to(Address::pair(service.name, other))))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::entry::{row_of, run_of},
        *,
    };

    fn pair(separated: Option<bool>, blocks: u32) -> ServicePair {
        let figure = |ends: bool| RunFigure {
            value: 12.0,
            low: ends.then_some(11.6),
            high: ends.then_some(12.4),
            ..RunFigure::default()
        };
        ServicePair {
            first: "express".to_owned(),
            second: "axum".to_owned(),
            cpu_ratio: (blocks > 0).then(|| figure(blocks > 1)),
            total_cpu_ratio: None,
            throughput_ratio: None,
            blocks,
            separated,
            differ_most: None,
        }
    }

    fn made(pairs: &[ServicePair]) -> (String, Vec<Picture>) {
        let run = RunEntry {
            pairs: pairs.to_vec(),
            ..run_of(vec![row_of("axum", "rust", 1.48), row_of("express", "node", 17.5)])
        };
        let entries = [run];
        let site = Catalogue::of(&entries);
        let settings = SiteSettings {
            title: "Tare".to_owned(),
            url: Some("https://example.org/".to_owned()),
            source_url: None,
        };
        let mut pictures = Vec::new();
        let (names, found) = site.pairs.iter().next().unwrap();
        let file = page(*names, found, &site, &settings, &mut pictures).unwrap().unwrap();
        assert_eq!(file.name, "vs/axum/express/index.html");
        (String::from_utf8(file.bytes).unwrap(), pictures)
    }

    #[test]
    fn a_pair_has_one_sentence_a_picture_and_a_command() {
        let (page, pictures) = made(&[pair(Some(true), 7)]);
        let answer = "express needs 12.0x axum&#39;s CPU time per request (11.6 .. 12.4x).";
        assert!(page.contains(&format!("<p class=\"answer\" dir=\"auto\">{answer}</p>")), "{page}");
        assert!(page.contains("The data of this run separate them, and 7 blocks had both."), "{page}");
        assert!(page.contains(&format!("content=\"https://example.org/{}\"", pictures[0].name)), "{page}");
        assert!(page.contains("<code>tare run all --services express,axum</code>"), "{page}");
        assert!(page.len() < 40_000, "{}", page.len());
    }

    #[test]
    fn a_pair_without_an_interval_says_why() {
        let (one, _) = made(&[pair(Some(true), 1)]);
        assert!(one.contains("express needs 12.0x axum&#39;s CPU time per request."), "{one}");
        assert!(one.contains("One block had both of them, and an interval takes two."), "{one}");
        let (none, _) = made(&[pair(Some(true), 0)]);
        let related = "express needs 17.5x raw-socket&#39;s CPU time per request (15.8 .. 19.2x), and axum 1.48x (1.33 .. 1.63x).";
        assert!(none.contains(related), "{none}");
        assert!(none.contains("No block had both of them, so there is no interval of the pair."), "{none}");
    }
}
