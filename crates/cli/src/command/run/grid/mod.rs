//! `tare run` of a grid: a published benchmark, made again; and of a series of them.

mod dry;
mod progress;
pub mod series;
mod session;
mod words;

use std::path::Path;

use anyhow::{bail, ensure};
use tare_analysis::{
    published::{self, Report},
    verdict::{Question, Verdict},
};
use tare_bench::{
    figures::Figures,
    grid::{Grid, GridRow, plan::GridPlan, record::Record},
    run::folder::{self, Kept},
};
use tare_host::{cpus, link::rights};
use tare_service::catalogue::Row;

pub use words::GridWords;

use super::{Args, session::Session};
use crate::{
    command::report::page,
    exit::{self, Outcome},
    output::{Format, paint, print, print_json},
    workspace::{self, Global},
};
use tare_service::workspace::Workspace;

/// Carries out the grid at `path`, or the rest of one that was cut off.
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
    let report = begin(&workspace, plan, &run, began)?;
    tell(&run, &report, format)
}

/// Goes on with the grid in the folder `run`.
pub fn resume(global: &Global, run: &Path, format: Format) -> anyhow::Result<Outcome> {
    let kept: Kept<GridPlan, Record> = folder::read(run)?;
    if kept.header.plan.points.iter().any(|point| point.link.is_some()) {
        obtain_rights();
    }
    let mut workspace = global.open()?;
    let rows = rows_of(&mut workspace, &kept)?;
    let report = Session::new(&workspace, rows, run)?.go_on_with_grid(&kept)?;
    tell(run, &report, format)
}

fn begin(
    workspace: &Workspace,
    (plan, rows): (GridPlan, Vec<Row>),
    run: &Path,
    began: jiff::Timestamp,
) -> anyhow::Result<Report> {
    ensure!(!run.join("run.json").exists(), "{}: holds a run already; choose another folder", run.display());
    Session::new(workspace, rows, run)?.carry_out_grid(plan, began)
}

/// The table, and where it is kept.
fn tell(run: &Path, report: &Report, format: Format) -> anyhow::Result<Outcome> {
    print_report(report, format)?;
    page::tell_kept(run);
    exit::of_run(run)
}

/// Prints a report to stdout.
pub fn print_report(report: &Report, format: Format) -> anyhow::Result<()> {
    match format {
        Format::Text => print(&published::text(report, true)),
        Format::Markdown => print(&published::markdown(report)),
        Format::Json => print_json(report),
    }
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
    let wish = args.grid.wish(scale)?;
    let plan = GridPlan::new(grid, &rows, figures, &wish, args.campaign.seed(), &cpus::available());
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

/// The rows of a grid that was kept, as far as their services are still there.
fn rows_of(workspace: &mut Workspace, kept: &Kept<GridPlan, Record>) -> anyhow::Result<Vec<Row>> {
    let planned = kept.header.plan.rows.iter().map(|row| &row.planned);
    super::planned_rows(workspace, planned)
}

/// How many claims came out how, for a line of progress.
pub fn claims_in_words(report: &Report) -> String {
    let count = |verdict| report.claims.iter().filter(|claim| claim.verdict == verdict).count();
    let words = [Verdict::Pass, Verdict::Fail, Verdict::Inconclusive];
    let words: Vec<String> = words
        .iter()
        .map(|verdict| format!("{} {}", count(*verdict), verdict.word(Question::Claim)))
        .collect();
    let scale = match report.scale {
        1.0 => String::new(),
        scale => format!(", at scale {scale}"),
    };
    words.join(", ") + &scale
}
