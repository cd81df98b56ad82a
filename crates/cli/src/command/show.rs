//! `tare show`: prints the table of a run again, from its folder alone.

use std::path::{Path, PathBuf};

use tare_bench::folder::series::{self, SeriesHead};
use tare_report::gather::{gather, merged::MergedReader, related};

use super::{
    print::{self, Extent},
    report::page,
};
use crate::{
    exit::Outcome,
    output::{self, Format, paint},
    workspace::Global,
};

/// Print the table of a stored run, or the verdict of a comparison
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare show                                  the newest run
  tare show .tare/runs/A                     a run of this folder
  tare show .tare/runs/A --recompute         are the stored figures those of the stored samples?

Examples in a clone of the repository of Tare:
  tare show record/quick                     a run that the repository comes with
  tare show record/quick --reference hyper   with another row as 100%

Exit codes: that of the command that measured the run; also 1 usage or set-up error, 4 --recompute found a difference.")]
pub(crate) struct Args {
    /// The run folder [default: the newest one in `.tare/runs/`]
    run: Option<PathBuf>,
    /// Relate all rows to this one instead of the run's reference; of a comparison, print the table instead of the verdict
    #[arg(long, value_name = "ROW")]
    reference: Option<String>,
    /// Compute the report again from the stored samples, and compare it with the stored report digit by digit
    #[arg(long, conflicts_with = "reference")]
    recompute: bool,
    /// Print every section, not only the main tables
    #[arg(long)]
    long: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// The same as `--format json`
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(global: &Global, args: Args, merged: MergedReader) -> anyhow::Result<Outcome> {
    let path = match &args.run {
        Some(path) => path.clone(),
        None => global.newest_run()?,
    };
    let format = if args.json { Format::Json } else { args.format };
    let extent = if args.long { Extent::Whole } else { Extent::Brief };
    let document = match &args.reference {
        Some(row) => related(&path, row)?,
        None => merged.gather(&path)?,
    };
    let outcome = print::document(&document, format, extent)?;
    if series::is_one(&path) {
        return Ok(members(&path, args.recompute, format, extent)?.graver(outcome));
    }
    if format == Format::Text && output::is_on_terminal() {
        page::tell_page(&path);
    }
    match args.recompute {
        true => Ok(print::compared_with_kept(&path, &document)?.graver(outcome)),
        false => Ok(outcome),
    }
}

/// Prints the experiments of a series in sequence; JSON has the series only.
fn members(series: &Path, recompute: bool, format: Format, extent: Extent) -> anyhow::Result<Outcome> {
    let mut outcome = Outcome::Fine;
    for name in SeriesHead::read(series)?.0.members {
        let run = series.join(&name);
        if !run.join("run.json").exists() {
            tare_host::message!("{name}: not begun");
            continue;
        }
        let document = gather(&run)?;
        if format != Format::Json {
            crate::output::print("\n")?;
            print::document(&document, format, extent)?;
        }
        if !recompute {
            continue;
        }
        // An interrupted run has no stored report: the others are still checked.
        let same = print::compared_with_kept(&run, &document).unwrap_or_else(|error| {
            tare_host::message!("{}: {error:#}", paint("1;31", "error"));
            Outcome::SetUp
        });
        outcome = outcome.graver(same);
    }
    Ok(outcome)
}
