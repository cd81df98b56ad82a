//! Jobs, and the attempts at them.

use crate::{
    Micros, micros,
    random::{Draws, Purpose},
    scenario::Scenario,
};

/// A whole run that has to be done once.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    /// The build time, without the variation of an attempt.
    pub build_seconds: f64,
    pub expected: Micros,
    pub mebibytes: f64,
    /// Whether it fails on every machine.
    pub is_broken: bool,
    pub state: JobState,
    /// The number of attempts that failed or were lost.
    pub spent: usize,
    /// The number of attempts that the engine considers alive.
    pub alive: usize,
    pub is_copied: bool,
    pub attempts: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JobState {
    Open,
    Committed,
    /// All permitted attempts have failed.
    Missing,
}

/// An attempt to run a job on one machine.
#[derive(Debug, Clone)]
pub(crate) struct Attempt {
    pub job: usize,
    pub machine: usize,
    pub stage: Stage,
    /// When a machine was taken for it.
    pub began: Micros,
    pub running_since: Option<Micros>,
    pub measured: Option<Micros>,
    /// When its machine became free, or vanished.
    pub released: Option<Micros>,
    /// The number of consecutive refused pushes.
    pub refused: u32,
    /// When the engine will consider it lost, unless it hears from it before.
    pub lost_at: Option<Micros>,
    pub is_held_for_lost: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Placing,
    Running,
    /// It has measured, but the collector does not have its bundle.
    Holding,
    /// Its bundle is crossing the machine's link.
    Pushing,
    /// The collector has its bundle, whatever happens to the machine.
    Sent,
    Ended(End),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Committed,
    /// The job had a bundle already: create-once refused this one.
    Duplicate,
    Lost,
    Failed,
    /// Another attempt at its job was committed.
    Cancelled,
}

impl Attempt {
    pub(crate) fn new(job: usize, machine: usize, now: Micros) -> Attempt {
        Attempt {
            job,
            machine,
            stage: Stage::Placing,
            began: now,
            running_since: None,
            measured: None,
            released: None,
            refused: 0,
            lost_at: None,
            is_held_for_lost: false,
        }
    }

    /// Whether it is lost completely if its machine is.
    pub(crate) fn is_on_machine(&self) -> bool {
        matches!(self.stage, Stage::Placing | Stage::Running | Stage::Holding | Stage::Pushing)
    }
}

impl Job {
    pub(crate) fn draw_all(scenario: &Scenario, seed: u64) -> Vec<Job> {
        (0..scenario.jobs.count).map(|place| Job::draw(scenario, seed, place)).collect()
    }

    fn draw(scenario: &Scenario, seed: u64, place: usize) -> Job {
        let (jobs, collector) = (&scenario.jobs, &scenario.collector);
        let mut draws = Draws::new(seed, Purpose::Job, place);
        let build_seconds = draws.lognormal(jobs.build_seconds, jobs.build_spread);
        let mebibytes = draws.lognormal(collector.mebibytes, collector.mebibytes_spread);
        Job {
            build_seconds,
            expected: micros(build_seconds + jobs.measure_seconds),
            mebibytes,
            is_broken: draws.happens(jobs.broken_share),
            state: JobState::Open,
            spent: 0,
            alive: 0,
            is_copied: false,
            attempts: Vec::new(),
        }
    }
}
