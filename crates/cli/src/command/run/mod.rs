//! `tare run`: runs an experiment: plan, build, verify, measure, report.

mod about;
pub(crate) mod agents;
pub(crate) mod before;
mod cores;
mod dry;
pub(crate) mod explain;
pub(crate) mod find;
mod known;
mod published;
mod session;
mod until;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, anyhow, bail, ensure};
use tare_base::units::parse_time;
use tare_bench::{
    experiment::{Experiment, ExperimentFile, LoadSetting},
    folder::{self, StoredRun, about::quoted},
    plan::{Plan, PlannedRow, Until, until::Precision},
    record::{Ending, ending},
};
use tare_host::{cpus::Pinning, link::rights};
use tare_report::{Document, gather::gather};
use tare_service::{
    catalogue::{self, RevisionOf, Row, SelectError},
    learn, release,
    workspace::Workspace,
};

use super::start;
use super::{
    asked::{self, AskedOptions},
    print::{self, Extent},
    report::page,
    revised::Revised,
    running::{self, RunningOptions},
    words,
};
use crate::{
    exit::{self, Outcome},
    output::Format,
    workspace::{self, Global},
};
use agents::{Access, AgentOptions, RunAgents};
pub(crate) use before::refuse_absent;
use explain::{WhyOptions, WhyPart};
pub(crate) use find::file as experiment_file;
pub(crate) use known::with_windows_taken;
use session::Session;

/// Run an experiment: build and verify the services, measure them, print the table
///
/// An experiment file names the services, the contract, the load and the time to spend. Tare measures in short slices, in
/// random order, so that a change of the machine hits all services alike. The run is stored in a folder in `.tare/runs/`: `tare show`
/// prints its table again, `tare report` writes it as a page, and `--resume` continues an interrupted run.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare run quick                                       twelve services, in minutes: the table of the README
  tare run quick --services hyper,group:go             some of its services
  tare run quick --budget 10m --until ranks            stop once every pair is decided
  tare run quick --precision 2% --budget 30m           stop once the intervals are that narrow
  tare run quick --services hyper,axum --why           and what a request of each consists of
  tare run quick --connections 16,64,256               a table for each load, and a curve
  tare run quick --dry-run                             print the plan and its duration
  tare run restinio-2017                               repeat a published benchmark
  tare run --service 'node server.js' --get /items/1   your service against the raw socket
  tare run --service http://127.0.0.1:3000/items/1     a server that runs already
  tare run --resume .tare/runs/20261122T120000.000Z-quick              continue an interrupted run
  tare run quick --agents 10.0.0.7:7070,10.0.0.8:7070 --token-file token --serve-on 10.0.0.9 --i-may-load 10.0.0.9
                                                       load from two machines

Exit codes: 0 every row was measured, 1 usage error, or a service was not built, 2 a service failed its contract or crashed, \
4 a row is not valid, 130 or 143 interrupted.")]
pub(crate) struct Args {
    /// The experiment: a name such as `quick`, of a file that `tare.toml` has among its `experiments` or of one that Tare brings
    /// (`tare catalogue` prints them); or a file such as ./mine.toml
    #[arg(required_unless_present_any = ["resume", "service"])]
    experiment: Option<PathBuf>,
    /// A service by its command, such as `'node server.js'`, which listens on the port that is in its environment as PORT or
    /// that replaces `{port}`; or the URL of a server that runs already. Without an experiment file it is related to the raw
    /// socket. May be given several times
    #[arg(long, value_name = "COMMAND|URL")]
    service: Vec<String>,
    #[command(flatten)]
    asked: AskedOptions,
    #[command(flatten)]
    running: RunningOptions,
    #[command(flatten)]
    agents: AgentOptions,
    /// Continue an interrupted run: what was measured counts, and the rest is measured
    #[arg(long, value_name = "RUN",
        conflicts_with_all = ["experiment", "service", "services", "reference", "no_twin", "budget", "connections", "seed", "agents",
            "out", "dry_run", "until", "precision", "delta", "scale", "duration", "rounds", "sweep", "threads", "link"])]
    resume: Option<PathBuf>,
    /// Only these services: names, a name in another protocol such as `hyper+tls` or `hyper+h2`, groups such as `group:go`,
    /// folders such as `./mine` (with a slash), or `NAME@2` for a second row of the same service. A published experiment
    /// has fixed rows: choose among them by service
    #[arg(long, value_delimiter = ',')]
    services: Vec<String>,
    /// The reference: the row that counts as 100% [default: that of the experiment]
    #[arg(long, value_name = "ROW")]
    reference: Option<String>,
    /// Another contract than that of the experiment, for the same services: `--contract queries`
    #[arg(long, value_name = "NAME", conflicts_with = "resume")]
    contract: Option<String>,
    /// Do not measure the reference a second time: by default it has a twin, which shows what the run can tell apart
    #[arg(long)]
    no_twin: bool,
    /// The measuring may not take longer than this, such as `3m`; building and verifying are not counted [default: the budget
    /// of the experiment, and its fewest blocks]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    budget: Option<Duration>,
    /// Connections of each load, such as `16,64,256`; over HTTP/2 the requests at a time, of which the experiment's `streams` share a
    /// connection [default: those of the experiment]
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    connections: Vec<usize>,
    /// Stopping rule: `budget`, or `ranks` (by CPU time per request) or `ranks:throughput` to stop once every pair of ranked
    /// rows is either distinguished or shown to be equal within `--delta`
    #[arg(long, value_name = "END", default_value = "budget", value_parser = until::parse)]
    until: until::Asked,
    /// With `--until ranks`: the difference up to which two rows count as equal [default: 3%]
    #[arg(long, value_parser = words::delta)]
    delta: Option<f64>,
    /// Stop once the half intervals of CPU time per request, related to the reference, are this narrow on average over the rows,
    /// such as `2%`. The budget ends the run in any case: give one that is large enough
    #[arg(long, value_name = "SHARE", value_parser = words::delta, conflicts_with = "until")]
    precision: Option<f64>,
    /// Then find out in which packages and functions each service spends a request: about 10 s more for each
    #[arg(long, conflicts_with_all = ["resume", "agents"])]
    why: bool,
    #[command(flatten)]
    start: start::StartOptions,
    #[command(flatten)]
    published: published::PublishedOptions,
}

impl Args {
    /// Applies the options to the experiment of the file.
    fn enter(&self, experiment: &mut Experiment) -> anyhow::Result<()> {
        if let Some(budget) = self.budget {
            experiment.schedule.budget = budget;
        }
        if !self.connections.is_empty() {
            let each = LoadSetting::each(&self.connections, experiment.loads[0].threads);
            let each = each.map_err(|error| anyhow!("--connections: {error}"))?;
            let connection_use = experiment.loads[0].connection_use;
            experiment.loads = each.into_iter().map(|load| LoadSetting { connection_use, ..load }).collect();
        }
        Ok(())
    }

    /// Rejects options of interleaved experiments for a sequential one.
    fn refuse_those_of_blocks(&self) -> anyhow::Result<()> {
        let given = [
            ("--reference", self.reference.is_some()),
            ("--no-twin", self.no_twin),
            ("--budget", self.budget.is_some()),
            ("--connections", !self.connections.is_empty()),
            ("--until", self.until != until::Asked::Budget),
            ("--delta", self.delta.is_some()),
            ("--precision", self.precision.is_some()),
            ("--service", !self.service.is_empty()),
            ("--agents", self.agents.is_given()),
            ("--why", self.why),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((option, _)) => {
                bail!("{option}: a published experiment does not have it; see --scale and --rounds")
            }
            None => Ok(()),
        }
    }
}

pub(crate) fn run(
    global: &Global,
    mut args: Args,
    agents: RunAgents,
    why: WhyPart,
) -> anyhow::Result<Outcome> {
    if let Some(run) = &args.resume {
        let access = args.agents.access(args.running.may_load(), agents);
        return resume_with(global, run, &args.start, access);
    }
    let Some(path) = args.experiment.clone() else {
        let experiment = Experiment::parse(Path::new("own.toml"), include_str!("own.toml"))?;
        return begin(global, &mut args, experiment, (agents, why));
    };
    let path = find::file(global, &path)?;
    match ExperimentFile::load(&path)? {
        ExperimentFile::Series(series) => published::series::run(global, &args, &series, &path),
        ExperimentFile::Sequential(experiment) => published::begin(global, &args, &experiment),
        ExperimentFile::Interleaved(experiment) => begin(global, &mut args, *experiment, (agents, why)),
    }
}

/// The end of every kind of run: its report, its folder, and its exit status.
fn ended(run: &Path, measured: anyhow::Result<Document>, format: Format) -> anyhow::Result<Outcome> {
    let (document, cut_off) = match measured {
        Ok(document) => (document, None),
        Err(error) if exit::is_cut_off(&error) && run.join("run.json").exists() => {
            (gather(run)?, Some(error))
        }
        Err(error) => return Err(error),
    };
    let outcome = print::document(&document, format, Extent::Brief)?;
    page::tell_kept(run);
    let Some(error) = cut_off else { return Ok(outcome) };
    let resume = format!("tare run --resume {}", quoted(&run.display().to_string()));
    tare_host::message!(
        "what was measured before is stored; once the cause is gone, `{resume}` measures the rest"
    );
    Err(error)
}

/// Measures the plan and prints its report; with `--dry-run` only prints the plan.
pub(crate) fn measure(
    workspace: &Workspace,
    start: &start::StartOptions,
    plan: Plan,
    rows: Vec<Row>,
) -> anyhow::Result<Outcome> {
    measure_with(workspace, start, Ways::default(), plan, rows)
}

/// What of a run is explained.
#[derive(Clone, Copy)]
enum Explained<'a> {
    /// Why the second row costs more than the first, if that is wanted and this build can.
    Difference(WhyPart, &'a WhyOptions),
    /// What a request of each row consists of.
    EachRow(WhyPart),
}

/// The same, and why the second row costs more than the first, if that is wanted and this build can.
pub(crate) fn measure_and_explain(
    workspace: &Workspace,
    start: &start::StartOptions,
    plan: Plan,
    rows: Vec<Row>,
    why: Option<(WhyPart, &WhyOptions)>,
) -> anyhow::Result<Outcome> {
    let why = why.map(|(part, options)| Explained::Difference(part, options));
    measure_with(workspace, start, Ways { why, ..Ways::default() }, plan, rows)
}

/// What parts add to a run.
#[derive(Default)]
struct Ways<'a> {
    access: Access<'a>,
    why: Option<Explained<'a>>,
}

fn measure_with(
    workspace: &Workspace,
    start: &start::StartOptions,
    ways: Ways<'_>,
    plan: Plan,
    rows: Vec<Row>,
) -> anyhow::Result<Outcome> {
    let plan = start.applied(plan)?;
    plan.check_agents()?;
    if start.dry_run {
        refuse_absent(rows.iter().map(|row| &row.service))?;
        dry::show_plan(&plan, &rows, workspace, start.format())?;
        return Ok(Outcome::Fine);
    }
    let run =
        start.out.clone().unwrap_or_else(|| workspace.new_run(&plan.experiment, jiff::Timestamp::now()));
    let measured = Session::new(workspace, rows, &run, start.no_wait).and_then(|session| {
        let mut session = session.with_access(ways.access);
        let document = session.run(plan)?;
        match ways.why {
            Some(Explained::Difference(part, options)) => {
                explain::explained(&mut session, document, (part, options))
            }
            Some(Explained::EachRow(part)) => explain::profiled(&mut session, document, part),
            None => Ok(document),
        }
    });
    ended(&run, measured, start.format())
}

/// Measures into this folder, which must not contain a run.
pub(super) fn measure_into(
    workspace: &Workspace,
    run: &Path,
    plan: Plan,
    rows: Vec<Row>,
    no_wait: bool,
) -> anyhow::Result<Document> {
    Session::new(workspace, rows, run, no_wait)?.run(plan)
}

/// Whether this folder contains a run, complete or not.
pub(super) fn holds_a_run(folder: &Path) -> bool {
    folder.join("run.json").exists()
}

/// Resumes the run in this folder if it was interrupted. Its rows are `rows`.
pub(super) fn finish(workspace: &Workspace, run: &Path, rows: Vec<Row>, no_wait: bool) -> anyhow::Result<()> {
    let stored = folder::read(run)?;
    match ending(&stored.records) {
        None | Some((Ending::Interrupted, _)) => {
            Session::new(workspace, rows, run, no_wait)?.resume(&stored).map(drop)
        }
        Some(_) => Ok(()),
    }
}

/// A new run of an interleaved experiment.
fn begin(
    global: &Global,
    args: &mut Args,
    mut experiment: Experiment,
    (agents, why): (RunAgents, WhyPart),
) -> anyhow::Result<Outcome> {
    ensure!(
        args.published == published::PublishedOptions::default(),
        "--scale, --duration, --rounds, --sweep, --threads, --link: only experiments in experiments/published/ have them"
    );
    let mut workspace = global.open()?;
    args.enter(&mut experiment)?;
    if let Some(serve_on) = args.agents.serve_on() {
        args.running.take_host_of_services(serve_on.to_string());
    }
    if let Some(contract) = &args.contract {
        experiment.replace_contract(contract, &workspace.contract(contract)?.title);
    }
    let of_file = experiment.services.iter().chain([&experiment.reference]);
    let all = of_file.clone().chain(&args.service).chain(&args.services).chain(&args.reference);
    args.running.take_in(&mut workspace, &all.map(String::as_str).collect::<Vec<_>>())?;
    workspace.adopt_from(experiment.folder(), of_file.map(String::as_str))?;
    experiment.services.extend(args.service.iter().cloned());
    let of_words = args.service.iter().chain(&args.services).chain(&args.reference);
    workspace.adopt(of_words.map(String::as_str))?;
    let mut rows = rows(&workspace, &experiment, &args.services, args.reference.as_deref())?;
    if let Some(reference) = &args.reference {
        experiment.reference.clone_from(reference);
    }
    if let Some(asked) = args.asked.of(&rows, None)? {
        let (settings, name) = (experiment.service_settings.clone(), experiment.name.clone());
        asked::learn_for_run(&mut workspace, &mut rows, &asked, &mut args.start, &settings, &name)?;
        experiment.contract = learn::NAME.to_owned();
    }
    let twin = Plan::twin_of(&rows, &experiment.reference).filter(|_| experiment.twin && !args.no_twin);
    rows.extend(twin.clone());
    let of_twin = twin.as_ref().map(|twin| twin.label.as_str());
    let mut plan = match experiment.cores.clone() {
        Some(over) => cores::plan(&mut experiment, &over, &mut rows, of_twin, args.start.seed())?,
        None => {
            let plan = Plan::interleaved(&experiment, &rows, args.start.seed(), pinning(&experiment, &rows));
            match of_twin {
                Some(twin) => plan.with_twin(twin),
                None => plan,
            }
        }
    };
    until::enter(&mut plan, args.until, args.delta.unwrap_or(until::DELTA))?;
    if let Some(half_width) = args.precision {
        plan.until = Until::Precision(Precision { half_width });
    }
    if let Some(budget) = args.budget {
        plan = plan.bounded(budget);
    }
    let plan = known::with_spread(args.agents.enter(plan), &workspace.runs());
    if plan.agents.is_some() {
        (agents.check_contracts)(&workspace, &plan)?;
    }
    let access = args.agents.access(args.running.may_load(), agents);
    let why = args.why.then_some(Explained::EachRow(why));
    measure_with(&workspace, &args.start, Ways { access, why }, plan, rows)
}

/// The CPUs of this machine, for the services and the generator of an experiment.
pub(crate) fn pinning(experiment: &Experiment, rows: &[Row]) -> Pinning {
    running::pinning(rows, experiment.service_settings.threads, experiment.loads[0].threads)
}

/// Resumes an interrupted run of any kind.
pub(crate) fn resume(
    global: &Global,
    run: &Path,
    start: &start::StartOptions,
    agents: RunAgents,
) -> anyhow::Result<Outcome> {
    resume_with(global, run, start, Access::of(agents))
}

fn resume_with(
    global: &Global,
    run: &Path,
    start: &start::StartOptions,
    access: Access<'_>,
) -> anyhow::Result<Outcome> {
    published::series::refuse_to_resume(run)?;
    let stored = folder::read(run)?;
    if stored.header.plan.points.iter().any(|point| point.link.is_some()) {
        published::obtain_rights();
    }
    if stored.header.plan.isolates {
        rights::obtain().context("its services have networks of their own")?;
    }
    let mut workspace = global.open()?;
    ended(run, resume_stored(&mut workspace, run, &stored, start.no_wait, access), start.format())
}

fn resume_stored(
    workspace: &mut Workspace,
    run: &Path,
    stored: &StoredRun,
    no_wait: bool,
    access: Access<'_>,
) -> anyhow::Result<Document> {
    let mut rows = stored_rows(workspace, stored)?;
    asked::give_stored(workspace, &mut rows, run)?;
    Session::new(workspace, rows, run, no_wait)?.with_access(access).resume(stored)
}

/// The rows of a stored run, if their services still exist.
fn stored_rows(workspace: &mut Workspace, stored: &StoredRun) -> anyhow::Result<Vec<Row>> {
    let planned = &stored.header.plan.rows;
    if let Some(row) = planned.iter().find(|row| row.is_running()) {
        bail!("{}: a run of a server that ran already is not resumed: begin a new one", row.label);
    }
    // A stored run does not count as permission by the user.
    let without_revision = planned.iter().filter(|row| row.revision.is_none());
    workspace.adopt_from(Path::new(""), without_revision.map(|row| release::split(&row.service).0))?;
    let mut revised = None;
    let row = |planned: &PlannedRow| {
        if let Some(of) = &planned.revision {
            let row = of_revision(workspace, &mut revised, of).with_context(|| planned.label.clone())?;
            return Ok(Row { label: planned.label.clone(), service: row.service.asked_in(planned.protocol) });
        }
        let (id, release) = release::split(&planned.service);
        let service = workspace.catalogue.get(id);
        let service = service.with_context(|| format!("there is no service \"{id}\" any more"))?;
        let service = match release {
            Some(release) => release::set(service, &release)?,
            None => service.clone(),
        };
        Ok(Row { label: planned.label.clone(), service: service.asked_in(planned.protocol) })
    };
    planned.iter().map(row).collect()
}

/// The row of a revision; all revisions of a run belong to one service. Missing trees are built again.
fn of_revision(
    workspace: &mut Workspace,
    revised: &mut Option<Revised>,
    of: &RevisionOf,
) -> anyhow::Result<Row> {
    let revised = match revised {
        Some(revised) => revised,
        None => revised.insert(Revised::of_stored(workspace, of)?),
    };
    match &of.commit {
        Some(commit) => revised.at(workspace, commit),
        None => revised.in_the_work_tree(workspace),
    }
}

/// The requested rows, and the reference, with which they are compared.
fn rows(
    workspace: &Workspace,
    experiment: &Experiment,
    services: &[String],
    reference: Option<&str>,
) -> anyhow::Result<Vec<Row>> {
    if let Err(error) = workspace.contract(&experiment.contract) {
        return Err(experiment.mistake("contract", &experiment.contract, &error.to_string()).into());
    }
    let select = |words: &[String]| workspace.rows(words.iter().map(String::as_str));
    let in_file = |key: &'static str| {
        move |error: SelectError| experiment.mistake(key, &error.word(), &error.to_string())
    };
    let mut rows = match services {
        [] => select(&experiment.services).map_err(in_file("services"))?,
        services => select(services).context("--services")?,
    };
    rows = catalogue::in_each(rows, &experiment.protocols);
    let is_there = |label: &str| rows.iter().any(|row| row.label == label);
    let missing = match reference {
        Some(reference) if is_there(reference) => Vec::new(),
        Some(reference) => select(&[reference.to_owned()]).context("--reference")?,
        None if is_there(&experiment.reference) => Vec::new(),
        None => select(std::slice::from_ref(&experiment.reference)).map_err(in_file("reference"))?,
    };
    rows.splice(0..0, missing);
    workspace::print_broken(workspace);
    Ok(rows)
}
