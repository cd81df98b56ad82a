//! The source of a job's assignment and the destination of its bundle: the shared folder of the batch, or a
//! collector over the network.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use tare_agent::Token;
use tare_cluster::{
    Allocation, AttemptRecord, Batch, Bundle, CertificateFolder, Collector, Committed, EngineName,
    MachineIdentity, PlannedJob, PushError, engine,
    push::{
        TOKEN_VARIABLE,
        message::{AssignedJob, RefusalKind},
    },
};
use tare_host::{secrets, signals};

/// How long a store or collector may be unreachable before a run is given up.
const STORED_WITHIN: Duration = Duration::from_secs(600);
/// The first and the longest pause between two attempts.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(30)];
/// The longest time until a signal is noticed.
const TICK: Duration = Duration::from_millis(100);

/// The assignment of a job, and the destination of its bundle.
#[derive(Debug)]
pub(super) struct Assignment {
    /// The batch. For a job that pushes its bundle, it has only this job, and no folder.
    pub(super) batch: Batch,
    pub(super) job: PlannedJob,
    pub(super) allocation: Allocation,
    pub(super) outbox: Outbox,
}

#[derive(Debug)]
pub(super) enum Outbox {
    /// The folder of the batch.
    Shared,
    Pushed {
        collector: Collector,
        /// Whether there was a bundle before this attempt began.
        has_bundle: bool,
    },
}

impl Assignment {
    /// The assignment of a job whose batch is in a shared folder.
    pub(super) fn shared(folder: &Path) -> anyhow::Result<Assignment> {
        let batch = Batch::open(folder)?;
        let allocation = allocation(batch.head.engine)?;
        let job = batch.list.jobs.get(allocation.position);
        let job = job.with_context(|| format!("the batch has no job {}", allocation.position))?.clone();
        Ok(Assignment { batch, job, allocation, outbox: Outbox::Shared })
    }

    /// The assignment from a collector. Nothing is measured before the collector answers, because the bundle
    /// would have no destination.
    pub(super) fn pushed(url: &str, engine: EngineName) -> anyhow::Result<Assignment> {
        let text = std::env::var(TOKEN_VARIABLE).ok().filter(|text| !text.is_empty());
        let text = text.with_context(|| format!("no token: {TOKEN_VARIABLE} is not in the environment"))?;
        let token = Token::parse(&text).context(TOKEN_VARIABLE)?;
        secrets::keep(TOKEN_VARIABLE, token.reveal());
        let allocation = allocation(engine)?;
        let collector = Collector::new(url, &token)?;
        let may_help = |error: &anyhow::Error| is_passing(error) && !is_of_wrong_token(error);
        let given = patiently(&allocation.attempt, may_help, || Ok(collector.job(allocation.position)?))?;
        let AssignedJob { batch, head, list, has_bundle } = given;
        ensure!(head.engine == engine, "the batch is one of {}, and not of {engine}", head.engine);
        let job = list.jobs.first().context("the collector gives no job")?.clone();
        let batch = Batch { folder: PathBuf::from(batch), head, list };
        Ok(Assignment { batch, job, allocation, outbox: Outbox::Pushed { collector, has_bundle } })
    }

    pub(super) fn has_bundle(&self) -> bool {
        match &self.outbox {
            Outbox::Shared => self.batch.has_bundle(&self.job),
            Outbox::Pushed { has_bundle, .. } => *has_bundle,
        }
    }

    /// Publishes the progress of the attempt.
    pub(super) fn record(&self, record: &AttemptRecord) -> anyhow::Result<()> {
        match &self.outbox {
            Outbox::Shared => {
                let stored = self.batch.attempts(&self.job).store(record);
                stored.with_context(|| format!("{}: attempts", self.batch.folder.display()))
            }
            Outbox::Pushed { collector, .. } => Ok(collector.show(self.allocation.position, record)?),
        }
    }

    pub(super) fn certificate(&self, machine: &MachineIdentity) -> Option<serde_json::Value> {
        match &self.outbox {
            Outbox::Shared => CertificateFolder::of(&self.batch).get(machine),
            // A missing certificate costs another test of a minute, not the run.
            Outbox::Pushed { collector, .. } => collector.certificate(machine).ok().flatten(),
        }
    }

    pub(super) fn put_certificate(
        &self,
        machine: &MachineIdentity,
        certificate: serde_json::Value,
    ) -> anyhow::Result<()> {
        match &self.outbox {
            Outbox::Shared => Ok(CertificateFolder::of(&self.batch).put(machine, certificate)?),
            Outbox::Pushed { collector, .. } => Ok(collector.put_certificate(machine, certificate)?),
        }
    }

    /// Leaves a bundle, which `stage` writes into a batch folder. It retries, because a run of an hour must
    /// not be lost when the store or the collector is briefly unreachable. `scratch` is a local folder.
    pub(super) fn store(
        &self,
        scratch: &Path,
        stage: impl Fn(&Batch) -> anyhow::Result<Committed>,
    ) -> anyhow::Result<Committed> {
        let attempt = &self.allocation.attempt;
        let Outbox::Pushed { collector, .. } = &self.outbox else {
            return patiently(attempt, |_| true, || stage(&self.batch));
        };
        // Write it once: a retry must push the same bundle.
        let batch = Batch { folder: scratch.join("pushed").join(self.batch.name()), ..self.batch.clone() };
        batch.make_folders()?;
        stage(&batch)?;
        let bundle = Bundle::open(&batch.bundle_folder(&self.job))?;
        patiently(attempt, is_passing, || {
            let pushed = collector.push(self.allocation.position, &bundle);
            if pushed.as_ref().err().and_then(PushError::kind) == Some(RefusalKind::Damaged) {
                // Check it here, before transmission: an invalid bundle stays invalid.
                bundle.check(&self.job)?;
            }
            Ok(pushed?)
        })
    }
}

fn allocation(name: EngineName) -> anyhow::Result<Allocation> {
    Ok(engine(name).allocation(&|name| std::env::var(name).ok())?)
}

fn is_passing(error: &anyhow::Error) -> bool {
    error.downcast_ref::<PushError>().is_some_and(PushError::is_passing)
}

/// Whether the token was refused. Before measuring, that is reported at once, because nothing is lost.
fn is_of_wrong_token(error: &anyhow::Error) -> bool {
    error.downcast_ref::<PushError>().and_then(PushError::kind) == Some(RefusalKind::WrongToken)
}

/// Retries `attempt` with growing pauses until it succeeds, fails for good, or has taken too long.
fn patiently<T>(
    attempt: &str,
    may_help: impl Fn(&anyhow::Error) -> bool,
    work: impl Fn() -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let began = Instant::now();
    let mut pauses = pauses(attempt);
    loop {
        let error = match work() {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        let is_over = began.elapsed() >= STORED_WITHIN || signals::received().is_some();
        let Some(pause) = pauses.next().filter(|_| !is_over && may_help(&error)) else {
            return Err(error);
        };
        tare_host::message!("it is tried again in {:.1} s: {error:#}", pause.as_secs_f64());
        let until = Instant::now() + pause;
        while Instant::now() < until && signals::received().is_none() {
            std::thread::sleep(TICK);
        }
    }
}

/// Pauses that double each time, with a factor per attempt, so that many jobs do not retry in step.
fn pauses(attempt: &str) -> impl Iterator<Item = Duration> {
    let hash = tare_cluster::content(attempt.as_bytes());
    let spread =
        hash.bytes().take(4).fold(0, |sum, digit| sum * 16 + char::from(digit).to_digit(16).unwrap_or(0));
    let factor = 0.75 + f64::from(spread) / f64::from(1_u32 << 17);
    let doubled = std::iter::successors(Some(PAUSES[0]), |pause| Some((*pause * 2).min(PAUSES[1])));
    doubled.map(move |pause| pause.mul_f64(factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_a_bound_and_are_not_the_same_for_all() {
        let all: Vec<Duration> = pauses("17-3.0").take(12).collect();
        assert!(all.is_sorted(), "{all:?}");
        for attempt in ["17-3.0", "17-4.0", "x"] {
            let mut pauses = pauses(attempt);
            let (first, last) = (pauses.next().unwrap(), pauses.nth(20).unwrap());
            assert!((0.75..1.25).contains(&first.as_secs_f64()), "{first:?}");
            assert!((22.5..37.5).contains(&last.as_secs_f64()), "{last:?}");
        }
        assert_ne!(pauses("17-3.0").next(), pauses("17-4.0").next());
    }

    #[test]
    fn what_cannot_help_is_not_tried_again() {
        let tries = std::cell::Cell::new(0);
        let failed: anyhow::Result<()> = patiently(
            "a",
            |_| false,
            || {
                tries.set(tries.get() + 1);
                anyhow::bail!("no")
            },
        );
        assert_eq!((failed.unwrap_err().to_string().as_str(), tries.get()), ("no", 1));
    }
}
