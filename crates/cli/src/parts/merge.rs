//! `tare merge`: runs of one experiment on several machines, in one table.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use tare_machines::{folder, machines, runs_in};
use tare_report::{
    Document,
    gather::merged,
    kept,
    write::{html, json, markdown},
};

use crate::{
    command::{
        print::{self, Extent},
        report::page,
    },
    exit::Outcome,
    output::{self, Format, paint},
};

/// Merge runs of one experiment on several machines
///
/// The runs are those of one experiment; seeds and machines may differ. Each service is related to the reference on its own machine,
/// and these ratios are pooled: the mean over machines with its interval, whether machines differ, and where another machine would
/// lie. No absolute figure of one machine is compared with that of another. Several runs of a machine are one observation. A machine
/// that disagrees with itself (its twin differs, its run is not whole, `tare selftest` failed there) is left out, with its reason.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare merge arm/quick x86/quick epyc/quick        three run folders
  tare merge collected                             all runs in a folder of bundles
  tare merge collected --output collected          and keep the report there: `tare show` and `tare site` take it as a run
  tare merge collected --json | jq .answer
  tare merge collected --format markdown           for a README

Beside a run, or in the folder around it, may lie `certificate.json` of `tare selftest`, and `job.json` with the keys `machine` and \
`class`: what the machine is called, and of which class it is (default: its architecture). Jobs of a cluster leave `bundle.json` \
instead; of a batch its `bundles/` are read.

Exit codes: 0 two machines or more are pooled, 1 usage error, or the runs are not of one experiment, 4 every machine is left out, \
5 one machine: nothing is pooled.")]
pub(crate) struct Args {
    /// Run folders, and folders with run folders below them
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// Write report.html, report.md and report.json into this folder. If all of the runs lie in it, it is marked as merged
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
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

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let document = machines(&args.runs)?;
    for sentence in &document.damage {
        tare_host::message!("{} {sentence}", paint("33", "left out:"));
    }
    if let Some(folder) = &args.output {
        keep(folder, &document, &args.runs)?;
    }
    let format = if args.json { Format::Json } else { args.format };
    let extent = if args.long { Extent::Whole } else { Extent::Brief };
    let outcome = print::document(&document, format, extent)?;
    if let Some(folder) = args.output.as_ref().filter(|_| format == Format::Text) {
        page::tell_page(folder);
    }
    Ok(outcome)
}

/// Writes the report into a folder, and marks the folder if it contains all merged runs.
fn keep(folder: &Path, document: &Document, runs: &[PathBuf]) -> anyhow::Result<()> {
    ensure!(
        !folder.join("run.json").exists(),
        "--output {}: is a run folder, which has a report of its own; name another folder",
        folder.display()
    );
    let (page, brief, data) = (html::html(document)?, markdown::brief(document), json::json(document));
    let files = [(page::NAME, &page), (page::MARKDOWN, &brief), (kept::NAME, &data)];
    output::write_files(folder, &files.map(|(name, text)| (name, text.as_bytes())))?;
    if has_all(folder, runs) {
        folder::mark(folder, &document.title)
            .with_context(|| folder.join(merged::NAME).display().to_string())?;
    }
    Ok(())
}

/// Whether the runs below a folder are exactly the merged ones, so that it can be merged again.
fn has_all(folder: &Path, runs: &[PathBuf]) -> bool {
    let found = |places: &[PathBuf]| {
        let all = places.iter().flat_map(|place| runs_in(place));
        let mut all: Vec<PathBuf> = all.filter_map(|run| run.canonicalize().ok()).collect();
        all.sort();
        all.dedup();
        all
    };
    found(&[folder.to_owned()]) == found(runs)
}
