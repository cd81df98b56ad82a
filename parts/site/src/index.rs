//! The first page: the answer of the run with the most services, its plot and its table, the outcomes of
//! published claims, a card for each experiment.

use askama::Template;
use tare_analysis::{estimate::UnitEstimate, interleaved::RatioBound};
use tare_base::units::several;

use super::{
    RunEntry, SiteError, SiteSettings,
    address::Address,
    calculator,
    catalogue::{Catalogue, ExperimentRuns},
    chart::{self, escaped},
    claims::{self, Tally, tally},
    figure::RunFigure,
    frame::{self, PageFrame},
    row::SiteRow,
    strip::{METRICS, Strip},
    words::times,
};
use tare_report::{
    document::{Column, LAST, Section, Unit},
    gather::columns::Columns,
    write::{
        File,
        html::{self, SectionView},
    },
};
use tare_service::catalogue::language_name;

/// The most runs that are listed on the first page; the pages of experiments have all of them.
const RUNS_MAX: usize = 20;

#[derive(Template)]
#[template(path = "site/index.html")]
struct Index<'a> {
    title: &'a str,
    hero: Option<Hero<'a>>,
    cards: Vec<ExperimentCard<'a>>,
    languages: Vec<Language<'a>>,
    tally: Tally,
    claims: String,
    runs: Vec<ListedRun<'a>>,
    count: String,
}

/// The answer, with its table.
struct Hero<'a> {
    run: &'a RunEntry,
    link: String,
    view: SectionView<'a>,
    /// The cheapest and the dearest service, in a sentence.
    headline: String,
    strips: Vec<ShownStrip>,
    /// The language of each row, as JSON.
    languages: String,
    /// The section that says how many CPUs a load takes; HTML.
    calculator: String,
    /// The line that embeds the plot elsewhere; its address needs that of the site.
    embed: String,
}

/// A plot, and the index of its column in the table.
struct ShownStrip {
    strip: Strip,
    place: usize,
}

struct ExperimentCard<'a> {
    run: &'a RunEntry,
    link: String,
    count: String,
    standing: Standing,
    /// Its first rows, or the outcomes of its claims; HTML.
    picture: String,
}

struct Language<'a> {
    name: &'a str,
    link: String,
    services: Vec<(&'a str, String)>,
}

struct ListedRun<'a> {
    run: &'a RunEntry,
    link: String,
    standing: Standing,
}

/// Whether the figures of a run are sound: for the style, and as text.
pub(super) struct Standing {
    pub(super) class: &'static str,
    pub(super) text: &'static str,
}

impl Standing {
    pub(super) fn of(run: &RunEntry) -> Standing {
        let (class, text) = match run {
            _ if run.is_damaged => ("broken", "damaged"),
            _ if run.is_sound() => ("complete", "complete"),
            _ if !run.cautions.is_empty() => ("doubtful", "doubtful"),
            _ => (run.status.name(), run.status.text()),
        };
        Standing { class, text }
    }
}

pub(super) fn page(site: &Catalogue<'_>, settings: &SiteSettings) -> Result<File, SiteError> {
    let featured = site.featured();
    let description = featured.map(|run| headline(run).unwrap_or_else(|| run.answer.clone()));
    let description = description.unwrap_or_else(|| "Measurements of HTTP frameworks.".to_owned());
    let frame = PageFrame::new(Address::Index, &settings.title, &description, settings);
    let frame = frame.image_of(featured, settings);
    let section = featured.map(table);
    let hero = featured.zip(section.as_ref()).map(|(run, section)| hero(run, section, &frame, settings));
    let hero = hero.transpose()?;
    let index = Index {
        title: &settings.title,
        hero,
        cards: experiments(site).into_iter().map(|experiment| card(experiment, &frame)).collect(),
        languages: languages(site, &frame),
        tally: tally(site),
        claims: frame.to(Address::Claims),
        runs: site.runs.iter().take(RUNS_MAX).map(|run| listed(run, &frame)).collect(),
        count: match site.runs.len() {
            1 => "There is 1 run".to_owned(),
            count => format!("There are {count} runs"),
        },
    };
    frame::file(&frame, &index.render()?)
}

fn hero<'a>(
    run: &'a RunEntry,
    section: &'a Section,
    frame: &PageFrame<'_>,
    settings: &SiteSettings,
) -> Result<Hero<'a>, SiteError> {
    let languages: Vec<&str> = run.rows.iter().map(|row| row.language.as_str()).collect();
    let ranked = run.rows.iter().filter(|row| row.ranks.is_some());
    let ranked: Vec<&str> = ranked.map(|row| row.service.as_str()).collect();
    Ok(Hero {
        run,
        link: frame.to(Address::Run(&run.id)),
        view: SectionView::whole(section, true)
            .linked(&|key, name| (key == "label").then(|| frame.to(Address::Service(name)))),
        headline: headline(run).unwrap_or_else(|| run.answer.clone()),
        strips: strips(run, section),
        languages: html::embeddable(&languages),
        calculator: calculator::section(run, &ranked)?,
        embed: embed(run, settings),
    })
}

/// The experiments that rank services first, then the published ones.
fn experiments<'a, 'b>(site: &'b Catalogue<'a>) -> Vec<&'b ExperimentRuns<'a>> {
    let mut experiments: Vec<&ExperimentRuns<'_>> = site.experiments.values().collect();
    experiments.sort_by_key(|experiment| (!experiment.speaker().claims.is_empty(), experiment.name));
    experiments
}

fn card<'a>(experiment: &ExperimentRuns<'a>, frame: &PageFrame<'_>) -> ExperimentCard<'a> {
    let run = experiment.speaker();
    ExperimentCard {
        run,
        // The page of an experiment with one run would say the same as this card.
        link: match experiment.runs.as_slice() {
            [only] => frame.to(Address::Run(&only.id)),
            _ => frame.to(Address::Experiment(experiment.name)),
        },
        count: several(experiment.runs.len(), "run"),
        standing: Standing::of(run),
        picture: picture(run),
    }
}

/// The outcomes of its claims, or its first rows.
fn picture(run: &RunEntry) -> String {
    match run.claims.as_slice() {
        [] => chart::points(
            run.rows
                .iter()
                .filter(|row| !row.is_reference)
                .filter_map(|row| Some((row.service.as_str(), row.cost()?))),
        ),
        claims => claims::bar(claims),
    }
}

fn listed<'a>(run: &'a RunEntry, frame: &PageFrame<'_>) -> ListedRun<'a> {
    ListedRun { run, link: frame.to(Address::Run(&run.id)), standing: Standing::of(run) }
}

fn languages<'a>(site: &Catalogue<'a>, frame: &PageFrame<'_>) -> Vec<Language<'a>> {
    let of = |(name, services): (&'a str, Vec<&super::catalogue::Service<'a>>)| Language {
        name: language_name(name),
        link: frame.to(Address::Language(name)),
        services: services
            .iter()
            .map(|service| (service.name, frame.to(Address::Service(service.name))))
            .collect(),
    };
    site.languages().into_iter().map(of).collect()
}

/// `hyper needs 1.31x raw-socket's CPU time per request, and flask 43.8x.`
fn headline(run: &RunEntry) -> Option<String> {
    let ranked = run.rows.iter().filter(|row| row.ranks.is_some());
    let mut costs: Vec<(&str, RunFigure)> =
        ranked.filter_map(|row| Some((row.service.as_str(), row.cost()?))).collect();
    costs.sort_by(|(_, one), (_, other)| one.value.total_cmp(&other.value));
    let [(least, low), .., (most, high)] = costs.as_slice() else { return None };
    let [low, high] = [*low, *high].map(times);
    Some(format!("{least} needs {low} {}'s {}, and {most} {high}.", run.reference, run.cost_name()))
}

fn strips(run: &RunEntry, section: &Section) -> Vec<ShownStrip> {
    let place = |strip: Strip| {
        let place = section.table.as_ref()?.place(strip.key)?;
        Some(ShownStrip { strip, place })
    };
    METRICS.iter().filter_map(|metric| Strip::of(run, metric)).filter_map(place).collect()
}

/// The plots as pictures for other pages.
pub(super) fn strip_pictures(run: &RunEntry) -> Vec<File> {
    METRICS.iter().filter_map(|metric| Some(Strip::of(run, metric)?.picture(run))).collect()
}

/// The line that shows the first plot in another page; empty without one.
fn embed(run: &RunEntry, settings: &SiteSettings) -> String {
    let Some(strip) = METRICS.first().and_then(|metric| Strip::of(run, metric)) else { return String::new() };
    let url = settings.url.as_deref().unwrap_or("https://YOUR.SITE/");
    let path = strip.path(run);
    format!("<a href=\"{url}\"><img src=\"{url}{path}\" alt=\"{}\"></a>", escaped(&strip.about))
}

/// All rows of a run, in its order.
fn table(run: &RunEntry) -> Section {
    let columns = columns(run.has_database())
        .estimate(Unit::Nanoseconds, "start_up_ns", "start-up", |row: &&SiteRow| {
            row.start_up_ns.map(UnitEstimate::from)
        })
        .with(hinted)
        .count("code_lines", "lines of code", |row| row.code_lines);
    let table = columns.table("Services, best first", run.rows.iter());
    Section::new("services", "What each service costs", "", table)
}

/// The identifying columns of a row, and the most requested figures.
fn columns<'a>(has_database: bool) -> Columns<'a, &'a SiteRow> {
    Columns::new()
        .text("label", "service", |row: &&SiteRow| row.service.clone())
        .text("ranks", "rank", |row| row.ranks.map(ranks))
        .count("rank_best", "best rank", |row| row.ranks.map(|ranks| u64::from(ranks[0])))
        .hidden()
        .count("rank_worst", "worst rank", |row| row.ranks.map(|ranks| u64::from(ranks[1])))
        .hidden()
        .language(|row| row.language.clone())
        .flag("is_reference", "is a reference", |row| row.is_reference)
        .hidden()
        .and(figures(has_database, |row: &&'a SiteRow| *row))
}

pub(super) fn ranks([best, worst]: [u32; 2]) -> String {
    if best == worst { best.to_string() } else { format!("{best}-{worst}") }
}

/// Of services that are compared with their database that ratio is drawn, else that of the service.
pub(super) fn figures<'a, T>(
    has_database: bool,
    row: impl Fn(&T) -> &'a SiteRow + Copy + 'a,
) -> Columns<'a, T> {
    let drawn = |is_drawn: bool| move |column: Column| if is_drawn { column.track() } else { hinted(column) };
    let of = move |figure: fn(&SiteRow) -> Option<RunFigure>| {
        move |thing: &T| figure(row(thing)).map(UnitEstimate::from)
    };
    Columns::new()
        .estimate(
            Unit::Times,
            "total_cpu_ratio",
            "service + database of reference",
            of(|row| row.total_cpu_ratio),
        )
        .with(drawn(has_database))
        .estimate(Unit::Times, "cpu_ratio", "CPU of reference", of(|row| row.cpu_ratio))
        .with(drawn(!has_database))
        .estimate(Unit::Nanoseconds, "cpu_ns_per_request", "CPU/request", of(|row| row.cpu_ns_per_request))
        .with(hinted)
        .bounded(
            Unit::Share,
            "throughput_ratio",
            "throughput",
            of(|row| row.throughput_ratio),
            move |thing| row(thing).throughput_ratio.map_or_else(RatioBound::default, |figure| figure.bound),
        )
        .with(hinted)
        .estimate(Unit::PerSecond, "requests_per_second", "req/s", of(|row| row.requests_per_second))
        .with(hinted)
        .estimate(Unit::Nanoseconds, "latency_ns_p99", "p99", of(|row| row.latency_ns_p99))
        .with(hinted)
        .estimate(Unit::Bytes, "rss_bytes_peak", "RSS", of(|row| row.rss_bytes_peak))
        .with(hinted)
}

/// Shows the interval as a tooltip.
fn hinted(column: Column) -> Column {
    column.interval_priority(LAST)
}

#[cfg(test)]
mod tests {
    use super::{
        super::entry::{row_of, run_of},
        *,
    };

    #[test]
    fn the_headline_is_of_the_cheapest_and_the_dearest_that_have_a_rank() {
        let reference = SiteRow { ranks: None, ..row_of("raw-socket", "rust", 1.0) };
        let run = run_of(vec![reference, row_of("flask", "python", 43.8), row_of("hyper", "rust", 1.31)]);
        let expected = "hyper needs 1.31x raw-socket's CPU time per request, and flask 43.8x.";
        assert_eq!(headline(&run).as_deref(), Some(expected));
        assert_eq!(headline(&run_of(vec![row_of("hyper", "rust", 1.31)])), None);
    }
}
