//! `tare run` of a sequential experiment: a published benchmark, made again; and of a series of them.

mod dry;
mod progress;
pub mod series;
mod session;
mod words;

use std::path::Path;

use anyhow::{bail, ensure};
use tare_bench::{
    figures::Figures,
    grid::{Grid, GridRow, plan::GridPlan},
    run::folder::{self, Kept},
};
use tare_host::{cpus, link::rights};
use tare_report::Document;
use tare_service::catalogue::Row;

pub use words::GridWords;

use super::{Args, ended, session::Session};
use crate::{
    exit::Outcome,
    output::{Format, paint},
    workspace::{self, Global},
};
use tare_service::workspace::Workspace;

/// Runs the sequential experiment at `path`, or the rest of one that was cut off.
pub fn run(global: &Global, args: &Args, path: &Path) -> anyhow::Result<Outcome> {
    args.refuse_those_of_campaigns()?;
    let grid = Grid::load(path)?;
    // Before any thread is there: a user namespace is entered by a whole process.
    prepare_for_links(&grid, args);
    let mut workspace = global.open()?;
    let plan = plan(&mut workspace, &grid, args, &args.services, args.grid.scale)?;
    let format = args.campaign.format();
    if args.campaign.dry_run {
        dry::show(&plan.0, format)?;
        return Ok(Outcome::Fine);
    }
    let began = jiff::Timestamp::now();
    let run = args.campaign.out.clone().unwrap_or_else(|| workspace.new_run(&grid.name, began));
    let document = begin(&workspace, plan, &run, began)?;
    ended(&run, &document, format)
}

/// Resumes the sequential experiment in the folder `run`.
pub fn resume(global: &Global, run: &Path, format: Format) -> anyhow::Result<Outcome> {
    let kept: Kept<GridPlan> = folder::read(run)?;
    if kept.header.plan.points.iter().any(|point| point.link.is_some()) {
        obtain_rights();
    }
    let mut workspace = global.open()?;
    let rows = rows_of(&mut workspace, &kept)?;
    let document = Session::new(&workspace, rows, run)?.go_on_with_grid(&kept)?;
    ended(run, &document, format)
}

fn begin(
    workspace: &Workspace,
    (plan, rows): (GridPlan, Vec<Row>),
    run: &Path,
    began: jiff::Timestamp,
) -> anyhow::Result<Document> {
    ensure!(!run.join("run.json").exists(), "{}: holds a run already; choose another folder", run.display());
    Session::new(workspace, rows, run)?.run_sequential(plan, began)
}

fn prepare_for_links(grid: &Grid, args: &Args) {
    if grid.has_links() && !args.campaign.dry_run {
        obtain_rights();
    }
}

/// Without them each cell over a slow link says why it has no figure, and the others are measured.
fn obtain_rights() {
    if let Err(error) = rights::obtain() {
        anstream::eprintln!("{} no slow link: {error}", paint("33", "warning:"));
    }
}

/// The plan and its rows, in one order.
fn plan(
    workspace: &mut Workspace,
    grid: &Grid,
    args: &Args,
    services: &[String],
    scale: Option<f64>,
) -> anyhow::Result<(GridPlan, Vec<Row>)> {
    grid.check_contracts(&workspace.contracts)?;
    let path = workspace.root.join("figures").join(format!("{}.toml", grid.figures()));
    let figures = Figures::load(&path)?;
    grid.check_claims(&figures)?;
    let rows = rows(workspace, grid, services)?;
    let options = args.grid.options(scale)?;
    let plan = GridPlan::new(grid, &rows, figures, &options, args.campaign.seed(), &cpus::available());
    if plan.points.is_empty() {
        bail!("{}: nothing is left to measure: it has no part for --sweep", grid.path.display());
    }
    workspace::print_broken(workspace);
    Ok((plan, rows.into_iter().map(|(_, row)| row).collect()))
}

/// The rows of the file that are asked for, with their places.
fn rows(workspace: &Workspace, grid: &Grid, asked: &[String]) -> anyhow::Result<Vec<(usize, Row)>> {
    // Without the row that is 100% there is nothing to relate the others to.
    let is_asked = |row: &GridRow| {
        asked.is_empty() || asked.contains(&row.service) || grid.reference() == Some(row.service.as_str())
    };
    let names: Vec<&str> = grid.rows().iter().map(|row| row.service.as_str()).collect();
    if let Some(unknown) = asked.iter().find(|name| !names.contains(&name.as_str())) {
        let nearest = tare_host::spelling::suggestion(unknown, names.iter().copied());
        bail!("--services: the experiment has no row \"{unknown}\"{nearest}");
    }
    let mut rows = Vec::new();
    for (place, wanted) in grid.rows().iter().enumerate().filter(|(_, row)| is_asked(row)) {
        let found = workspace.rows([wanted.service.as_str()]);
        let found = found.map_err(|error| grid.mistake(&error.word(), &error.to_string()))?;
        rows.extend(found.into_iter().map(|row| (place, row)));
    }
    Ok(rows)
}

/// The rows of a sequential experiment that was kept, as far as their services are still there.
fn rows_of(workspace: &mut Workspace, kept: &Kept<GridPlan>) -> anyhow::Result<Vec<Row>> {
    let planned = kept.header.plan.rows.iter().map(|row| &row.planned);
    super::planned_rows(workspace, planned)
}
