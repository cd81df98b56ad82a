//! `tare audit`: which figures of published results cannot be true, and which do not show what they are read as.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail, ensure};
use tare_audit::{Audit, Published, Weight, audit, read};
use tare_bench::folder;
use tare_host::foreign;
use tare_report::{gather::audit as gather, write::html};

use super::print::{self, Extent};
use crate::{
    exit::Outcome,
    output::{self, Format},
};

/// Say which figures of published results cannot be true, and which do not show what they are read as
///
/// Reads the result files of TechEmpower (results.json), HttpArena (site/data) and web-frameworks (data.json), the output of wrk,
/// wrk2, oha, k6, h2load, bombardier and vegeta, and run folders of Tare. Nothing is measured: each rule is arithmetic that holds for
/// every server, such as Little's law. A folder stands for the files in it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare audit results.json                      what TechEmpower published
  tare audit HttpArena/site/data               all profiles of HttpArena
  wrk -c 64 -d 10s URL > one.txt; tare audit one.txt
  tare audit record/quick                      a run of Tare is held to the same rules
  tare audit data.json --page audit.html       the same as a page

Exit codes: 0 nothing speaks against the figures, 1 usage error, 4 some cannot be true, 5 some do not show what they are read as.")]
pub(crate) struct Args {
    /// Files, and folders of files; all of one suite or tool
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// Write a page to this file too
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// The same as `--format json`
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let mut read: Vec<(PathBuf, Published)> = Vec::new();
    for source in &args.sources {
        read.extend(published(source)?);
    }
    let files: Vec<String> = read.iter().map(|(path, _)| path.display().to_string()).collect();
    let all = together(read)?;
    let found = audit(&all);
    let document = gather::document(&all, &found, &files);
    if let Some(page) = &args.page {
        output::write_file(page, html::html(&document)?.as_bytes())?;
        tare_host::tell!("the page is {}", page.display());
    }
    let format = if args.json { Format::Json } else { args.format };
    print::document(&document, format, Extent::Brief)?;
    Ok(outcome(&found))
}

fn outcome(found: &Audit) -> Outcome {
    match found.findings.iter().map(|finding| finding.doubt.rule().weight()).min() {
        None => Outcome::Fine,
        Some(Weight::CannotBeTrue) => Outcome::MeasurementInvalid,
        Some(Weight::NotShown) => Outcome::Inconclusive,
    }
}

/// What a file has, or what the files of a folder have; those of another kind are named and left out.
fn published(source: &Path) -> anyhow::Result<Vec<(PathBuf, Published)>> {
    if source.join("run.json").is_file() {
        return Ok(vec![(source.to_owned(), gather::of_run(&folder::read(source)?))]);
    }
    if !source.is_dir() {
        return Ok(vec![(source.to_owned(), of_file(source)?)]);
    }
    let at = || source.display().to_string();
    let entries = fs::read_dir(source).with_context(at)?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.is_file());
    files.sort();
    let mut read = Vec::new();
    for path in files {
        match of_file(&path) {
            Ok(found) => read.push((path, found)),
            Err(error) => tare_host::tell!("left out: {error:#}"),
        }
    }
    ensure!(!read.is_empty(), "{}: no file in it could be read as results", source.display());
    Ok(read)
}

fn of_file(path: &Path) -> anyhow::Result<Published> {
    let at = || path.display().to_string();
    let bytes = foreign::read(path, folder::FILE_BYTES_MAX).with_context(at)?;
    let name = path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    read(&name, &bytes).with_context(at)
}

/// One list of rows: figures of two suites say nothing about each other.
fn together(read: Vec<(PathBuf, Published)>) -> anyhow::Result<Published> {
    let mut all: Option<Published> = None;
    for (path, published) in read {
        match &mut all {
            None => all = Some(published),
            Some(all) if all.source == published.source => {
                all.rows.extend(published.rows);
                all.unread += published.unread;
            }
            Some(all) => {
                let (one, other) = (all.source.name(), published.source.name());
                bail!(
                    "{}: is of {other}, and the files before it are of {one}: audit one of them at a time",
                    path.display()
                );
            }
        }
    }
    all.context("there is nothing to read")
}
