//! From a stored run to all of its results: one function for every kind of run. Everything that prints a run,
//! stores it or exits with its status calls this function, so that they agree.

use tare_bench::{
    folder::StoredRun,
    plan::{Order, Until},
};

use crate::{
    capacity::{self, SloReport},
    checks::{self, Check},
    comparison::{self, Comparison},
    loads::{self, AtLoad},
    sequential,
    status::Status,
    verdict::Verdict,
};

/// All results of a run.
#[derive(Debug, Clone)]
pub struct Analysis {
    pub answer: Answer,
    pub status: Status,
    /// The checks of a gate on the run.
    pub checks: Vec<Check>,
    /// The verdict of the checks, which its document and the exit status have too.
    pub verdict: Verdict,
}

/// The answer to the run's question.
#[derive(Debug, Clone)]
pub enum Answer {
    /// How services compare: a table for each load.
    Tables(Vec<AtLoad>),
    /// Whether a candidate is worse than a baseline, with the table of both for each load.
    Comparison(Comparison, Vec<AtLoad>),
    /// The rates that meet an SLO.
    Capacity(SloReport),
    /// Whether published claims hold.
    Claims(sequential::SequentialReport),
}

impl Analysis {
    /// Evaluates a run as far as it got.
    pub fn of(run: &StoredRun) -> Analysis {
        let plan = &run.header.plan;
        match (&plan.order, &plan.until) {
            (Order::Sequential, _) => {
                let report = sequential::compute(run);
                let checks = checks::of_published(&report);
                Analysis::new(Status::of(report.ending, run.in_progress), checks, Answer::Claims(report))
            }
            (Order::Interleaved(_), Until::Search(slo)) => {
                let report = capacity::compute(slo, run);
                let checks = checks::of_capacity(&report);
                Analysis::new(Status::of(report.ending, run.in_progress), checks, Answer::Capacity(report))
            }
            (Order::Interleaved(_), _) => Analysis::of_loads(run),
        }
    }

    fn of_loads(run: &StoredRun) -> Analysis {
        let loads = loads::compute(run);
        match comparison::of_table(run, &loads[0].report) {
            Some(found) => {
                let status = Status::of(loads[0].report.ending, run.in_progress);
                let checks = checks::of_comparison(&found);
                Analysis::new(status, checks, Answer::Comparison(found, loads))
            }
            None => Analysis::of_tables(run, loads),
        }
    }

    /// Evaluates the tables of a run without the question of its gate.
    pub fn without_gate(run: &StoredRun) -> Analysis {
        Analysis::of_tables(run, loads::compute(run))
    }

    fn of_tables(run: &StoredRun, loads: Vec<AtLoad>) -> Analysis {
        let status = Status::of(loads[0].report.ending, run.in_progress);
        Analysis::new(status, loads::checks(&loads), Answer::Tables(loads))
    }

    fn new(status: Status, mut checks: Vec<Check>, answer: Answer) -> Analysis {
        checks.extend(checks::of_status(status));
        let verdict = checks::verdict(&checks);
        Analysis { answer, status, checks, verdict }
    }
}
