//! Jobs, and the attempts at them.

use crate::{
    Micros, micros,
    random::{Draws, Purpose},
    scenario::Scenario,
};

/// A whole run that has to be done once.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    /// Without what is peculiar to an attempt.
    pub build_seconds: f64,
    pub expected: Micros,
    pub mebibytes: f64,
    /// It fails wherever it runs.
    pub is_broken: bool,
    pub state: JobState,
    /// Attempts that failed or were lost.
    pub spent: usize,
    /// Attempts that the engine holds for alive.
    pub alive: usize,
    pub is_copied: bool,
    /// Numbers of its attempts.
    pub attempts: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JobState {
    Open,
    Committed,
    /// All attempts are spent.
    Missing,
}

/// One try of a job on one machine.
#[derive(Debug, Clone)]
pub(crate) struct Attempt {
    pub job: usize,
    pub machine: usize,
    pub stage: Stage,
    /// When the machine was taken for it.
    pub began: Micros,
    pub running_since: Option<Micros>,
    pub measured: Option<Micros>,
    /// When the machine was free of it, or gone.
    pub released: Option<Micros>,
    /// Pushes that were refused one after the other.
    pub refused: u32,
    /// When the engine will hold it for lost, if it is not heard of before.
    pub lost_at: Option<Micros>,
    pub is_held_for_lost: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Placing,
    Running,
    /// It has measured, and its bundle is not at the collector.
    Holding,
    /// Its bundle crosses the machine's link.
    Pushing,
    /// Its bundle is with the collector, whatever becomes of the machine.
    Sent,
    Ended(End),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Committed,
    /// The bundle was there already: create-once refused it.
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

    /// Whether all of it is gone if its machine is.
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
