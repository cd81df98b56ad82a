//! `tare crosscheck`: the same load by other generators, beside our own.

use std::{fs, path::Path, sync::Arc, sync::atomic::Ordering, time::Duration};
use tare_service::prove;

use anyhow::{Context, anyhow, bail, ensure};
use tare_crosscheck::{
    self, Found, Pace, Plan, Report, Session, Shape, Tool,
    judge::Verdict,
    render,
    report::{FORMAT, Missing, Opinion},
};
use tare_host::{
    cpus::{self, Pinning},
    process::Supervisor,
};
use tare_service::{
    build::Site,
    catalogue::Row,
    contract::{Contract, Request},
    knobs::Knobs,
    prove::Proof,
};

use super::campaign;
use crate::{
    exit::Outcome,
    output::{self, Format, json, paint, print, print_json},
    progress::Progress,
    signals,
    workspace::{self, Global, Workspace},
};

/// Ask wrk, h2load, httperf and locust for the same load as our engine, and compare what they say of one service
///
/// Each tool has a load that it and our engine can both make, with requests that are the same to the byte. In every round
/// each tool and our engine have their turn over the running service, in a random order. Exit code 4 where throughput
/// differs and no reason that is known for it is seen.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A service, or a folder such as `./mine`, which has a slash
    service: String,
    /// The contract of which a request is sent
    #[arg(long, default_value = "hello")]
    contract: String,
    /// Which of its requests, where its load has several: a GET of one fixed path
    #[arg(long, value_name = "NAME")]
    request: Option<String>,
    /// Only these tools
    #[arg(long, value_delimiter = ',', value_name = "TOOL")]
    tools: Vec<String>,
    /// Rounds; an interval that assumes little takes 6
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1000))]
    rounds: u16,
    /// How long one load takes, in whole seconds, which is all that wrk knows
    #[arg(short, long, value_name = "TIME", default_value = "2s")]
    duration: jiff::SignedDuration,
    /// Connections of wrk and h2load
    #[arg(short, long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=20_000))]
    connections: u16,
    /// Threads of the generators that can have several
    #[arg(short, long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Users of locust
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    users: u16,
    /// `THREADS` of the service
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    service_threads: u16,
    /// Load on the fresh process before anything counts
    #[arg(long, value_name = "TIME", default_value = "2s")]
    warm_up: jiff::SignedDuration,
    #[command(flatten)]
    campaign: campaign::Words,
}

pub fn run(global: &Global, args: &Args) -> anyhow::Result<Outcome> {
    let asked = tools(&args.tools)?;
    let words = [args.service.clone()];
    let workspace = Workspace::open_with(global, &words)?;
    let row = row(&workspace, &args.service)?;
    let contract = workspace.contract(&args.contract)?;
    let declares = row.service.contracts.contains(&contract.name);
    ensure!(declares, "\"{}\" does not declare the contract \"{}\"", row.label, contract.name);
    let request = tare_crosscheck::fixed_get(contract, args.request.as_deref())?;
    let plan = plan(args, Tool::find(&asked, &workspace.root))?;
    let missing = asked.into_iter().filter(|tool| plan.tools.iter().all(|found| found.tool != *tool));
    let missing: Vec<Missing> = missing.map(|tool| Missing { tool, install: tool.install() }).collect();
    tell(&plan, &row, request, &missing);
    if plan.tools.is_empty() {
        bail!("none of these tools is on this machine");
    }
    if args.campaign.dry_run {
        return Ok(Outcome::Fine);
    }
    let began = jiff::Timestamp::now();
    let folder = args.campaign.out.clone().unwrap_or_else(|| workspace.new_run("crosscheck", began));
    ensure!(!folder.exists(), "{}: is there already; choose another folder", folder.display());
    let command = Command { workspace: &workspace, args, row: &row, contract, request, plan: &plan };
    let report = command.carry_out(missing, began, &folder)?;
    keep(&folder, &report)?;
    print_report(&report, args.campaign.format())?;
    eprintln!("kept in {}", folder.display());
    Ok(outcome(&report))
}

/// Those that were named, or all.
fn tools(names: &[String]) -> anyhow::Result<Vec<Tool>> {
    let tool = |name: &String| {
        let nearest = || tare_host::spelling::suggestion(name, Tool::ALL.iter().map(|tool| tool.name()));
        Tool::named(name).ok_or_else(|| anyhow!("--tools: unknown tool \"{name}\"{}", nearest()))
    };
    let named = names.iter().map(tool).collect::<Result<Vec<_>, _>>()?;
    Ok(Tool::ALL.into_iter().filter(|tool| named.is_empty() || named.contains(tool)).collect())
}

fn row(workspace: &Workspace, word: &str) -> anyhow::Result<Row> {
    let mut rows = workspace.rows([word])?;
    ensure!(rows.len() == 1, "\"{word}\" is {} services: name one", rows.len());
    Ok(rows.remove(0))
}

fn plan(args: &Args, tools: Vec<Found>) -> anyhow::Result<Plan> {
    let seconds = args.duration.as_secs();
    ensure!(
        (1..=600).contains(&seconds) && args.duration.subsec_nanos() == 0,
        "--duration: give whole seconds, 1s to 10m"
    );
    let (threads, service_threads) = (usize::from(args.threads), usize::from(args.service_threads));
    let pace = Pace {
        seconds: seconds.unsigned_abs(),
        connections: args.connections.into(),
        threads,
        users: args.users.into(),
        rate_all: 0.0,
        rate_one: 0.0,
    };
    Ok(Plan {
        tools,
        rounds: args.rounds.into(),
        pace,
        warm_up: args.warm_up.unsigned_abs(),
        knobs: Knobs { threads: service_threads, delay_ms: 0 },
        pinning: Pinning::choose(&cpus::available(), service_threads, threads),
        seed: args.campaign.seed(),
    })
}

/// What is going to be done, and how long it takes.
fn tell(plan: &Plan, row: &Row, request: &Request, missing: &[Missing]) {
    let names: Vec<String> = plan.tools.iter().map(ToString::to_string).collect();
    let path = request.ask.path.fixed().unwrap_or_default();
    let seconds = plan.pace.seconds * (2 * plan.rounds * plan.tools.len()) as u64 + plan.warm_up.as_secs();
    eprintln!(
        "GET {path} of {} by {}: {} rounds of {} s, each beside the same by our engine; about {}, seed {}",
        row.label,
        names.join(", "),
        plan.rounds,
        plan.pace.seconds,
        crate::progress::duration(Duration::from_secs(seconds)),
        plan.seed
    );
    for missing in missing {
        let word = paint("33", "missing");
        anstream::eprintln!("{word} {}: `{}` brings it", missing.tool, missing.install);
    }
    let unknown = |shape: Shape| matches!(shape, Shape::Each { .. } | Shape::Sessions { .. });
    for found in &plan.tools {
        let shape = Shape::of(found.tool, &plan.pace);
        let text =
            if unknown(shape) { "as many requests as take that long".to_owned() } else { shape.to_string() };
        eprintln!("  {found}: {text}");
    }
}

/// One crosscheck.
struct Command<'a> {
    workspace: &'a Workspace,
    args: &'a Args,
    row: &'a Row,
    contract: &'a Contract,
    request: &'a Request,
    plan: &'a Plan,
}

impl Command<'_> {
    fn carry_out(
        &self,
        missing: Vec<Missing>,
        began: jiff::Timestamp,
        folder: &Path,
    ) -> anyhow::Result<Report> {
        let interrupt = signals::listen()?;
        let supervisor = workspace::supervisor()?;
        let progress = Progress::new(false);
        let mut report = self.report(missing, began);
        progress.say("building");
        let site = Site::new(&supervisor, &interrupt);
        report.version = self.workspace.builder().build(&self.row.service, &site, false)?.version;
        progress.say("verifying");
        match self.prove(&supervisor, folder) {
            Some(reason) => report.trouble = Some(reason),
            None => {
                progress.say("starting the service, and finding out what each tool sends");
                let (service, asked) = (&self.row.service, (self.contract, self.request));
                match Session::start(self.plan, service, asked, &supervisor, folder, Arc::clone(&interrupt)) {
                    Err(error) => report.trouble = Some(error.to_string()),
                    Ok(session) => self.measure(session, &progress, &mut report),
                }
            }
        }
        progress.finish();
        report.interrupted = interrupt.load(Ordering::Relaxed);
        Ok(report)
    }

    fn measure(&self, mut session: Session, progress: &Progress, report: &mut Report) {
        let rounds = self.plan.rounds;
        let all =
            session.rounds(|round, tool| progress.say(&format!("round {} of {rounds}: {tool}", round + 1)));
        for (found, series) in self.plan.tools.iter().zip(all) {
            if let Some((shape, bytes)) = session.asked(found.tool) {
                report.opinions.push(Opinion::new(found, shape, bytes, series));
            }
        }
        report.trouble = session.stop().err().map(|error| error.to_string());
    }

    /// Why the service may not be loaded, if it may not.
    fn prove(&self, supervisor: &Supervisor, folder: &Path) -> Option<String> {
        let (service, contract) = (&self.row.service, self.contract);
        let proof = Proof { knobs: &self.plan.knobs, seed: self.plan.seed, port: None };
        match prove::prove(service, contract, &proof, supervisor, folder) {
            Err(reason) => Some(reason),
            Ok(transcript) => transcript.reason().map(|reason| format!("failed verify: {reason}")),
        }
    }

    fn report(&self, missing: Vec<Missing>, began: jiff::Timestamp) -> Report {
        Report {
            format: FORMAT,
            tare: env!("CARGO_PKG_VERSION").to_owned(),
            began: began.to_string(),
            service: self.row.label.clone(),
            version: String::new(),
            contract: self.args.contract.clone(),
            request: format!("GET {}", self.request.ask.path.fixed().unwrap_or_default()),
            knobs: self.plan.knobs.clone(),
            pinning: self.plan.pinning.clone(),
            rounds: self.plan.rounds,
            seed: self.plan.seed,
            interrupted: false,
            trouble: None,
            opinions: Vec::new(),
            missing,
        }
    }
}

fn keep(folder: &Path, report: &Report) -> anyhow::Result<()> {
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        fs::write(&path, text).with_context(|| path.display().to_string())
    };
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    write("crosscheck.json", json(report)?)?;
    write("crosscheck.md", render::markdown(report))
}

fn print_report(report: &Report, format: Format) -> anyhow::Result<()> {
    match format {
        Format::Text => print(&render::text(report, output::aligned)),
        Format::Markdown => print(&render::markdown(report)),
        Format::Json => print_json(report),
    }
}

fn outcome(report: &Report) -> Outcome {
    let verdicts: Vec<Verdict> = report.verdicts().collect();
    if report.trouble.is_some() {
        Outcome::ServiceFailed
    } else if report.some_fault() || verdicts.contains(&Verdict::Disagree) {
        Outcome::MeasurementInvalid
    } else if verdicts.contains(&Verdict::Unclear) || verdicts.is_empty() {
        Outcome::Inconclusive
    } else {
        Outcome::Fine
    }
}
