//! One run from its plan to its table: build, verify, measure, keep. A run that was cut off comes in at the third.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use anyhow::{Context, bail, ensure};
use tare_analysis::stop::PlannedRule;
use tare_bench::{
    run::{
        bench::Bench,
        folder::{self, FolderError, Header, Kept, Planned, RunFolder},
        plan::{Plan, PlannedRow},
        prepare,
        record::{Ended, Ending, Journal, Record, ending},
        schedule::{self, Parts, StopRule},
        until::Until,
    },
    slo::{SloPlan, searches::Searches},
};
use tare_host::{environment::Environment, process::Supervisor};
use tare_report::Document;
use tare_service::{build::Site, catalogue::Row};

use super::about;
use crate::{
    command::report::page,
    output,
    progress::{CampaignProgress, Progress, model::Campaign},
    workspace,
};
use tare_host::signals;
use tare_service::workspace::Workspace;

/// What a run works with.
pub struct Session<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) supervisor: Supervisor,
    pub(super) rows: Vec<Row>,
    pub(super) run: PathBuf,
    pub(super) interrupt: Arc<AtomicBool>,
    pub(super) progress: Progress,
}

impl<'a> Session<'a> {
    /// For `rows`, in the order of the plan; everything is kept in the folder `run`.
    pub fn new(workspace: &'a Workspace, rows: Vec<Row>, run: &Path) -> anyhow::Result<Session<'a>> {
        Ok(Session {
            workspace,
            supervisor: workspace::supervisor()?,
            rows,
            run: run.to_owned(),
            interrupt: signals::listen()?,
            progress: Progress::new(false),
        })
    }

    /// A new run.
    pub fn run_interleaved(&mut self, mut plan: Plan, began: jiff::Timestamp) -> anyhow::Result<Document> {
        self.prepare(&mut plan)?;
        let header = self.header(plan, began);
        let journal = self.begin(&header, &header.plan.rows.iter().collect::<Vec<_>>())?;
        self.measure(&header, journal, &[])
    }

    /// A search for capacity: what answers within the limits of `slo` is counted, and its searches set the rates.
    pub fn search(
        &mut self,
        slo: &SloPlan,
        mut plan: Plan,
        began: jiff::Timestamp,
    ) -> anyhow::Result<Document> {
        self.prepare(&mut plan)?;
        let header = self.header(plan, began);
        let journal = self.begin(&header, &header.plan.rows.iter().collect::<Vec<_>>())?;
        slo.keep(&self.run)?;
        self.look_for(slo, &header, journal, &[])
    }

    fn look_for(
        &self,
        slo: &SloPlan,
        header: &Header,
        journal: RunFolder,
        past: &[Record],
    ) -> anyhow::Result<Document> {
        let bench = self.bench(&header.plan)?.counting_within(slo.slo.limits_ns());
        let campaign = || Campaign::new(header, Some(slo), past);
        let ended = self.execute(&header.plan, bench, journal, &mut Searches::new(slo), past, campaign);
        ended?;
        page::keep(&self.run, |text| self.progress.keep(text))
    }

    pub(super) fn header<P: Planned>(&self, plan: P, began: jiff::Timestamp) -> Header<P> {
        let environment = Environment::read(Some(self.supervisor.isolation()));
        Header::new(env!("CARGO_PKG_VERSION"), began.to_string(), plan, environment)
    }

    /// The folder of a new run, and what its report tells besides figures.
    pub(super) fn begin<P: Planned + serde::Serialize>(
        &self,
        header: &Header<P>,
        planned: &[&PlannedRow],
    ) -> anyhow::Result<RunFolder> {
        let journal = RunFolder::create(&self.run, header)?;
        self.progress.say("looking at what the services are besides fast");
        let about = about::about(self.workspace, &self.rows, planned);
        // A run is whole without it.
        if let Err(error) = about.and_then(|about| about.keep(&self.run).context("about.json")) {
            let word = output::paint("33", "warning:");
            self.progress.keep(&format!("{word} its report will not tell what the services are: {error:#}"));
        }
        Ok(journal)
    }

    /// The rest of a run that was cut off.
    pub fn resume(&mut self, kept: &Kept) -> anyhow::Result<Document> {
        self.has_more_to_do(kept)?;
        let journal = RunFolder::reopen(&self.run, kept)?;
        self.measure(&kept.header, journal, &kept.records)
    }

    /// The rest of a search for capacity that was cut off.
    pub fn resume_search(&mut self, slo: &SloPlan, kept: &Kept) -> anyhow::Result<Document> {
        self.has_more_to_do(kept)?;
        let journal = RunFolder::reopen(&self.run, kept)?;
        self.look_for(slo, &kept.header, journal, &kept.records)
    }

    /// A run that has ended has not; nor has one whose services are no longer what they were.
    fn has_more_to_do(&mut self, kept: &Kept) -> anyhow::Result<()> {
        self.is_not_measured_now()?;
        match ending(&kept.records) {
            None | Some((Ending::Interrupted, _)) => {}
            Some((reason, _)) => {
                let run = self.run.display();
                bail!("{run}: nothing is left to do: {}; `tare show {run}` prints its table", reason.text())
            }
        }
        self.same_builds(&kept.header.plan.rows.iter().collect::<Vec<_>>())
    }

    /// Before anything is built for it.
    pub(super) fn is_not_measured_now(&self) -> anyhow::Result<()> {
        if folder::is_being_written(&self.run) {
            bail!(FolderError::Busy { path: self.run.clone() });
        }
        Ok(())
    }

    /// Builds and proves; what cannot take part is marked in the plan.
    fn prepare(&mut self, plan: &mut Plan) -> anyhow::Result<()> {
        let contract = self.workspace.contract(&plan.contract)?;
        let builder = self.workspace.builder();
        self.progress.say("building");
        let Session { rows, supervisor, interrupt, progress, .. } = &mut *self;
        let done = |name: &str| progress.say(&format!("built {name}"));
        prepare::build_all(&mut plan.rows, rows, &builder, supervisor, interrupt, done);
        let proved = |label: &str| self.progress.say(&format!("verified {label}"));
        prepare::verify_all(plan, &self.rows, contract, &self.supervisor, &self.run, &self.interrupt, proved)
            .with_context(|| format!("cannot write to {}", self.run.display()))?;
        self.tell_excluded(&plan.rows);
        Ok(())
    }

    pub(super) fn tell_excluded<'p>(&self, rows: impl IntoIterator<Item = &'p PlannedRow>) {
        for row in rows {
            if let Some(excluded) = &row.excluded {
                let words = crate::output::paint("33", "left out");
                self.progress.keep(&format!("{words} {}: {}", row.label, excluded.reason));
            }
        }
    }

    /// What goes on must be what was measured before: a table of two builds would be of neither.
    pub(super) fn same_builds(&mut self, planned: &[&PlannedRow]) -> anyhow::Result<()> {
        let site = Site::new(&self.supervisor, &self.interrupt);
        let builder = self.workspace.builder();
        for (planned, row) in planned.iter().zip(&mut self.rows) {
            let Some(content) = planned.content.as_ref().filter(|_| planned.excluded.is_none()) else {
                continue;
            };
            self.progress.say(&format!("building {}", planned.label));
            let built = builder.build(&row.service, &site, false)?;
            ensure!(
                built.content == *content,
                "{}: the service or its toolchain has changed since the run began: begin a new one",
                planned.label
            );
            row.service.place = built.place;
        }
        Ok(())
    }

    fn measure(&self, header: &Header, mut journal: RunFolder, past: &[Record]) -> anyhow::Result<Document> {
        let plan = &header.plan;
        if past.is_empty() {
            self.progress.keep(&format!("measuring for {}", super::dry::expected(plan)));
        }
        let ended = match nothing_to_compare(plan) {
            true => self
                .kept(journal.append(&Record::Ended(Ended { reason: Ending::NothingLeft, elapsed_ns: 0 }))),
            false => {
                let campaign = || Campaign::new(header, None, past);
                self.execute(plan, self.bench(plan)?, journal, &mut PlannedRule::of(header), past, campaign)
            }
        };
        ended?;
        page::keep(&self.run, |text| self.progress.keep(text))
    }

    fn bench<'b>(&'b self, plan: &'b Plan) -> anyhow::Result<Bench<'b>> {
        let contract = self.workspace.contract(&plan.contract)?;
        let services = self.rows.iter().map(|row| row.service.clone()).collect();
        let interrupt = Arc::clone(&self.interrupt);
        Ok(Bench::new(plan, services, contract, &self.supervisor, &self.run, interrupt))
    }

    fn execute<'c>(
        &'c self,
        plan: &'c Plan,
        mut bench: Bench,
        mut journal: RunFolder,
        stop_rule: &mut impl StopRule,
        past: &[Record],
        campaign: impl FnOnce() -> Campaign<'c>,
    ) -> anyhow::Result<()> {
        let watch = &mut CampaignProgress::new(&self.progress, plan, campaign);
        let parts = Parts { executor: &mut bench, journal: &mut journal, watch, stop_rule };
        let ended = schedule::run(plan, parts, past);
        self.progress.finish();
        self.kept(ended.map(drop))
    }

    pub(super) fn kept(&self, ended: std::io::Result<()>) -> anyhow::Result<()> {
        let run = self.run.display();
        ended.with_context(|| format!("cannot write to {run}; what was measured before is kept"))
    }
}

/// A comparison of which one side is missing is over before it begins.
fn nothing_to_compare(plan: &Plan) -> bool {
    matches!(plan.until, Until::Gate(_)) && plan.rows.iter().any(|row| row.excluded.is_some())
}
