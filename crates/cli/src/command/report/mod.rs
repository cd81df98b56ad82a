//! `tare report`: a run in the forms that people and programs read, from its folder alone.

mod deliver;
mod history;
pub mod page;

use std::path::{Path, PathBuf};

use anyhow::ensure;
use tare_analysis::checks;
use tare_report::{
    Document,
    gather::gather,
    write::{self, File, csv, hgrm, html, json, junit, markdown, parquet},
};

use super::runs;
use crate::{exit::Outcome, output, workspace::Global};
use deliver::{Content, Destination};

/// Write down a run: as a page, as Markdown, for a spreadsheet, a notebook, a program or a CI server
///
/// The page goes into the run folder; Markdown, JSON and JUnit XML go to stdout; CSV, Parquet and .hgrm are folders of files, in
/// the run folder. Of several runs that is the folder of the last one that is compared (of two the second, else the newest), and
/// names begin with `history` there. With `--format junit` the status says what the gate found: 0, or that of a service that
/// failed, a gate that is not passed, a measurement that is not valid, or of nothing that can be told.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run folder; the newest one in `runs/` where none is named. Two are compared, run against run; more are a history
    #[arg(value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// The form
    #[arg(long, value_enum, default_value = "html")]
    format: Form,
    /// Where to: a file, a folder for forms of several files, or `-` for stdout
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Only this section, such as `tiers`: one table, to stdout where --out names no file
    #[arg(long, value_name = "ID")]
    section: Option<String>,
    /// Print the JSON Schema of `--format json`
    #[arg(long, conflicts_with_all = ["runs", "format", "out", "section"])]
    schema: bool,
}

/// A form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// One page with everything in it: opens from disk, without a network
    Html,
    /// For a README or a pull request
    Markdown,
    /// A file for each table; a name that a spreadsheet would compute has an apostrophe before it
    Csv,
    /// A file for each table, for a notebook
    Parquet,
    /// For programs; `--schema` describes it
    Json,
    /// Latency percentiles for HdrHistogram's plotter, a file for each row and rate
    Hgrm,
    /// A test case for each question of a gate
    Junit,
}

pub fn run(global: &Global, args: &Args) -> anyhow::Result<Outcome> {
    if args.schema {
        return output::print(json::SCHEMA).map(|()| Outcome::Fine);
    }
    args.refuse_what_means_nothing()?;
    let runs = if args.runs.is_empty() { vec![runs::newest(global)?] } else { args.runs.clone() };
    let [run] = runs.as_slice() else { return history::report(args, &runs) };
    report(args, run)
}

impl Args {
    fn refuse_what_means_nothing(&self) -> anyhow::Result<()> {
        if self.section.is_some() {
            let forms = [Form::Markdown, Form::Csv, Form::Parquet];
            ensure!(
                forms.contains(&self.format),
                "--section: only --format markdown, csv and parquet have it"
            );
        }
        Ok(())
    }
}

fn report(args: &Args, run: &Path) -> anyhow::Result<Outcome> {
    let destination = |default: &str| Destination::of(args.out.as_deref(), run, default);
    if args.format == Form::Hgrm {
        let latencies = hgrm::hgrm(run)?;
        tell_damage(&latencies.damage);
        Content::Files(latencies.files).deliver(&destination("hgrm"))?;
        return Ok(Outcome::Fine);
    }
    let document = gather(run)?;
    tell_damage(&document.damage);
    let content = content(&document, args.format, args.section.as_deref())?;
    let default = match args.format {
        Form::Html => page::NAME,
        Form::Csv if args.section.is_none() => "csv",
        Form::Parquet if args.section.is_none() => "parquet",
        _ => deliver::STDOUT,
    };
    content.deliver(&destination(default))?;
    if args.format == Form::Junit && document.checks.is_empty() {
        eprintln!("nothing could be asked of {}: no test case, and so nothing has passed", run.display());
    }
    Ok(if args.format == Form::Junit { checks::verdict(&document.checks).into() } else { Outcome::Fine })
}

/// A document in a form; of one section where it is named.
fn content(document: &Document, form: Form, section: Option<&str>) -> anyhow::Result<Content> {
    let file = |bytes: Vec<u8>| Content::File(bytes);
    let text = |text: String| Content::File(text.into_bytes());
    Ok(match (form, section) {
        (Form::Markdown, Some(id)) => text(markdown::section(write::section(document, id)?)),
        (Form::Csv, Some(id)) => file(csv::of_table(write::table(document, id)?)),
        (Form::Parquet, Some(id)) => file(parquet::of_table(document, id, write::table(document, id)?)?),
        (Form::Markdown, None) => text(markdown::markdown(document)),
        (Form::Csv, None) => Content::Files(csv::csv(document)),
        (Form::Parquet, None) => Content::Files(parquet::parquet(document)?),
        (Form::Html, _) => text(html::html(document)?),
        (Form::Json, _) => text(json::json(document)),
        (Form::Junit, _) => text(junit::junit(document)),
        (Form::Hgrm, _) => Content::Files(Vec::<File>::new()),
    })
}

/// It stands in most forms too; who looks at a terminal shall not have to look for it there.
fn tell_damage(damage: &[String]) {
    for sentence in damage {
        anstream::eprintln!("{} {sentence}", output::paint("33", "damaged:"));
    }
}
