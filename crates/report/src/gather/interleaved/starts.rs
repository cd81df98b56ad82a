//! Of starts: how services warm up, how long they take to answer, what memory they need.

use tare_analysis::estimate::Estimate;
use tare_analysis::report::{
    Report, RowReport, State,
    slices::{BlockFigures, blocks},
};
use tare_bench::run::{
    folder::Kept,
    record::{Pilot, Record},
};

use crate::{
    document::{Chart, Column, Scale, Section, Shape, Unit},
    gather::fields::{between, field, six_digits, span, table},
};

/// Series that are drawn at first.
const FIRST: usize = 8;

const WARM_UP_LEAD: &str = "A fresh process under load, before the first block: what a request costs, in windows of one length. A \
                            service is loaded for so long before its first slice that its curve is flat.";

/// One window of a pilot.
struct Window<'a> {
    pilot: &'a Pilot,
    place: usize,
}

impl Window<'_> {
    fn end_ns(&self) -> u64 {
        (self.place as u64 + 1) * self.pilot.window_ns
    }

    fn answered(&self) -> u64 {
        self.pilot.answered[self.place]
    }

    fn cpu_ns_per_request(&self) -> Option<f64> {
        let cpu_ns = *self.pilot.server_cpu_ns.get(self.place)?;
        (self.answered() > 0 && cpu_ns > 0).then(|| six_digits(cpu_ns as f64 / self.answered() as f64))
    }

    fn requests_per_second(&self) -> Option<f64> {
        let window_ns = self.pilot.window_ns;
        (window_ns > 0).then(|| six_digits(self.answered() as f64 / window_ns as f64 * 1e9))
    }
}

/// Curves of the pilots.
pub(crate) fn warm_up(kept: &Kept, report: &Report) -> Section {
    let label = |pilot: &Pilot| kept.header.plan.rows[pilot.row].label.as_str();
    let pilot = |wanted: &str| {
        kept.records.iter().find_map(|record| match record {
            Record::Pilot(pilot) if label(pilot) == wanted => Some(pilot),
            _ => None,
        })
    };
    let pilots: Vec<&Pilot> = report.rows.iter().filter_map(|row| pilot(&row.label)).collect();
    if pilots.is_empty() {
        let ms = kept.header.plan.warm_up_ns / 1_000_000;
        return Section::without("warm-up", "Warm-up", WARM_UP_LEAD).note(format!(
            "this run has no pilots: every fresh process had {ms} ms of load before its first slice"
        ));
    }
    let windows =
        pilots.iter().flat_map(|pilot| (0..pilot.answered.len()).map(|place| Window { pilot, place }));
    let windows: Vec<Window> = windows.collect();
    let steady = pilots.iter().filter_map(|pilot| Some((label(pilot), pilot.steady_after_ns? as f64)));
    let unsteady = pilots.iter().filter(|pilot| pilot.steady_after_ns.is_none()).count();
    let alt = match span(Unit::Nanoseconds, steady) {
        Some(span) => format!(
            "Time under load until it was steady: {span}; {unsteady} of {} services never were.",
            pilots.len()
        ),
        None => format!("None of {} services was steady within its time.", pilots.len()),
    };
    let number = Column::new;
    let is_steady =
        |window: &Window| window.pilot.steady_after_ns.is_some_and(|after_ns| window.end_ns() > after_ns);
    let fields = vec![
        field(number("label", "service", Unit::Text).facet(), |window: &Window| {
            label(window.pilot).to_owned()
        }),
        field(number("load_ns", "under load for", Unit::Nanoseconds), Window::end_ns),
        field(number("requests_per_second", "req/s", Unit::PerSecond), Window::requests_per_second),
        field(number("cpu_ns_per_request", "CPU/request", Unit::Nanoseconds), Window::cpu_ns_per_request),
        field(number("answered", "answers", Unit::Count), Window::answered),
        field(number("is_steady", "steady", Unit::Flag), is_steady),
    ];
    let table = table("Windows of the pilots", fields, windows);
    let chart = Chart::new(Shape::Lines, "load_ns", "cpu_ns_per_request", &alt).series("label");
    let chart = chart.scales(Scale::Linear, Scale::Log);
    let (title, n) = ("CPU per request since the first load".to_owned(), Some("answered".to_owned()));
    let chart = Chart { title, n, first: Some(FIRST), ..chart };
    Section::new("warm-up", "Warm-up", WARM_UP_LEAD, table).chart(chart)
}

/// A figure of each start or block of a row, and the row.
struct Spread<'a> {
    row: &'a RowReport,
    values: Vec<u64>,
}

impl Spread<'_> {
    /// The report's own median, between the least and the most.
    fn between(&self, median: Option<f64>) -> Option<Estimate> {
        let end = |value: Option<&u64>| value.map(|value| *value as f64);
        Some(Estimate {
            low: end(self.values.iter().min()),
            high: end(self.values.iter().max()),
            ..Estimate::known(median?)
        })
    }
}

fn spreads<'a>(kept: &Kept, report: &'a Report, value: fn(&BlockFigures) -> Option<u64>) -> Vec<Spread<'a>> {
    let blocks = blocks(kept);
    let measured = report.rows.iter().filter(|row| row.state == State::Measured);
    let spread = |row: &'a RowReport| Spread {
        row,
        values: blocks.get(row.label.as_str()).into_iter().flatten().filter_map(value).collect(),
    };
    measured.map(spread).filter(|spread| !spread.values.is_empty()).collect()
}

const RANGE: &str = "the median, between the least and the most of all: a range, and no confidence interval";

const MEMORY_LEAD: &str = "Peak resident memory of all processes of a service, under load.";

/// Peak memory by row.
pub(crate) fn memory(kept: &Kept, report: &Report) -> Section {
    let spreads = spreads(kept, report, |block| block.rss_bytes_peak);
    let figures =
        spreads.iter().filter_map(|spread| Some((spread.row.label.as_str(), spread.row.rss_bytes_peak?)));
    let Some(span) = span(Unit::Bytes, figures) else {
        return Section::without("memory", "Memory", MEMORY_LEAD)
            .note("no block of a row with figures has its memory");
    };
    let column = Column::new("rss_bytes_peak", "peak RSS", Unit::Bytes).help(RANGE);
    let mut fields =
        vec![field(Column::new("label", "service", Unit::Text), |spread: &Spread| spread.row.label.clone())];
    fields.extend(between(column, |spread: &Spread| spread.between(spread.row.rss_bytes_peak)));
    fields.push(field(Column::new("blocks", "blocks", Unit::Count), |spread: &Spread| spread.values.len()));
    let table = table("Peak memory", fields, spreads);
    let chart = Chart::new(Shape::Bars, "rss_bytes_peak", "label", &format!("Peak memory: {span}."));
    let chart = Chart { title: "Peak memory".to_owned(), n: Some("blocks".to_owned()), ..chart };
    Section::new("memory", "Memory", MEMORY_LEAD, table).chart(chart)
}

const START_LEAD: &str = "From exec to the first right answer, over all starts of a service; and how long it was under load until \
                          a request cost the same, as its pilot found.";

/// Time to the first answer by row.
pub(crate) fn start_up(kept: &Kept, report: &Report) -> Section {
    let spreads = spreads(kept, report, |block| block.start_up_ns);
    let figures =
        spreads.iter().filter_map(|spread| Some((spread.row.label.as_str(), spread.row.start_up_ns?)));
    let Some(span) = span(Unit::Nanoseconds, figures) else {
        return Section::without("start-up", "Start-up", START_LEAD)
            .note("no start of a row with figures was kept");
    };
    let column = Column::new("start_up_ns", "start-up", Unit::Nanoseconds).help(RANGE);
    let steady = Column::new("steady_after_ns", "steady after", Unit::Nanoseconds);
    let mut fields =
        vec![field(Column::new("label", "service", Unit::Text), |spread: &Spread| spread.row.label.clone())];
    fields.extend(between(column, |spread: &Spread| spread.between(spread.row.start_up_ns)));
    fields.push(field(Column::new("starts", "starts", Unit::Count), |spread: &Spread| spread.values.len()));
    fields.push(field(
        steady.help("of load; none without a pilot, or where it never was"),
        |spread: &Spread| spread.row.steady_after_ns,
    ));
    let table = table("Time to the first answer", fields, spreads);
    let chart = Chart::new(
        Shape::Bars,
        "start_up_ns",
        "label",
        &format!("Time from exec to the first answer: {span}."),
    );
    let chart = Chart { title: "Start-up".to_owned(), n: Some("starts".to_owned()), ..chart };
    let chart = chart.scales(Scale::Log, Scale::Names);
    Section::new("start-up", "Start-up", START_LEAD, table).chart(chart)
}
