//! `tare run` of a sequential experiment, which repeats a published benchmark, and of a series of them.

mod options;
pub(super) mod series;

use std::path::{Path, PathBuf};

use anyhow::bail;
use tare_bench::{
    experiment::{RowEntry, SequentialExperiment},
    figures::Figures,
    plan::Plan,
};
use tare_host::{cpus, link::rights};
use tare_service::{catalogue::Row, workspace::Workspace};

pub(super) use options::PublishedOptions;

use super::Args;
use crate::{
    exit::Outcome,
    output::paint,
    workspace::{self, Global},
};

/// A new run of a sequential experiment.
pub(super) fn begin(
    global: &Global,
    args: &Args,
    experiment: &SequentialExperiment,
) -> anyhow::Result<Outcome> {
    args.refuse_those_of_blocks()?;
    // Before any thread starts: only a process without threads can enter a user namespace.
    prepare_for_links(experiment, args);
    let mut workspace = global.open()?;
    let (plan, rows) = plan(&mut workspace, experiment, args, &args.services, args.published.scale)?;
    super::measure(&workspace, &args.start, plan, rows)
}

fn prepare_for_links(experiment: &SequentialExperiment, args: &Args) {
    if experiment.has_links() && !args.start.dry_run {
        obtain_rights();
    }
}

/// Enters a user namespace. If that fails, each cell over a slow link reports why it has no figure, and the
/// others are measured.
pub(super) fn obtain_rights() {
    if let Err(error) = rights::obtain() {
        tare_host::message!("{} no slow link: {error}", paint("33", "warning:"));
    }
}

/// The plan and its rows, in the same order.
fn plan(
    workspace: &mut Workspace,
    experiment: &SequentialExperiment,
    args: &Args,
    services: &[String],
    scale: Option<f64>,
) -> anyhow::Result<(Plan, Vec<Row>)> {
    let folder = experiment.path.parent().unwrap_or(Path::new("."));
    workspace.adopt_from(folder, experiment.rows.iter().map(|row| row.service.as_str()))?;
    experiment.check_contracts(&workspace.contracts)?;
    let figures = Figures::load(&figures_of(experiment))?;
    experiment.check_claims(&figures)?;
    let rows = rows(workspace, experiment, services)?;
    let options = args.published.options(scale)?;
    let plan = Plan::sequential(experiment, &rows, figures, &options, args.start.seed(), &cpus::available());
    if plan.points.is_empty() {
        bail!("{}: nothing is left to measure: it has no part for --sweep", experiment.path.display());
    }
    workspace::print_broken(workspace);
    Ok((plan, rows.into_iter().map(|(_, row)| row).collect()))
}

/// The file of the published figures: in the nearest folder `figures` above the experiment.
fn figures_of(experiment: &SequentialExperiment) -> PathBuf {
    let name = Path::new("figures").join(format!("{}.toml", experiment.figures));
    let file = std::path::absolute(&experiment.path).unwrap_or_else(|_| experiment.path.clone());
    let found = file.ancestors().map(|folder| folder.join(&name)).find(|path| path.is_file());
    found.unwrap_or(name)
}

/// The requested rows of the file, with their positions.
fn rows(
    workspace: &Workspace,
    experiment: &SequentialExperiment,
    asked: &[String],
) -> anyhow::Result<Vec<(usize, Row)>> {
    // The row that is 100% is always needed.
    let is_asked = |row: &RowEntry| {
        asked.is_empty()
            || asked.contains(&row.service)
            || experiment.reference.as_deref() == Some(row.service.as_str())
    };
    let names: Vec<&str> = experiment.rows.iter().map(|row| row.service.as_str()).collect();
    if let Some(unknown) = asked.iter().find(|name| !names.contains(&name.as_str())) {
        let nearest = tare_base::spelling::suggestion(unknown, names.iter().copied());
        bail!("--services: the experiment has no row \"{unknown}\"{nearest}");
    }
    let mut rows = Vec::new();
    for (place, wanted) in experiment.rows.iter().enumerate().filter(|(_, row)| is_asked(row)) {
        let found = workspace.rows([wanted.service.as_str()]);
        let found = found.map_err(|error| experiment.mistake(&error.word(), &error.to_string()))?;
        rows.extend(found.into_iter().map(|row| (place, row)));
    }
    Ok(rows)
}
