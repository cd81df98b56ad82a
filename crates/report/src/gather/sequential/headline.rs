//! The result in two short sentences about the frameworks, and none about their reference. No sentence orders
//! services whose intervals overlap. A figure of one round counts as exact within the factor that checks use.

use std::collections::BTreeSet;

use tare_analysis::{
    estimate::UnitEstimate,
    figures::{percent, rate, time},
    findings::RowIssue,
    sequential::{CellReport, PUBLISHED, PointReport, single_round},
};
use tare_bench::{
    experiment::Layout,
    figures::Seconds,
    metric::Metric,
    plan::{LoadSpec, PlannedRow},
};
use tare_service::catalogue::Style;

use super::{Experiment, ServiceAt, load};
use crate::{
    document::ANSWER_WORDS_MAX,
    gather::words::{capital, either},
};

pub(super) fn sentences(run: &Experiment) -> Vec<String> {
    if run.is_of_batches() {
        return of_batches(run);
    }
    if let Some(few) = too_few(run) {
        return few;
    }
    match run.report.layout {
        Layout::Percent => of_reference(run),
        _ => of_rates(run),
    }
}

/// A service with its figure, and its published figure.
#[derive(Debug, Clone, Copy)]
struct Figure<'a> {
    label: &'a str,
    found: UnitEstimate,
    published: Option<f64>,
    /// The range in which the true figure is assumed to lie.
    reach: (f64, f64),
}

impl Figure<'_> {
    fn is_of_one_round(&self) -> bool {
        self.found.interval().is_none()
    }
}

fn is_framework(run: &Experiment, row: &PlannedRow) -> bool {
    row.style != Style::RawSocket && run.plan.reference.as_ref() != Some(&row.label)
}

/// The frameworks at a point, the greatest figure first. Services with wrong answers have no speed.
fn figures<'a>(
    run: &Experiment<'a>,
    point: &'a PointReport,
    of: impl Fn(&CellReport) -> Option<UnitEstimate>,
    published: impl Fn(&ServiceAt<'a>) -> Option<f64>,
) -> Vec<Figure<'a>> {
    let factor = single_round::factor(Metric::Throughput, &point.point.load).unwrap_or(f64::INFINITY);
    let here = run.cells(|_| true).into_iter().filter(|cell| std::ptr::eq(cell.point, point));
    let right = here.filter(|cell| is_framework(run, cell.row) && cell.row.known_failure.is_none());
    let figure = |cell: ServiceAt<'a>| {
        let found = of(cell.cell?)?;
        let label = cell.label();
        Some(Figure { label, found, published: published(&cell), reach: found.reach(factor) })
    };
    let mut figures: Vec<Figure> = right.filter_map(figure).collect();
    figures.sort_by(|a, b| b.found.value.total_cmp(&a.found.value));
    figures
}

fn rates<'a>(run: &Experiment<'a>, point: &'a PointReport) -> Vec<Figure<'a>> {
    figures(run, point, |cell| cell.per_second, |cell| cell.published().and_then(|row| row.value.or(row.rps)))
}

/// The first of an ordered list, and all that are not separated from it.
fn tied<'a, 'b>(ordered: impl IntoIterator<Item = &'b Figure<'a>>) -> Vec<&'b Figure<'a>>
where
    'a: 'b,
{
    let mut ordered = ordered.into_iter();
    let Some(first) = ordered.next() else { return Vec::new() };
    let meets = |other: &&Figure| first.reach.0 <= other.reach.1 && other.reach.0 <= first.reach.1;
    std::iter::once(first).chain(ordered.filter(meets)).collect()
}

fn labels<'a>(figures: &[&Figure<'a>]) -> Vec<&'a str> {
    figures.iter().map(|figure| figure.label).collect()
}

fn a_second(value: f64) -> String {
    format!("{} requests/s", rate(value))
}

/// A percentage for a headline: without decimals, unless it is below 1%.
fn whole_percent(share: f64) -> String {
    if share < 0.01 { percent(share) } else { format!("{:.0}%", share * 100.0) }
}

/// ` in one round`, if there is only one.
fn rounds(figures: &[Figure]) -> &'static str {
    if figures.iter().all(Figure::is_of_one_round) { " in one round" } else { "" }
}

/// One sentence if that is short enough for an answer, else two.
fn short(first: &str, second: Option<String>) -> Vec<String> {
    let Some(second) = second else { return vec![format!("{first}.")] };
    let words = first.split_whitespace().count() + second.split_whitespace().count();
    match words <= ANSWER_WORDS_MAX {
        true => vec![format!("{first}; {second}.")],
        false => vec![format!("{first}."), format!("{}.", capital_of_word(&second))],
    }
}

/// The text if no two services of the published table can be compared.
fn too_few(run: &Experiment) -> Option<Vec<String>> {
    let published = run.cells(|part| part == PUBLISHED);
    let published: Vec<ServiceAt> =
        published.into_iter().filter(|cell| cell.row.published.is_some()).collect();
    let is_valid = |cell: &&ServiceAt| cell.state() == "measured" && cell.row.known_failure.is_none();
    let valid: Vec<&ServiceAt> = published.iter().filter(is_valid).collect();
    let (ServiceAt { point, .. }, all) = (published.first()?, published.len());
    let rates = rates(run, point);
    let own = |cell: &&&ServiceAt| rates.iter().find(|figure| figure.label == cell.label());
    let first = match valid.as_slice() {
        [only] => {
            let figure = own(&only)?;
            let printed = figure.published.map(|of| format!("published were {}", rate(of)));
            let found = a_second(figure.found.value);
            let rounds = rounds(std::slice::from_ref(figure));
            let said = format!(
                "Only {} of {all} published services has a valid figure here: {found}{rounds}",
                figure.label
            );
            short(&said, printed)
        }
        [] => vec![format!("None of {all} published services has a valid figure here.")],
        _ => return None,
    };
    Some(first.into_iter().chain(missing(&published)).collect())
}

/// `Left out: simple-web-server; not counted: express-2019.`
fn missing(cells: &[ServiceAt]) -> Option<String> {
    let states: BTreeSet<&str> =
        cells.iter().map(ServiceAt::state).filter(|state| *state != "measured").collect();
    let of = |state: &&str| {
        let labels = cells.iter().filter(|cell| cell.state() == *state).map(ServiceAt::label);
        format!("{state}: {}", labels.collect::<Vec<_>>().join(", "))
    };
    let text = states.iter().map(of).collect::<Vec<_>>().join("; ");
    (!text.is_empty()).then(|| format!("{}.", capital(&text)))
}

/// `the raw server asio`, if it is one.
fn reference(run: &Experiment) -> String {
    let label = run.plan.reference.as_deref().unwrap_or("the reference");
    let is_raw = run.plan.rows.iter().any(|row| row.label == label && row.style == Style::RawSocket);
    if is_raw { format!("the raw server {label}") } else { label.to_owned() }
}

/// The shares of the reference: the closest to it, and the farthest.
fn of_reference(run: &Experiment) -> Vec<String> {
    let Some(point) = run.report.points.iter().find(|point| point.point.part == PUBLISHED) else {
        return Vec::new();
    };
    let share = |cell: &ServiceAt| Some(cell.published()?.percent? / 100.0);
    let best_first = figures(run, point, |cell| cell.of_reference, share);
    let reference = reference(run);
    let first = tied(&best_first);
    let last = tied(best_first.iter().rev());
    let nearest = match first.as_slice() {
        [] => return Vec::new(),
        [one] => format!("{} reaches {} of {reference}", one.label, whole_percent(one.found.value)),
        [one, other] => format!(
            "{} and {} reach {} and {} of {reference}",
            one.label,
            other.label,
            whole_percent(one.found.value),
            whole_percent(other.found.value)
        ),
        more => format!(
            "{} is nearest to {reference} (not separable): {} has {}",
            either(&labels(more)),
            more[0].label,
            whole_percent(more[0].found.value)
        ),
    };
    let shown = if first.len() == 2 { &first[..] } else { &first[..1] };
    let published: Vec<String> =
        shown.iter().filter_map(|figure| figure.published).map(whole_percent).collect();
    let published = match published.as_slice() {
        [] => None,
        [one] => Some(format!("{one} was published")),
        several => Some(format!("{} were published", several.join(" and "))),
    };
    let nearest = capital_of_word(&format!("{nearest} here{}", rounds(&best_first)));
    let farthest = match last.as_slice() {
        [last] if best_first.len() > first.len() => {
            let published = last.published.map(|of| format!("; {} was published", whole_percent(of)));
            let published = published.unwrap_or_default();
            Some(format!("{} is last with {}{published}.", last.label, whole_percent(last.found.value)))
        }
        _ => None,
    };
    short(&nearest, published).into_iter().chain(farthest).collect()
}

/// The fastest and the slowest service, if the load does not limit them.
fn of_rates(run: &Experiment) -> Vec<String> {
    let is_free = |point: &&PointReport| {
        matches!(point.point.load, LoadSpec::Closed { .. } | LoadSpec::Sessions { .. })
    };
    let points: Vec<&PointReport> = run.report.points.iter().filter(is_free).collect();
    let bound = points.iter().find_map(|point| load_bound(point));
    let is_bound = |point: &&&PointReport| point.cells.iter().any(|cell| cell.load_bound.is_some());
    let unbound = points.iter().filter(|point| !is_bound(point));
    let ranked = unbound.map(|point| (*point, rates(run, point))).find(|(_, rates)| rates.len() > 1);
    let ranked = ranked.map(|(point, rates)| {
        let part = match point.point.part.as_str() {
            PUBLISHED => String::new(),
            part => format!("In \"{part}\", not published, "),
        };
        (fastest(&rates, &part), published_first(&rates))
    });
    match (bound, ranked) {
        (Some(bound), Some((fastest, _))) => std::iter::once(bound).chain(fastest).collect(),
        (Some(bound), None) => vec![bound],
        (None, Some((fastest, published))) => fastest.into_iter().chain(published).collect(),
        (None, None) => Vec::new(),
    }
}

/// `The published load caps services at 400 requests/s, so it ranks none.`
fn load_bound(point: &PointReport) -> Option<String> {
    let ceiling = point.cells.iter().find_map(|cell| match cell.load_bound.as_ref()? {
        RowIssue::LoadBound { ceiling_per_second, .. } => Some(*ceiling_per_second),
        _ => None,
    })?;
    let load = match point.point.part.as_str() {
        PUBLISHED => "The published load".to_owned(),
        part => format!("The load of \"{part}\""),
    };
    Some(format!("{load} caps services at {}, so it ranks none.", a_second(ceiling)))
}

/// `light-4j or warp is fastest here in one round, with up to 108 k requests/s; flask is slowest with 3.12 k.`
fn fastest(best_first: &[Figure], part: &str) -> Vec<String> {
    let (first, last) = (tied(best_first), tied(best_first.iter().rev()));
    let rounds = rounds(best_first);
    if first.len() == best_first.len() {
        let (most, least) = (best_first[0], best_first[best_first.len() - 1]);
        let all = best_first.len();
        let span = format!("{} to {}", rate(least.found.value), a_second(most.found.value));
        let said = format!("none of {all} services is shown to be fastest{rounds}: {span}");
        return short(&begun(part, &said), None);
    }
    let best = a_second(first[0].found.value);
    let best = match first.as_slice() {
        [only] => format!("{} is fastest here{rounds} with {best}", only.label),
        tied => format!("{} is fastest here{rounds}, with up to {best}", either(&labels(tied))),
    };
    let worst = match last.as_slice() {
        [only] => Some(format!("{} is slowest with {}", only.label, rate(only.found.value))),
        _ => None,
    };
    short(&begun(part, &best), worst)
}

/// A sentence that begins with the part, if there is one.
fn begun(part: &str, sentence: &str) -> String {
    if part.is_empty() { capital_of_word(sentence) } else { format!("{part}{sentence}") }
}

/// Capitalises the first word unless it is a name, which keeps its spelling.
fn capital_of_word(sentence: &str) -> String {
    let is_word = ["one of ", "none of ", "published "].iter().any(|words| sentence.starts_with(words));
    if is_word { capital(sentence) } else { sentence.to_owned() }
}

/// The service that was published as the fastest, if it is not among the fastest here.
fn published_first(best_first: &[Figure]) -> Option<String> {
    let published = best_first.iter().filter(|figure| figure.published.is_some());
    let first = published.max_by(|a, b| a.published.unwrap_or(0.0).total_cmp(&b.published.unwrap_or(0.0)))?;
    let is_first = tied(best_first).iter().any(|figure| figure.label == first.label);
    let (here, printed) = (rate(first.found.value), rate(first.published?));
    (!is_first)
        .then(|| format!("{}, fastest of the published, has {here} ({printed} published).", first.label))
}

fn of_batches(run: &Experiment) -> Vec<String> {
    let times = |point| figures(run, point, |cell| cell.makespan_ns, |_| None);
    let points = run.report.points.iter();
    let loads: Vec<(&PointReport, Vec<Figure>)> =
        points.map(|point| (point, times(point))).filter(|(_, times)| times.len() > 1).collect();
    let ends = match loads.as_slice() {
        [] => alone(run),
        [(point, times)] => Some(of_one_load(point, times)),
        all => Some(of_loads(&all.iter().map(|(_, times)| times.as_slice()).collect::<Vec<_>>())),
    };
    stuck(run).into_iter().chain(ends).collect()
}

/// The text for the only service with a time.
fn alone(run: &Experiment) -> Option<String> {
    let cells = run.cells(|_| true).into_iter();
    let timed = cells.filter(|cell| cell.cell.is_some_and(|cell| cell.makespan_ns.is_some()));
    let labels: BTreeSet<&str> = timed.map(|cell| cell.label()).collect();
    (labels.len() == 1)
        .then(|| labels.into_iter().map(|label| format!("Only {label} has a time here.")).collect())
}

fn of_one_load(point: &PointReport, longest_first: &[Figure]) -> String {
    let shortest = tied(longest_first.iter().rev());
    let took = time(shortest[0].found.value);
    let (at, rounds) = (load(&point.point), rounds(longest_first));
    match shortest.as_slice() {
        [only] => format!("{} is fastest here{rounds} at {at}: {took}.", only.label),
        all if all.len() == longest_first.len() => {
            format!("None of {} services is shown to be fastest{rounds} at {at}.", all.len())
        }
        tied => {
            let first = either(&labels(tied));
            capital_of_word(&format!(
                "{first} is fastest here{rounds} at {at}: {} took {took}.",
                tied[0].label
            ))
        }
    }
}

/// `Shown to be slowest: cpp-httplib at 9 of 13 loads; none is shown to be fastest.`
fn of_loads(loads: &[&[Figure]]) -> String {
    let alone = |tied: Vec<&Figure<'_>>| (tied.len() == 1).then(|| tied[0].label.to_owned());
    let slowest: Vec<String> = loads.iter().filter_map(|times| alone(tied(*times))).collect();
    let fastest: Vec<String> = loads.iter().filter_map(|times| alone(tied(times.iter().rev()))).collect();
    let (slowest, fastest) = (counted(&slowest, loads.len()), counted(&fastest, loads.len()));
    match (fastest, slowest) {
        (None, None) => {
            format!("No service is shown to be fastest or slowest at any of {} loads.", loads.len())
        }
        (Some(fastest), None) => format!("Shown to be fastest: {fastest}; none is shown to be slowest."),
        (None, Some(slowest)) => format!("Shown to be slowest: {slowest}; none is shown to be fastest."),
        (Some(fastest), Some(slowest)) => format!("Shown to be fastest: {fastest}; slowest: {slowest}."),
    }
}

/// `restinio at 3 of 13 loads, pistache at 1`; `None` if there is none.
fn counted(winners: &[String], loads: usize) -> Option<String> {
    let mut wins: Vec<(&str, usize)> = Vec::new();
    for winner in winners {
        match wins.iter_mut().find(|(label, _)| label == winner) {
            Some((_, count)) => *count += 1,
            None => wins.push((winner, 1)),
        }
    }
    wins.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let ((most, count), others) = wins.split_first()?;
    let others: String = others.iter().map(|(label, count)| format!(", {label} at {count}")).collect();
    Some(format!("{most} at {count} of {loads} loads{others}"))
}

/// `cpprestsdk:waiting hangs at 7 of 13 loads, as was published.`
fn stuck(run: &Experiment) -> Option<String> {
    let cells = run.cells(|_| true);
    let hung: Vec<&ServiceAt> =
        cells.iter().filter(|cell| cell.cell.is_some_and(|cell| cell.hung.is_some())).collect();
    let labels: BTreeSet<&str> = hung.iter().map(|cell| cell.label()).collect();
    let loads: BTreeSet<String> = hung.iter().map(|cell| cell.load()).collect();
    let printed = hung.iter().filter_map(|cell| cell.report.published_seconds(&cell.point.point, cell.row));
    let printed: Vec<bool> = printed.map(|seconds| matches!(seconds, Seconds::Never(_))).collect();
    let published = match printed.iter().filter(|never| **never).count() {
        _ if printed.is_empty() => "",
        0 => ", which was not published",
        count if count == printed.len() => ", as was published",
        _ => ", as was published of some",
    };
    let all = run.report.points.len();
    let verb = if labels.len() == 1 { "hangs" } else { "hang" };
    let names = labels.iter().copied().collect::<Vec<_>>().join(" and ");
    (!labels.is_empty()).then(|| format!("{names} {verb} at {} of {all} loads{published}.", loads.len()))
}
