//! What using a framework takes: what can be counted, beside the published opinions.

use tare_analysis::published::RowReport;
use tare_bench::{figures::Aspect, grid::plan::GridPlanRow};

use super::{
    super::{
        fields::{field, table},
        lay::{column, quiet, text},
    },
    Grid,
};
use crate::document::{Section, Unit};

/// A row, its plan, and what was published of it.
type Row<'a> = (&'a RowReport, &'a GridPlanRow, Option<&'a Aspect>);

/// All rows.
pub(crate) fn section(grid: &Grid) -> Option<Section> {
    let published = &grid.report.published;
    let aspect = |row: &RowReport| {
        published.aspects.iter().find(|aspect| Some(&aspect.service) == row.published.as_ref())
    };
    let pairs = grid.report.rows.iter().zip(&grid.plan.rows);
    let rows: Vec<Row> = pairs.map(|(row, planned)| (row, planned, aspect(row))).collect();
    let version = |row: &RowReport| {
        let name = row.published.as_ref()?;
        let line = published.rows.iter().find(|line| line.service == *name);
        published.versions.get(name).cloned().or(line?.version.clone())
    };
    let opinion =
        |of: fn(&Aspect) -> u8| move |(.., aspect): &Row| aspect.map(|aspect| u64::from(of(aspect)));
    let count = Unit::Count;
    let fields = vec![
        field(text("label", "service"), |(row, ..): &Row| row.label.clone()),
        field(text("language", "language").facet(), |(_, planned, _): &Row| planned.planned.language.clone()),
        field(text("framework", "framework"), |(_, planned, _): &Row| planned.planned.framework.clone()),
        field(text("version", "version"), |(row, ..): &Row| row.version.clone()),
        field(text("version_published", "version, published"), |(row, ..): &Row| version(row)),
        field(text("licence", "licence").facet(), |(row, ..): &Row| row.licence.clone()),
        field(text("licence_published", "licence, published"), |(.., aspect): &Row| {
            aspect.map(|aspect| aspect.licence.clone())
        }),
        field(column("packages_direct", "packages", count), |(row, ..): &Row| row.counted.packages_direct),
        field(column("packages_total", "with theirs", count), |(row, ..): &Row| row.counted.packages_total),
        field(column("build_ns", "build", Unit::Nanoseconds), |(row, ..): &Row| {
            row.counted.build_s.map(|s| s * 1e9)
        }),
        field(
            column("ease_of_including", "ease of including, of 5", count).help("A published opinion."),
            opinion(|of| of.ease_of_including),
        ),
        field(column("code_lines", "lines of code", count), |(row, ..): &Row| row.counted.code_lines),
        field(
            column("ease_of_using", "ease of using, of 5", count).help("A published opinion."),
            opinion(|of| of.ease_of_using),
        ),
        field(column("threads", "THREADS at every point", count), |(_, planned, _): &Row| planned.threads),
    ];
    let lead = "What comes with a framework and what its user writes, as far as it can be counted; beside it what was published, \
                opinions among it.";
    let shown = quiet(table("Aspects of the services", fields, rows.iter().cloned()));
    (!shown.rows.is_empty()).then(|| Section::new("aspects", "Footprint", lead, shown))
}
