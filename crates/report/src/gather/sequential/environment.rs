//! The load and the machine, here and as published.

use super::{
    super::{
        fields::{field, table},
        lay::{quiet, text},
    },
    Grid,
};
use crate::document::{Section, Unit};

/// A line of the table: what, here, as published.
type Line = (String, String, Option<String>);

/// Always there.
pub(crate) fn section(grid: &Grid) -> Option<Section> {
    let (published, of) = (&grid.report.published, &grid.report.environment);
    let mut lines: Vec<Line> = Vec::new();
    for (place, point) in grid.report.points.iter().enumerate().filter(|_| !grid.is_of_batches()) {
        let there = if place == 0 { published.load.clone() } else { "-".to_owned() };
        lines.push((format!("load, {}", point.point.part), point.point.describe(), Some(there)));
    }
    if let Some(point) = grid.report.points.first().filter(|_| grid.is_of_batches()) {
        lines.push(("load".to_owned(), point.point.offered.describe(), Some(published.load.clone())));
    }
    let machine = format!("{} CPUs of {}, {}", of.cpus, of.cpu, Unit::Bytes.show(of.memory_bytes as f64));
    let mut add = |what: &str, here: String, there: Option<&String>| {
        lines.push((what.to_owned(), here, there.cloned()));
    };
    add("machine", machine, Some(&published.machine));
    add("system", of.system.clone(), None);
    add("kernel", of.kernel.clone(), None);
    add("load average before", of.load_average.clone(), None);
    add("frequency governor", of.governor.clone().unwrap_or_else(|| "none".to_owned()), None);
    add("isolation", of.isolation.join("; "), None);
    if let Some(request) = &published.request {
        add("request", String::new(), Some(request));
    }
    if let Some(response) = &published.response {
        add("response", String::new(), Some(response));
    }
    for (name, value) in &of.sysctls {
        add(name, value.clone(), None);
    }
    let fields = vec![
        field(text("what", "what"), |line: &Line| line.0.clone()),
        field(text("here", "here"), |line: &Line| Some(line.1.clone()).filter(|text| !text.is_empty())),
        field(text("published", "published"), |line: &Line| line.2.clone()),
    ];
    let lead = "What is not said here was not published.";
    Some(Section::new(
        "environment",
        "Environment",
        lead,
        quiet(table("The load and the machine", fields, lines.iter().cloned())),
    ))
}
