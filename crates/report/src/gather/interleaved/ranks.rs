//! The main table: every requested row; those without figures have their reason.

use tare_analysis::interleaved::{BackingKind, Report, Role, RowReport, RowState, Twin};
use tare_bench::{folder::StoredRun, metric::Metric, plan::PlannedRow};

use super::{answer, cost, parts};
use crate::{
    document::{Chart, Column, Extra, Section, Sentences, Shape, Unit},
    gather::{
        columns::{Columns, beside, state},
        words::{span, with_interval},
    },
};

/// A row of the report, with its plan.
struct RankedRow<'a> {
    report: &'a RowReport,
    planned: Option<&'a PlannedRow>,
    /// Whether it is not separated from the next row.
    is_tied_to_next: Option<bool>,
}

const RANKS_LEAD: &str = "One row per service. The bar beside a rank spans all ranks that the service may have: the data support \
                          no finer order.";

const REFERENCES_LEAD: &str = "One row per service. The bar beside a rank spans all ranks that the service may have: the data support no \
                               finer order. References, which the others are measured against, come first and have no rank.";

const UNRANKED_LEAD: &str = "One row per service, in the order of what was measured. That is no ranking: which rows can be separated \
                             is not known.";

const ALONE_LEAD: &str = "One row per service.";

/// Heading, lead and caption; they mention ranks only if these are known.
fn heading(report: &Report) -> [&'static str; 3] {
    match &report.ranks {
        Some(ranks) if ranks.are_known() => match report.rows.iter().any(|row| row.role == Role::Reference) {
            true => ["Ranks", REFERENCES_LEAD, "References, then services, best first"],
            false => ["Ranks", RANKS_LEAD, "Services, best first"],
        },
        _ if report.rows.iter().filter(|row| row.state == RowState::Measured).count() > 1 => {
            ["Services", UNRANKED_LEAD, "Services"]
        }
        _ => ["Services", ALONE_LEAD, "Services"],
    }
}

pub(crate) fn section(stored: &StoredRun, report: &Report) -> Section {
    let plan = &stored.header.plan;
    let planned = |label: &str| plan.rows.iter().find(|row| row.label == label);
    let tie = |label: &str| report.ranks.as_ref().and_then(|ranks| ranks.is_tied_to_next(label));
    let rows = report.rows.iter().map(|row| RankedRow {
        report: row,
        planned: planned(&row.label),
        is_tied_to_next: tie(&row.label),
    });
    let columns =
        identity().and(figures(report)).and(facets(plan.contract())).and(extent()).and(of_manifest(report));
    let columns =
        digest(report).into_iter().fold(columns, |columns, key| columns.with_column(key, Column::digest));
    let [title, lead, caption] = heading(report);
    let mut section = Section::new("ranks", title, lead, columns.table(caption, rows));
    section.charts.extend(charts(report));
    let of_ranks = report.ranks.as_ref().and_then(|ranks| ranks.lines().into_iter().next());
    let section = match of_ranks {
        Some(line) => section.note(line),
        None => section.note("no ranks: fewer than two rows have figures"),
    };
    let section = match &report.ranks {
        Some(ranks) if ranks.are_known() && ranks.not_separated.is_empty() => {
            section.note("all adjacent rows are separated")
        }
        _ => section,
    };
    report.twin.as_ref().and_then(seen_by).into_iter().fold(section, Section::note)
}

/// The columns of a table for a pull request: ratios if there are some, else the figures themselves.
fn digest(report: &Report) -> [&'static str; 6] {
    let of_any = |figure: fn(&RowReport) -> bool| report.rows.iter().any(figure);
    [
        "label",
        "ranks",
        if of_any(|row| row.cpu_ratio.is_some()) { cost_ratio(report) } else { "cpu_ns_per_request" },
        if of_any(|row| row.ratio.is_some()) { "throughput_ratio" } else { "requests_per_second" },
        "latency_ns_p99",
        "rss_bytes_peak",
    ]
}

/// The column with the ratio of costs that ranks are made of.
fn cost_ratio(report: &Report) -> &'static str {
    match report.ranks.as_ref().map(|ranks| ranks.by) {
        Some(Metric::CpuWithDatabase) => "total_cpu_ratio",
        _ => "cpu_ratio",
    }
}

/// The sensitivity of the run, from its measurement of the reference's twin.
fn seen_by(twin: &Twin) -> Option<String> {
    let by = answer::of_metric(twin.by);
    let least = Unit::Share.show(twin.resolution()?);
    let found = with_interval(twin.estimate.as_ref()?, Unit::Times);
    Some(format!(
        "smallest detectable difference: {least} (one pair of rows as noisy as the reference); {}, the reference's twin, has {found} of \
         its {by}",
        twin.row.label
    ))
}

fn identity<'a>() -> Columns<'a, RankedRow<'a>> {
    Columns::new()
        .text("label", "service", |row: &RankedRow| row.report.label.clone())
        .text("ranks", "rank", |row| row.report.ranks.map(ranks))
        .priority(90)
        .help("the best and the worst rank that it may have")
        .count("rank_best", "best rank", |row| row.report.ranks.map(|ranks| ranks[0]))
        .hidden()
        .count("rank_worst", "worst rank", |row| row.report.ranks.map(|ranks| ranks[1]))
        .hidden()
        .flag("is_reference", "reference", |row| row.report.role == Role::Reference)
        .help("what the others are measured against: it has no rank")
        .hidden()
        .flag("is_tied_to_next", "tied to next", |row| row.is_tied_to_next)
        .help("not separated from the row that is ranked after it; none for the last one")
        .hidden()
        .text("title", "variant", |row| row.report.title.clone())
        .priority(13)
        .help("how it differs from the service of that name")
        .text("framework", "framework", |row| row.report.framework.clone())
        .hidden()
        .text("version", "version", |row| row.report.version.clone())
        .priority(5)
        .with(|column| column.extra(Extra::Always))
}

fn ranks([best, worst]: [usize; 2]) -> String {
    if best == worst { best.to_string() } else { format!("{best}-{worst}") }
}

/// The columns for filters. Licence and contract are rarely read, so they are in the data only.
fn facets<'a>(contract: &'a str) -> Columns<'a, RankedRow<'a>> {
    Columns::new()
        .language(|row: &RankedRow| known(&row.report.language))
        .priority(8)
        .facet("style", "style", |row| row.report.style.name())
        .priority(6)
        .help("a framework, a platform, or the raw socket")
        .facet("licence", "licence", |row| row.planned.and_then(|row| known(&row.licence)))
        .hidden()
        .facet("contract", "contract", move |_| contract)
        .hidden()
}

/// The text, unless it is unknown, as for a service given by its command.
fn known(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn figures<'a>(report: &'a Report) -> Columns<'a, RankedRow<'a>> {
    let (of, reference) = (|row: &RankedRow<'a>| row.report, report.reference.as_str());
    let is_of_service = cost_ratio(report) == "cpu_ratio";
    parts::total_ratio(report, of)
        .and(cost::cpu(of, reference))
        .with_column("cpu_ratio", |column| {
            if is_of_service { column } else { beside(column, 62).extra(Extra::Always) }
        })
        .and(cost::cpu_at_rate(of))
        .with_column(cost_ratio(report), Column::track)
        .and(parts::in_main_table(report, of))
        .and(cost::throughput(of, reference).with_column("throughput_ratio", Column::bar))
        .with_column("requests_per_second", |column| column.extra(Extra::Always))
        .estimate(Unit::Nanoseconds, "latency_ns_p50", "p50", |row| row.report.latency_ns_p50)
        .with(|column| beside(column, 11).extra(Extra::Always))
        .help(
            "of the answers of one process in a closed loop; the mean of the processes, with a 95% interval",
        )
        .estimate(Unit::Nanoseconds, "latency_ns_p99", "p99", |row| row.report.latency_ns_p99)
        .with(|column| beside(column, 40))
        .help("the same: see latency against load")
        .estimate(Unit::Bytes, "rss_bytes_peak", "RSS", |row| row.report.rss_bytes_peak)
        .with(|column| beside(column, 20))
        .help("peak resident memory; the mean of the processes, with a 95% interval")
        .estimate(Unit::Nanoseconds, "start_up_ns", "start-up", |row| row.report.start_up_ns)
        .with(|column| beside(column, 10).extra(Extra::Always))
        .help("from exec to the first right answer; the mean of the starts, with a 95% interval")
        .and(figures_in_the_data())
}

fn figures_in_the_data<'a>() -> Columns<'a, RankedRow<'a>> {
    Columns::new()
        .ns("cpu_ns_per_request_with_softirq", "CPU/request with softirq", |row: &RankedRow| {
            row.report.cpu_ns_per_request_with_softirq
        })
        .hidden()
        .number("bytes_per_request", "bytes/request", |row| row.report.bytes_per_request)
        .hidden()
        .number("context_switches_per_request", "switches/request", |row| {
            row.report.context_switches_per_request
        })
        .hidden()
}

fn extent<'a>() -> Columns<'a, RankedRow<'a>> {
    Columns::new()
        .count("errors", "errors", |row: &RankedRow| errors(row.report))
        .priority(70)
        .with(|column| column.extra(Extra::IfAlike))
        .help("wrong and missing answers")
        .text("errors_by_kind", "errors by kind", |row| errors_by_kind(row.report))
        .hidden()
        .count("sent", "requests sent", |row| row.report.sent)
        .hidden()
        .count("blocks", "blocks", |row| (row.report.blocks > 0).then_some(row.report.blocks))
        .priority(9)
        .with(|column| column.extra(Extra::Always))
        .help("complete blocks: the independent observations")
        .count("starts", "starts", |row| (row.report.starts > 0).then_some(row.report.starts))
        .priority(7)
        .with(|column| column.extra(Extra::Always))
        .help("processes on which the blocks were measured; fewer if one was kept")
        .facet("state", "state", |row| state(row.report.verdict()))
        .priority(65)
        .text("reason", "reason", |row| row.report.reason())
        .help("why there are no figures, or no throughput")
        .text("warnings", "warnings", |row| warnings(row.report))
}

fn errors(row: &RowReport) -> Option<u64> {
    (row.sent > 0).then(|| row.failed.values().sum())
}

/// `mismatch 12, reset 1`.
fn errors_by_kind(row: &RowReport) -> Option<String> {
    let kinds: Vec<String> = row.failed.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    (!kinds.is_empty()).then(|| kinds.join(", "))
}

/// What a manifest says of the database; no column for a run without one.
fn of_manifest<'a>(report: &Report) -> Columns<'a, RankedRow<'a>> {
    match parts::kind(report) {
        Some(BackingKind::Database) => Columns::new().text("database_use", "database", database_use).help(
            "what its driver asks of the database for each request, where that is more than one question",
        ),
        _ => Columns::new(),
    }
}

/// What the manifest says of a service's use of the database, in a run that has one.
fn database_use(row: &RankedRow) -> Option<Sentences> {
    row.report.database()?;
    Sentences::new(row.planned?.settings.iter().filter_map(|setting| setting.database.as_ref()))
}

fn warnings(row: &RowReport) -> Option<Sentences> {
    let of_latency = row.latency_open.iter().filter_map(|latency| latency.doubt.as_ref());
    Sentences::new(of_latency.chain(&row.findings))
}

/// Charts of the cost per request and of the throughput: ratios, or absolute figures without a reference. The table itself
/// draws ratios of cost.
fn charts(report: &Report) -> impl Iterator<Item = Chart> {
    let reference = report.reference.as_str();
    let cost = bars(
        report,
        "CPU time per request",
        ("cpu_ratio", Unit::Times, &|row| row.cost_of(reference).map(|ratio| ratio.value)),
        ("cpu_ns_per_request", Unit::Nanoseconds, &|row| Some(row.cpu_ns_per_request?.value)),
    );
    let cost = cost.filter(|chart| chart.x != "cpu_ratio");
    let throughput = bars(
        report,
        "Throughput",
        ("throughput_ratio", Unit::Share, &|row| row.throughput_of(reference).map(|ratio| ratio.value)),
        ("requests_per_second", Unit::PerSecond, &|row| Some(row.requests_per_second?.value)),
    );
    [cost, throughput].into_iter().flatten()
}

/// A column of the table: its key, its unit, and its value in a row.
type Figure<'a> = (&'static str, Unit, &'a dyn Fn(&RowReport) -> Option<f64>);

fn bars(report: &Report, title: &str, ratio: Figure<'_>, own: Figure<'_>) -> Option<Chart> {
    let measured = || report.rows.iter().filter(|row| row.state == RowState::Measured);
    let of = |(_, unit, value): Figure<'_>| {
        span(unit, measured().filter_map(|row| Some((row.label.as_str(), value(row)?))))
    };
    let (key, alt) = match of(ratio) {
        Some(span) => (ratio.0, format!("{title} related to {}: {span}.", report.reference)),
        None => (own.0, format!("{title}: {}.", of(own)?)),
    };
    Some(Chart::new(Shape::Bars, key, "label", &alt).title(title).n("blocks"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_analysis::estimate::UnitEstimate;

    #[test]
    fn a_twin_says_what_a_run_could_have_seen_and_only_with_an_interval() {
        let ends = UnitEstimate { low: Some(0.99), high: Some(1.03), ..UnitEstimate::known(1.01) };
        let row = RowReport { label: "raw-socket@2".to_owned(), ..RowReport::default() };
        let twin = Twin {
            row,
            by: Metric::Cpu,
            original: "raw-socket".to_owned(),
            estimate: Some(ends),
            separated: false,
        };
        let said = seen_by(&twin).unwrap();
        assert!(said.starts_with("smallest detectable difference: 2.0% (one pair of rows"), "{said}");
        assert!(
            said.ends_with(
                "raw-socket@2, the reference's twin, has 1.01x (0.99 .. 1.03x) of its CPU per request"
            ),
            "{said}"
        );
        let wider = UnitEstimate { low: Some(0.9), high: Some(1.1), ..ends };
        let other = seen_by(&Twin { estimate: Some(wider), ..twin.clone() }).unwrap();
        assert!(
            other.contains("difference: 10.6% (one") && other.contains("1.01x (0.90 .. 1.10x)"),
            "{other}"
        );
        assert_eq!(seen_by(&Twin { estimate: Some(UnitEstimate::known(1.01)), ..twin }), None);
    }
}
