//! A search for capacity under an SLO: the capacity of each service, and the steps of the search.

use std::{collections::BTreeMap, path::Path};

use tare_analysis::{
    capacity::{Bound, SloReport, SloRow},
    estimate::UnitEstimate,
    interleaved::RowState,
};
use tare_base::units::several;
use tare_bench::{
    folder::{StoredRun, about::About},
    plan::PlannedRow,
    record::Record,
    sample::Sample,
    schedule::{
        StopRule,
        searches::{SearchStart, Searches},
    },
    slo::{FoundRate, SloPlan, objective::due},
};

use super::{
    columns::{self, Columns},
    environment,
    words::Headline,
};
use crate::document::{
    Chart, Column, Document, Fact, Kind, Scale, Section, Sentences, Shape, Status, Tone, Unit, Value,
};

/// The percentile that is shown for every window.
const MEDIAN: f64 = 50.0;

/// The document of a search for capacity.
pub(crate) fn document(slo: &SloPlan, stored: &StoredRun, report: &SloReport, run: &Path) -> Document {
    let about = About::read(run).ok().flatten();
    let status = Status::of(report.ending, stored.in_progress);
    Document {
        facts: facts(slo, stored, report, about.as_ref()),
        sections: vec![
            section(report),
            starts(slo, stored),
            windows(slo, stored),
            environment::section(&stored.header.environment, Vec::new()),
        ],
        ..super::of_run(Kind::Capacity, stored, &report.findings)
    }
    .answered(answer(report).so_far(status, &searches_done(report)))
}

fn facts(slo: &SloPlan, stored: &StoredRun, report: &SloReport, about: Option<&About>) -> Vec<Fact> {
    let plan = &stored.header.plan;
    // A server that was already running is not restarted.
    let what = if plan.rows.iter().all(PlannedRow::is_running) { "searches" } else { "fresh starts" };
    let searches = format!("{} {what} of each service, {} windows each", plan.blocks().max, slo.windows);
    let own = [
        Fact::new("Holds", report.slo.clone()),
        Fact::new("Load", report.load.clone()).brief(),
        Fact::new("Contract", plan.contract().to_owned()),
        Fact::new("Searches", searches).brief(),
    ];
    let common = environment::facts(stored, about, || Some(words_of(slo, stored, report)));
    own.into_iter().chain(common).collect()
}

/// The command that repeats the search.
fn words_of(slo: &SloPlan, stored: &StoredRun, report: &SloReport) -> Vec<String> {
    let plan = &stored.header.plan;
    let rows: Vec<&str> = plan.rows.iter().map(|row| row.label.as_str()).collect();
    let (services, terms) = (rows.join(","), report.slo.replace(", ", ","));
    let (starts, windows) = (plan.blocks().max.to_string(), slo.windows.to_string());
    let words = ["slo", &services, "--slo", &terms, "--contract", plan.contract()];
    let counts = ["--starts", &starts, "--windows", &windows];
    words.into_iter().chain(counts).map(str::to_owned).collect()
}

/// `3 searches`: the completed ones of all services.
fn searches_done(report: &SloReport) -> String {
    match report.rows.iter().map(|row| row.starts).sum() {
        1 => "1 search".to_owned(),
        count => format!("{count} searches"),
    }
}

/// The services with the highest capacity, if they are separated, and those with none.
fn answer(report: &SloReport) -> Headline {
    let holding: Vec<(&SloRow, &UnitEstimate)> =
        report.rows.iter().filter_map(|row| Some((row, row.capacity.as_ref()?))).collect();
    let rate = |value: f64| format!("{}/s", Unit::PerSecond.show(value));
    let level = |(row, level): &(&SloRow, &UnitEstimate)| {
        let bound = if row.bound == Some(Bound::AtLeast) { "at least " } else { "" };
        format!("{bound}{}", rate(level.value))
    };
    let with_ends = |row: &(&SloRow, &UnitEstimate)| {
        let ends = row.1.low.zip(row.1.high);
        let ends = ends.map_or(String::new(), |(low, high)| format!(" ({} .. {})", rate(low), rate(high)));
        format!("{} {}{ends}", row.0.label, level(row))
    };
    let Some(first) = holding.first() else { return nothing(report) };
    let tied: Vec<&str> = holding
        .iter()
        .filter(|other| other.0.label == first.0.label || !is_above(first.1, other))
        .map(|(row, _)| row.label.as_str())
        .collect();
    let (label, held) = (&first.0.label, level(first));
    let told = match (tied.as_slice(), holding.get(1)) {
        (_, None) => format!("{label} holds {held}"),
        ([_], Some(_)) => format!("{label} holds most, {held}"),
        (tied, _) => format!("{} share first place with {held}", several(tied.len(), "service")),
    };
    let of_first = holding.iter().take(tied.len().max(2)).map(with_ends).collect::<Vec<_>>().join(", ");
    let hopeless = report.rows.iter().filter(|row| row.bound == Some(Bound::Below));
    let hopeless: Vec<&str> = hopeless.map(|row| row.label.as_str()).collect();
    let hopeless = match hopeless.as_slice() {
        [] => String::new(),
        labels => format!(" No rate holds for {}.", labels.join(", ")),
    };
    Headline::new(
        format!("Under {}: {told}.", report.slo),
        format!("Requests a second: {of_first}.{hopeless}"),
    )
}

/// Whether the lower bound of `one` exceeds the upper bound of the other.
fn is_above(one: &UnitEstimate, (_, other): &(&SloRow, &UnitEstimate)) -> bool {
    one.low.zip(other.high).is_some_and(|(low, high)| low > high)
}

fn nothing(report: &SloReport) -> Headline {
    if report.rows.iter().any(|row| row.bound == Some(Bound::Below)) {
        return format!("No service holds {} at any rate that was tried.", report.slo).into();
    }
    let reason = report.rows.iter().find_map(|row| Some(format!("{}: {}", row.label, row.reason()?)));
    match reason {
        Some(reason) => Headline::new("No service has a capacity.", format!("The first reason: {reason}.")),
        None => "No search came to its end yet.".to_owned().into(),
    }
}

fn state(row: &SloRow) -> Value {
    match row.bound {
        Some(Bound::Below) if row.state == RowState::Measured => Value::Word("holds no rate", Tone::Open),
        _ => columns::state(row.state.verdict()),
    }
}

/// A count, but `None` for a failed search, whose counts are no figures.
fn counted(row: &SloRow, count: usize) -> Option<usize> {
    (row.state == RowState::Measured).then_some(count)
}

/// One row per service.
pub(crate) fn section(report: &SloReport) -> Section {
    let lead = format!(
        "The highest rate at which {} holds, with its 95% interval over fresh starts. The lower end allows for the bias of a search.",
        report.slo
    );
    let table =
        levels(&report.percents).and(searched()).table("Services by capacity", report.rows.iter().cloned());
    let section = Section::new("capacity", "Capacity", &lead, table);
    let best = report.rows.iter().find_map(|row| Some((row, row.capacity.as_ref()?)));
    let Some((row, most)) = best else { return section };
    let rate = Unit::PerSecond.show(most.value);
    let alt = format!("A bar for each service; the longest is {}, {rate}/s.", row.label);
    section.chart(Chart::new(Shape::Bars, "capacity_per_second", "label", &alt).n("starts"))
}

fn levels<'a>(percents: &[f64]) -> Columns<'a, SloRow> {
    let at_least = |row: &SloRow| row.capacity.as_ref().map(|_| row.bound == Some(Bound::AtLeast));
    let levels = Columns::new()
        .text("label", "service", |row: &SloRow| row.label.clone())
        .estimate(Unit::PerSecond, "capacity_per_second", "holds up to", |row| row.capacity)
        .flag("at_least", "lower bound", at_least)
        .help("In some start all rates held that were tried: it may hold more, and the remarks say why no more was tried.")
        .estimate(Unit::Share, "of_closed_share", "of closed loop", |row| row.share)
        .with(Column::bar)
        .rate("closed_per_second", "closed loop", |row| row.closed_per_second);
    percents.iter().enumerate().fold(levels, |levels, (place, percent)| {
        levels
            .ns(&latency_key(*percent), &format!("p{percent} there"), move |row: &SloRow| {
                row.latency_ns.get(place).copied().flatten()
            })
            .help("Absent if no window at that rate had as many requests as the percentile takes.")
    })
}

/// `latency_ns_p99`, `latency_ns_p999`.
fn latency_key(percent: f64) -> String {
    format!("latency_ns_p{}", percent.to_string().replace('.', ""))
}

fn searched<'a>() -> Columns<'a, SloRow> {
    let remarks = |row: &SloRow| {
        Sentences::new(row.reason().into_iter().chain(row.findings.iter().map(ToString::to_string)))
    };
    Columns::new()
        .count("starts", "starts", |row: &SloRow| counted(row, row.starts))
        .priority(20)
        .count("windows", "windows", |row| counted(row, row.windows))
        .priority(10)
        .count("windows_discarded", "discarded", |row| counted(row, row.discarded))
        .help("The generator itself was late: such windows do not count.")
        .text("version", "version", |row| row.version.clone())
        .facet("state", "state", state)
        .text("remarks", "remarks", remarks)
}

/// One search on a fresh process.
struct StartRow<'a> {
    label: &'a str,
    place: usize,
    start: &'a SearchStart,
    found: Option<FoundRate>,
}

impl StartRow<'_> {
    /// The highest rate that held, the lowest that did not, and the estimated capacity.
    fn rates(&self) -> [Option<f64>; 3] {
        match self.found {
            Some(found @ FoundRate::Between { held, broke }) => [Some(held), Some(broke), found.per_second()],
            Some(found @ FoundRate::AtLeast(held)) => [Some(held), None, found.per_second()],
            Some(FoundRate::Below(broke)) => [None, Some(broke), None],
            Some(FoundRate::Nothing) | None => [None; 3],
        }
    }

    fn words(&self) -> &'static str {
        match self.found {
            Some(FoundRate::Between { .. }) => "a capacity",
            Some(FoundRate::AtLeast(_)) => "all rates held",
            Some(FoundRate::Below(_)) => "no rate held",
            Some(FoundRate::Nothing) => "too few windows",
            None => "no window yet",
        }
    }
}

/// One row per fresh start.
fn starts(slo: &SloPlan, stored: &StoredRun) -> Section {
    let mut searches = Searches::new(slo);
    stored.records.iter().for_each(|record| searches.on_record(record));
    let labels = stored.header.plan.rows.iter().map(|row| row.label.as_str()).enumerate();
    let each = labels.flat_map(|(row, label)| {
        searches.of(row).enumerate().map(move |(place, start)| {
            let found = start.search.as_ref().map(|search| search.found());
            StartRow { label, place, start, found }
        })
    });
    let rows: Vec<StartRow> = each.collect();
    let (all, is_found) =
        (rows.len(), |row: &&StartRow| matches!(row.found, Some(FoundRate::Between { .. })));
    let found = rows.iter().filter(is_found).count();
    let lead = "Each search uses a fresh process and is one observation: intervals are computed over them.";
    let table = start_columns().table("Searches by service and start", rows);
    let section = Section::new("starts", "Starts", lead, table);
    if found < 2 {
        return section;
    }
    let alt = format!(
        "The capacity that each start came to, a line for each service; {found} of {all} starts found one."
    );
    let chart = Chart::new(Shape::Lines, "start", "capacity_per_second", &alt).series("label");
    section.chart(chart.scales(Scale::Linear, Scale::Log))
}

fn start_columns<'a>() -> Columns<'a, StartRow<'a>> {
    Columns::new()
        .facet("label", "service", |row: &StartRow| row.label.to_owned())
        .count("start", "start", |row| row.place + 1)
        .rate("closed_per_second", "closed loop", |row| row.start.capacity_per_second())
        .rate("held_per_second", "highest that held", |row| row.rates()[0])
        .rate("broke_per_second", "lowest that did not", |row| row.rates()[1])
        .rate("capacity_per_second", "taken for", |row| row.rates()[2])
        .facet("found", "what was found", StartRow::words)
        .count("windows", "windows", |row| Some(row.start.search.as_ref()?.counted()))
        .count("windows_discarded", "discarded", |row| Some(row.start.search.as_ref()?.discarded()))
}

struct SearchWindow<'a> {
    label: &'a str,
    slice: &'a Sample,
    number: usize,
    /// For the deciding term, the share of bad requests and the allowed share.
    worst: Option<(f64, f64)>,
    is_discarded: bool,
}

impl SearchWindow<'_> {
    fn start(&self) -> usize {
        self.slice.block + 1
    }
}

/// One row per window: the rate, and the share of bad requests.
fn windows(slo: &SloPlan, stored: &StoredRun) -> Section {
    let windows = all_windows(slo, stored);
    let (discarded, all) = (windows.iter().filter(|window| window.is_discarded).count(), windows.len());
    let lead = "Every window of every search. A rate holds if the share of bad requests over all its windows, and those at \
                higher rates, is no more than allowed.";
    let table = window_columns(&slo.slo.percents()).table("Windows of all searches", windows);
    let section = Section::new("windows", "Steps of the search", lead, table);
    if all == 0 {
        return section.note("no window was measured");
    }
    let alt = format!(
        "{all} windows, {discarded} of them discarded: the share of bad requests rises with the rate that was tried."
    );
    let share = Chart::new(Shape::Points, "offered_per_second", "bad_share", &alt)
        .series("label")
        .scales(Scale::Log, Scale::Linear)
        .title("Bad requests by rate")
        .n("due")
        .apart("is_discarded");
    let alt = format!(
        "The rate of each window, a line for each search: it narrows down on what holds. {all} windows."
    );
    let path = Chart::new(Shape::Lines, "window", "offered_per_second", &alt)
        .series("search")
        .scales(Scale::Linear, Scale::Log)
        .title("Rates tried, window by window")
        .first(6)
        .apart("is_discarded");
    section.chart(share).chart(path)
}

fn window_columns<'a>(percents: &[f64]) -> Columns<'a, SearchWindow<'a>> {
    let columns = Columns::new()
        .text("search", "search", |window: &SearchWindow| {
            format!("{}, start {}", window.label, window.start())
        })
        .hidden()
        .facet("label", "service", |window| window.label.to_owned())
        .count("start", "start", SearchWindow::start)
        .count("window", "window", |window| window.number)
        .rate("offered_per_second", "rate tried", |window| window.slice.load.offered_per_second)
        .share("bad_share", "bad", |window| window.worst.map(|(bad, _)| bad))
        .help("Of the term that is nearest to its limit.")
        .share("allowed_share", "allowed", |window| window.worst.map(|(_, allowed)| allowed))
        .flag("is_above", "more than allowed", |window| window.worst.map(|(bad, allowed)| bad > allowed))
        .with(Column::facet)
        .count("due", "requests", |window| due(&window.slice.load));
    // The median and the percentiles of the SLO.
    let others = percents.iter().copied().filter(|percent| *percent != MEDIAN);
    let columns = std::iter::once(MEDIAN).chain(others).fold(columns, |columns, percent| {
        columns.ns(&latency_key(percent), &format!("p{percent}"), move |window: &SearchWindow| {
            window.slice.load.latency.ns_at(percent / 100.0)
        })
    });
    columns
        .ns("lag_ns_p99", "generator late", |window| window.slice.load.schedule_lag_ns_p99)
        .flag("is_discarded", "discarded", |window| window.is_discarded)
        .with(Column::facet)
}

fn all_windows<'a>(slo: &SloPlan, stored: &'a StoredRun) -> Vec<SearchWindow<'a>> {
    let mut numbers: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let mut windows = Vec::new();
    for record in &stored.records {
        let Record::Sample(slice) = record else { continue };
        if !slice.is_open() {
            continue;
        }
        let label = stored.header.plan.rows[slice.row].label.as_str();
        let number = numbers.entry((slice.row, slice.block)).or_insert(0);
        *number += 1;
        let worst = worst(slo, slice);
        let is_discarded = slice.load.schedule_lag_ns_p99.unwrap_or(0) > slo.lag_ns_max;
        windows.push(SearchWindow { label, slice, number: *number, worst, is_discarded });
    }
    windows
}

/// The share of bad requests and the allowed share, for the term furthest above or closest to its limit.
fn worst(slo: &SloPlan, sample: &Sample) -> Option<(f64, f64)> {
    let all = due(&sample.load) as f64;
    let shares = slo.slo.bad(&sample.load).into_iter().map(|bad| bad as f64 / all).zip(slo.slo.allowed());
    let over = |(bad, allowed): (f64, f64)| if bad == 0.0 { 0.0 } else { bad / allowed };
    shares.filter(|_| all > 0.0).reduce(|worst, next| if over(next) > over(worst) { next } else { worst })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use insta::assert_snapshot;
    use tare_bench::{
        experiment::{LoadSetting, Rate},
        fixture,
        folder::Header,
        plan::{Plan, SearchSetting},
        record::{Block, EndedRun, Ending},
        sample::{Distribution, LoadResult},
        slo::Slo,
    };
    use tare_host::cpus::Pinning;
    use tare_service::settings::ServiceSettings;

    use tare_analysis::{capacity, checks};

    use super::*;
    use crate::{
        document::{Status, Verdict},
        gather::tests::golden::text,
    };

    const NS: u64 = 1_000_000_000;

    /// A search over services that answer up to this many requests per second in time, and no more.
    fn searched(services: &[(&str, f64)], starts: usize) -> (SloPlan, StoredRun) {
        let setting = SearchSetting {
            slo: Slo::parse(["p99=10ms"]).unwrap(),
            at_least: None,
            contract: "hello".to_owned(),
            load: LoadSetting::new(64, 1),
            service_settings: ServiceSettings::of_threads(1),
            starts,
            windows: 10,
            window: None,
            warm_up: Duration::ZERO,
            warm_up_max: Duration::ZERO,
            lag_max: Duration::from_millis(1),
        };
        let pinning = Pinning { server: vec![0], generator: vec![1] };
        let plan = Plan::search(&setting, &[], 7, pinning);
        let slo = plan.slo().expect("it is a search").clone();
        let labels: Vec<&str> = services.iter().map(|(label, _)| *label).collect();
        let plan = Plan { rows: fixture::plan(&labels).rows, ..plan };
        let mut searches = Searches::new(&slo);
        let mut records = Vec::new();
        for block in 0..starts {
            let order = (0..labels.len()).collect();
            let mut hear = |record: Record, searches: &mut Searches| {
                searches.on_record(&record);
                records.push(record);
            };
            hear(Record::Block(Block { block, order, ..Block::default() }), &mut searches);
            for (row, (_, knee)) in services.iter().enumerate() {
                // Each start differs by 1%.
                let knee = knee * (1.0 + 0.01 * block as f64);
                hear(slice(row, block, 10_000.0, None, 0), &mut searches);
                while let Some(rate) = searches.rate(row, Rate::Searched, 0.0) {
                    let late = if rate > knee { (rate - knee) as u64 } else { 0 };
                    hear(slice(row, block, rate, Some(rate), late), &mut searches);
                }
            }
        }
        records.push(Record::Ended(EndedRun { reason: Ending::BlocksMax, elapsed_ns: 60 * NS }));
        let header = Header { plan, ..fixture::compared() };
        (slo, StoredRun { header, records, damage: Vec::new(), in_progress: false })
    }

    /// A second at a rate, with this many late answers.
    fn slice(row: usize, block: usize, rate: f64, offered_per_second: Option<f64>, late: u64) -> Record {
        let answered = rate as u64;
        let p99_ns = if late > 0 { 20_000_000 } else { 4_000_000 };
        let load = LoadResult {
            offered_per_second,
            schedule_lag_ns_p99: offered_per_second.map(|_| 50_000),
            window_ns: NS,
            elapsed_ns: NS,
            sent: answered,
            answered,
            answered_in_window: answered,
            within: vec![answered.saturating_sub(late)],
            latency: Distribution {
                count: answered,
                quantiles_ns: vec![(0.5, 1_000_000), (0.99, p99_ns)],
                ..Distribution::default()
            },
            ..LoadResult::default()
        };
        let point = usize::from(offered_per_second.is_some());
        Record::Sample(Box::new(Sample { block, point, row, load, ..Sample::default() }))
    }

    fn told((_, stored): &(SloPlan, StoredRun)) -> Document {
        let document = crate::gather::document(stored, Path::new("runs/none"));
        assert_eq!(document.check(), Vec::<String>::new());
        document
    }

    #[test]
    fn a_search_has_its_capacities_and_its_steps() {
        assert_snapshot!(text(&told(&searched(&[("slow", 3_000.0), ("quick", 8_000.0)], 6))));
    }

    #[test]
    fn a_service_that_holds_nothing_is_told_beside_one_that_holds_all() {
        let found = told(&searched(&[("hopeless", 0.0), ("endless", 1e9)], 6));
        let expected = "Under p99=10ms, errors=0.1%: endless holds at least 11.0 k/s. Requests a second: endless at least 11.0 k/s";
        assert!(found.whole_answer().starts_with(expected), "{}", found.whole_answer());
        assert!(found.basis.ends_with(" No rate holds for hopeless."), "{}", found.basis);
        let hopeless = told(&searched(&[("hopeless", 0.0)], 2)).answer;
        assert_eq!(hopeless, "No service holds p99=10ms, errors=0.1% at any rate that was tried.");
    }

    #[test]
    fn who_holds_most_is_said_as_far_as_intervals_tell() {
        let of = |services: &[(&str, f64)], starts| told(&searched(services, starts)).answer;
        let begins = |answer: String, expected: &str| {
            let expected = format!("Under p99=10ms, errors=0.1%: {expected}");
            assert!(answer.starts_with(&expected), "{answer}");
        };
        begins(of(&[("slow", 3_000.0), ("quick", 8_000.0)], 6), "quick holds most, 8.29 k/s.");
        begins(of(&[("one", 8_000.0), ("two", 8_010.0)], 6), "2 services share first place with ");
        let endless = of(&[("endless", 1e9), ("without-end", 1e9), ("slow", 3_000.0)], 6);
        begins(endless, "2 services share first place with at least ");
        // One start gives no interval.
        begins(of(&[("slow", 3_000.0), ("quick", 8_000.0)], 1), "2 services share first place with ");
    }

    #[test]
    fn the_percentiles_that_were_asked_for_are_shown() {
        let mut run = searched(&[("quick", 8_000.0)], 6);
        let asked = Slo::parse(["p95=10ms", "p99.9=20ms"]).unwrap();
        for record in &mut run.1.records {
            if let Record::Sample(sample) = record {
                sample.load.latency.quantiles_ns =
                    vec![(0.5, 1_000_000), (0.95, 2_000_000), (0.999, 9_000_000)];
                sample.load.within = vec![sample.load.answered; 2];
            }
        }
        if let tare_bench::plan::Until::Search(slo) = &mut run.1.header.plan.until {
            slo.slo = asked;
        }
        let found = told(&run);
        let table = found.sections[0].table.as_ref().unwrap();
        let titles: Vec<&str> = table.columns.iter().map(|column| column.title.as_str()).collect();
        assert!(titles.contains(&"p95 there") && titles.contains(&"p99.9 there"), "{titles:?}");
        assert!(!titles.contains(&"p99 there"), "{titles:?}");
        let there: Vec<Option<f64>> = table.values("latency_ns_p95").map(Value::number).collect();
        assert_eq!(there, [Some(2e6)]);
    }

    #[test]
    fn a_rate_that_was_asked_for_is_checked() {
        let (slo, stored) = searched(&[("slow", 3_000.0), ("quick", 8_000.0), ("hopeless", 0.0)], 6);
        let slo = SloPlan { at_least: Some(5_000.0), ..slo };
        let report = capacity::compute(&slo, &stored);
        let found: Vec<(String, Verdict, String)> = checks::of_capacity(&report)
            .into_iter()
            .map(|check| (check.name, check.verdict, check.text))
            .collect();
        let reason = "no rate held that was tried, down to a hundredth of its closed loop";
        let expected = [
            ("quick", Verdict::Pass, "holds 8.29 k/s, of 5.00 k/s that were asked for"),
            ("slow", Verdict::Fail, "holds 3.11 k/s, of 5.00 k/s that were asked for"),
            ("hopeless", Verdict::Fail, reason),
        ];
        assert_eq!(found, expected.map(|(name, verdict, text)| (name.to_owned(), verdict, text.to_owned())));
    }

    #[test]
    fn a_search_without_a_start_says_why() {
        let mut early = searched(&[("quick", 8_000.0)], 1);
        early.1.records.truncate(4);
        let found = told(&early);
        assert_eq!(found.status, Status::CutOff);
        let expected = "Undecided after 0 searches: the run was cut off. So far: No service has a capacity. The first reason: \
                        quick: ";
        assert!(found.whole_answer().starts_with(expected), "{}", found.whole_answer());
    }
}
