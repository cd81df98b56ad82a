//! `tare audit`: finds published figures that are impossible, or do not show what they seem to.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};
use tare_audit::{Audit, DoubtWeight, Published, Source, audit, document, read};
use tare_base::document::{DecodeError, decoded};
use tare_bench::folder;
use tare_host::foreign;
use tare_report::{
    Document,
    write::{html, json},
};

use crate::{
    command::print::{self, Extent},
    exit::Outcome,
    output::{self, Format},
};

/// Find the figures of published results that cannot be true
///
/// And those that do not show what they are read as.
#[derive(Debug, clap::Args)]
#[command(long_about = long_about(), after_help = "\
Examples:
  tare audit results.json                      what TechEmpower published
  tare audit HttpArena/site/data               all profiles of HttpArena
  wrk -c 64 -d 10s URL > one.txt; tare audit one.txt
  tare audit outputs                           each file of a folder, whatever tool printed it
  tare audit .tare/runs/A                      a run of Tare is held to the same rules
  tare audit data.json --page audit.html       the same as a page

Exit codes: 0 nothing speaks against the figures, 1 usage error, 4 some cannot be true, 5 some do not show what they are read as.")]
pub(crate) struct Args {
    /// Files, and folders of files
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// Write a page to this file too, of one suite or tool
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// The same as `--format json`
    #[arg(long)]
    json: bool,
}

/// The sources are described in their own module only.
fn long_about() -> String {
    format!(
        "Say which figures of published results cannot be true, and which do not show what they are read as\n\n\
         Reads the result files of suites ({}), the output of tools ({}), as text or as JSON, and run folders of Tare. Nothing \
         is measured: each rule is arithmetic that holds for every server, such as Little's law. A folder stands for the files \
         in it. Each suite and each tool has a report of its own, with what was found before the rules.",
        Source::suites(),
        Source::tools()
    )
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let mut read: Vec<(PathBuf, Published)> = Vec::new();
    for source in &args.sources {
        read.extend(published(source)?);
    }
    let audited: Vec<(Document, Audit)> = by_source(read)
        .into_iter()
        .map(|Rows { published, files }| {
            let found = audit(&published);
            (document::document(&published, &found, &files), found)
        })
        .collect();
    let (documents, found): (Vec<Document>, Vec<Audit>) = audited.into_iter().unzip();
    if let Some(page) = &args.page {
        let titles: Vec<&str> = documents.iter().map(|document| document.title.as_str()).collect();
        ensure!(documents.len() == 1, "--page shows one of these at a time: {}", titles.join(", "));
        output::write_file(page, html::html(&documents[0])?.as_bytes())?;
        tare_host::message!("the page is {}", page.display());
    }
    print_all(&documents, if args.json { Format::Json } else { args.format })?;
    Ok(outcome(found.iter().filter_map(Audit::weight).min()))
}

/// Prints documents in sequence; in JSON several documents are a list.
fn print_all(documents: &[Document], format: Format) -> anyhow::Result<()> {
    if let (Format::Json, [_, _, ..]) = (format, documents) {
        let texts: Vec<String> = documents.iter().map(json::json).collect();
        let texts: Vec<&str> = texts.iter().map(|text| text.trim_end()).collect();
        return output::print(&format!("[{}]\n", texts.join(",\n")));
    }
    for (place, document) in documents.iter().enumerate() {
        if place > 0 {
            output::print("\n")?;
        }
        print::document(document, format, Extent::Brief)?;
    }
    Ok(())
}

/// The outcome for the most severe finding.
fn outcome(weight: Option<DoubtWeight>) -> Outcome {
    match weight {
        None => Outcome::Fine,
        Some(DoubtWeight::CannotBeTrue) => Outcome::MeasurementInvalid,
        Some(DoubtWeight::NotShown) => Outcome::Inconclusive,
    }
}

/// The results in a file, or in the files of a folder. Files of another kind are named and skipped.
fn published(source: &Path) -> anyhow::Result<Vec<(PathBuf, Published)>> {
    if source.join("run.json").is_file() {
        return Ok(vec![(source.to_owned(), document::of_run(&folder::read(source)?))]);
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
            Err(error) => tare_host::message!("left out: {error:#}"),
        }
    }
    ensure!(!read.is_empty(), "{}: no file in it could be read as results", source.display());
    Ok(read)
}

fn of_file(path: &Path) -> anyhow::Result<Published> {
    let at = || path.display().to_string();
    let bytes = foreign::read(path, folder::FILE_BYTES_MAX).with_context(at)?;
    let name = path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let bytes = match decoded(&bytes) {
        Ok(text) => text.into_bytes(),
        // A character in another encoding must not hide figures. The parser decides whether the bytes are
        // text.
        Err(DecodeError::NotUtf8 { .. } | DecodeError::NoMark) => bytes,
        Err(error) => return Err(error).with_context(at),
    };
    read(&name, &bytes).with_context(at)
}

/// The rows of one source, and the files that they are from.
struct Rows {
    published: Published,
    files: Vec<String>,
}

/// Groups by source: figures of different suites or tools are not comparable.
fn by_source(read: Vec<(PathBuf, Published)>) -> Vec<Rows> {
    let mut all: Vec<Rows> = Vec::new();
    for (path, published) in read {
        let file = path.display().to_string();
        match all.iter_mut().find(|rows| rows.published.source == published.source) {
            Some(rows) => {
                rows.published.rows.extend(published.rows);
                rows.published.unread += published.unread;
                rows.files.push(file);
            }
            None => all.push(Rows { published, files: vec![file] }),
        }
    }
    all
}
