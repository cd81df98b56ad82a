//! `tare run`: carries out an experiment: plan, build, verify, measure, report.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use anyhow::{Context, ensure};
use tare_lab::{
    catalogue::{self, Row, SelectError},
    experiment::Experiment,
    report::{self, Report},
    run::{
        bench::Bench,
        campaign,
        cpus::{self, Pinning},
        environment::Environment,
        folder::{self, Header, RunFolder},
        plan::Plan,
        prepare,
    },
};

use super::show::print_report;
use crate::{
    exit::Outcome,
    output::{Format, print, print_json},
    progress::{CampaignProgress, Progress, duration},
    signals,
    workspace::{self, Global, Workspace},
};

/// Carry out an experiment: build, verify, measure, and print the table
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The experiment, such as experiments/quick.toml
    experiment: PathBuf,
    /// Only these services: names, `NAME@2` for a second row of the same, groups such as `group:go`
    #[arg(long, value_delimiter = ',')]
    services: Vec<String>,
    /// The row that the others are related to, instead of the experiment's
    #[arg(long, value_name = "ROW")]
    pivot: Option<String>,
    /// How long to measure, such as `3m`; the fewest blocks of the experiment are measured in any case
    #[arg(long)]
    budget: Option<jiff::SignedDuration>,
    /// Orders the rows and fills the holes; a secret one is drawn where it is not given
    #[arg(long)]
    seed: Option<u64>,
    /// Where to keep the run; a folder of its own in `runs/` where it is not given
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Show the plan and do nothing
    #[arg(long)]
    dry_run: bool,
    /// The form of the table
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// The same as `--format json`
    #[arg(long)]
    json: bool,
}

pub fn run(global: &Global, args: Args) -> anyhow::Result<Outcome> {
    let workspace = Workspace::open(global)?;
    let mut experiment = Experiment::load(&args.experiment)?;
    if let Some(budget) = args.budget {
        experiment.campaign.budget = budget.unsigned_abs();
    }
    let rows = rows(&workspace, &experiment, &args.services, args.pivot.as_deref())?;
    if let Some(pivot) = args.pivot {
        experiment.pivot = pivot;
    }
    let pinning = Pinning::choose(&cpus::available(), experiment.knobs.threads, experiment.load.threads);
    let plan = Plan::new(&experiment, &rows, args.seed.unwrap_or_else(workspace::draw_seed), pinning);
    let format = if args.json { Format::Json } else { args.format };
    if args.dry_run {
        show_plan(&plan, format)?;
        return Ok(Outcome::Fine);
    }
    let began = jiff::Timestamp::now();
    let run = args.out.unwrap_or_else(|| workspace.root.join("runs").join(run_name(&experiment, began)));
    ensure!(!run.join("run.json").exists(), "{}: holds a run already; choose another folder", run.display());
    let session = Session {
        workspace: &workspace,
        rows,
        run,
        interrupt: signals::listen()?,
        progress: Progress::new(false),
    };
    let report = session.carry_out(plan, began)?;
    print_report(&report, format)?;
    eprintln!("kept in {}; `tare show {0}` prints it again", session.run.display());
    Ok(outcome(&report))
}

/// The rows that were asked for, and the pivot, without which there is nothing to relate them to.
fn rows(
    workspace: &Workspace,
    experiment: &Experiment,
    services: &[String],
    pivot: Option<&str>,
) -> anyhow::Result<Vec<Row>> {
    if let Err(error) = workspace.contract(&experiment.contract) {
        return Err(experiment.mistake("contract", &experiment.contract, &error.to_string()).into());
    }
    let select = |words: &[String]| catalogue::select(&workspace.catalogue, words.iter().map(String::as_str));
    let in_file = |key: &'static str| {
        move |error: SelectError| experiment.mistake(key, &error.word(), &error.to_string())
    };
    let mut rows = match services {
        [] => select(&experiment.services).map_err(in_file("services"))?,
        services => select(services).context("--services")?,
    };
    let is_there = |label: &str| rows.iter().any(|row| row.label == label);
    let missing = match pivot {
        Some(pivot) if is_there(pivot) => Vec::new(),
        Some(pivot) => select(&[pivot.to_owned()]).context("--pivot")?,
        None if is_there(&experiment.pivot) => Vec::new(),
        None => select(std::slice::from_ref(&experiment.pivot)).map_err(in_file("pivot"))?,
    };
    rows.splice(0..0, missing);
    workspace.tell_broken();
    Ok(rows)
}

/// Begins with the time, so that names sort by age.
fn run_name(experiment: &Experiment, began: jiff::Timestamp) -> String {
    format!("{}-{}", began.strftime("%Y%m%dT%H%M%S%.3fZ"), experiment.name)
}

struct Session<'a> {
    workspace: &'a Workspace,
    rows: Vec<Row>,
    run: PathBuf,
    interrupt: Arc<AtomicBool>,
    progress: Progress,
}

impl Session<'_> {
    fn carry_out(&self, mut plan: Plan, began: jiff::Timestamp) -> anyhow::Result<Report> {
        let contract = self.workspace.contract(&plan.contract)?;
        let supervisor = workspace::supervisor()?;
        let builder = self.workspace.builder();
        self.progress.say("building");
        prepare::build_all(&mut plan, &self.rows, &builder, &supervisor, &self.interrupt, |name| {
            self.progress.say(&format!("built {name}"));
        });
        prepare::verify_all(
            &mut plan,
            &self.rows,
            contract,
            &supervisor,
            &self.run,
            &self.interrupt,
            |label| {
                self.progress.say(&format!("verified {label}"));
            },
        )
        .with_context(|| format!("cannot write to {}", self.run.display()))?;
        for row in &plan.rows {
            if let Some(excluded) = &row.excluded {
                self.progress.keep(&format!(
                    "{} {}: {}",
                    crate::output::paint("33", "left out"),
                    row.label,
                    excluded.reason
                ));
            }
        }
        let isolation =
            supervisor.isolation().describe().into_iter().map(|(what, how)| format!("{what}: {how}"));
        let environment = Environment::read(isolation.collect());
        let header = Header {
            format: folder::FORMAT.to_owned(),
            tare: env!("CARGO_PKG_VERSION").to_owned(),
            began: began.to_string(),
            plan,
            environment,
        };
        let mut journal = RunFolder::create(&self.run, &header)?;
        let services = self.rows.iter().map(|row| row.service.clone()).collect();
        let mut bench =
            Bench::new(&header.plan, services, contract, &supervisor, &self.run, Arc::clone(&self.interrupt));
        let mut watch = CampaignProgress(&self.progress);
        let ended = campaign::run(&header.plan, &mut bench, &mut journal, &mut watch);
        self.progress.finish();
        let report = report::compute(&folder::read(&self.run)?);
        ended.with_context(|| {
            format!("cannot write to {}; what was measured before is kept", self.run.display())
        })?;
        write_report(&self.run, &report)?;
        Ok(report)
    }
}

fn write_report(run: &Path, report: &Report) -> anyhow::Result<()> {
    let write = |name: &str, text: String| {
        let path = run.join(name);
        std::fs::write(&path, text).with_context(|| path.display().to_string())
    };
    write("report.md", report::markdown(report))?;
    write("report.json", serde_json::to_string_pretty(report)? + "\n")
}

fn show_plan(plan: &Plan, format: Format) -> anyhow::Result<()> {
    if format == Format::Json {
        return print_json(plan);
    }
    let labels: Vec<&str> = plan.rows.iter().map(|row| row.label.as_str()).collect();
    let time = |ns: u64| duration(Duration::from_nanos(ns));
    let blocks = plan.blocks_expected();
    print(&format!(
        "{}\n{}\n\nservices    {} ({})\ncontract    {}\nload        closed loop, {} connections, {} generator thread(s)\n\
         told        THREADS={} DELAY_MS={}\nCPUs        services {:?}, generator {:?}\nseed        {}\n\
         a block     fresh start and {} ms of warm-up of each service, then {} slices of {} ms each, in random order\n\
         blocks      about {blocks} ({} to {}) of about {} each, before the budget of {} is spent\n\
         before      build what has changed and verify every service: some seconds where nothing has\n",
        plan.title,
        plan.question,
        labels.len(),
        labels.join(", "),
        plan.contract,
        plan.load.connections,
        plan.load.threads,
        plan.knobs.threads,
        plan.knobs.delay_ms,
        plan.pinning.server,
        plan.pinning.generator,
        plan.seed,
        plan.warm_up_ns / 1_000_000,
        plan.slices_per_block,
        plan.slice_ns / 1_000_000,
        plan.blocks_min,
        plan.blocks_max,
        time(plan.block_ns_expected()),
        time(plan.budget_ns),
    ))
}

fn outcome(report: &Report) -> Outcome {
    if report.some_service_failed() {
        Outcome::ServiceFailed
    } else if report.some_measurement_is_invalid() {
        Outcome::MeasurementInvalid
    } else if report.some_build_failed() {
        Outcome::SetUp
    } else {
        Outcome::Fine
    }
}
