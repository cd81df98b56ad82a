//! `tare report`: a stored run as a page, as tables or as data.

mod deliver;
mod exports;
pub(crate) mod page;

use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use tare_report::{
    Document,
    document::Table,
    gather::{
        history::{self, History},
        merged::MergedReader,
    },
    write::{self, File, csv, hgrm, html, json, junit, markdown},
};

use crate::{exit::Outcome, output, workspace::Global};
use deliver::Content;

/// Write the report of a stored run: HTML, Markdown, CSV, Parquet, JSON and others
///
/// The page is written into the run folder. CSV, Parquet and .hgrm are folders of files in the run folder. All other formats go
/// to stdout. Two runs are compared, the second with the first; three or more are a history, in the
/// order of time. Their files are written into the folder of the last run, with names that begin with `history`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare report                                     the page of the newest run
  tare report .tare/runs/A --format markdown-brief            for a pull request
  tare report .tare/runs/A --format csv --section ranks       one table, for a spreadsheet
  tare report .tare/runs/A .tare/runs/B                       two runs compared
  tare report .tare/runs/A --format junit --out ci.xml        for a CI server
  tare report .tare/runs/A --format go-bench | benchstat -col /service -
  tare report .tare/runs/* --format otava --out tare.csv

Exit codes: 0 fine, 1 usage or set-up error. With --format junit also those of the run's verdict: 2 a service failed, \
3 gate failed, 4 measurement invalid, 5 inconclusive, 6 worse, perhaps by less than delta.")]
pub(crate) struct Args {
    /// The run folder [default: the newest one in `.tare/runs/`]; two are compared, more are a history
    #[arg(value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value = "html")]
    format: Form,
    /// Write to this file, or into this folder if the format has several files; `-` is stdout
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Write only the table of this section, such as `ranks`; by default to stdout
    #[arg(long, value_name = "ID")]
    section: Option<String>,
    /// Print the JSON Schema of `--format json`
    #[arg(long, conflicts_with_all = ["runs", "format", "out", "section"])]
    schema: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// One page with everything in it; opens from disk, without a network
    Html,
    /// All of it, for a README; the sections are folded
    Markdown,
    /// The answer and a small table, for a pull request; the rest is folded
    MarkdownBrief,
    /// One file per table, for a spreadsheet; a cell that would be read as a formula begins with an apostrophe
    Csv,
    /// One file per table, for a notebook
    Parquet,
    /// For programs; `--schema` describes it
    Json,
    /// Latency percentiles for the plotter of HdrHistogram, one file per row and rate
    Hgrm,
    /// JUnit XML: a test case for each check
    Junit,
    /// Bencher Metric Format, JSON: every figure with its interval; `bencher` is the same
    #[value(alias = "bencher")]
    Bmf,
    /// The Go benchmark format, for benchstat: one line for each block
    GoBench,
    /// For github-action-benchmark, tool customBiggerIsBetter: the figures where more is better
    GithubBigger,
    /// For github-action-benchmark, tool customSmallerIsBetter: the figures where less is better; `github-action-benchmark` is the
    /// same
    #[value(alias = "github-action-benchmark")]
    GithubSmaller,
    /// CSV for Apache Otava: one row for each run that is named
    Otava,
    /// OpenMetrics text, for Prometheus and GitLab
    Openmetrics,
}

impl Form {
    /// Whether the format belongs to another tool: it has valid figures only, and no text of Tare.
    fn is_export(self) -> bool {
        use Form::{Bmf, GithubBigger, GithubSmaller, GoBench, Openmetrics, Otava};
        matches!(self, Bmf | GoBench | GithubBigger | GithubSmaller | Otava | Openmetrics)
    }
}

/// The writer of Parquet, which is in a part: of all tables, and of the one with a name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parquet {
    pub files: fn(&Document) -> anyhow::Result<Vec<File>>,
    pub table: fn(&Document, &str, &Table) -> anyhow::Result<Vec<u8>>,
}

pub(crate) fn run(
    global: &Global,
    args: &Args,
    merged: MergedReader,
    parquet: Parquet,
) -> anyhow::Result<Outcome> {
    if args.schema {
        return output::print(json::SCHEMA).map(|()| Outcome::Fine);
    }
    let forms = [Form::Markdown, Form::Csv, Form::Parquet];
    ensure!(
        args.section.is_none() || forms.contains(&args.format),
        "--section: only for --format markdown, csv and parquet"
    );
    let runs = if args.runs.is_empty() { vec![global.newest_run()?] } else { args.runs.clone() };
    if args.format.is_export() {
        return exports::run(args.format, &runs, args.out.as_deref());
    }
    if let [run] = runs.as_slice() {
        report(args, run, (merged, parquet))
    } else {
        several(args, &runs, parquet)
    }
}

impl Args {
    /// The destination: that of the command line, the format's default in the run folder, or stdout.
    fn destination(&self, run: &Path, [html, csv, parquet]: [&str; 3]) -> Option<PathBuf> {
        let name = match self.format {
            Form::Html => Some(html),
            Form::Csv if self.section.is_none() => Some(csv),
            Form::Parquet if self.section.is_none() => Some(parquet),
            Form::Hgrm => Some("hgrm"),
            _ => None,
        };
        self.out.clone().or_else(|| name.map(|name| run.join(name)))
    }
}

fn report(args: &Args, run: &Path, (merged, parquet): (MergedReader, Parquet)) -> anyhow::Result<Outcome> {
    let to = args.destination(run, [page::NAME, "csv", "parquet"]);
    if args.format == Form::Hgrm {
        let latencies = hgrm::hgrm(run)?;
        tell_damage(&latencies.damage);
        Content::Files(latencies.files).deliver(to.as_deref())?;
        return Ok(Outcome::Fine);
    }
    let document = merged.gather(run)?;
    tell_damage(&document.damage);
    content(&document, args.format, args.section.as_deref(), parquet)?.deliver(to.as_deref())?;
    if args.format == Form::Junit && document.checks.is_empty() {
        tare_host::message!(
            "{}: has nothing to check, so there is no test case and nothing has passed",
            run.display()
        );
    }
    Ok(if args.format == Form::Junit { document.verdict().into() } else { Outcome::Fine })
}

/// Two runs, the second compared with the first, or a history of more. Files go into the folder of the last
/// compared run, whatever the order of arguments, and never replace its own page.
fn several(args: &Args, runs: &[PathBuf], parquet: Parquet) -> anyhow::Result<Outcome> {
    match args.format {
        Form::Hgrm => {
            bail!("--format hgrm: latencies of several runs are several sets of files: name one run")
        }
        Form::Junit => {
            bail!("--format junit: run against run asks for no gate, and `tare compare` does: name one run")
        }
        _ => {}
    }
    let History { document, last } = history::history(runs)?;
    tell_damage(&document.damage);
    let to = args.destination(&last, ["history.html", "history-csv", "history-parquet"]);
    content(&document, args.format, args.section.as_deref(), parquet)?.deliver(to.as_deref())?;
    Ok(Outcome::Fine)
}

fn content(
    document: &Document,
    form: Form,
    section: Option<&str>,
    parquet: Parquet,
) -> anyhow::Result<Content> {
    let file = |bytes: Vec<u8>| Content::File(bytes);
    let text = |text: String| Content::File(text.into_bytes());
    Ok(match (form, section) {
        (Form::Markdown, Some(id)) => text(markdown::section(write::section(document, id)?)),
        (Form::Csv, Some(id)) => file(csv::of_table(write::table(document, id)?)),
        (Form::Parquet, Some(id)) => file((parquet.table)(document, id, write::table(document, id)?)?),
        (Form::Markdown, None) => text(markdown::markdown(document)),
        (Form::MarkdownBrief, _) => text(markdown::brief(document)),
        (Form::Csv, None) => Content::Files(csv::csv(document)),
        (Form::Parquet, None) => Content::Files((parquet.files)(document)?),
        (Form::Html, _) => text(html::html(document)?),
        (Form::Json, _) => text(json::json(document)),
        (Form::Junit, _) => text(junit::junit(document)),
        // These formats do not render a document.
        _ => Content::Files(Vec::<File>::new()),
    })
}

/// Prints damage. Most formats contain it too, but a person at a terminal should not have to search for it.
fn tell_damage(damage: &[String]) {
    for sentence in damage {
        tare_host::message!("{} {sentence}", output::paint("33", "damaged:"));
    }
}
