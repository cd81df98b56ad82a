//! The main table: every row that was asked for, those without figures with their reason.

use tare_analysis::estimate::Estimate;
use tare_analysis::report::{Report, RowReport, State};
use tare_bench::run::{folder::Kept, plan::PlannedRow};

use crate::{
    document::{Chart, Column, Section, Shape, Unit, Value},
    gather::{
        fields::{Field, between, field, span, spare, table},
        lay::state,
    },
};

/// A row of the report, and what was planned of it.
struct Row<'a> {
    report: &'a RowReport,
    planned: Option<&'a PlannedRow>,
}

const TIERS_LEAD: &str = "One row a service. Rows of one tier are not separated from the first of it: the data support no finer order.";

const UNRANKED_LEAD: &str = "One row a service, in the order of what was measured. That is no ranking: which rows can be separated \
                             apart is not known.";

const ALONE_LEAD: &str = "One row a service.";

/// Heading, lead and caption: of tiers only where there are some.
fn heading(report: &Report) -> [&'static str; 3] {
    match &report.tiers {
        Some(tiers) if tiers.are_known() => ["Tiers", TIERS_LEAD, "Services, best first"],
        _ if report.rows.iter().filter(|row| row.state == State::Measured).count() > 1 => {
            ["Services", UNRANKED_LEAD, "Services"]
        }
        _ => ["Services", ALONE_LEAD, "Services"],
    }
}

pub(crate) fn section(kept: &Kept, report: &Report) -> Section {
    let plan = &kept.header.plan;
    let planned = |label: &str| plan.rows.iter().find(|row| row.label == label);
    let rows = report.rows.iter().map(|row| Row { report: row, planned: planned(&row.label) });
    let mut fields = identity();
    fields.extend(figures(&report.reference));
    fields.extend(facets(&plan.contract));
    fields.extend(extent());
    let kept_for_some = ["tier", "ranks", "title", "reason", "warnings"];
    let [title, lead, caption] = heading(report);
    let table = spare(table(caption, fields, rows), &kept_for_some);
    let mut section = Section::new("tiers", title, lead, table);
    section.charts.extend(chart(report));
    let of_tiers = report.tiers.as_ref().and_then(|tiers| tiers.lines().into_iter().next());
    let section = match of_tiers {
        Some(line) => section.note(line),
        None => section.note("no tiers: fewer than two rows have figures"),
    };
    match &report.tiers {
        Some(tiers) if tiers.are_known() && tiers.not_separated.is_empty() => {
            section.note("all adjacent rows are separated")
        }
        _ => section,
    }
}

fn identity<'a>() -> Vec<Field<'a, Row<'a>>> {
    let text = |key, title| Column::new(key, title, Unit::Text);
    let ranks = |row: &Row| {
        row.report.ranks.map(|[best, worst]| match best == worst {
            true => best.to_string(),
            false => format!("{best} to {worst}"),
        })
    };
    let title = |row: &Row| row.report.title.clone();
    vec![
        field(text("label", "service"), |row: &Row| row.report.label.clone()),
        field(Column::new("tier", "tier", Unit::Count).priority(90), |row: &Row| row.report.tier),
        field(text("ranks", "ranks").priority(5).help("the best and the worst rank that it may have"), ranks),
        field(Column::new("rank_best", "best rank", Unit::Count).hidden(), |row: &Row| {
            row.report.ranks.map(|ranks| ranks[0])
        }),
        field(Column::new("rank_worst", "worst rank", Unit::Count).hidden(), |row: &Row| {
            row.report.ranks.map(|ranks| ranks[1])
        }),
        field(
            text("title", "variant").priority(11).help("how it differs from the service of that name"),
            title,
        ),
        field(text("framework", "framework").hidden(), |row: &Row| row.report.framework.clone()),
        field(text("version", "version").priority(12), |row: &Row| row.report.version.clone()),
    ]
}

/// What rows are filtered by. Few read licence and contract there, so they are in the data only.
fn facets<'a>(contract: &'a str) -> Vec<Field<'a, Row<'a>>> {
    let facet = |key, title| Column::new(key, title, Unit::Text).facet();
    let licence = |row: &Row| row.planned.map(|row| row.licence.clone());
    vec![
        field(facet("language", "language").priority(8), |row: &Row| row.report.language.clone()),
        field(
            facet("style", "style").priority(6).help("a framework, a platform, or the raw socket"),
            |row: &Row| row.report.style.name(),
        ),
        field(facet("licence", "licence").hidden(), licence),
        field(facet("contract", "contract").hidden(), move |_: &Row| contract),
    ]
}

/// Related to the reference, which is 1 without an interval.
pub(super) fn throughput(row: &RowReport, reference: &str) -> Option<Estimate> {
    let own = row.times_throughput(reference).map(Estimate::known);
    row.ratio.or(own)
}

pub(super) fn cpu(row: &RowReport, reference: &str) -> Option<Estimate> {
    let own = || Estimate::known(1.0);
    let is_reference = row.label == reference && row.cpu_ns_per_request.is_some();
    row.cpu_ratio.or_else(|| is_reference.then(own))
}

fn figures<'a>(reference: &'a str) -> Vec<Field<'a, Row<'a>>> {
    let number = Column::new;
    let ns = |key, title| Column::new(key, title, Unit::Nanoseconds);
    let of_reference = Column::new("throughput_ratio", "of reference", Unit::Share)
        .bar()
        .interval_priority(75)
        .help("throughput related to the reference's in the same block, with a 95% interval");
    let cpu_of_reference = Column::new("cpu_ratio", "CPU of reference", Unit::Times)
        .priority(30)
        .interval_priority(15)
        .help("CPU per request related to the reference's in the same block, with a 95% interval");
    let per_request = "CPU time of the service's processes for each answer; the median of the blocks";
    let mut fields = vec![field(
        number("requests_per_second", "req/s", Unit::PerSecond)
            .help("right answers a second; the median of the blocks"),
        |row: &Row| row.report.requests_per_second,
    )];
    fields.extend(between(of_reference, move |row: &Row| throughput(row.report, reference)));
    fields
        .push(field(ns("cpu_ns_per_request", "CPU/request").priority(80).help(per_request), |row: &Row| {
            row.report.cpu_ns_per_request
        }));
    fields.extend(between(cpu_of_reference, move |row: &Row| cpu(row.report, reference)));
    fields.extend([
        field(ns("latency_ns_p50", "p50").priority(35), |row: &Row| row.report.latency_ns_p50),
        field(
            ns("latency_ns_p99", "p99").priority(40).help("in a closed loop: see latency against load"),
            |row: &Row| row.report.latency_ns_p99,
        ),
        field(
            number("rss_bytes_peak", "RSS", Unit::Bytes).priority(20).help("peak resident memory"),
            |row: &Row| row.report.rss_bytes_peak,
        ),
        field(
            ns("start_up_ns", "start-up").priority(10).help("from exec to the first right answer"),
            |row: &Row| row.report.start_up_ns,
        ),
        field(ns("cpu_ns_per_request_with_softirq", "CPU/request with softirq").hidden(), |row: &Row| {
            row.report.cpu_ns_per_request_with_softirq
        }),
        field(number("bytes_per_request", "bytes/request", Unit::Number).hidden(), |row: &Row| {
            row.report.bytes_per_request
        }),
        field(
            number("context_switches_per_request", "switches/request", Unit::Number).hidden(),
            |row: &Row| row.report.context_switches_per_request,
        ),
    ]);
    fields
}

fn extent<'a>() -> Vec<Field<'a, Row<'a>>> {
    let count = |key, title| Column::new(key, title, Unit::Count);
    let text = |key, title| Column::new(key, title, Unit::Text);
    let reason = |row: &Row| row.report.reason();
    let warnings = |row: &Row| {
        let of_latency = row.report.latency_open.iter().filter_map(|latency| latency.doubt.as_ref());
        let all: Vec<String> = of_latency.chain(&row.report.findings).map(ToString::to_string).collect();
        if all.is_empty() { Value::None } else { Value::Text(all.join("; ")) }
    };
    vec![
        field(count("errors", "errors").priority(70).help("wrong and missing answers"), |row: &Row| {
            (row.report.sent > 0).then(|| row.report.failed.values().sum::<u64>())
        }),
        field(text("errors_by_kind", "errors by kind").hidden(), errors_by_kind),
        field(count("sent", "requests sent").hidden(), |row: &Row| row.report.sent),
        field(
            count("blocks", "blocks").priority(9).help("complete blocks: the independent observations"),
            |row: &Row| (row.report.blocks > 0).then_some(row.report.blocks),
        ),
        field(
            count("starts", "starts")
                .priority(7)
                .help("processes on which the blocks were measured; fewer where one was kept"),
            |row: &Row| (row.report.starts > 0).then_some(row.report.starts),
        ),
        field(text("state", "state").facet().priority(65), |row: &Row| state(&row.report.state)),
        field(text("reason", "reason").help("why there are no figures, or no throughput"), reason),
        field(text("warnings", "warnings"), warnings),
    ]
}

/// `mismatch 12, reset 1`.
fn errors_by_kind(row: &Row) -> Option<String> {
    let kinds = row.report.failed.iter().map(|(kind, count)| format!("{kind} {count}"));
    let kinds: Vec<String> = kinds.collect();
    (!kinds.is_empty()).then(|| kinds.join(", "))
}

/// Bars of what there is: ratios, or rates where nothing is related to a reference.
fn chart(report: &Report) -> Option<Chart> {
    let measured = || report.rows.iter().filter(|row| row.state == State::Measured);
    let ratios =
        measured().filter_map(|row| Some((row.label.as_str(), row.times_throughput(&report.reference)?)));
    let rates = measured().filter_map(|row| Some((row.label.as_str(), row.requests_per_second?)));
    let (key, alt) = match span(Unit::Share, ratios) {
        Some(span) => ("throughput_ratio", format!("Throughput related to {}: {span}.", report.reference)),
        None => ("requests_per_second", format!("Requests a second: {}.", span(Unit::PerSecond, rates)?)),
    };
    let chart = Chart::new(Shape::Bars, key, "label", &alt);
    Some(Chart { n: Some("blocks".to_owned()), title: "Throughput".to_owned(), ..chart })
}

/// What a request costs, and how many are answered.
pub(crate) mod cost {
    use super::{
        Chart, Column, Estimate, Report, RowReport, Section, Shape, State, Unit, between, cpu, field, span,
        table, throughput,
    };
    use crate::document::Scale;

    const LEAD: &str = "CPU time per request against throughput, both related to the reference. To the right is faster, below is \
                        cheaper; what is dear and fast uses more CPUs, what is cheap and slow waits.";

    pub(crate) fn section(report: &Report) -> Section {
        let reference = report.reference.as_str();
        let has = |row: &&RowReport| {
            row.state == State::Measured
                && row.requests_per_second.is_some()
                && row.cpu_ns_per_request.is_some()
        };
        let rows: Vec<&RowReport> = report.rows.iter().filter(has).collect();
        if rows.is_empty() {
            return Section::without("cost", "Cost and throughput", LEAD)
                .note("no row has both a throughput and a CPU time per request");
        }
        let are_related = rows.iter().any(|row| row.ratio.is_some() && row.cpu_ratio.is_some());
        let alt = alt(&rows, reference, are_related);
        let mut fields = vec![
            field(Column::new("label", "service", Unit::Text), |row: &&RowReport| row.label.clone()),
            field(Column::new("language", "language", Unit::Text).facet(), |row: &&RowReport| {
                row.language.clone()
            }),
            field(Column::new("requests_per_second", "req/s", Unit::PerSecond), |row: &&RowReport| {
                row.requests_per_second
            }),
        ];
        let ratio = Column::new("throughput_ratio", "throughput of reference", Unit::Share);
        fields.extend(between(ratio, move |row: &&RowReport| throughput(row, reference)));
        fields.push(field(
            Column::new("cpu_ns_per_request", "CPU/request", Unit::Nanoseconds),
            |row: &&RowReport| row.cpu_ns_per_request,
        ));
        let ratio = Column::new("cpu_ratio", "CPU of reference", Unit::Times);
        fields.extend(between(ratio, move |row: &&RowReport| cpu(row, reference)));
        fields.push(field(Column::new("blocks", "blocks", Unit::Count), |row: &&RowReport| row.blocks));
        let table = table("Services by throughput and CPU per request", fields, rows);
        let (x, y) = match are_related {
            true => ("throughput_ratio", "cpu_ratio"),
            false => ("requests_per_second", "cpu_ns_per_request"),
        };
        let chart = Chart::new(Shape::Points, x, y, &alt).scales(Scale::Log, Scale::Log).series("label");
        let chart = Chart {
            n: Some("blocks".to_owned()),
            title: "CPU per request against throughput".to_owned(),
            ..chart
        };
        Section::new("cost", "Cost and throughput", LEAD, table).chart(chart)
    }

    fn alt(rows: &[&RowReport], reference: &str, are_related: bool) -> String {
        let named = |value: &dyn Fn(&RowReport) -> Option<f64>| -> Vec<(String, f64)> {
            rows.iter().filter_map(|row| Some((row.label.clone(), value(row)?))).collect()
        };
        let spans = |unit: Unit, found: &[(String, f64)]| {
            span(unit, found.iter().map(|(label, value)| (label.as_str(), *value))).unwrap_or_default()
        };
        let of = |found: Option<Estimate>| found.map(|found| found.value);
        if are_related {
            let rates = spans(Unit::Share, &named(&|row| of(throughput(row, reference))));
            let costs = spans(Unit::Times, &named(&|row| of(cpu(row, reference))));
            return format!("Throughput related to {reference}: {rates}; CPU per request: {costs}.");
        }
        let rates = spans(Unit::PerSecond, &named(&|row| row.requests_per_second));
        let costs = spans(Unit::Nanoseconds, &named(&|row| row.cpu_ns_per_request));
        format!("Requests a second: {rates}; CPU per request: {costs}.")
    }
}
