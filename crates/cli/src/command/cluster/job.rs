//! `tare job`: what a node runs for each job. It tests the instrument if that has no certificate here, runs the command of the job,
//! and leaves a bundle in the store.
//!
//! The command runs in a process of its own, which the kernel kills if this one is killed: nothing measures on for a job that the
//! engine believes to be over.

use std::{
    fs,
    io::Read,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, bail, ensure};
use rustix::process::{Pid, Signal, getppid, kill_process, set_parent_process_death_signal};
use tare_bench::{
    folder,
    record::{Ending, ending},
};
use tare_cluster::{
    Allocation, AttemptOutcome, AttemptRecord, Attempts, Batch, BundleHead, Certificates, Committed,
    MachineIdentity, Phase, PlannedJob, Received, Staging, engine,
};
use tare_host::{
    environment::Environment,
    process::{Isolation, Scratch, Supervisor},
    signals,
};
use tare_report::kept;
use tare_selftest::Certificate;
use tare_service::document;

use super::machine;
use crate::{
    exit::Outcome,
    output,
    workspace::{self, Global},
};

/// How long a store may be away before a run is given up.
const STORED_WITHIN: Duration = Duration::from_secs(600);
const STORE_AGAIN_AFTER: Duration = Duration::from_secs(5);

/// Run one job of a batch. Started by an engine on a node, not by people
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder of the batch
    batch: PathBuf,
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

/// Between fork and exec nothing may be called that allocates, so this is a program of its own that becomes the other one.
pub(crate) fn run_child(args: &ChildArgs) -> anyhow::Result<Outcome> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // It may have died before that was asked for.
    let parent = getppid().map(Pid::as_raw_nonzero);
    ensure!(
        parent.is_some_and(|parent| parent.get() == args.parent),
        "the process that started this one has ended"
    );
    Err(Command::new(workspace::program()?).args(&args.words).exec().into())
}

pub(crate) fn run(global: &Global, args: &Args) -> anyhow::Result<Outcome> {
    let batch = Batch::open(&args.batch)?;
    let allocation = engine(batch.head.engine).allocation(&|name| std::env::var(name).ok())?;
    let job = batch.list.jobs.get(allocation.position);
    let job = job.with_context(|| format!("the batch has no job {}", allocation.position))?;
    let attempt = Attempt::begin(&batch, job, &allocation)?;
    tare_host::tell!("job {}, attempt {} on {}", job.name(), allocation.attempt, allocation.node);
    let done = attempt.run(global);
    let outcome = match &done {
        Ok(outcome) => outcome.clone(),
        Err(error) => AttemptOutcome::Failed { reason: format!("{error:#}") },
    };
    attempt.show(Phase::Storing, Some(outcome));
    done.map(|_| Outcome::Fine)
}

/// One attempt to run a job.
struct Attempt<'b> {
    batch: &'b Batch,
    job: &'b PlannedJob,
    allocation: &'b Allocation,
    attempts: Attempts,
    began: String,
}

impl<'b> Attempt<'b> {
    fn begin(
        batch: &'b Batch,
        job: &'b PlannedJob,
        allocation: &'b Allocation,
    ) -> anyhow::Result<Attempt<'b>> {
        let (attempts, began) = (batch.attempts(job), now());
        let attempt = Attempt { batch, job, allocation, attempts, began };
        attempt.record(Phase::Starting, None)?;
        Ok(attempt)
    }

    fn record(&self, phase: Phase, outcome: Option<AttemptOutcome>) -> anyhow::Result<()> {
        let Allocation { attempt, node, .. } = self.allocation;
        let (began, since) = (self.began.clone(), now());
        let record =
            AttemptRecord { attempt: attempt.clone(), node: node.clone(), began, phase, since, outcome };
        self.attempts.store(&record).with_context(|| format!("{}: attempts", self.batch.folder.display()))
    }

    /// What is only shown is not worth a run: the store may be there again when the bundle is.
    fn show(&self, phase: Phase, outcome: Option<AttemptOutcome>) {
        if let Err(error) = self.record(phase, outcome) {
            tare_host::tell!("how far the attempt is cannot be stored: {error:#}");
        }
    }

    fn run(&self, global: &Global) -> anyhow::Result<AttemptOutcome> {
        if self.batch.has_bundle(self.job) {
            return Ok(AttemptOutcome::NotNeeded);
        }
        self.same_experiment()?;
        let children = Children::new(self.globals(global))?;
        let supervisor = Supervisor::start(&workspace::program()?, Isolation::detect())?;
        // No folder in memory has room for that: what is measured shall not share memory with what was.
        let scratch = Scratch::make(supervisor.watchdog(), u64::MAX)?;
        let environment = Environment::read(Some(supervisor.isolation()));
        let certificate = self.certificate(&environment, &children, scratch.path())?;
        self.show(Phase::Measuring, None);
        let run = scratch.path().join("run");
        let out = ["--out".to_owned(), run.display().to_string()];
        let ended = children.run(&[self.job.words(&self.batch.list.head), out.to_vec()].concat())?;
        let status = status_of(&run, ended)?;
        self.show(Phase::Storing, None);
        let committed =
            self.store_patiently(|| self.store(&run, status, &environment, certificate.as_ref()))?;
        Ok(match committed {
            Committed::First => AttemptOutcome::Committed,
            Committed::Later => AttemptOutcome::KeptAside,
        })
    }

    /// The options that every command of the job is given.
    fn globals(&self, global: &Global) -> Vec<String> {
        let root = ["--root".to_owned(), self.batch.head.root.display().to_string()];
        [&root[..], &global.words()].concat()
    }

    /// The experiment is read when the job runs: another one than was planned would be measured under the name of this job.
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

    /// The stored certificate of this machine, or a new one; absent if none is asked for, or it cannot be made.
    fn certificate(
        &self,
        environment: &Environment,
        children: &Children,
        scratch: &Path,
    ) -> anyhow::Result<Option<Certificate>> {
        let machine = MachineIdentity::new(&self.allocation.node, environment, env!("CARGO_PKG_VERSION"));
        let folder = scratch.join("selftest");
        let Some(words) = machine::words(&self.batch.head.selftest, &folder) else { return Ok(None) };
        if let Some(stored) = machine::stored(self.batch, &machine, jiff::Timestamp::now()) {
            tare_host::tell!("the certificate of {} is used", stored.began);
            return Ok(Some(stored));
        }
        self.show(Phase::Selftest, None);
        children.run(&words)?;
        let Ok(bytes) = fs::read(folder.join("certificate.json")) else {
            tare_host::tell!("the instrument could not be tested");
            return Ok(None);
        };
        let certificate: Certificate = serde_json::from_slice(&bytes)?;
        let stored = Certificates::of(self.batch).put(&machine, serde_json::to_value(&certificate)?);
        stored.context("the certificate cannot be stored")?;
        Ok(Some(certificate))
    }

    /// A run of an hour is not lost because the store is not there for a minute.
    fn store_patiently(&self, store: impl Fn() -> anyhow::Result<Committed>) -> anyhow::Result<Committed> {
        let began = Instant::now();
        loop {
            match store() {
                Err(error) if began.elapsed() < STORED_WITHIN && signals::received().is_none() => {
                    tare_host::tell!("the bundle cannot be stored, and is tried again: {error:#}");
                    std::thread::sleep(STORE_AGAIN_AFTER);
                }
                stored => return stored,
            }
        }
    }

    fn store(
        &self,
        run: &Path,
        status: i32,
        environment: &Environment,
        certificate: Option<&Certificate>,
    ) -> anyhow::Result<Committed> {
        let (job, Allocation { attempt, node, is_exclusive, .. }) = (self.job, self.allocation);
        let mut staging = Staging::new(self.batch, job, attempt)?;
        staging.add_run(run)?;
        staging.add_file("environment.json", output::json(environment)?.as_bytes())?;
        if let Some(certificate) = certificate {
            staging.add_file("certificate.json", output::json(certificate)?.as_bytes())?;
        }
        let received = Received::here(*is_exclusive);
        let wanted = self.batch.list.class(job).map_or(1, |class| class.cpus);
        let mut head = BundleHead::new(self.batch, job, (attempt, node), self.began.clone(), now());
        env!("CARGO_PKG_VERSION").clone_into(&mut head.tare);
        head.status = status;
        head.shared = received.shared(wanted);
        head.received = received;
        head.is_certified = certificate.map(Certificate::is_good);
        head.findings().iter().for_each(|finding| tare_host::tell!("finding: {finding}"));
        let committed = staging.commit(head)?;
        match committed {
            Committed::First => {
                tare_host::tell!("the bundle is in {}", self.batch.bundle_folder(job).display())
            }
            Committed::Later => tare_host::tell!("another attempt was first: this bundle is kept aside"),
        }
        Ok(committed)
    }
}

fn now() -> String {
    jiff::Timestamp::now().to_string()
}

/// The exit status of a run that has come to its end. What was cut off is no result.
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

/// The engine ends jobs by a signal.
fn ensure_not_ended() -> anyhow::Result<()> {
    match signals::received() {
        None => Ok(()),
        Some(signal) => bail!("it was ended by signal {signal}: cancelled, or its time limit is over"),
    }
}

/// Commands of tare that run one after another, and are sent the signals that this process receives.
struct Children {
    globals: Vec<String>,
    /// The one that runs; 0 if there is none.
    running: Arc<AtomicU32>,
}

impl Children {
    fn new(globals: Vec<String>) -> anyhow::Result<Children> {
        let running = Arc::new(AtomicU32::new(0));
        let mut signals = signals::listen_by_socket()?;
        let receiver = Arc::clone(&running);
        // It sleeps until a signal comes: nothing wakes up while the command measures.
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
        let mut child = command.spawn()?;
        self.running.store(child.id(), Ordering::Relaxed);
        // A signal that came before would have found no child.
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
    use std::os::unix::process::ExitStatusExt;

    use tare_bench::{
        fixture::compared,
        folder::{Header, RunFolder},
        record::{Ended, Journal, Record},
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
        let mut end = |reason| journal.append(&Record::Ended(Ended { reason, elapsed_ns: 1 })).unwrap();
        end(Ending::Interrupted);
        insta::assert_snapshot!(error(5).unwrap_err(), @"the run was interrupted");
        end(Ending::BudgetSpent);
        insta::assert_snapshot!(error(0).unwrap_err(), @"the run has no report.json: its command ended with status 0");
        fs::write(run.join(kept::NAME), "{}").unwrap();
        assert_eq!((error(0), error(4)), (Ok(0), Ok(4)));
    }
}
