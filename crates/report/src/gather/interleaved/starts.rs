//! Starts: warm-up, time to the first answer, and memory.

use tare_analysis::{
    estimate::UnitEstimate,
    interleaved::{
        Report, RowReport, RowState,
        slices::{BlockFigures, blocks},
    },
};
use tare_bench::{
    folder::StoredRun,
    record::{Pilot, Record},
    sample::RequestCost,
};

use crate::{
    document::{Chart, Scale, Section, Shape, Unit},
    gather::{
        columns::{Columns, six_digits},
        curves,
        words::span,
    },
};

const WARM_UP_LEAD: &str = "A fresh process under load, before the first block: what a request costs, in windows of one length. A \
                            service is loaded for so long before its first slice that its curve is flat.";

struct PilotWindow<'a> {
    label: &'a str,
    pilot: &'a Pilot,
    place: usize,
}

impl<'a> PilotWindow<'a> {
    fn all(label: &'a str, pilot: &'a Pilot) -> impl Iterator<Item = PilotWindow<'a>> {
        (0..pilot.answered.len()).map(move |place| PilotWindow { label, pilot, place })
    }

    fn end_ns(&self) -> u64 {
        (self.place as u64 + 1) * self.pilot.window_ns
    }

    fn answered(&self) -> u64 {
        self.pilot.answered[self.place]
    }

    fn cpu_ns_per_request(&self) -> Option<f64> {
        let cpu_ns = *self.pilot.server_cpu_ns.get(self.place)?;
        RequestCost::of(cpu_ns, self.answered()).per_request().map(six_digits)
    }

    fn requests_per_second(&self) -> Option<f64> {
        let window_ns = self.pilot.window_ns;
        (window_ns > 0).then(|| six_digits(self.answered() as f64 / window_ns as f64 * 1e9))
    }

    fn is_steady(&self) -> bool {
        self.pilot.steady_after_ns.is_some_and(|after_ns| self.end_ns() > after_ns)
    }
}

pub(crate) fn warm_up(stored: &StoredRun, report: &Report) -> Section {
    let plan = &stored.header.plan;
    let pilot = |wanted: &'_ str| {
        stored.records.iter().find_map(|record| match record {
            Record::Pilot(pilot) if plan.rows[pilot.row].label == wanted => Some(pilot),
            _ => None,
        })
    };
    let pilots = report.rows.iter().filter_map(|row| Some((row.label.as_str(), pilot(&row.label)?)));
    let pilots: Vec<(&str, &Pilot)> = pilots.collect();
    if pilots.is_empty() {
        let ms = plan.warm_up_ns() / 1_000_000;
        return Section::without("warm-up", "Warm-up", WARM_UP_LEAD).note(format!(
            "this run has no pilots: every fresh process had {ms} ms of load before its first slice"
        ));
    }
    let columns = Columns::new()
        .facet("label", "service", |window: &PilotWindow| window.label.to_owned())
        .ns("load_ns", "under load for", PilotWindow::end_ns)
        .rate("requests_per_second", "req/s", PilotWindow::requests_per_second)
        .ns("cpu_ns_per_request", "CPU/request", PilotWindow::cpu_ns_per_request)
        .count("answered", "answers", PilotWindow::answered)
        .flag("is_steady", "steady", PilotWindow::is_steady);
    let chart = Chart::new(Shape::Lines, "load_ns", "cpu_ns_per_request", &steadiness(&pilots))
        .series("label")
        .scales(Scale::Linear, Scale::Log)
        .title("CPU per request since the first load")
        .n("answered")
        .among_grey(curves::COLOURED);
    let windows = pilots.into_iter().flat_map(|(label, pilot)| PilotWindow::all(label, pilot));
    let table = columns.table("Windows of the pilots", windows);
    Section::new("warm-up", "Warm-up", WARM_UP_LEAD, table).chart(chart)
}

/// How long services were under load until they were steady.
fn steadiness(pilots: &[(&str, &Pilot)]) -> String {
    let steady = pilots.iter().filter_map(|(label, pilot)| Some((*label, pilot.steady_after_ns? as f64)));
    let unsteady = pilots.iter().filter(|(_, pilot)| pilot.steady_after_ns.is_none()).count();
    let all = pilots.len();
    match span(Unit::Nanoseconds, steady) {
        Some(span) => {
            format!("Time under load until it was steady: {span}; {unsteady} of {all} services never were.")
        }
        None => format!("None of {all} services was steady within its time."),
    }
}

/// A figure per start or block of a row, with the row.
struct Spread<'a> {
    row: &'a RowReport,
    values: Vec<u64>,
}

/// A figure that each block or start of a service has.
struct Measure {
    /// The id, heading and lead of its section.
    heads: [&'static str; 3],
    unit: Unit,
    key: &'static str,
    title: &'static str,
    /// The unit of repetition, as the title of a column.
    of: &'static str,
    each: fn(&BlockFigures) -> Option<u64>,
    level: fn(&RowReport) -> Option<UnitEstimate>,
    /// The caption of the table, the title of the chart, and its description.
    words: [&'static str; 3],
    none: &'static str,
}

impl Measure {
    fn spreads<'a>(&self, stored: &StoredRun, report: &'a Report) -> Vec<Spread<'a>> {
        let blocks = blocks(stored);
        let measured = report.rows.iter().filter(|row| row.state == RowState::Measured);
        let values =
            |row: &RowReport| blocks.get(row.label.as_str()).into_iter().flatten().filter_map(self.each);
        let spreads = measured.map(|row| Spread { row, values: values(row).collect() });
        spreads.filter(|spread| !spread.values.is_empty()).collect()
    }

    fn columns<'a>(&self) -> Columns<'a, Spread<'a>> {
        let level = self.level;
        let end = |end: &str| format!("{}_{end}", self.key);
        Columns::new()
            .text("label", "service", |spread: &Spread| spread.row.label.clone())
            .estimate(self.unit, self.key, self.title, move |spread| level(spread.row))
            .help("the mean, with a 95% interval")
            .add(self.unit, &end("min"), "least", |spread| spread.values.iter().min().copied())
            .add(self.unit, &end("max"), "most", |spread| spread.values.iter().max().copied())
            .count(self.of, self.of, |spread| spread.values.len())
    }

    /// A bar per service, and further figures.
    fn section<'a>(
        &self,
        stored: &StoredRun,
        report: &'a Report,
        more: Columns<'a, Spread<'a>>,
        scale: Scale,
    ) -> Section {
        let [id, title, lead] = self.heads;
        let spreads = self.spreads(stored, report);
        let figures = spreads.iter().map(|spread| spread.row);
        let figures = figures.filter_map(|row| Some((row.label.as_str(), (self.level)(row)?.value)));
        let Some(span) = span(self.unit, figures) else {
            return Section::without(id, title, lead).note(self.none);
        };
        let [caption, heading, what] = self.words;
        let chart = Chart::new(Shape::Bars, self.key, "label", &format!("{what}: {span}."));
        let chart = chart.title(heading).n(self.of).scales(scale, Scale::Names);
        Section::new(id, title, lead, self.columns().and(more).table(caption, spreads)).chart(chart)
    }
}

const MEMORY: Measure = Measure {
    heads: ["memory", "Memory", "Peak resident memory of all processes of a service, under load."],
    unit: Unit::Bytes,
    key: "rss_bytes_peak",
    title: "peak RSS",
    of: "blocks",
    each: |block| block.rss_bytes_peak,
    level: |row| row.rss_bytes_peak,
    words: ["Peak memory"; 3],
    none: "no block of a row with figures has its memory",
};

const START_UP: Measure = Measure {
    heads: [
        "start-up",
        "Start-up",
        "From exec to the first right answer, over all starts of a service; and how long it was under load until a request cost \
         the same, as its pilot found.",
    ],
    unit: Unit::Nanoseconds,
    key: "start_up_ns",
    title: "start-up",
    of: "starts",
    each: |block| block.start_up_ns,
    level: |row| row.start_up_ns,
    words: ["Time to the first answer", "Start-up", "Time from exec to the first answer"],
    none: "no start of a row with figures was kept",
};

pub(crate) fn memory(stored: &StoredRun, report: &Report) -> Section {
    MEMORY.section(stored, report, Columns::new(), Scale::Linear)
}

/// Time to the first answer by row.
pub(crate) fn start_up(stored: &StoredRun, report: &Report) -> Section {
    let steady = Columns::new()
        .ns("steady_after_ns", "steady after", |spread: &Spread| spread.row.steady_after_ns)
        .help("of load; none without a pilot, or if it never was");
    START_UP.section(stored, report, steady, Scale::Log)
}
