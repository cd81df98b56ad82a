//! The table of a grid of batches: a line for each number of messages, handling time, environment and number of threads, a
//! column for each service, and beside each figure the published one.

use super::{
    PointReport, Report, RowReport,
    columns::{Table, missing},
};
use crate::report::table::{Cell, left, right};
use tare_bench::{
    figures::{Aspect, Seconds, messages_published},
    grid::{
        LOCAL,
        plan::{Offered, Point},
    },
};

/// What a makespan is shown in.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    /// As published.
    Seconds,
    /// Of fewer messages: for each of a producer's messages, so that it can be read beside what was published.
    MsPerMessage,
}

/// The grid and the other aspects.
pub fn tables(report: &Report) -> Vec<Table> {
    vec![grid(report), aspects(report)]
}

fn grid(report: &Report) -> Table {
    let unit = if report.scale == 1.0 { Unit::Seconds } else { Unit::MsPerMessage };
    let mut head: Vec<Cell> = ["N", "t ms", "link", "C"].into_iter().map(right).collect();
    head.extend(report.rows.iter().map(|row| right(&row.label)));
    head.iter_mut().for_each(|cell| cell.code = Some("2"));
    let mut lines = vec![head];
    lines.extend(report.points.iter().map(|point| line(report, point, unit)));
    let title = match unit {
        Unit::Seconds => "seconds from the first request to the last reply; (published)",
        Unit::MsPerMessage => {
            "milliseconds for each message of a producer, from the first request to the last reply; (published)"
        }
    };
    Table { title: format!("{title}; + best, - worst, x stuck"), lines }
}

fn line(report: &Report, point: &PointReport, unit: Unit) -> Vec<Cell> {
    let (of, knobs) = (&point.point, &point.point.knobs);
    let link = of.link.as_ref().map_or(LOCAL, |link| link.name.as_str());
    let threads = if knobs.threads == report.cpus {
        format!("{} = CPUs", report.cpus)
    } else {
        knobs.threads.to_string()
    };
    let mut line = vec![
        right(messages(of.offered).to_string()),
        right(knobs.delay_ms.to_string()),
        right(link),
        right(threads),
    ];
    let times: Vec<f64> =
        point.cells.iter().filter_map(|cell| cell.makespan_ns.map(|time| time.value)).collect();
    let best = times.iter().copied().fold(f64::MAX, f64::min);
    let worst = times.iter().copied().fold(0.0, f64::max);
    line.extend(report.rows.iter().enumerate().map(|(place, row)| {
        let cell = point.cell(place);
        let own = match cell.and_then(|cell| cell.makespan_ns) {
            Some(time) => {
                let mark = match time.value {
                    value if value == best && best < worst => "+",
                    value if value == worst && best < worst => "-",
                    _ => " ",
                };
                format!("{}{mark}", unit.show(time.value / 1e9, messages(of.offered)))
            }
            None => format!("{} ", missing(row, cell)),
        };
        let mut shown = right(format!("{own}{}", beside(report, point, row, unit)));
        shown.code = cell.filter(|cell| cell.stuck.is_some()).map(|_| "31");
        shown
    }));
    line
}

/// What was published for this point, in brackets.
fn beside(report: &Report, point: &PointReport, row: &RowReport, unit: Unit) -> String {
    let Some(messages) = messages_published(&point.point) else { return String::new() };
    match report.published_seconds(&point.point, row) {
        Some(Seconds::Took(seconds)) => format!(" ({})", unit.show(*seconds, messages)),
        Some(Seconds::Never(mark)) => format!(" ({mark})"),
        None => String::new(),
    }
}

impl Report {
    /// What was published of a row at a point of a grid of batches.
    pub fn published_seconds(&self, of: &Point, row: &RowReport) -> Option<&Seconds> {
        let link = of.link.as_ref().map_or(LOCAL, |link| link.name.as_str());
        let (name, messages) = row.published.as_deref().zip(messages_published(of))?;
        self.published.seconds(name, |cell| {
            (cell.n, cell.t_ms, cell.environment.as_str(), cell.threads)
                == (messages, of.knobs.delay_ms, link, of.knobs.threads)
        })
    }
}

fn messages(offered: Offered) -> u64 {
    match offered {
        Offered::Batch { messages, .. } => messages,
        _ => offered.requests().unwrap_or(1),
    }
}

impl Unit {
    fn show(self, seconds: f64, messages: u64) -> String {
        match self {
            Unit::Seconds => format!("{seconds:.3}"),
            Unit::MsPerMessage => format!("{:.2}", seconds * 1e3 / messages as f64),
        }
    }
}

/// The published opinions beside what can be counted: what comes with a framework, and what its user writes.
fn aspects(report: &Report) -> Table {
    let heads =
        ["service", "licence", "(published)", "packages", "with theirs", "build s", "(ease of including)"];
    let heads = heads.into_iter().chain(["lines of code", "(ease of using)"]);
    let mut head: Vec<Cell> =
        heads.enumerate().map(|(place, text)| if place < 3 { left(text) } else { right(text) }).collect();
    head.iter_mut().for_each(|cell| cell.code = Some("2"));
    let mut lines = vec![head];
    for row in &report.rows {
        let published =
            report.published.aspects.iter().find(|aspect| Some(&aspect.service) == row.published.as_ref());
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let count = |count: Option<usize>| right(or_none(count.map(|count| count.to_string())));
        let opinion = |of: fn(&Aspect) -> u8| {
            right(published.map_or(String::new(), |aspect| format!("({} of 5)", of(aspect))))
        };
        lines.push(vec![
            left(&row.label),
            left(&row.licence),
            left(published.map_or(String::new(), |aspect| format!("({})", aspect.licence))),
            count(row.counted.packages_direct),
            count(row.counted.packages_total),
            right(or_none(row.counted.build_s.map(|seconds| format!("{seconds:.1}")))),
            opinion(|aspect| aspect.ease_of_including),
            count(row.counted.code_lines),
            opinion(|aspect| aspect.ease_of_using),
        ]);
    }
    Table { title: "other aspects: what can be counted, and the published opinions".to_owned(), lines }
}
