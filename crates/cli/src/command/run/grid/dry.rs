//! `tare run --dry-run` of a sequential experiment: the complete list of what would be done.

use std::{fmt::Write, time::Duration};

use tare_bench::grid::plan::GridPlan;

use crate::{
    exit::Outcome,
    output::{Format, print, print_json},
    progress::duration,
};

/// Prints the plan.
pub fn show(plan: &GridPlan, format: Format) -> anyhow::Result<()> {
    if format == Format::Json { print_json(plan) } else { print(&text(plan)?) }
}

/// Prints the plans of a series.
pub fn show_all(plans: &[&GridPlan], format: Format) -> anyhow::Result<Outcome> {
    if format == Format::Json {
        print_json(&plans)?;
    } else {
        let texts = plans.iter().map(|plan| text(plan)).collect::<anyhow::Result<Vec<String>>>()?;
        print(&texts.join("\n"))?;
    }
    Ok(Outcome::Fine)
}

fn text(plan: &GridPlan) -> anyhow::Result<String> {
    let labels: Vec<&str> = plan.rows.iter().map(|row| row.planned.label.as_str()).collect();
    let mut out = format!(
        "{}\n{}\n\nservices    {} ({})\nCPUs        services {:?}, generator {:?}\nseed        {}\nscale       {}\n",
        plan.title,
        plan.question,
        labels.len(),
        labels.join(", "),
        plan.pinning.server,
        plan.pinning.generator,
        plan.seed,
        plan.scale,
    );
    let mut part = "";
    for point in &plan.points {
        if point.part != part {
            part = &point.part;
            writeln!(out, "\npart \"{part}\"")?;
        }
        let services = if point.rows.len() == plan.rows.len() {
            String::new()
        } else {
            format!(", {} service(s)", point.rows.len())
        };
        writeln!(out, "  {}{services}", point.describe())?;
    }
    writeln!(
        out,
        "\n{} cells, each a fresh start, in about {} if services are fast",
        plan.cells(),
        expected(plan)
    )?;
    Ok(out)
}

/// How long the measuring will take, in words.
pub fn expected(plan: &GridPlan) -> String {
    duration(Duration::from_nanos(plan.expected_ns()))
}
