//! The state of each job of a batch, from the store and the engine. The store has precedence: a job with a
//! bundle is done, whatever the engine reports.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    attempt::{AttemptOutcome, AttemptRecord},
    batch::Batch,
    engine::{EngineError, EngineState, engine},
    engine_name::EngineName,
    job::PlannedJob,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobState {
    /// Its bundle has arrived, and the collector has checked it.
    Collected,
    Arrived,
    Running,
    Waiting,
    /// The engine does not answer.
    Unknown,
    NotSubmitted,
    /// It ended without a bundle, and will not run again by itself.
    Missing,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JobStatus {
    pub name: String,
    pub class: String,
    pub seed: u64,
    /// The number of versions that it compares; 0 if it measures the services as they are.
    pub revisions: usize,
    pub state: JobState,
    /// The node of the newest attempt.
    pub node: Option<String>,
    /// When the current phase of the newest attempt began, RFC 3339.
    pub since: Option<String>,
    pub attempts: usize,
    /// The current activity, or why there is none.
    pub detail: String,
}

/// A batch with the states of its jobs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BatchStatus {
    pub batch: String,
    pub engine: EngineName,
    pub jobs: Vec<JobStatus>,
    /// Why the engine did not report states.
    pub engine_error: Option<String>,
}

impl BatchStatus {
    /// The status, with the engine's states or its error.
    pub fn of(batch: &Batch, states: Result<&BTreeMap<usize, EngineState>, &EngineError>) -> BatchStatus {
        let submitted = batch.submitted();
        let of_job = |(position, job): (usize, &PlannedJob)| {
            let said = match states {
                Ok(states) => Said::Engine(states.get(&position)),
                Err(_) => Said::Nothing,
            };
            status(batch, job, said, submitted.contains(&position))
        };
        BatchStatus {
            batch: batch.name(),
            engine: batch.head.engine,
            jobs: batch.list.jobs.iter().enumerate().map(of_job).collect(),
            engine_error: states.err().map(ToString::to_string),
        }
    }

    pub fn count(&self, state: JobState) -> usize {
        self.jobs.iter().filter(|job| job.state == state).count()
    }

    /// Whether no state will change by itself.
    pub fn is_settled(&self) -> bool {
        [JobState::Running, JobState::Waiting, JobState::Unknown].iter().all(|state| self.count(*state) == 0)
    }

    /// A summary: `4 jobs: 2 collected, 1 running, 1 waiting`.
    pub fn summary(&self) -> String {
        let states = [
            (JobState::Collected, "collected"),
            (JobState::Arrived, "arrived"),
            (JobState::Running, "running"),
            (JobState::Waiting, "waiting"),
            (JobState::Unknown, "not known"),
            (JobState::NotSubmitted, "not submitted"),
            (JobState::Missing, "missing"),
        ];
        let counts = states.map(|(state, word)| (self.count(state), word));
        let words: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        let jobs = self.jobs.len();
        format!("{jobs} job{}: {}", if jobs == 1 { "" } else { "s" }, words.join(", "))
    }
}

#[derive(Clone, Copy)]
enum Said<'a> {
    Nothing,
    Engine(Option<&'a EngineState>),
}

fn status(batch: &Batch, job: &PlannedJob, said: Said, was_submitted: bool) -> JobStatus {
    let attempts = batch.attempts(job).all();
    let last = attempts.last();
    let (state, detail) = match batch.has_bundle(job) {
        true if batch.checked_path(job).is_file() => (JobState::Collected, String::new()),
        true => (JobState::Arrived, String::new()),
        false => without_bundle(batch, last, said, was_submitted),
    };
    let running_on = match said {
        Said::Engine(Some(EngineState::Running { node })) => {
            Some(node.clone()).filter(|node| !node.is_empty())
        }
        _ => None,
    };
    JobStatus {
        name: job.name(),
        class: job.class.clone(),
        seed: job.seed,
        revisions: job.revisions.len(),
        state,
        node: running_on.or_else(|| last.map(|last| last.node.clone())),
        since: last.map(|last| last.since.clone()),
        attempts: attempts.len(),
        detail,
    }
}

fn without_bundle(
    batch: &Batch,
    last: Option<&AttemptRecord>,
    said: Said,
    was_submitted: bool,
) -> (JobState, String) {
    match (said, last) {
        (Said::Nothing, _) => (JobState::Unknown, String::new()),
        (Said::Engine(Some(EngineState::Waiting { why })), _) => (JobState::Waiting, why.clone()),
        (Said::Engine(Some(EngineState::Running { .. })), last) => {
            let phase =
                last.filter(|last| last.outcome.is_none()).map_or("starting", |last| last.phase.text());
            (JobState::Running, phase.to_owned())
        }
        (Said::Engine(Some(EngineState::Ended { how })), None) => {
            (JobState::Missing, format!("{how}, and no attempt began{}", look_at(batch, None)))
        }
        (Said::Engine(Some(EngineState::Ended { how })), Some(last)) => {
            (JobState::Missing, ended(batch, last, Some(how)))
        }
        (Said::Engine(None), Some(last)) => (JobState::Missing, ended(batch, last, None)),
        (Said::Engine(None), None) if was_submitted => {
            (JobState::Missing, "the engine does not know it any more, and no attempt began".to_owned())
        }
        (Said::Engine(None), None) => (JobState::NotSubmitted, String::new()),
    }
}

fn ended(batch: &Batch, last: &AttemptRecord, how: Option<&String>) -> String {
    let AttemptRecord { attempt, node, phase, outcome, .. } = last;
    match outcome {
        Some(AttemptOutcome::Failed { reason }) => reason.clone(),
        Some(_) => "its bundle was rejected".to_owned(),
        None => {
            let how = how.map(|how| format!(" ({how})")).unwrap_or_default();
            let log = look_at(batch, Some(attempt));
            format!("attempt {attempt} on {node} was cut off while {}{how}{log}", phase.text())
        }
    }
}

fn look_at(batch: &Batch, attempt: Option<&str>) -> String {
    let place = engine(batch.head.engine).look_at(batch, attempt);
    place.map(|place| format!("; see {place}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        attempt::Phase,
        fixture::{batch, commit},
    };

    fn attempt(outcome: Option<AttemptOutcome>) -> AttemptRecord {
        AttemptRecord {
            attempt: "1-0.0".to_owned(),
            node: "n1".to_owned(),
            began: "2026-01-02T03:04:05Z".to_owned(),
            phase: Phase::Measuring,
            since: "2026-01-02T03:05:05Z".to_owned(),
            outcome,
        }
    }

    #[test]
    fn the_store_comes_before_the_engine_and_what_is_in_neither_is_missing_with_a_reason() {
        let store = tempfile::tempdir().unwrap();
        let batch = batch(store.path(), 5);
        let jobs = &batch.list.jobs;
        commit(&batch, &jobs[0], "1-0.0");
        batch.attempts(&jobs[1]).store(&attempt(None)).unwrap();
        batch.attempts(&jobs[4]).store(&attempt(None)).unwrap();
        let failed = AttemptOutcome::Failed { reason: "a build failed".to_owned() };
        batch.attempts(&jobs[5]).store(&attempt(Some(failed))).unwrap();
        batch.attempts(&jobs[6]).store(&attempt(None)).unwrap();
        batch.add_submitted(&[7]).unwrap();
        let ended = |how: &str| EngineState::Ended { how: how.to_owned() };
        let states = BTreeMap::from([
            (0, ended("it failed")),
            (1, EngineState::Running { node: "n1".to_owned() }),
            (2, EngineState::Waiting { why: "Resources".to_owned() }),
            (3, ended("it failed")),
            (4, ended("it reached its time limit")),
            (5, ended("it failed")),
        ]);
        let status = BatchStatus::of(&batch, Ok(&states));
        let line = |job: &JobStatus| format!("{} {:?}: {}.", job.attempts, job.state, job.detail);
        let lines: Vec<String> = status.jobs.iter().map(line).collect();
        let text = lines.join("\n").replace(&batch.folder.display().to_string(), "BATCH");
        insta::assert_snapshot!(text, @r"
        0 Arrived: .
        1 Running: measuring.
        0 Waiting: Resources.
        0 Missing: it failed, and no attempt began; see BATCH/logs.
        1 Missing: attempt 1-0.0 on n1 was cut off while measuring (it reached its time limit).
        1 Missing: a build failed.
        1 Missing: attempt 1-0.0 on n1 was cut off while measuring.
        0 Missing: the engine does not know it any more, and no attempt began.
        0 NotSubmitted: .
        0 NotSubmitted: .
        ");
        insta::assert_snapshot!(status.summary(), @"10 jobs: 1 arrived, 1 running, 1 waiting, 2 not submitted, 5 missing");
        assert!(!status.is_settled());
    }

    #[test]
    fn an_engine_that_does_not_answer_settles_nothing() {
        let store = tempfile::tempdir().unwrap();
        let batch = batch(store.path(), 1);
        commit(&batch, &batch.list.jobs[0], "1-0.0");
        let error = EngineError::Unreachable { engine: EngineName::Slurm, said: "no route".to_owned() };
        let status = BatchStatus::of(&batch, Err(&error));
        assert_eq!((status.count(JobState::Arrived), status.count(JobState::Unknown)), (1, 1));
        assert!(!status.is_settled());
        assert_eq!(status.engine_error.as_deref(), Some("Slurm does not answer: no route"));
    }
}
