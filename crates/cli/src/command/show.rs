//! `tare show`: prints the table of a run again, from its folder alone.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use tare_lab::{
    document,
    report::{self, Report},
    run::folder::{self, Kept},
};

use crate::{
    exit::Outcome,
    output::{self, Format, print, print_json},
    workspace::Global,
};

/// Print the table of a run again
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run folder; the newest one in `runs/` where none is named
    run: Option<PathBuf>,
    /// Relate the rows to this one instead of the run's own pivot
    #[arg(long, value_name = "ROW")]
    pivot: Option<String>,
    /// The form of the table
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// The same as `--format json`
    #[arg(long)]
    json: bool,
}

pub fn run(global: &Global, args: Args) -> anyhow::Result<Outcome> {
    let path = match args.run {
        Some(path) => path,
        None => newest(&global.find()?.join("runs"))?,
    };
    let mut kept = folder::read(&path)?;
    if let Some(pivot) = args.pivot {
        relate_to(&mut kept, pivot)?;
    }
    let report = report::compute(&kept);
    print_report(&report, if args.json { Format::Json } else { args.format })?;
    Ok(Outcome::Fine)
}

fn relate_to(kept: &mut Kept, pivot: String) -> anyhow::Result<()> {
    let mut labels = kept.header.plan.rows.iter().map(|row| row.label.as_str());
    if !labels.clone().any(|label| label == pivot) {
        let nearest = document::suggestion(&pivot, labels.by_ref());
        bail!("the run has no row \"{pivot}\"{nearest}");
    }
    kept.header.plan.pivot = pivot;
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

/// Names of run folders begin with the time.
fn newest(runs: &Path) -> anyhow::Result<PathBuf> {
    let entries = std::fs::read_dir(runs).with_context(|| format!("{}: no runs yet", runs.display()))?;
    let folders = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let newest = folders.filter(|path| path.join("run.json").exists()).max();
    newest.with_context(|| format!("{}: no runs yet", runs.display()))
}
