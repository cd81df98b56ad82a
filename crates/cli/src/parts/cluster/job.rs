//! `tare job`: the program that a node runs for each job. It tests the instrument if the machine has no
//! certificate, runs the command of the job, and leaves a bundle in the store.
//!
//! The command runs in a process of its own. The kernel kills it if this process is killed, so that nothing
//! measures for a job that the engine believes to be over.

use std::{
    io::Read,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use anyhow::{Context, bail, ensure};
use clap::builder::PossibleValuesParser;
use rustix::process::{Pid, Signal, getppid, kill_process, set_parent_process_death_signal};
use tare_base::document;
use tare_bench::{
    folder::{self, FILE_BYTES_MAX},
    record::{Ending, ending},
};
use tare_cluster::{
    Allocation, AttemptOutcome, AttemptRecord, Batch, BundleHead, Committed, EngineName, MachineIdentity,
    Phase, Received, Staging, push::TOKEN_VARIABLE,
};
use tare_host::{
    environment::Environment,
    process::{Isolation, Scratch, Supervisor},
    seal, signals,
};
use tare_report::kept;
use tare_selftest::Certificate;

use super::{
    machine,
    outbox::{Assignment, Outbox},
};
use crate::{
    exit::Outcome,
    output,
    workspace::{self, Global},
};

/// Run one job of a batch. Started by an engine on a node, not by people
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder of the batch, which all nodes share
    #[arg(required_unless_present = "push", conflicts_with = "push")]
    batch: Option<PathBuf>,
    /// The collector that gives the job, and that its bundle is pushed to. TARE_PUSH_TOKEN is the token of the batch
    #[arg(long, value_name = "URL", requires = "engine")]
    push: Option<String>,
    /// The engine that started it
    #[arg(long, value_parser = PossibleValuesParser::new(EngineName::ALL.map(EngineName::as_str)))]
    engine: Option<String>,
}

/// Become another command of tare, which ends with the process that started it. Started by `tare job`, not by people
#[derive(Debug, clap::Args)]
pub(crate) struct ChildArgs {
    /// The process that must be alive
    #[arg(long)]
    parent: i32,
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<std::ffi::OsString>,
}

/// Between fork and exec nothing may allocate. So this is a program that replaces itself with the command.
pub(crate) fn run_child(args: &ChildArgs) -> anyhow::Result<Outcome> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // The parent may have ended before the death signal was set.
    let parent = getppid().map(Pid::as_raw_nonzero);
    ensure!(
        parent.is_some_and(|parent| parent.get() == args.parent),
        "the process that started this one has ended"
    );
    Err(Command::new(workspace::program()?).args(&args.words).exec().into())
}

pub(crate) fn run(global: &Global, args: &Args) -> anyhow::Result<Outcome> {
    let assignment = match (&args.batch, &args.push, &args.engine) {
        (_, Some(url), Some(engine)) => Assignment::pushed(url, engine.parse().map_err(anyhow::Error::msg)?)?,
        (Some(batch), ..) => Assignment::shared(batch)?,
        _ => bail!("give the folder of a batch, or --push URL --engine ENGINE"),
    };
    let attempt = Attempt::begin(&assignment)?;
    let Assignment { job, allocation, .. } = &assignment;
    tare_host::message!("job {}, attempt {} on {}", job.name(), allocation.attempt, allocation.node);
    let done = attempt.run(global);
    match (&done, &assignment.outbox) {
        (Err(error), _) => {
            let reason = format!("{error:#}");
            attempt.show(Phase::Storing, Some(AttemptOutcome::Failed { reason }));
        }
        // The collector writes that record itself, and may have ended since.
        (Ok(AttemptOutcome::Committed | AttemptOutcome::KeptAside), Outbox::Pushed { .. }) => {}
        (Ok(outcome), _) => attempt.show(Phase::Storing, Some(outcome.clone())),
    }
    done.map(|_| Outcome::Fine)
}

/// One attempt to run a job.
struct Attempt<'a> {
    assignment: &'a Assignment,
    batch: &'a Batch,
    began: String,
}

impl<'a> Attempt<'a> {
    fn begin(assignment: &'a Assignment) -> anyhow::Result<Attempt<'a>> {
        let attempt = Attempt { assignment, batch: &assignment.batch, began: now() };
        attempt.record(Phase::Starting, None)?;
        Ok(attempt)
    }

    fn record(&self, phase: Phase, outcome: Option<AttemptOutcome>) -> anyhow::Result<()> {
        let Allocation { attempt, node, .. } = &self.assignment.allocation;
        let (began, since) = (self.began.clone(), now());
        let (attempt, node) = (attempt.clone(), node.clone());
        self.assignment.record(&AttemptRecord { attempt, node, began, phase, since, outcome })
    }

    /// Publishes the progress. A failure is ignored: the store may be back when the bundle is ready.
    fn show(&self, phase: Phase, outcome: Option<AttemptOutcome>) {
        if let Err(error) = self.record(phase, outcome) {
            tare_host::message!("how far the attempt is cannot be stored: {error:#}");
        }
    }

    fn run(&self, global: &Global) -> anyhow::Result<AttemptOutcome> {
        if self.assignment.has_bundle() {
            return Ok(AttemptOutcome::NotNeeded);
        }
        self.same_experiment()?;
        let children = Children::new(self.globals(global))?;
        let supervisor = Supervisor::start(&workspace::program()?, Isolation::detect())?;
        // Memory is no place for the bundle: it would compete with the measurement. So the folder is on disk.
        let scratch = Scratch::make(supervisor.watchdog(), u64::MAX)?;
        let environment = Environment::read(Some(supervisor.isolation()));
        let certificate = self.certificate(&environment, &children, scratch.path())?;
        self.show(Phase::Measuring, None);
        let run = scratch.path().join("run");
        let out = ["--out".to_owned(), run.display().to_string()];
        let words = self.assignment.job.words(&self.batch.list.head);
        let ended = children.run(&[words, out.to_vec()].concat())?;
        let status = status_of(&run, ended)?;
        self.show(Phase::Storing, None);
        let stage = |batch: &Batch| self.stage(batch, &run, status, (&environment, certificate.as_ref()));
        match self.assignment.store(scratch.path(), stage)? {
            Committed::First | Committed::AlreadyHere => {
                let place = match &self.assignment.outbox {
                    Outbox::Shared => self.batch.bundle_folder(&self.assignment.job).display().to_string(),
                    Outbox::Pushed { .. } => "with the collector".to_owned(),
                };
                tare_host::message!("the bundle is there: {place}");
                Ok(AttemptOutcome::Committed)
            }
            Committed::Later => {
                tare_host::message!("another attempt was first: this bundle is kept aside");
                Ok(AttemptOutcome::KeptAside)
            }
        }
    }

    /// The global options of every command of the job.
    fn globals(&self, global: &Global) -> Vec<String> {
        let root = ["--root".to_owned(), self.batch.head.root.display().to_string()];
        [&root[..], &global.words()].concat()
    }

    /// Checks that the experiment is still the planned one: the job reads it anew, and its name depends on
    /// it.
    fn same_experiment(&self) -> anyhow::Result<()> {
        let path = self.batch.head.root.join(&self.batch.list.head.experiment);
        let content = tare_cluster::content(document::read(&path)?.as_bytes());
        ensure!(
            content == self.batch.list.head.content,
            "{}: has changed since the jobs were planned: plan them again",
            path.display()
        );
        Ok(())
    }

    /// The stored certificate of this machine, or a new one; `None` if not required, or impossible.
    fn certificate(
        &self,
        environment: &Environment,
        children: &Children,
        scratch: &Path,
    ) -> anyhow::Result<Option<Certificate>> {
        let machine =
            MachineIdentity::new(&self.assignment.allocation.node, environment, env!("CARGO_PKG_VERSION"));
        let folder = scratch.join("selftest");
        let Some(words) = machine::words(&self.batch.head.selftest, &folder) else { return Ok(None) };
        let known = self.assignment.certificate(&machine);
        if let Some(stored) = machine::good(&self.batch.head, known, jiff::Timestamp::now()) {
            tare_host::message!("the certificate of {} is used", stored.began);
            return Ok(Some(stored));
        }
        self.show(Phase::Selftest, None);
        children.run(&words)?;
        let Ok(bytes) = seal::DOCUMENT.read(&folder.join("certificate.json"), FILE_BYTES_MAX) else {
            tare_host::message!("the instrument could not be tested");
            return Ok(None);
        };
        let certificate: Certificate = serde_json::from_slice(&bytes)?;
        let stored = self.assignment.put_certificate(&machine, serde_json::to_value(&certificate)?);
        match (stored, &self.assignment.outbox) {
            // The bundle holds the certificate; without a stored one the next job only repeats the test.
            (Err(error), Outbox::Pushed { .. }) => {
                tare_host::message!("the certificate cannot be stored for other jobs: {error:#}");
            }
            (stored, _) => stored.context("the certificate cannot be stored")?,
        }
        Ok(Some(certificate))
    }

    /// Writes a bundle into the folder of a batch.
    fn stage(
        &self,
        batch: &Batch,
        run: &Path,
        status: i32,
        (environment, certificate): (&Environment, Option<&Certificate>),
    ) -> anyhow::Result<Committed> {
        let job = &self.assignment.job;
        let Allocation { attempt, node, is_exclusive, .. } = &self.assignment.allocation;
        let mut staging = Staging::new(batch, job, attempt)?;
        staging.add_run(run)?;
        staging.add_file("environment.json", output::json(environment)?.as_bytes())?;
        if let Some(certificate) = certificate {
            staging.add_file("certificate.json", &seal::DOCUMENT.seal(output::json(certificate)?))?;
        }
        let received = Received::here(*is_exclusive);
        let wanted = batch.list.class(job).map_or(1, |class| class.cpus);
        let mut head = BundleHead::new(batch, job, (attempt, node), self.began.clone(), now());
        env!("CARGO_PKG_VERSION").clone_into(&mut head.tare);
        head.status = status;
        head.shared = received.shared(wanted);
        head.received = received;
        head.is_certified =
            certificate.map(|certificate| certificate.outcome() == tare_selftest::TrialOutcome::Seen);
        head.findings().iter().for_each(|finding| tare_host::message!("finding: {finding}"));
        Ok(staging.commit(head)?)
    }
}

fn now() -> String {
    jiff::Timestamp::now().to_string()
}

/// The exit status of a complete run. An interrupted run is an error.
fn status_of(run: &Path, ended: ExitStatus) -> anyhow::Result<i32> {
    ensure_not_ended()?;
    let Some(status) = ended.code() else { bail!("the command that measures was killed: {ended}") };
    ensure!(
        run.join("run.json").is_file(),
        "the command that measures ended with status {status}, and stored no run"
    );
    match ending(&folder::read(run)?.records) {
        None => bail!("the run was cut off: its command ended with status {status}"),
        Some((Ending::Interrupted, _)) => bail!("the run was interrupted"),
        Some(_) => {}
    }
    ensure!(
        run.join(kept::NAME).is_file(),
        "the run has no {}: its command ended with status {status}",
        kept::NAME
    );
    Ok(status)
}

/// Fails if a signal has arrived: the engine ends jobs by a signal.
fn ensure_not_ended() -> anyhow::Result<()> {
    match signals::received() {
        None => Ok(()),
        Some(signal) => bail!("it was ended by signal {signal}: cancelled, or its time limit is over"),
    }
}

/// Runs commands of tare in sequence, and forwards the signals that this process receives.
struct Children {
    globals: Vec<String>,
    /// The PID of the running command; 0 if there is none.
    running: Arc<AtomicU32>,
}

impl Children {
    fn new(globals: Vec<String>) -> anyhow::Result<Children> {
        let running = Arc::new(AtomicU32::new(0));
        let mut signals = signals::listen_by_socket()?;
        let receiver = Arc::clone(&running);
        // The thread sleeps until a signal arrives, so nothing wakes up while the command measures.
        std::thread::spawn(move || {
            let mut bytes = [0; 16];
            while signals.read(&mut bytes).is_ok_and(|bytes| bytes > 0) {
                let child = Pid::from_raw(receiver.load(Ordering::Relaxed).cast_signed());
                let _it_has_ended = child.map(|child| kill_process(child, Signal::TERM));
            }
        });
        Ok(Children { globals, running })
    }

    fn run(&self, words: &[String]) -> anyhow::Result<ExitStatus> {
        ensure_not_ended()?;
        let own = std::process::id().to_string();
        let mut command = Command::new(workspace::program()?);
        command.args(["job-child", "--parent", &own, "--"]).args(&self.globals).args(words);
        // The measuring command must not have the token.
        command.env_remove(TOKEN_VARIABLE);
        let mut child = command.spawn()?;
        self.running.store(child.id(), Ordering::Relaxed);
        // A signal that arrived earlier would have found no child.
        if signals::received().is_some() {
            let _it_has_ended = kill_process(Pid::from_child(&child), Signal::TERM);
        }
        let ended = child.wait();
        self.running.store(0, Ordering::Relaxed);
        Ok(ended?)
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::process::ExitStatusExt};

    use tare_bench::{
        fixture::compared,
        folder::{Header, RunFolder},
        record::{EndedRun, Journal, Record},
    };

    use super::*;

    #[test]
    fn only_a_run_that_has_ended_and_has_its_report_is_a_result() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path();
        let error =
            |code: i32| status_of(run, ExitStatus::from_raw(code << 8)).map_err(|error| error.to_string());
        insta::assert_snapshot!(error(1).unwrap_err(), @"the command that measures ended with status 1, and stored no run");
        let killed = status_of(run, ExitStatus::from_raw(9)).unwrap_err().to_string();
        insta::assert_snapshot!(killed, @"the command that measures was killed: signal: 9 (SIGKILL)");
        let header = Header::new("0.1.0", now(), compared().plan, Environment::default());
        let mut journal = RunFolder::create(run, &header).unwrap();
        insta::assert_snapshot!(error(4).unwrap_err(), @"the run was cut off: its command ended with status 4");
        let mut end = |reason| journal.append(&Record::Ended(EndedRun { reason, elapsed_ns: 1 })).unwrap();
        end(Ending::Interrupted);
        insta::assert_snapshot!(error(5).unwrap_err(), @"the run was interrupted");
        end(Ending::BudgetSpent);
        insta::assert_snapshot!(error(0).unwrap_err(), @"the run has no report.json: its command ended with status 0");
        fs::write(run.join(kept::NAME), "{}").unwrap();
        assert_eq!((error(0), error(4)), (Ok(0), Ok(4)));
    }
}
