//! Several published experiments, one after another: `tare run experiments/published/all.toml`. Its folder holds a folder for
//! each, and `series.json`, which says what they are; the same command resumes an interrupted one.

use std::path::Path;

use anyhow::{bail, ensure};
use tare_analysis::published;
use tare_bench::{
    grid::{Grid, Series, plan::GridPlan},
    run::{
        about::{About, quoted},
        folder::{
            self, Kept,
            series::{self, SeriesHead},
        },
    },
};
use tare_report::{Document, gather::gather};
use tare_service::catalogue::Row;

use super::{begin, dry, plan, prepare_for_links, rows_of};
use crate::{
    command::{
        print::{self, Extent},
        report::page,
        run::{Args, session::Session},
    },
    exit::Outcome,
    output::{Format, paint},
    workspace::Global,
};
use tare_service::workspace::Workspace;

/// One experiment of it, planned.
struct Member {
    name: String,
    plan: GridPlan,
    rows: Vec<Row>,
}

/// Runs the series at `path`. An experiment that cannot be done does not keep the others from being done.
pub fn run(global: &Global, args: &Args, path: &Path) -> anyhow::Result<Outcome> {
    args.refuse_those_of_campaigns()?;
    let series = Series::load(path)?;
    let grids = grids(&series, args, path)?;
    grids.iter().for_each(|(grid, _)| prepare_for_links(grid, args));
    let mut workspace = global.open()?;
    let members = grids.iter().map(|(grid, scale)| {
        let (plan, rows) = plan(&mut workspace, grid, args, &asked_of(grid, args), Some(*scale))?;
        Ok(Member { name: grid.name.clone(), plan, rows })
    });
    let members: Vec<Member> = members.collect::<anyhow::Result<_>>()?;
    let format = args.campaign.format();
    if args.campaign.dry_run {
        return dry::show_all(&members.iter().map(|member| &member.plan).collect::<Vec<_>>(), format);
    }
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let all = args.campaign.out.clone().unwrap_or_else(|| workspace.new_run(&name, jiff::Timestamp::now()));
    let names = members.iter().map(|member| member.name.clone()).collect();
    SeriesHead::new(&series.title, names).keep(&all)?;
    let mut outcome = Outcome::Fine;
    for member in members {
        let run = all.join(&member.name);
        match measure(&mut workspace, member, &run) {
            Ok(document) if format != Format::Json => {
                print::document(&document, format, Extent::Brief)?;
                crate::output::print("\n")?;
            }
            Ok(_) => {}
            Err(error) => {
                anstream::eprintln!("{}: {error:#}", paint("1;31", "error"));
                outcome = Outcome::SetUp;
            }
        }
        if tare_host::signals::received().is_some() {
            break;
        }
    }
    let document = page::keep(&all, |text| anstream::eprintln!("{text}"))?;
    let of_all = print::document(&document, format, Extent::Brief)?;
    eprintln!("stored in {}; to resume, run the same command with --out {0}", all.display());
    Ok(of_all.graver(outcome))
}

/// Says how a series goes on, where `run` is the folder of one: what was not begun is planned by its command alone.
pub fn refuse_to_resume(run: &Path) -> anyhow::Result<()> {
    if !series::is_one(run) {
        return Ok(());
    }
    let members = SeriesHead::read(run)?.0.members;
    let about = members.iter().find_map(|name| About::read(&run.join(name)).ok().flatten());
    let mut words = about.map(|about| about.command).unwrap_or_else(|| vec!["run ...".to_owned()]);
    if !words.iter().any(|word| word == "--out" || word.starts_with("--out=")) {
        words.extend(["--out".to_owned(), run.display().to_string()]);
    }
    let command = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    bail!(
        "{}: a series is resumed by the command that started it, with --out: tare {command}",
        run.display()
    );
}

fn has_begun(member: &Path) -> bool {
    member.join("run.json").exists()
}

/// Those that have anything to do of what the command asks for, with their scales.
fn grids(series: &Series, args: &Args, path: &Path) -> anyhow::Result<Vec<(Grid, f64)>> {
    let beside = path.parent().unwrap_or(Path::new("."));
    let mut grids = Vec::new();
    for member in &series.members {
        let grid = Grid::load(&beside.join(&member.file))?;
        let has_rows = args.services.is_empty() || !asked_of(&grid, args).is_empty();
        if has_rows && (!args.grid.is_sweep() || grid.has_sweep()) {
            grids.push((grid, args.grid.scale.unwrap_or(member.scale)));
        }
    }
    let is_unknown = |name: &&String| !grids.iter().any(|(grid, _)| asked_of(grid, args).contains(name));
    if let Some(unknown) = args.services.iter().find(is_unknown) {
        bail!("--services: none of its experiments has a row \"{unknown}\"");
    }
    ensure!(!grids.is_empty(), "{}: none of its experiments has what is asked for", path.display());
    Ok(grids)
}

/// The services that the command names, as far as an experiment has them.
fn asked_of(grid: &Grid, args: &Args) -> Vec<String> {
    let is_there = |name: &&String| grid.rows().iter().any(|row| row.service == **name);
    args.services.iter().filter(is_there).cloned().collect()
}

/// A new run, the rest of one, or the report of one that has ended. What has begun goes on as it was planned then.
fn measure(workspace: &mut Workspace, member: Member, run: &Path) -> anyhow::Result<Document> {
    if !has_begun(run) {
        return begin(workspace, (member.plan, member.rows), run, jiff::Timestamp::now());
    }
    let kept: Kept<GridPlan> = folder::read(run)?;
    if published::compute(&kept).is_complete() {
        return Ok(gather(run)?);
    }
    let rows = rows_of(workspace, &kept)?;
    Session::new(workspace, rows, run)?.go_on_with_grid(&kept)
}
