//! Why a service costs more: extra slices after a run, which a part samples. They decide nothing.

use std::{
    path::{Component, Path, PathBuf},
    time::Duration,
};

use tare_analysis::{
    verdict::Verdict,
    versions,
    why::{self, WhyReport},
};
use tare_bench::{
    executor::ProfiledRun,
    folder::{self, Header, StoredRun},
    plan::Plan,
    record::Record,
};
use tare_report::Document;
use tare_service::{
    catalogue::{RevisionOf, Row, Service},
    revisions,
    workspace::Workspace,
};

use super::session::Session;
use crate::{
    command::{report::page, start::StartOptions},
    output::{self, paint},
    progress::Progress,
};

/// The folder of what services write while they are sampled, in a run folder. It is removed.
const FOLDER: &str = "why";
/// How long each row of a run is sampled: a profile has no difference whose interval must be narrow.
const PROFILE_TIME: Duration = Duration::from_secs(10);

/// When a comparison is explained.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct WhyOptions {
    /// Find out which functions are behind the difference, whatever the result: extra slices are sampled after those that decided.
    /// Default: after FAIL, WORSE and a change between versions, if it takes less than half a minute
    #[arg(long, conflicts_with = "no_why")]
    why: bool,
    /// Never sample. The run folder then has no names of functions. TARE_NO_WHY=1 leaves it out unless `--why` asks for it
    #[arg(long)]
    no_why: bool,
}

impl WhyOptions {
    /// Leaves it out, as a gate may.
    pub(crate) fn refuse(&mut self) {
        self.no_why = !self.why;
    }

    #[cfg(test)]
    pub(crate) fn is_left_out(&self) -> bool {
        self.no_why
    }

    /// `found`: whether there is something to explain.
    pub(crate) fn is_wanted(&self, found: bool, part: WhyPart) -> bool {
        let is_left_out =
            std::env::var_os("TARE_NO_WHY").is_some_and(|value| !value.is_empty() && value != "0");
        !self.no_why && (self.why || (found && part.is_there && !is_left_out))
    }
}

/// Samples the services of a run, and tells its progress.
type Explain = fn(ProfiledRun<'_>, &dyn Fn(&str)) -> anyhow::Result<WhyReport>;

/// What a part does to explain a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WhyPart {
    /// Whether this build has the part. If not, nothing is said of it unless it is asked for.
    pub is_there: bool,
    pub explain: Explain,
}

/// Explains the run of a session, if that is wanted. The document then has the answer.
pub(super) fn explained(
    session: &mut Session<'_>,
    document: Document,
    (part, options): (WhyPart, &WhyOptions),
) -> anyhow::Result<Document> {
    if options.no_why || session.is_interrupted() {
        return Ok(document);
    }
    let stored = folder::read(session.run_folder())?;
    let (rows, found) = asked_about(&stored, document.verdict());
    if !options.is_wanted(found, part) {
        return Ok(document);
    }
    match session.sampled((&stored.header, &stored.records), &rows, part, (options.why, None)) {
        Ok(report) => {
            output::write_in(session.run_folder(), why::NAME, &serde_json::to_vec(&report)?)?;
            page::keep(session.run_folder(), |text| tare_host::message!("{text}"))
        }
        // The verdict stands without a reason.
        Err(error) => {
            no_answer(&error);
            Ok(document)
        }
    }
}

fn no_answer(error: &anyhow::Error) {
    tare_host::message!("{} {error:#}", paint("33", "no answer to why:"));
}

/// Finds out what a request of each row consists of. What is known when the user interrupts it is kept.
pub(super) fn profiled(
    session: &mut Session<'_>,
    document: Document,
    part: WhyPart,
) -> anyhow::Result<Document> {
    let stored = folder::read(session.run_folder())?;
    let plan = &stored.header.plan;
    // A twin is the reference once more.
    let rows: Vec<usize> = (0..plan.rows.len()).filter(|row| !plan.is_twin(&plan.rows[*row].label)).collect();
    let mut profiles = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        if session.is_interrupted() {
            break;
        }
        let label = &plan.rows[*row].label;
        tare_host::message!("{label}, {} of {}: what a request consists of", place + 1, rows.len());
        match session.sampled((&stored.header, &stored.records), &[*row], part, (true, Some(PROFILE_TIME))) {
            Ok(report) => profiles.push(report),
            Err(error) => no_answer(&error),
        }
    }
    if profiles.is_empty() {
        return Ok(document);
    }
    let report = WhyReport::of_rows(profiles);
    output::write_in(session.run_folder(), why::NAME, &serde_json::to_vec(&report)?)?;
    page::keep(session.run_folder(), |text| tare_host::message!("{text}"))
}

/// The rows between which something differs, and whether it surely does. Of versions these are the two of the greatest change, or else the
/// first and the last; in other plans a row may only repeat another.
fn asked_about(stored: &StoredRun, verdict: Verdict) -> (Vec<usize>, bool) {
    let rows = stored.header.plan.rows.len();
    match versions::compute(stored) {
        Some(found) => {
            let change = found.greatest_change();
            (change.unwrap_or([0, rows.saturating_sub(1)]).to_vec(), change.is_some())
        }
        None => ((0..rows.min(2)).collect(), matches!(verdict, Verdict::Fail | Verdict::Worse)),
    }
}

/// Explains a step that several runs found: the two rows of a plan, whose pilots are in `records`. If there is no answer, it prints why.
pub(crate) fn of_step(
    workspace: &Workspace,
    (run, no_wait): (&Path, bool),
    (plan, rows): (Plan, Vec<Row>),
    records: &[Record],
    (part, options): (WhyPart, &WhyOptions),
) -> anyhow::Result<Option<WhyReport>> {
    let sampled = || {
        let mut session = Session::new(workspace, rows, run, no_wait)?;
        let header = session.prepared(plan)?;
        session.sampled((&header, records), &[0, 1], part, (options.why, None))
    };
    match sampled() {
        Ok(report) => {
            output::write_in(run, why::NAME, &serde_json::to_vec(&report)?)?;
            Ok(Some(report))
        }
        Err(error) => {
            no_answer(&error);
            Ok(None)
        }
    }
}

/// Builds, verifies and samples the services of a plan, of which there is no run. Returns the folder that has the answer.
pub(crate) fn sampled_alone(
    workspace: &Workspace,
    start: &StartOptions,
    plan: Plan,
    rows: Vec<Row>,
    (part, budget): (WhyPart, Option<Duration>),
) -> anyhow::Result<(PathBuf, WhyReport)> {
    let name = plan.experiment.clone();
    let run = start.out.clone().unwrap_or_else(|| workspace.new_run(&name, jiff::Timestamp::now()));
    let mut session = Session::new(workspace, rows, &run, start.no_wait)?;
    let header = session.prepared(plan)?;
    let rows: Vec<usize> = (0..header.plan.rows.len().min(2)).collect();
    let report = session.sampled((&header, &[]), &rows, part, (true, budget))?;
    output::write_in(&run, why::NAME, &serde_json::to_vec(&report)?)?;
    Ok((run, report))
}

/// Gives the candidate's own functions the addresses of their files at its commit, if it is one that a forge shows.
fn link(report: &mut WhyReport, candidate: &Service) {
    let Some(RevisionOf { folder, commit: Some(commit), .. }) = &candidate.revision else { return };
    let is_there = |file: &str| {
        let file = Path::new(file);
        file.components().all(|part| matches!(part, Component::Normal(_)))
            && candidate.place.join(file).is_file()
    };
    let Some(page_of) = revisions::files_shown_at(folder, commit) else { return };
    for function in report.functions.iter_mut().filter(|function| function.package == why::OWN_CODE) {
        function.page = function.file.as_deref().filter(|file| is_there(file)).and_then(&page_of);
    }
}

impl Session<'_> {
    /// Samples these rows of a plan.
    fn sampled(
        &mut self,
        (header, records): (&Header, &[Record]),
        rows: &[usize],
        part: WhyPart,
        (is_asked, budget): (bool, Option<Duration>),
    ) -> anyhow::Result<WhyReport> {
        let _alone_on_its_cpus = self.take_cpus(&header.plan)?;
        let progress = Progress::new(false);
        let contracts = &self.contracts(&header.plan)?;
        let run = ProfiledRun {
            plan: &header.plan,
            records,
            services: self.services(),
            rows: rows.to_vec(),
            contracts,
            supervisor: self.supervisor(),
            sandbox: self.sandbox(&header.plan),
            folder: self.run_folder().join(FOLDER),
            interrupt: self.interrupt(),
            is_asked,
            budget,
        };
        let report = (part.explain)(run, &|text| progress.say(text));
        progress.finish();
        let mut report = report?;
        if let Some(candidate) = rows.last() {
            link(&mut report, &self.services()[*candidate]);
        }
        Ok(report)
    }
}
