//! Which runs and machines count. Those that contradict themselves are left out, with a reason as data.

use std::fmt;
use tare_base::units::several;

use tare_bench::metric::Metric;

use super::{
    Certified, Machine, MergedRun,
    ratio::{self, MachineRatio, RatioMetric, RunRatios},
};
use tare_analysis::{estimate::UnitEstimate, figures::percent, findings::RunIssue, status::Status};

/// A machine or run without influence on figures.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftOutMachine {
    /// Index of the machine.
    pub machine: usize,
    /// Index of the run; absent if the whole machine is left out.
    pub run: Option<usize>,
    pub reason: Reason,
}

/// The first reason found.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// The run did not end.
    NotEnded(Status),
    /// Parts of it could not be read.
    Damaged(Vec<String>),
    /// The reference has no figures.
    NoReference(String),
    /// Other programs took so much of the measured CPUs that all figures are doubtful.
    NoisyHost {
        share: f64,
    },
    /// The twin has no figures, so the machine was not checked against itself.
    TwinFailed {
        twin: String,
        reason: String,
    },
    /// The twin is separated from its original, the same program.
    TwinSeparated {
        by: Metric,
        estimate: UnitEstimate,
    },
    /// The selftest missed these faults on this machine.
    SelftestFailed(Vec<String>),
    SelftestOfAnotherMachine,
    SelftestUnreadable(String),
    /// None of its runs counts.
    NoRunLeft,
}

impl Reason {
    /// The stable name.
    pub fn code(&self) -> &'static str {
        match self {
            Reason::NotEnded(_) => "not-ended",
            Reason::Damaged(_) => "damaged",
            Reason::NoReference(_) => "no-reference",
            Reason::NoisyHost { .. } => "noisy-host",
            Reason::TwinFailed { .. } => "twin-failed",
            Reason::TwinSeparated { .. } => "twin-separated",
            Reason::SelftestFailed(_) => "selftest-failed",
            Reason::SelftestOfAnotherMachine => "selftest-of-another-machine",
            Reason::SelftestUnreadable(_) => "selftest-unreadable",
            Reason::NoRunLeft => "no-run-left",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::NotEnded(status) => write!(f, "the run did not come to its end: {}", status.text()),
            Reason::Damaged(what) => write!(f, "not all of it could be read: {}", what.join("; ")),
            Reason::NoReference(reason) => write!(f, "the reference has no figures: {reason}"),
            Reason::NoisyHost { share } => {
                write!(f, "other programs took {} of the measured CPUs", percent(*share))
            }
            Reason::TwinFailed { twin, reason } => {
                write!(f, "the reference has no figures under its second name, {twin}: {reason}")
            }
            Reason::TwinSeparated { by, estimate } => {
                let interval = estimate
                    .interval()
                    .map_or(String::new(), |(low, high)| format!(" ({} to {})", percent(low), percent(high)));
                let value = percent(estimate.value);
                write!(
                    f,
                    "the reference differs from itself: under its second name it has {value}{interval} of its {}",
                    by.name()
                )
            }
            Reason::SelftestFailed(trials) => {
                let count = several(trials.len(), "fault");
                write!(f, "`tare selftest` did not see {count} there: {}", trials.join(", "))
            }
            Reason::SelftestOfAnotherMachine => {
                f.write_str("the certificate of `tare selftest` beside the run is of another machine")
            }
            Reason::SelftestUnreadable(reason) => {
                write!(f, "the certificate of `tare selftest` beside the run cannot be read: {reason}")
            }
            Reason::NoRunLeft => f.write_str("none of its runs counts"),
        }
    }
}

/// Determines which runs of each machine count, and returns the others with their reasons.
pub(super) fn admit(machines: &mut [Machine], runs: &[MergedRun]) -> Vec<LeftOutMachine> {
    let mut left_out = Vec::new();
    for (place, machine) in machines.iter_mut().enumerate() {
        let out = |run, reason| LeftOutMachine { machine: place, run, reason };
        if let Some(reason) = of_certificate(&machine.certified) {
            left_out.push(out(None, reason));
            continue;
        }
        for run in machine.runs.clone() {
            match of_run(&runs[run]) {
                Some(reason) => left_out.push(out(Some(run), reason)),
                None => machine.counted.push(run),
            }
        }
        if machine.counted.is_empty() {
            left_out.push(out(None, Reason::NoRunLeft));
        }
    }
    left_out.extend(by_twins(machines, runs));
    for machine in machines.iter_mut() {
        machine.blocks = machine.counted.iter().map(|run| runs[*run].run.report.blocks).sum();
    }
    // Consequences come after their causes.
    left_out.sort_by_key(|one| (one.machine, one.run.is_none(), one.run));
    left_out
}

fn of_certificate(certified: &Certified) -> Option<Reason> {
    match certified {
        Certified::Unknown | Certified::Passed => None,
        Certified::Failed(trials) => Some(Reason::SelftestFailed(trials.clone())),
        Certified::OfAnotherMachine => Some(Reason::SelftestOfAnotherMachine),
        Certified::Unreadable(reason) => Some(Reason::SelftestUnreadable(reason.clone())),
    }
}

fn of_run(merged: &MergedRun) -> Option<Reason> {
    let run = &merged.run;
    if run.status() != Status::Complete {
        return Some(Reason::NotEnded(run.status()));
    }
    if !run.stored.damage.is_empty() {
        return Some(Reason::Damaged(run.stored.damage.clone()));
    }
    let reference = run.row(run.plan().reference());
    let reason = reference.map_or(Some("it is no row".to_owned()), |row| row.state.reason());
    if let Some(reason) = reason {
        return Some(Reason::NoReference(reason));
    }
    run.report.findings.iter().filter_map(|finding| finding.run_issue()).find_map(|issue| match issue {
        RunIssue::NoisyHost { share } => Some(Reason::NoisyHost { share: *share }),
        RunIssue::TwinFailed { twin, reason, .. } => {
            Some(Reason::TwinFailed { twin: twin.clone(), reason: reason.clone() })
        }
        _ => None,
    })
}

/// Leaves out machines whose twins differ over all of their runs, which happens by chance in one of twenty.
fn by_twins(machines: &mut [Machine], runs: &[MergedRun]) -> Vec<LeftOutMachine> {
    let twin = runs.first().and_then(|run| run.run.plan().twin_of_reference()).map(str::to_owned);
    let Some(twin) = twin else { return Vec::new() };
    let all: Vec<RunRatios> = runs.iter().map(|merged| RunRatios::of(&merged.run)).collect();
    let counted: Vec<Vec<&RunRatios>> =
        machines.iter().map(|machine| machine.counted.iter().map(|run| &all[*run]).collect()).collect();
    let of = |metric| ratio::of_machines(&counted, &twin, metric);
    let [cpu, throughput] = [RatioMetric::Cpu, RatioMetric::Throughput].map(of);
    let mut left_out = Vec::new();
    for (place, machine) in machines.iter_mut().enumerate() {
        let found = [(Metric::Cpu, &cpu[place]), (Metric::Throughput, &throughput[place])];
        let Some((by, found)) = found.into_iter().find_map(|(by, found)| Some((by, found.as_ref().ok()?)))
        else {
            continue;
        };
        let estimate = found.estimate();
        machine.twin = Some(estimate);
        let own: Vec<&MergedRun> = machine.counted.iter().map(|run| &runs[*run]).collect();
        if is_separated(&own, found) {
            left_out.push(LeftOutMachine {
                machine: place,
                run: None,
                reason: Reason::TwinSeparated { by, estimate },
            });
            machine.counted.clear();
        }
    }
    left_out
}

/// For one run, the verdict of that run on its twin counts.
fn is_separated(runs: &[&MergedRun], found: &MachineRatio) -> bool {
    if let [run] = runs {
        return run.run.report.twin.as_ref().is_some_and(|twin| twin.separated);
    }
    found.estimate().interval().is_some_and(|(low, high)| low > 1.0 || high < 1.0)
}
