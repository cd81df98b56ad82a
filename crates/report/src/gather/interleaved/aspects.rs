//! What services are besides fast, as it was when the run began.

use std::path::Path;

use tare_analysis::report::{Report, RowReport};
use tare_bench::run::about::About;
use tare_service::footprint::Footprint;

use crate::{
    document::{Column, Section, Unit},
    gather::fields::{Field, field, spare, table},
};

const LEAD: &str = "What services are besides fast: licence, packages, code that a user writes, what must be shipped, what a build \
                    costs. Packages are counted as each ecosystem counts them.";

type Row<'a> = (&'a RowReport, &'a Footprint);

pub(crate) fn section(report: &Report, run: &Path) -> Section {
    let without = |why: &str| Section::without("aspects", "Footprint", LEAD).note(why);
    let about = match About::read(run) {
        Ok(Some(about)) => about,
        Ok(None) => return without("this run did not keep the aspects of its services (\"about.json\")"),
        Err(_) => return without("the aspects of this run cannot be read: see what is damaged"),
    };
    let rows = report.rows.iter().filter_map(|row| Some((row, about.aspects.get(&row.label)?)));
    let rows: Vec<Row> = rows.collect();
    if rows.is_empty() {
        return without("nothing was known of its services besides their speed");
    }
    let mut fields = packages();
    fields.extend(costs());
    let optional =
        ["licence_contradiction", "newest", "idle_start_up_ns", "idle_rss_bytes", "download_bytes"];
    Section::new(
        "aspects",
        "Footprint",
        LEAD,
        spare(table("Services besides their speed", fields, rows), &optional),
    )
}

fn packages<'a>() -> Vec<Field<'a, Row<'a>>> {
    let column = Column::new;
    let languages = |(_, aspects): &Row| {
        let code = aspects.code.as_ref()?;
        let parts = code.languages.iter().map(|(language, lines)| format!("{language} {lines}"));
        Some(parts.collect::<Vec<_>>().join(", "))
    };
    vec![
        field(column("label", "service", Unit::Text), |(row, _): &Row| row.label.clone()),
        field(column("language", "language", Unit::Text).facet(), |(row, _): &Row| row.language.clone()),
        field(column("licence", "licence", Unit::Text).facet(), |(_, aspects): &Row| {
            aspects.licence.spdx.clone()
        }),
        field(column("licence_contradiction", "contradiction", Unit::Text), |(_, aspects): &Row| {
            aspects.licence.contradiction.clone()
        }),
        field(column("packages_direct", "packages asked for", Unit::Count), |(_, aspects): &Row| {
            aspects.dependencies.direct
        }),
        field(column("packages_total", "packages in the build", Unit::Count), |(_, aspects): &Row| {
            aspects.dependencies.total
        }),
        field(column("code_lines", "lines of code", Unit::Count), |(_, aspects): &Row| {
            aspects.code.as_ref().map(|code| code.lines)
        }),
        field(column("code_languages", "in", Unit::Text).hidden(), languages),
        field(column("newest", "newest release", Unit::Text), |(_, aspects): &Row| {
            aspects.release.as_ref().map(|release| release.newest.clone())
        }),
    ]
}

fn costs<'a>() -> Vec<Field<'a, Row<'a>>> {
    let seconds = |seconds: f64| seconds * 1e9;
    let bytes = |key, title, help| Column::new(key, title, Unit::Bytes).help(help);
    let ns = |key, title, help| Column::new(key, title, Unit::Nanoseconds).help(help);
    vec![
        field(
            bytes("artefact_bytes", "artefact", "what must be on the target machine"),
            |(_, aspects): &Row| aspects.artefact_bytes,
        ),
        field(ns("build_ns", "build", "time of the last good build"), move |(_, aspects): &Row| {
            aspects.build.as_ref().map(|cost| seconds(cost.seconds))
        }),
        field(
            ns("build_cpu_ns", "build CPU", "CPU time of the last good build"),
            move |(_, aspects): &Row| aspects.build.as_ref().map(|cost| seconds(cost.cpu_seconds)),
        ),
        field(bytes("download_bytes", "download", "what the build brought"), |(_, aspects): &Row| {
            aspects.build.as_ref().and_then(|cost| cost.download_bytes)
        }),
        field(bytes("disk_bytes", "on the disk", "of the build"), |(_, aspects): &Row| {
            aspects.build.as_ref().map(|cost| cost.disk_bytes)
        }),
        field(
            ns("idle_start_up_ns", "start when idle", "median of fresh starts without load"),
            |(_, aspects): &Row| aspects.measured.as_ref().map(|measured| measured.start_up_ns),
        ),
        field(
            bytes("idle_rss_bytes", "memory when idle", "a second after the first answer"),
            |(_, aspects): &Row| aspects.measured.as_ref().map(|measured| measured.rss_bytes),
        ),
    ]
}
