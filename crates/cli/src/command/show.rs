//! `tare show`: prints the table of a run again, from its folder alone.

use std::path::{Path, PathBuf};
use tare_analysis::capacity;
use tare_host::spelling::suggestion;

use anyhow::{Context, bail, ensure};
use tare_analysis::{
    comparison, published, recompute,
    report::{self, Report},
};
use tare_bench::{
    run::folder::{self, Kept, Kind, series},
    slo::SloPlan,
};

use super::{compare::print_comparison, run::grid, runs};
use crate::{
    exit::{self, Outcome},
    output::{self, Format, print, print_json},
    workspace::Global,
};

/// Print the table of a stored run, or the verdict of a comparison
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare show                                  the newest run
  tare show record/quick                     a run of this folder
  tare show record/quick --reference hyper   with another row as 100%
  tare show record/quick --recompute         are the stored figures those of the stored samples?

Exit codes: that of the stored run; 1 also for usage or set-up, 4 also if --recompute found a difference.")]
pub struct Args {
    /// The run folder [default: the newest one in `runs/`]
    run: Option<PathBuf>,
    /// Use this row as 100% instead of the reference of the run; of a comparison this prints the table
    #[arg(long, value_name = "ROW")]
    reference: Option<String>,
    /// Compute the report again from the stored samples and compare it with the stored report, digit by digit
    #[arg(long, conflicts_with = "reference")]
    recompute: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// The same as `--format json`
    #[arg(long)]
    json: bool,
}

pub fn run(global: &Global, args: Args) -> anyhow::Result<Outcome> {
    let path = match &args.run {
        Some(path) => path.clone(),
        None => runs::newest(global)?,
    };
    let format = if args.json { Format::Json } else { args.format };
    if series::is_one(&path) {
        ensure!(
            args.reference.is_none(),
            "--reference: a series has none; each of its experiments has its own"
        );
        return grid::series::show(&path, args.recompute, format);
    }
    if folder::kind(&path)? == Kind::Grid {
        return show_grid(&path, &args, format);
    }
    let mut kept = folder::read(&path)?;
    if let Some(slo) = SloPlan::read(&path)? {
        ensure!(args.reference.is_none(), "--reference: a search for capacity relates nothing to a row");
        let report = capacity::compute(&slo, &kept);
        super::slo::print_report(&report, format)?;
        return ended(&path, same_as_kept(&path, args.recompute, &report)?);
    }
    let found = comparison::compute(&kept).filter(|_| args.reference.is_none());
    if let Some(reference) = args.reference {
        relate_to(&mut kept, reference)?;
    }
    let report = report::compute(&kept);
    match found {
        Some(found) => print_comparison(&found, format)?,
        None => print_report(&report, format)?,
    }
    ended(&path, same_as_kept(&path, args.recompute, &report)?)
}

/// The tables of a published experiment.
fn show_grid(run: &Path, args: &Args, format: Format) -> anyhow::Result<Outcome> {
    ensure!(args.reference.is_none(), "--reference: a published experiment has its own");
    let report = published::compute(&folder::read(run)?);
    grid::print_report(&report, format)?;
    ended(run, same_as_kept(run, args.recompute, &report)?)
}

/// As the run itself ended, unless its table is not the one that was kept.
fn ended(run: &Path, same: Outcome) -> anyhow::Result<Outcome> {
    Ok(exit::of_run(run)?.graver(same))
}

/// Where it is asked for, whether the records still give the report that was kept when the run ended.
pub fn same_as_kept(run: &Path, asked: bool, report: &impl serde::Serialize) -> anyhow::Result<Outcome> {
    if !asked {
        return Ok(Outcome::Fine);
    }
    let path = recompute::kept_path(run);
    let difference = recompute::difference(run, report).with_context(|| path.display().to_string())?;
    let Some(what) = difference else {
        eprintln!("recomputed: the same as {}, to the last digit", path.display());
        return Ok(Outcome::Fine);
    };
    eprintln!("recomputed: not the same as {}: {what}", path.display());
    Ok(Outcome::MeasurementInvalid)
}

fn relate_to(kept: &mut Kept, reference: String) -> anyhow::Result<()> {
    let mut labels = kept.header.plan.rows.iter().map(|row| row.label.as_str());
    if !labels.clone().any(|label| label == reference) {
        let nearest = suggestion(&reference, labels.by_ref());
        bail!("the run has no row \"{reference}\"{nearest}");
    }
    kept.header.plan.reference = reference;
    Ok(())
}

/// Prints a report to stdout.
pub fn print_report(report: &Report, format: Format) -> anyhow::Result<()> {
    match format {
        Format::Text => print(&report::text(report, true, output::width())),
        Format::Markdown => print(&report::markdown(report)),
        Format::Json => print_json(report),
    }
}
