//! The parts of a request's CPU time, if services use a backing service: the service in user mode and in the
//! kernel, and the backing service.

use std::collections::BTreeSet;

use tare_analysis::{
    estimate::UnitEstimate,
    interleaved::{BackingCost, BackingKind, KernelShare, Report, RowReport, RowState},
};

use crate::{
    document::{Chart, Extra, Section, Shape, Unit},
    gather::{
        columns::{Columns, beside},
        words::span,
    },
};

/// The title of the column, and the description of the part.
pub(super) fn words(kind: BackingKind) -> [&'static str; 2] {
    match kind {
        BackingKind::Database => ["database", "the database's part is what PostgreSQL did for it"],
        BackingKind::Upstream => [
            "upstream",
            "the upstream's part is what the server behind the gateway did for it, which is Tare's own",
        ],
        BackingKind::Both => {
            ["backing", "the backing part is what PostgreSQL and the server behind the gateway did for it"]
        }
    }
}

/// The backing service of a run; `None` without one. The contract determines it for all services.
pub(crate) fn kind(report: &Report) -> Option<BackingKind> {
    report.rows.iter().find_map(|row| Some(row.backing.as_ref()?.kind))
}

/// A row with its valid costs.
type Parts<'a> = (&'a RowReport, &'a BackingCost);

/// `None` for a run without a backing service.
pub(super) fn section(report: &Report) -> Option<Section> {
    let [name, of_it] = words(kind(report)?);
    let measured = report.rows.iter().filter(|row| row.state == RowState::Measured);
    // In the order of the ranks.
    let rows: Vec<Parts> = measured.filter_map(|row| Some((row, row.backing.as_ref()?))).collect();
    let lead = format!("CPU time of a request. Driver and framework are in the service's part; {of_it}.");
    let title = "CPU time of service and ".to_owned() + name;
    let notes = resolution(&rows).into_iter().chain(settings(&rows));
    let chart = chart(name, &rows);
    let table = columns(name).table(&title, rows);
    let section = Section::new("parts", &title, &lead, table).brief();
    Some(notes.into_iter().fold(Section { charts: chart.into_iter().collect(), ..section }, Section::note))
}

/// Notes on versions and settings of the database: other ones make another experiment.
fn settings(rows: &[Parts]) -> Vec<String> {
    let said = rows.iter().flat_map(|(_, backing)| backing.settings.iter());
    let each: BTreeSet<&String> = said.collect();
    each.into_iter().map(|said| format!("the database: {said}")).collect()
}

/// The precision of the split by mode.
fn resolution(rows: &[Parts]) -> Option<String> {
    let splits =
        rows.iter().filter_map(|(row, backing)| Some((row.label.as_str(), backing.kernel?.resolution)));
    let span = span(Unit::Share, splits)?;
    Some(format!(
        "the kernel counts its own time and that in user mode in ticks of 10 ms, which are added up over all slices: half of the 95% \
         interval of its share is {span} of the service's CPU time"
    ))
}

fn chart(name: &str, rows: &[Parts]) -> Option<Chart> {
    let value = |estimate: Option<UnitEstimate>| estimate.map(|found| found.value);
    let totals =
        rows.iter().filter_map(|(row, of)| Some((row.label.as_str(), value(of.total_cpu_ns_per_request)?)));
    let backing = rows.iter().map(|(row, of)| (row.label.as_str(), of.cpu_ns_per_request.value));
    let [total, backing] = [span(Unit::Nanoseconds, totals)?, span(Unit::Nanoseconds, backing)?];
    let alt =
        format!("CPU time of a request, service and {name} together: {total}; {name} alone: {backing}.");
    // A service with unknown modes is one part.
    let split = ["service_user_ns", "service_kernel_ns"];
    let is_split = |(row, _): &&Parts| row.cpu_ns_by_mode().is_some();
    let some = |is: bool, keys: &[&'static str]| if is { keys.to_vec() } else { Vec::new() };
    let parts = [
        some(rows.iter().any(|row| is_split(&row)), &split),
        some(!rows.iter().all(|row| is_split(&row)), &["service_unsplit_ns"]),
        vec!["backing_cpu_ns_per_request"],
    ];
    let chart = Chart::new(Shape::Bars, "total_cpu_ns_per_request", "label", &alt).stack(&parts.concat());
    Some(chart.title(&format!("CPU time of a request: service and {name}")).n("blocks"))
}

fn columns<'a>(name: &str) -> Columns<'a, Parts<'a>> {
    let of_backing = Unit::Nanoseconds;
    let mode = |place: usize| move |(row, _): &Parts| row.cpu_ns_by_mode().map(|modes| modes[place]);
    let kernel = |value: fn(KernelShare) -> f64| move |(_, of): &Parts| of.kernel.map(value);
    Columns::new()
        .text("label", "service", |(row, _): &Parts| row.label.clone())
        .language(|(row, _)| row.language.clone())
        .estimate(of_backing, "total_cpu_ns_per_request", &format!("service + {name}"), |(_, of)| {
            of.total_cpu_ns_per_request
        })
        .help("CPU time of both for each answer, with the 95% interval of their sum")
        .estimate(Unit::Nanoseconds, "cpu_ns_per_request", "service", |(row, _)| row.cpu_ns_per_request)
        .help("CPU time of the service's processes for each answer: framework, driver and kernel")
        .ns("service_user_ns", "service, user mode", mode(0))
        .ns("service_kernel_ns", "service, kernel", mode(1))
        .help("system calls, sockets and page faults of the service")
        .ns("service_unsplit_ns", "service, mode unknown", |(row, _)| {
            row.cpu_ns_per_request.filter(|_| row.cpu_ns_by_mode().is_none()).map(|found| found.value)
        })
        .and(self::backing(name, |(_, of): &Parts| Some(*of)))
        .share("kernel_share", "kernel share", kernel(|of| of.share))
        .help("of the service's CPU time")
        .share("kernel_share_resolution", "±", kernel(|of| of.resolution))
        .help("half of the 95% interval of the kernel's share: of counting ticks of 10 ms")
        .estimate(Unit::Bytes, "backing_rss_bytes", &format!("{name} RSS"), |(_, of)| of.rss_bytes)
        .help("the most resident memory of its processes after a slice; pages that they share count for each")
        .count("blocks", "blocks", |(row, _)| row.blocks)
}

/// The CPU time of the backing service of a row.
fn backing<'a, T: 'a>(name: &str, of: impl Fn(&T) -> Option<&'a BackingCost> + Clone + 'a) -> Columns<'a, T> {
    Columns::new()
        .estimate(Unit::Nanoseconds, "backing_cpu_ns_per_request", &format!("{name} CPU"), move |thing| {
            Some(of(thing)?.cpu_ns_per_request)
        })
        .help("CPU time of what the service works with for each answer; the mean of the blocks, with a 95% interval")
}

/// The ratio of the sum, of which ranks are made; no column for a run without a database.
pub(super) fn total_ratio<'a, T: 'a>(
    report: &'a Report,
    row: impl Fn(&T) -> &'a RowReport + Clone + 'a,
) -> Columns<'a, T> {
    if kind(report) != Some(BackingKind::Database) {
        return Columns::new();
    }
    let reference = report.reference.as_str();
    Columns::new()
        .estimate(Unit::Times, "total_cpu_ratio", "service + database of reference", move |thing| {
            row(thing).total_cost_of(reference)
        })
        .with(|column| column.interval_priority(85))
        .help("CPU time of both for each answer, related to the reference's in the same block, with a 95% interval")
}

/// The same for the main table; no column for a run without a backing service.
pub(crate) fn in_main_table<'a, T: 'a>(
    report: &Report,
    row: impl Fn(&T) -> &'a RowReport + Clone + 'a,
) -> Columns<'a, T> {
    let columns = kind(report).map(|kind| {
        let of = row.clone();
        let total = move |thing: &T| of(thing).backing.as_ref()?.total_cpu_ns_per_request;
        backing(words(kind)[0], move |thing| row(thing).backing.as_ref())
            .with(|column| beside(column, 60).extra(Extra::Never))
            .estimate(
                Unit::Nanoseconds,
                "total_cpu_ns_per_request",
                &format!("service + {}", words(kind)[0]),
                total,
            )
            .with(|column| beside(column, 61).extra(Extra::Never))
            .help("CPU time of both for each answer, with the 95% interval of their sum")
    });
    columns.unwrap_or_else(Columns::new)
}

/// The cost at a rate that is the same for all.
pub(super) fn at_rate<'a, T: 'a>(
    report: &Report,
    value: impl Fn(&T) -> Option<UnitEstimate> + Clone + 'a,
) -> Columns<'a, T> {
    let columns = kind(report).map(|kind| {
        Columns::new()
            .estimate(Unit::Nanoseconds, "backing_cpu_ns_at_rate", &format!("{} CPU", words(kind)[0]), value)
            .help("CPU time of what the service works with for each answer, at that rate")
    });
    columns.unwrap_or_else(Columns::new)
}

/// How busy the CPUs shared by a service and its backing service were.
pub(super) fn busy<'a, T: 'a>(report: &Report, row: impl Fn(&T) -> &'a RowReport + 'a) -> Columns<'a, T> {
    let columns = kind(report).map(|kind| {
        let title = format!("service + {}", words(kind)[0]);
        Columns::new()
            .share("busy_cpu_share", &title, move |thing| row(thing).busy_cpu_share())
            .help("of the service's CPUs: busy with it or with what it works with, which shares them")
    });
    columns.unwrap_or_else(Columns::new)
}

#[cfg(test)]
mod tests {
    use tare_analysis::interleaved::compute;
    use tare_bench::{folder::StoredRun, record::Record, sample::Sample};
    use tare_service::backing::BackingCounts;

    use super::*;
    use crate::{
        gather::fixture::{kept, kept_with_database},
        write::{
            markdown,
            text::{self, TextLook},
        },
    };

    fn changed(change: impl Fn(&mut Sample)) -> StoredRun {
        let mut kept = kept_with_database(8);
        for record in &mut kept.records {
            if let Record::Sample(sample) = record {
                change(sample);
            }
        }
        kept
    }

    #[test]
    fn the_section_in_a_terminal_and_as_markdown() {
        let section = section(&compute(&kept_with_database(8))).unwrap();
        let look = TextLook { width: Some(140), ..TextLook::default() };
        insta::assert_snapshot!(format!(
            "{}\n{}",
            text::section(&section, look),
            markdown::section(&section)
        ));
    }

    #[test]
    fn a_run_without_a_database_has_no_such_section() {
        assert_eq!(section(&compute(&kept(8))), None);
    }

    #[test]
    fn a_gateway_has_an_upstream_and_no_database() {
        let counts = BackingCounts { upstream_requests: Some(1), ..BackingCounts::default() };
        let section = section(&compute(&changed(|sample| sample.host.backing = Some(counts)))).unwrap();
        assert!(section.title.ends_with("service and upstream") && !section.lead.contains("PostgreSQL"));
    }

    /// If the modes of a service are unknown, the whole is one part of its bar, so that no bar is too short.
    #[test]
    fn a_service_without_modes_is_one_part() {
        let of = |row: Option<usize>| {
            let is_it = |sample: &Sample| row.is_none_or(|row| row == sample.row);
            let run = changed(|sample| {
                let modes = sample.host.server_cpu_by_mode.filter(|_| !is_it(sample));
                sample.host.server_cpu_by_mode = modes;
            });
            section(&compute(&run)).unwrap().charts.remove(0).stack.unwrap()
        };
        let [user, kernel, unsplit, database] =
            ["service_user_ns", "service_kernel_ns", "service_unsplit_ns", "backing_cpu_ns_per_request"];
        assert_eq!(of(None), [unsplit, database]);
        assert_eq!(of(Some(1)), [user, kernel, unsplit, database]);
        assert_eq!(of(Some(9)), [user, kernel, database]);
    }
}
