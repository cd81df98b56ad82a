//! One run from plan to table: build, verify, measure, store. A resumed run starts with the third step.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::{Context, bail, ensure};
use tare_analysis::stop::PlannedRule;
use tare_bench::{
    executor::{Agents, Bench},
    experiment::Layout,
    folder::{self, FolderError, Header, RunFolder, StoredRun},
    plan::{Plan, PlannedRow},
    prepare,
    record::{EndedRun, Ending, Journal, Record, ending},
    schedule::{self, CutOff, Parts},
};
use tare_contract::{Contract, with_tables};
use tare_host::{
    cpu_lock::CpuLock,
    environment::Environment,
    process::{Sandbox, Supervisor},
    secrets, signals,
};
use tare_report::Document;
use tare_service::{
    build::Site,
    catalogue::{self, Row, Service},
    certificate::Certificates,
    workspace::Workspace,
};

use super::{about, agents::Access, dry};
use crate::{
    command::{report::page, turn},
    output,
    progress::{Progress, RunProgress},
    workspace,
};

/// The folder of the tables made for the services, in a run folder.
const TABLES: &str = "tables";
/// The folder of the services' certificates.
const TLS: &str = "tls";

/// The state of a run.
pub(super) struct Session<'a> {
    workspace: &'a Workspace,
    supervisor: Supervisor,
    rows: Vec<Row>,
    run: PathBuf,
    no_wait: bool,
    interrupt: Arc<AtomicBool>,
    progress: Arc<Progress>,
    access: Access<'a>,
    /// The connected agents, until the load begins.
    fleet: Option<Box<dyn Agents>>,
}

impl<'a> Session<'a> {
    /// A session for `rows`, in the order of the plan, which stores everything in the folder `run`.
    pub(super) fn new(
        workspace: &'a Workspace,
        rows: Vec<Row>,
        run: &Path,
        no_wait: bool,
    ) -> anyhow::Result<Session<'a>> {
        let supervisor = workspace::supervisor(workspace, rows.iter().map(|row| &row.service))?;
        let progress = Arc::new(Progress::new(false));
        Ok(Session {
            workspace,
            supervisor: supervisor.telling(progress.notices()),
            rows,
            run: run.to_owned(),
            no_wait,
            interrupt: signals::listen()?,
            progress,
            access: Access::default(),
            fleet: None,
        })
    }

    pub(super) fn run_folder(&self) -> &Path {
        &self.run
    }

    /// Adds the user's options for agents.
    pub(super) fn with_access(self, access: Access<'a>) -> Session<'a> {
        Session { access, ..self }
    }

    pub(super) fn run(&mut self, mut plan: Plan) -> anyhow::Result<Document> {
        let _alone_in_its_folder = folder::reserve(&self.run)?;
        let _alone_on_its_cpus = self.take_cpus(&plan)?;
        let began = jiff::Timestamp::now();
        prepare::check_protocols(&plan, &self.workspace.contracts).map_err(anyhow::Error::msg)?;
        self.fleet = self.access.connect(self.workspace, &plan, &self.run)?;
        self.certify()?;
        self.prepare(&mut plan)?;
        let environment = self.environment(&plan);
        let header = Header::new(env!("CARGO_PKG_VERSION"), began.to_string(), plan, environment);
        let journal = self.begin(&header)?;
        self.progress.announce(&format!("measuring for {}", dry::expected(&header.plan)));
        self.measure(&header, journal, &[])
    }

    /// Builds and verifies the services of a plan, and measures nothing.
    pub(super) fn prepared(&mut self, mut plan: Plan) -> anyhow::Result<Header> {
        let _alone_in_its_folder = folder::reserve(&self.run)?;
        prepare::check_protocols(&plan, &self.workspace.contracts).map_err(anyhow::Error::msg)?;
        self.certify()?;
        self.prepare(&mut plan)?;
        if let Some(out) = plan.rows.iter().find_map(|row| row.excluded.as_ref()) {
            bail!("{}", out.reason);
        }
        let environment = self.environment(&plan);
        self.progress.finish();
        Ok(Header::new(env!("CARGO_PKG_VERSION"), jiff::Timestamp::now().to_string(), plan, environment))
    }

    pub(super) fn resume(&mut self, stored: &StoredRun) -> anyhow::Result<Document> {
        self.has_more_to_do(stored)?;
        let _alone_on_its_cpus = self.take_cpus(&stored.header.plan)?;
        self.fleet = self.access.connect(self.workspace, &stored.header.plan, &self.run)?;
        self.certify()?;
        self.same_builds(&stored.header.plan.rows)?;
        stored.damage.iter().for_each(|damage| self.progress.keep(damage));
        let journal = RunFolder::reopen(&self.run, stored)?;
        self.measure(&stored.header, journal, &stored.records)
    }

    /// Makes the certificates for rows over TLS.
    fn certify(&mut self) -> anyhow::Result<()> {
        let folder = self.run.join(TLS);
        Ok(catalogue::certify(&mut self.rows, || Certificates::make(&folder))?)
    }

    /// The files that a service of an isolated run sees: only its tables and its certificates.
    pub(super) fn sandbox(&self, plan: &Plan) -> Sandbox {
        if !plan.isolates {
            return Sandbox::default();
        }
        let own_pids = self.supervisor.own_pids().is_ok();
        let hidden = [&self.workspace.contract_paths[..], std::slice::from_ref(&self.run)].concat();
        Sandbox { hidden, shown: [TABLES, TLS].map(|name| self.run.join(name)).to_vec(), own_pids }
    }

    fn environment(&self, plan: &Plan) -> Environment {
        let mut environment = Environment::read(Some(self.supervisor.isolation()));
        if plan.isolates {
            environment.isolation.push(match self.supervisor.own_pids() {
                Ok(()) => "processes: a service sees its own only".to_owned(),
                Err(why) => format!("processes: a service sees all of the machine, as no namespace of its own can be made: {why}"),
            });
        }
        environment
    }

    /// The contracts with the rows of this run, whose tables are in its folder.
    pub(super) fn contracts(&self, plan: &Plan) -> anyhow::Result<BTreeMap<String, Contract>> {
        let names = plan.points.iter().map(|point| point.contract.as_str());
        Ok(with_tables(&self.workspace.contracts, names, plan.seed, &self.run.join(TABLES))?)
    }

    /// Takes the CPUs before building, which would disturb another measurement too.
    pub(super) fn take_cpus(&self, plan: &Plan) -> anyhow::Result<CpuLock> {
        let cpus = plan.cpus();
        let taken = turn::take(&cpus, self.no_wait, &self.interrupt, |text| self.progress.keep(text));
        ensure!(taken.is_ok() || !self.is_interrupted(), "{}", self.undecided("while it waited"));
        taken
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// The message for a run that was interrupted before its first block. It may have a learned contract.
    fn undecided(&self, when: &str) -> String {
        let entries = fs::read_dir(&self.run).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        let (run, names) = (self.run.display(), names.join(", "));
        let left = match names.is_empty() {
            true => "no figure is stored".to_owned(),
            false if self.run.join("run.json").exists() => format!("what was measured before is in {run}"),
            false => format!("{run} holds {names}, and no figures"),
        };
        format!("undecided: interrupted {when}, before anything was measured; {left}")
    }

    /// Creates the folder of a new run, with the facts of its report.
    fn begin(&self, header: &Header) -> anyhow::Result<RunFolder> {
        let journal = RunFolder::create(&self.run, header)?;
        self.progress.say("looking at how large the services are and what they depend on");
        let about = about::about(self.workspace, &self.rows, &header.plan.rows);
        // The run is complete without these facts.
        if let Err(error) = about.and_then(|about| about.keep(&self.run).context("about.json")) {
            let word = output::paint("33", "warning:");
            self.progress.keep(&format!("{word} its report will not tell what the services are: {error:#}"));
        }
        Ok(journal)
    }

    /// Fails if the run is complete or in progress.
    fn has_more_to_do(&self, stored: &StoredRun) -> anyhow::Result<()> {
        let run = self.run.display();
        if folder::is_being_written(&self.run) {
            bail!(FolderError::Busy { path: self.run.clone() });
        }
        match ending(&stored.records) {
            None | Some((Ending::Interrupted, _)) => Ok(()),
            Some((reason, _)) => {
                bail!("{run}: nothing is left to do: {}; `tare show {run}` prints its table", reason.text())
            }
        }
    }

    /// Builds and verifies; rows that cannot take part are marked in the plan.
    fn prepare(&mut self, plan: &mut Plan) -> anyhow::Result<()> {
        let builder = self.workspace.builder();
        self.progress.say("building");
        let Session { rows, supervisor, interrupt, progress, .. } = &mut *self;
        let done = |name: &str| progress.say(&format!("built {name}"));
        prepare::build_all(plan, rows, &builder, supervisor, interrupt, done);
        // Only one published table has opinions of the frameworks.
        if plan.publication.layout == Layout::Makespan {
            self.note_footprints(plan)?;
        }
        let proved = |label: &str| self.progress.say(&format!("verified {label}"));
        let contracts = &self.contracts(plan)?;
        let (supervisor, interrupt) = (&self.supervisor, &self.interrupt);
        prepare::verify_all(plan, &self.rows, contracts, supervisor, &self.run, interrupt, proved)
            .with_context(|| format!("{}: nothing was measured", self.run.display()))?;
        self.scrub()?;
        // An unverified run must not be resumed as if it had been verified.
        ensure!(!self.is_interrupted(), "{}", self.undecided("while it built and verified"));
        self.print_excluded(&plan.rows);
        Ok(())
    }

    /// Stores the footprints in the plan, if this build can read them.
    fn note_footprints(&self, plan: &mut Plan) -> anyhow::Result<()> {
        let Some(readers) = self.workspace.readers else { return Ok(()) };
        let services: Vec<&Service> = self.rows.iter().map(|row| &row.service).collect();
        let footprints = (readers.footprints)(self.workspace, &services)?;
        plan.rows.iter_mut().zip(&footprints).for_each(|(row, footprint)| row.counted = footprint.into());
        Ok(())
    }

    /// Removes secrets from the output of services, which may print requests.
    fn scrub(&self) -> anyhow::Result<()> {
        secrets::scrub(&self.run)
            .with_context(|| format!("cannot remove secrets from {}", self.run.display()))
    }

    fn print_excluded(&self, rows: &[PlannedRow]) {
        for row in rows {
            if let Some(excluded) = &row.excluded {
                let words = output::paint("33", "left out");
                self.progress.keep(&format!("{words} {}: {}", row.label, excluded.reason));
            }
        }
    }

    /// Fails if a service was rebuilt since: a resumed run must not mix two builds.
    fn same_builds(&mut self, planned: &[PlannedRow]) -> anyhow::Result<()> {
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

    fn measure(
        &mut self,
        header: &Header,
        mut journal: RunFolder,
        past: &[Record],
    ) -> anyhow::Result<Document> {
        let ended = match header.plan.has_nothing_to_compare() {
            true => journal
                .append(&Record::Ended(EndedRun { reason: Ending::NothingLeft, elapsed_ns: 0 }))
                .map_err(CutOff::from),
            false => self.execute(header, &mut journal, past)?,
        };
        ended.with_context(|| format!("{}: the run was cut off", self.run.display()))?;
        self.scrub()?;
        page::keep(&self.run, |text| self.progress.keep(text))
    }

    /// The services of all rows, in the order of the plan.
    pub(super) fn services(&self) -> Vec<Service> {
        self.rows.iter().map(|row| row.service.clone()).collect()
    }

    pub(super) fn supervisor(&self) -> &Supervisor {
        &self.supervisor
    }

    pub(super) fn interrupt(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.interrupt)
    }

    fn execute(
        &mut self,
        header: &Header,
        journal: &mut RunFolder,
        past: &[Record],
    ) -> anyhow::Result<Result<(), CutOff>> {
        let services = self.services();
        let (contracts, interrupt) = (&self.contracts(&header.plan)?, self.interrupt());
        let fleet = self.fleet.take();
        let bench = Bench::new(&header.plan, services, contracts, &self.supervisor, &self.run, interrupt)?;
        let bench = bench.with(self.sandbox(&header.plan));
        let executor = &mut match fleet {
            Some(fleet) => bench.loaded_by(fleet),
            None => bench,
        };
        let stop_rule = &mut PlannedRule::of(header);
        let watch = &mut RunProgress::new(&self.progress, header, past);
        let ended = schedule::run(&header.plan, Parts { executor, journal, watch, stop_rule }, past);
        self.progress.finish();
        Ok(ended.map(drop))
    }
}
