//! `tare bisect`: which commit changed the cost of a service?

mod output;
mod stored;

use std::{path::PathBuf, time::Duration};
use tare_base::units::several;

use anyhow::{bail, ensure};
use tare_analysis::{
    apart::{self, Position},
    bisection::{Bisection, BisectionSearch, StepShare, Subject},
    why::WhyReport,
};
use tare_base::units::parse_time;
use tare_bench::{
    experiment::Experiment,
    folder,
    metric::Metric,
    plan::{
        Plan,
        until::{ALPHA, Until},
    },
    record::{Pilot, Record, ending},
};
use tare_host::signals;
use tare_report::{gather, write::text};
use tare_service::{
    catalogue::Row,
    revisions::{self, Commit},
    workspace::Workspace,
};

use super::{
    asked::{self, AskedOptions},
    compare::contenders,
    load_options::LoadOptions,
    revised::{BuildOptions, Revised},
    run::{
        explain::{self, WhyOptions, WhyPart},
        finish, holds_a_run, measure_into, pinning, refuse_absent,
    },
    start::StartOptions,
    words,
};
use crate::{
    exit::Outcome,
    output::{Format, json, look, print, print_either, write_in},
    progress::duration,
    workspace::Global,
};
use output::{Bisected, Step};
use stored::StoredQuestion;

const NAME: &str = "bisect";
/// The folder of the comparison of the ends.
const ENDS: &str = "ends";
/// The file of the result, in the folder of the runs.
const FILE: &str = "bisect.json";

/// Find the commit that changed the cost of a service
///
/// First GOOD and BAD are compared. If they differ, commits between them are measured, each beside GOOD and BAD in the same blocks,
/// until it is clear which of the two it is like. A commit that does not build, or fails its contract, is left out. All
/// measurements together err with at most 5%. The search follows first parents: the answer may be a merge. At the end Tare says which
/// functions are behind the change.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare bisect v1.2 HEAD 'node server.js' --get /items/1     which commit since v1.2 made it slower (or faster)?
  tare bisect HEAD~40 HEAD shop                             a service of tare.toml
  tare bisect v1.2 HEAD ./mine --metric p99 --budget 10m    by another metric, within ten minutes
  tare bisect --resume .tare/runs/20261122T120000.000Z-bisect     continue one that was cut off

Exit codes: 0 the commit was found, 1 usage or set-up error, 2 GOOD or BAD failed its contract, 5 inconclusive: GOOD and BAD cannot be \
distinguished, or several commits are left, 130 or 143 interrupted.")]
pub(crate) struct Args {
    /// A revision before the change
    #[arg(required_unless_present = "resume")]
    good: Option<String>,
    /// A revision after it
    #[arg(required_unless_present = "resume")]
    bad: Option<String>,
    /// The service: a command such as `'node server.js'`, which listens on the port in PORT or in place of `{port}`; a name; or a
    /// folder such as `./mine`
    #[arg(required_unless_present = "resume")]
    service: Option<String>,
    /// Continue a bisection that was cut off: the folder of its runs. Steps that are known count as they are
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["good", "bad", "service", "metric", "contract", "build", "budget",
        "connections", "threads", "get", "post", "data", "out", "dry_run"])]
    resume: Option<PathBuf>,
    /// The metric: cpu, throughput, p99 or rss
    #[arg(long, default_value = "cpu", value_parser = words::metric)]
    metric: Metric,
    #[command(flatten)]
    build: BuildOptions,
    /// The contract [default: the first of the service]
    #[arg(long)]
    contract: Option<String>,
    /// The measuring of all steps may not take longer than this; building and verifying are not counted [default: 3m a step]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    budget: Option<Duration>,
    #[command(flatten)]
    why: WhyOptions,
    #[command(flatten)]
    load: LoadOptions,
    #[command(flatten)]
    asked: AskedOptions,
    #[command(flatten)]
    start: StartOptions,
}

pub(crate) fn run(global: &Global, mut args: Args, part: WhyPart) -> anyhow::Result<Outcome> {
    let workspace = global.open()?;
    let why = (part, std::mem::take(&mut args.why));
    match args.resume.take() {
        Some(folder) => resume(workspace, args.start, folder, why),
        None => begin(workspace, args, why),
    }
}

fn begin(mut workspace: Workspace, mut args: Args, why: (WhyPart, WhyOptions)) -> anyhow::Result<Outcome> {
    let [good, bad, service] =
        [&mut args.good, &mut args.bad, &mut args.service].map(|word| word.take().unwrap_or_default());
    let mut revised = Revised::of(&mut workspace, &service, args.build.build.as_deref())?;
    let service_folder = revised.now.service.folder.clone();
    let commits = revisions::between(&service_folder, &good, &bad)?;
    if args.start.dry_run {
        refuse_absent([&revised.now.service])?;
        let bisection = Bisection::new(commits.len() - 1, ALPHA);
        let of_each = of_each_step(&workspace, &revised, args.budget);
        print(&output::planned(&commits, bisection.steps_left(), &of_each))?;
        return Ok(Outcome::Fine);
    }
    let mut ends = [revised.at(&mut workspace, &good)?, revised.at(&mut workspace, &bad)?];
    let is_learned = learn(&mut workspace, &mut ends, &mut args)?;
    let folder = args.start.out.clone().unwrap_or_else(|| workspace.new_run(NAME, jiff::Timestamp::now()));
    ensure!(
        !folder.join(FILE).exists() && !StoredQuestion::is_in(&folder),
        "{}: contains a bisection already; choose another folder, or continue it by --resume",
        folder.display()
    );
    let question = StoredQuestion {
        format: StoredQuestion::format(),
        good,
        bad,
        service,
        metric: args.metric,
        contract: args.contract,
        budget_ns: args.budget.map(|budget| u64::try_from(budget.as_nanos()).unwrap_or(u64::MAX)),
        load: args.load,
        build: args.build.build,
        is_learned,
        service_folder,
        commits: names(&commits),
    };
    question.write(&folder)?;
    let spent = Duration::ZERO;
    Search { workspace, start: args.start, question, revised, ends, folder, commits, spent, why }.run()
}

/// Repeats the search with the stored measurements. The error probability of each step stays the same.
fn resume(
    mut workspace: Workspace,
    start: StartOptions,
    folder: PathBuf,
    why: (WhyPart, WhyOptions),
) -> anyhow::Result<Outcome> {
    let question = StoredQuestion::read(&folder)?;
    let mut revised = Revised::of(&mut workspace, &question.service, question.build.as_deref())?;
    let service_folder = &revised.now.service.folder;
    let commits = revisions::between(service_folder, &question.good, &question.bad)?;
    question.check(service_folder, &names(&commits))?;
    let mut ends = [revised.at(&mut workspace, &question.good)?, revised.at(&mut workspace, &question.bad)?];
    asked::give_stored(&mut workspace, &mut ends, &folder)?;
    Search { workspace, start, question, revised, ends, folder, commits, spent: Duration::ZERO, why }.run()
}

/// For `--dry-run`: how long a step is measured, and what must be built first.
fn of_each_step(workspace: &Workspace, revised: &Revised, budget: Option<Duration>) -> String {
    let measured = match budget {
        Some(budget) => format!("all steps are measured for at most {} together", duration(budget)),
        None => {
            let budget = Experiment::of_versions().schedule.budget;
            format!("a step is measured for at most about {}", duration(budget))
        }
    };
    let service = &revised.now.service;
    let steps: Vec<String> = service.build.iter().map(|step| step.command.join(" ")).collect();
    let builder = workspace.builder();
    let built = match builder.last(service).filter(|_| !steps.is_empty()) {
        Some(last) => {
            format!("; the last build took {}", duration(Duration::from_secs_f64(last.cost.seconds.max(0.0))))
        }
        None => "; no record says how long that takes".to_owned(),
    };
    let built = match steps.is_empty() {
        true => String::new(),
        false => format!("each commit of a step must be built: `{}`{built}\n", steps.join(" && ")),
    };
    format!("{measured}\n{built}")
}

fn names(commits: &[Commit]) -> Vec<String> {
    commits.iter().map(|commit| commit.name.clone()).collect()
}

/// Learns the contract from GOOD, if there is none.
fn learn(workspace: &mut Workspace, ends: &mut [Row; 2], args: &mut Args) -> anyhow::Result<bool> {
    let Some(asked) = args.asked.of(ends, args.contract.as_deref())? else { return Ok(false) };
    let settings = args.load.service_settings();
    asked::learn_for_run(workspace, ends, &asked, &mut args.start, &settings, NAME)?;
    Ok(true)
}

struct Search {
    workspace: Workspace,
    start: StartOptions,
    question: StoredQuestion,
    revised: Revised,
    /// GOOD and BAD.
    ends: [Row; 2],
    folder: PathBuf,
    /// The commits from GOOD to BAD.
    commits: Vec<Commit>,
    /// The measuring time so far.
    spent: Duration,
    why: (WhyPart, WhyOptions),
}

impl Search {
    fn run(mut self) -> anyhow::Result<Outcome> {
        let mut search = BisectionSearch::new(self.commits.len() - 1, ALPHA);
        let last = self.commits.len() - 1;
        tare_host::message!(
            "comparing {} and {}: {}, about {} after this",
            self.question.good,
            self.question.bad,
            several(last, "commit"),
            several(search.bisection().steps_left(), "step")
        );
        let [good, bad] = self.ends.clone();
        let label = bad.label.clone();
        let share = search.spend();
        let both = self.measure(ENDS, vec![good, bad], share)?;
        search.measured(Subject::Ends, &label, &both.found)?;
        let steps = self.search(&mut search)?;
        let is_interrupted = signals::received().is_some();
        let why = match search.answer().first_bad().as_slice() {
            // Of several commits that are left, all together.
            [first, .., last] if !is_interrupted => self.explained([first - 1, *last])?,
            [found] if !is_interrupted => self.explained([found - 1, *found])?,
            _ => None,
        };
        let bisected =
            Bisected::new(&self.commits, self.question.metric, &both, &steps, &search, is_interrupted);
        let bisected = bisected.with_why(why.as_ref());
        write_in(&self.folder, FILE, json(&bisected)?.as_bytes())?;
        let section = why.as_ref().map(|report| text::section(&gather::why::section(report), look()));
        print_either(self.start.format() == Format::Json, &bisected, || {
            section.iter().fold(bisected.text(), |all, section| format!("{all}\n{section}"))
        })?;
        let folder = self.folder.display();
        tare_host::message!("stored in {folder}: a run for each step");
        if is_interrupted {
            tare_host::message!("`tare bisect --resume {folder}` continues it");
        }
        Ok(search.answer().verdict().into())
    }

    /// Measures commits until the search is finished or interrupted.
    fn search(&mut self, search: &mut BisectionSearch) -> anyhow::Result<Vec<Step>> {
        let mut steps = Vec::new();
        while let Some(Subject::Commit(place)) = search.next() {
            let (from, to) = search.bisection().ends();
            tare_host::message!(
                "step {} of about {}: {} left; measuring {}",
                steps.len() + 1,
                steps.len() + search.bisection().steps_left(),
                several(to - from - 1, "commit"),
                output::named(&self.commits[place])
            );
            let position = self.step(search, place);
            // Earlier results remain, but nothing is known about this commit.
            if signals::received().is_some() {
                break;
            }
            let position = position?;
            if let Some((label, position)) = &position {
                search.measured(Subject::Commit(place), label, &position.found)?;
            }
            let position = position.as_ref().map(|(_, position)| position);
            steps.push(Step::new(place, search.bisection(), position));
        }
        Ok(steps)
    }

    /// Measures one commit between GOOD and BAD. A commit that cannot be checked out or built is left out.
    fn step(
        &mut self,
        search: &mut BisectionSearch,
        place: usize,
    ) -> anyhow::Result<Option<(String, Position)>> {
        let commit = self.commits[place].clone();
        let mut row = match self.revised.at(&mut self.workspace, &commit.name) {
            Ok(row) => row,
            Err(error) => {
                search.left_out(place, format!("{error:#}"));
                return Ok(None);
            }
        };
        if self.question.is_learned {
            row.service.contracts.clone_from(&self.ends[0].service.contracts);
        }
        let label = row.label.clone();
        let rows: Vec<Row> = self.ends.iter().cloned().chain([row]).collect();
        let share = search.spend();
        let position = self.measure(&commit.name, rows, share)?;
        Ok(Some((label, position)))
    }

    /// Measures a run, or reads a stored one. The last of `rows` is compared with the others.
    fn measure(&mut self, name: &str, rows: Vec<Row>, share: StepShare) -> anyhow::Result<Position> {
        let run = self.folder.join(name);
        let no_wait = self.start.no_wait;
        match holds_a_run(&run) {
            true => finish(&self.workspace, &run, rows, no_wait)?,
            false => {
                let plan = self.plan(&rows, share)?;
                measure_into(&self.workspace, &run, plan, rows, no_wait)?;
            }
        }
        let kept = folder::read(&run)?;
        self.spent += ending(&kept.records).map_or(Duration::ZERO, |(_, ns)| Duration::from_nanos(ns));
        match &kept.header.plan.until {
            // The stored number is rounded to decimal digits.
            Until::Apart(step) if (step.alpha / share.alpha - 1.0).abs() < 1e-9 => {}
            _ => bail!("{}: is no step of this bisection", run.display()),
        }
        Ok(apart::compute(&kept).expect("the plan asks for it"))
    }

    /// The functions behind the change between the commits at these places.
    fn explained(&mut self, places: [usize; 2]) -> anyhow::Result<Option<WhyReport>> {
        let (part, options) = &self.why;
        if !options.is_wanted(true, *part) {
            return Ok(None);
        }
        let (mut rows, mut pilots) = (Vec::new(), Vec::new());
        for (row, place) in places.into_iter().enumerate() {
            let mut of = self.revised.at(&mut self.workspace, &self.commits[place].name)?;
            if self.question.is_learned {
                of.service.contracts.clone_from(&self.ends[0].service.contracts);
            }
            rows.push(of);
            pilots.extend(self.pilot(place).map(|pilot| Record::Pilot(Pilot { row, ..pilot })));
        }
        let share = StepShare { alpha: ALPHA, steps_after: 0 };
        let plan = self.plan(&rows, share)?;
        let where_to = (self.folder.as_path(), self.start.no_wait);
        let (part, options) = &self.why;
        explain::of_step(&self.workspace, where_to, (plan, rows), &pilots, (*part, options))
    }

    /// How the commit at this place started when it was measured.
    fn pilot(&self, place: usize) -> Option<Pilot> {
        let (run, row) = match place {
            0 => (ENDS, 0),
            place if place + 1 == self.commits.len() => (ENDS, 1),
            place => (self.commits[place].name.as_str(), 2),
        };
        let stored = folder::read(&self.folder.join(run)).ok()?;
        stored.records.into_iter().find_map(|record| match record {
            Record::Pilot(pilot) if pilot.row == row => Some(pilot),
            _ => None,
        })
    }

    fn plan(&self, rows: &[Row], share: StepShare) -> anyhow::Result<Plan> {
        let (question, [good, bad]) = (&self.question, &self.ends);
        let subject = rows.last().map(|row| row.label.clone()).unwrap_or_default();
        let mut experiment = Experiment::of_versions();
        experiment.name = NAME.to_owned();
        experiment.title = format!("{subject} between {} and {}", good.label, bad.label);
        experiment.question = format!("Which of {} and {} is {subject} like?", good.label, bad.label);
        experiment.reference.clone_from(&good.label);
        experiment.contract =
            contenders::contract(&self.workspace, question.contract.as_deref(), [good, bad])?;
        question.load.enter(&mut experiment);
        let plan = Plan::interleaved(&experiment, rows, self.start.seed(), pinning(&experiment, rows));
        let plan = self.start.applied(plan.until_apart(question.metric, share.alpha))?;
        Ok(match question.budget_ns.map(Duration::from_nanos) {
            Some(budget) => plan.bounded_with_looks(share.of_budget(budget.saturating_sub(self.spent))),
            None => plan,
        })
    }
}
