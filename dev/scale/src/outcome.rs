//! The outcome of one simulation, and of several with different seeds.

use crate::{
    Micros,
    jobs::{Attempt, End, Stage},
    seconds,
    station::{Little, Station},
};

#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// When the last job was committed or given up.
    pub makespan: Micros,
    pub committed: usize,
    /// The jobs without a result, by index.
    pub missing: Vec<usize>,
    pub attempts: usize,
    pub copies: u64,
    /// The number of pushes that the collector refused.
    pub refused: u64,
    pub times: Times,
    pub ends: Ends,
    /// The number of committed bundles for each job.
    pub committed_by_job: Vec<usize>,
    /// The hours in which machines existed, and their cost.
    pub machines: (f64, f64),
    pub link: Served,
    pub checks: Served,
    pub placing: Served,
}

/// Hours of busy machines.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Times {
    /// Hours of committed attempts until the end of their measurement.
    pub useful: f64,
    /// Hours of attempts from the end of their measurement until their machine was free.
    pub holding: f64,
    /// Hours of attempts without a result.
    pub wasted: f64,
}

/// The numbers of attempts by their ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ends {
    pub committed: usize,
    /// Attempts whose job had a bundle already.
    pub duplicates: usize,
    pub lost: usize,
    pub failed: usize,
    pub cancelled: usize,
    /// Attempts that were still running when all jobs were done.
    pub open: usize,
}

/// The load of a station.
#[derive(Debug, Clone, PartialEq)]
pub struct Served {
    pub utilisation: f64,
    pub waiting_most: usize,
    pub wait_p99_seconds: f64,
    pub little: Little,
}

impl Served {
    pub(crate) fn of(station: &mut Station, now: Micros) -> Served {
        Served {
            utilisation: station.utilisation(now),
            little: station.little(now),
            waiting_most: station.stats().waiting_most,
            wait_p99_seconds: station.stats().wait_quantile(0.99),
        }
    }
}

impl Times {
    pub(crate) fn of(attempts: &[Attempt], now: Micros) -> Times {
        let mut times = Times::default();
        for attempt in attempts {
            let released = attempt.released.unwrap_or(now);
            let measured = attempt.measured.unwrap_or(released).min(released);
            let hours = |from: Micros, to: Micros| seconds(to - from) / 3600.0;
            match attempt.stage {
                // A bundle in transit at the end is a duplicate of another.
                Stage::Ended(End::Committed) => times.useful += hours(attempt.began, measured),
                _ => times.wasted += hours(attempt.began, measured),
            }
            times.holding += hours(measured, released);
        }
        times
    }

    pub fn taken(&self) -> f64 {
        self.useful + self.holding + self.wasted
    }
}

impl Ends {
    pub(crate) fn of(attempts: &[Attempt]) -> Ends {
        let mut ends = Ends::default();
        for attempt in attempts {
            let place = match attempt.stage {
                Stage::Ended(End::Committed) => &mut ends.committed,
                Stage::Ended(End::Duplicate) => &mut ends.duplicates,
                Stage::Ended(End::Lost) => &mut ends.lost,
                Stage::Ended(End::Failed) => &mut ends.failed,
                Stage::Ended(End::Cancelled) => &mut ends.cancelled,
                _ => &mut ends.open,
            };
            *place += 1;
        }
        ends
    }

    pub fn all(&self) -> usize {
        self.committed + self.duplicates + self.lost + self.failed + self.cancelled + self.open
    }
}

pub(crate) fn commits(attempts: &[Attempt], jobs: usize) -> Vec<usize> {
    let mut commits = vec![0; jobs];
    let committed = attempts.iter().filter(|attempt| attempt.stage == Stage::Ended(End::Committed));
    committed.for_each(|attempt| commits[attempt.job] += 1);
    commits
}

/// A figure over the seeds: median, minimum and maximum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    pub median: f64,
    pub least: f64,
    pub most: f64,
}

/// Several simulations of one scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    outcomes: Vec<Outcome>,
}

impl Summary {
    pub fn new(outcomes: Vec<Outcome>) -> Summary {
        Summary { outcomes }
    }

    /// The spread of one figure; all 0 without an outcome.
    pub fn spread(&self, of: impl Fn(&Outcome) -> f64) -> Spread {
        let mut values: Vec<f64> = self.outcomes.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        let at = |place: usize| values.get(place).copied().unwrap_or(0.0);
        let last = values.len().saturating_sub(1);
        let median = f64::midpoint(at(last / 2), at(last.div_ceil(2)));
        Spread { median, least: at(0), most: at(last) }
    }

    pub fn median(&self, of: impl Fn(&Outcome) -> f64) -> f64 {
        self.spread(of).median
    }
}
