//! The view of a batch of cluster jobs. This machine measures nothing, so the view may be drawn at any time.

use std::time::Duration;

use tare_cluster::{BatchStatus, JobState, JobStatus};
use tare_report::document::{ALWAYS, Table, Unit, Value};

use crate::progress::{
    Progress,
    live::Stage,
    view::{Interest, View},
};

/// A table on a terminal, or lines elsewhere.
pub(crate) struct BatchView<'a> {
    progress: &'a Progress,
    stage: Option<Stage<'a>>,
}

impl<'a> BatchView<'a> {
    pub(crate) fn open(progress: &'a Progress) -> BatchView<'a> {
        BatchView { progress, stage: Stage::open(progress) }
    }

    /// Shows the progress of the jobs, each of which measures for about `expected_s`.
    pub(crate) fn draw(&mut self, name: &str, status: &BatchStatus, expected_s: Option<u64>) {
        let Some(stage) = &mut self.stage else { return self.progress.say(&status.summary()) };
        let place = match &status.engine_error {
            Some(error) => format!("{}; {error}", status.summary()),
            None => status.summary(),
        };
        let interest = status.jobs.iter().map(|job| match job.state {
            JobState::Running => Interest::Now,
            JobState::Missing => Interest::Failed,
            JobState::Waiting | JobState::Unknown => Interest::InBlock,
            JobState::Arrived | JobState::Collected | JobState::NotSubmitted => Interest::None,
        });
        let interest: Vec<Interest> = interest.collect();
        let left = left(status, expected_s);
        let (title, table) = (name.to_owned(), jobs(status));
        stage.draw(false, |elapsed| View { title, place, elapsed, left, table, interest, ..View::default() });
    }
}

/// The remaining time, as if running jobs began now and their number stayed the same.
fn left(status: &BatchStatus, expected_s: Option<u64>) -> Duration {
    let running = status.count(JobState::Running);
    let open = (running + status.count(JobState::Waiting) + status.count(JobState::Unknown)) as u64;
    let rounds = open.div_ceil(running.max(1) as u64);
    Duration::from_secs(rounds.saturating_mul(expected_s.unwrap_or(0)))
}

/// One row per job, in the order of the list.
pub(crate) fn jobs(status: &BatchStatus) -> Table {
    let columns =
        [("job", ALWAYS), ("seed", 2), ("state", ALWAYS), ("node", 5), ("attempts", 3), ("detail", 4)];
    Table::plain(
        columns.map(|(title, priority)| (title, Unit::Text, priority)),
        status.jobs.iter().map(row).collect(),
    )
}

fn row(job: &JobStatus) -> [Value; 6] {
    let text = |text: &str| Some(text).filter(|text| !text.is_empty()).map(str::to_owned).into();
    [
        job.name.as_str().into(),
        job.seed.to_string().as_str().into(),
        word(job.state).into(),
        text(job.node.as_deref().unwrap_or_default()),
        text(&if job.attempts > 0 { job.attempts.to_string() } else { String::new() }),
        text(&job.detail),
    ]
}

fn word(state: JobState) -> &'static str {
    match state {
        JobState::Collected => "collected",
        JobState::Arrived => "arrived",
        JobState::Running => "running",
        JobState::Waiting => "waiting",
        JobState::Unknown => "not known",
        JobState::NotSubmitted => "not submitted",
        JobState::Missing => "MISSING",
    }
}

#[cfg(test)]
mod tests {
    use tare_cluster::EngineName;

    use super::*;

    #[test]
    fn what_is_left_is_a_round_for_as_many_jobs_as_run_at_a_time() {
        let job = |state| JobStatus {
            name: "x86-1".to_owned(),
            class: "x86".to_owned(),
            seed: 7,
            revisions: 0,
            state,
            node: None,
            since: None,
            attempts: 0,
            detail: String::new(),
        };
        let left_of = |states: &[JobState]| {
            let jobs = states.iter().map(|state| job(*state)).collect();
            let status =
                BatchStatus { batch: "b".to_owned(), engine: EngineName::Slurm, jobs, engine_error: None };
            left(&status, Some(60)).as_secs()
        };
        use JobState::{Arrived, Missing, Running, Waiting};
        assert_eq!(left_of(&[Arrived, Running, Running, Waiting, Waiting, Waiting]), 180);
        assert_eq!(left_of(&[Waiting, Waiting]), 120, "one at a time, as far as is known");
        assert_eq!(left_of(&[Arrived, Missing]), 0);
    }
}
