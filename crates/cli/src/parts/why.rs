//! `tare why`: which functions a service spends its CPU time in, or which are behind the difference of a comparison.

use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, ensure};
use tare_analysis::why::{self, WhyReport};
use tare_base::units::parse_time;
use tare_bench::{executor::ProfiledRun, experiment::Experiment, plan::Plan};
use tare_report::{
    document::Section,
    gather::{profiles, why as gather},
    write::{markdown, text},
};
use tare_why::{course, export};

use crate::{
    command::{
        asked::{self, AskedOptions},
        compare::contenders,
        load_options::LoadOptions,
        run::{explain::sampled_alone, pinning},
        running::{self, RunningOptions},
        start::StartOptions,
    },
    exit::Outcome,
    output::{self, print},
    workspace::Global,
};

/// What a folder of its own is named after.
const NAME: &str = "why";

/// Print which functions are behind a difference, or a cost
///
/// A run that was explained (`tare compare --why`) is printed again. Services are built, verified and sampled now: of one, the functions
/// with what they cost a request; of two, the functions behind the difference, with intervals. Nothing is decided by it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare why                                 of the newest comparison that was explained
  tare why .tare/runs/A                    of the comparison in this folder
  tare why .tare/runs/B --row hyper        of a row of `tare run --why`
  tare why 'node server.js' --get /items/1     what a request costs, by function
  tare why 'node a.js' 'node b.js' --get /     what differs between two services
  tare why hyper axum                      what differs between two frameworks, by package too
  tare why --format collapsed              the call stacks, for tools that draw flame graphs
  tare why --format pprof > why.pb.gz      the same for `go tool pprof -http : why.pb.gz`

Exit codes: 0 printed, 1 usage error, or the run was not explained, 2 a service failed its contract.")]
pub(crate) struct Args {
    /// The folder of a run that was explained, or one or two services as `tare compare` takes them [default: the newest run in
    /// `.tare/runs/` that was explained]
    #[arg(num_args = 0..=2, value_name = "RUN|SERVICE")]
    what: Vec<String>,
    /// Print this row alone, of a run with `--why`
    #[arg(long, value_name = "ROW")]
    row: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: WhyFormat,
    /// The same as `--format json`
    #[arg(long)]
    json: bool,
    /// The contract [default: the first that the services declare]
    #[arg(long)]
    contract: Option<String>,
    /// Refuse if another tare measures on these CPUs; by default wait until it has ended
    #[arg(long)]
    no_wait: bool,
    /// About how long services are sampled, such as `10s` [default: 20s, and longer for services that wait most of the time]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    budget: Option<Duration>,
    #[command(flatten)]
    load: LoadOptions,
    #[command(flatten)]
    asked: AskedOptions,
    #[command(flatten)]
    running: RunningOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum WhyFormat {
    /// The answer and its functions
    Text,
    /// The same as Markdown, for a pull request
    Markdown,
    /// Everything that is stored
    Json,
    /// Call stacks, a line each, of baseline and candidate: what tools that draw flame graphs read
    Collapsed,
    /// For speedscope, with a profile of each
    Speedscope,
    /// For pprof, gzipped, with the ns of a request of each and their difference
    Pprof,
    /// For Firefox Profiler, with a thread of each
    Firefox,
}

impl WhyFormat {
    /// Whether it is of the call stacks of one report.
    fn is_of_stacks(self) -> bool {
        !matches!(self, WhyFormat::Text | WhyFormat::Markdown | WhyFormat::Json)
    }
}

/// What the core asks of the part.
pub(super) fn explain(run: ProfiledRun<'_>, say: &dyn Fn(&str)) -> anyhow::Result<WhyReport> {
    Ok(course::why(run, say)?)
}

pub(crate) fn run(global: &Global, mut args: Args) -> anyhow::Result<Outcome> {
    let report = match &args.what[..] {
        [] => WhyReport::read(&newest(global)?)?,
        [run] if Path::new(run).join(why::NAME).exists() || Path::new(run).join("run.json").exists() => {
            WhyReport::read(Path::new(run))?
        }
        _ => sampled(global, &mut args)?,
    };
    let report = match &args.row {
        Some(row) => report.row(row)?,
        None => report,
    };
    let format = if args.json { WhyFormat::Json } else { args.format };
    ensure!(
        report.profiles.is_empty() || !format.is_of_stacks(),
        "the run has a profile of each row: choose one by `--row`, such as `--row {}`",
        report.profiles.first().and_then(|profile| profile.subjects.first()).map_or("", |one| &one.label)
    );
    let sections = sections(&report);
    match format {
        WhyFormat::Text => print(&shown(&sections, |section| text::section(section, output::look())))?,
        WhyFormat::Markdown => print(&shown(&sections, markdown::section))?,
        WhyFormat::Json => output::print_json(&report)?,
        WhyFormat::Collapsed => print(&export::collapsed(&report))?,
        WhyFormat::Speedscope => output::print_json(&export::speedscope(&report))?,
        WhyFormat::Firefox => output::print_json(&export::firefox(&report))?,
        WhyFormat::Pprof => {
            ensure!(!std::io::stdout().is_terminal(), "--format pprof: it is no text: send it to a file");
            output::print_bytes(&export::pprof(&report))?;
        }
    }
    Ok(Outcome::Fine)
}

fn sections(report: &WhyReport) -> Vec<Section> {
    if !report.profiles.is_empty() {
        return profiles::sections(&report.profiles);
    }
    let sections = [Some(gather::section(report)), gather::lines(report), gather::packages(report)];
    sections.into_iter().flatten().collect()
}

fn shown(sections: &[Section], write: impl Fn(&Section) -> String) -> String {
    sections.iter().map(write).collect::<Vec<_>>().join("\n")
}

/// Samples one service or two, which are in no run.
fn sampled(global: &Global, args: &mut Args) -> anyhow::Result<WhyReport> {
    if let [one, other] = &mut args.what[..] {
        // A service that is named twice is compared with itself.
        if one == other {
            other.push_str("@2");
        }
    }
    args.running.tell_apart(&mut args.what);
    let mut workspace = running::open(global, &args.what, &args.running)?;
    let mut rows = workspace.rows(args.what.iter().map(String::as_str))?;
    running::declare(&mut rows, args.contract.as_deref());
    let mut start = StartOptions::plain(args.no_wait);
    if let Some(asked) = args.asked.of(&rows, args.contract.as_deref())? {
        let settings = args.load.service_settings();
        asked::learn_for_run(&mut workspace, &mut rows, &asked, &mut start, &settings, NAME)?;
    }
    let mut experiment = Experiment::of_versions();
    experiment.name = NAME.to_owned();
    experiment.reference.clone_from(&rows[0].label);
    let ends = [&rows[0], rows.last().unwrap_or(&rows[0])];
    experiment.contract = contenders::contract(&workspace, args.contract.as_deref(), ends)?;
    args.load.enter(&mut experiment);
    let plan = Plan::interleaved(&experiment, &rows, start.seed(), pinning(&experiment, &rows));
    let (run, report) = sampled_alone(&workspace, &start, plan, rows, (super::WHY, args.budget))?;
    tare_host::message!("stored in {}; `tare why {0}` prints it again", run.display());
    Ok(report)
}

/// The newest folder with an answer.
fn newest(global: &Global) -> anyhow::Result<PathBuf> {
    let runs = global.find()?.runs();
    let folders = std::fs::read_dir(&runs).into_iter().flatten().flatten().map(|entry| entry.path());
    let newest = folders.filter(|run| run.join(why::NAME).exists()).max();
    newest.with_context(|| {
        format!("{}: no run was explained yet: `tare compare A B --why` explains one", runs.display())
    })
}
