//! What a reader can do about an issue.

use crate::findings::{Finding, Issue, RowIssue, RunIssue};

impl Finding {
    /// What to do about it, in a sentence; `None` if it only says how the figures were obtained.
    pub fn remedy(&self) -> Option<&'static str> {
        match &self.issue {
            Issue::Row(issue) => issue.remedy(),
            Issue::Run(issue) => issue.remedy(),
        }
    }
}

impl RowIssue {
    fn remedy(&self) -> Option<&'static str> {
        use RowIssue as Is;
        Some(match self {
            Is::Throttled { .. } => "Lift the CPU quota of the container or cgroup.",
            Is::Interference { .. } => {
                "End what else runs, or give the run CPUs of its own (`isolcpus`, another machine)."
            }
            Is::LeftCpus { .. } => "Do not let the service set its own CPU affinity.",
            Is::OtherPriority { .. } => "Do not let the service change its own priority.",
            Is::MoreThreads { .. } | Is::ThreadsAtWork { .. } => {
                "Let the service start as many threads as the variable THREADS says, or give it more by `--threads`."
            }
            Is::ImpossibleCost { .. } | Is::ServedByOther(_) => {
                "Start the server in the foreground, without a daemon or a supervisor that keeps it."
            }
            Is::CpuUnknown(_) | Is::CpuEnded(_) | Is::CpuElsewhere { .. } => {
                "Name the server's processes by `--pid`, `--cgroup` or `--container`, or let Tare start it by its command."
            }
            Is::GeneratorBound { .. } => {
                "Give the generator more CPUs or agents. CPU per request is valid meanwhile."
            }
            Is::LinkBound { .. } => "Ask for a lower rate, or for less delay on the slow link.",
            Is::NotServerBound { .. } | Is::NeitherSaturated { .. } => {
                "Give more connections if you want the capacity. CPU per request is valid meanwhile."
            }
            Is::LoadBound { .. } => "Give more users or shorter think times if you want the capacity.",
            Is::WrongAnswers { .. } => "Run `tare verify`: it shows what was asked, expected and answered.",
            Is::Failing { .. }
            | Is::NoAnswer
            | Is::NoProgress
            | Is::SomeFailed { .. }
            | Is::ClosedAtThaw(_) => {
                "Read the service's output below services/ in the run folder; try fewer connections by `tare load`."
            }
            Is::FailedInWarmUp { .. } => "Look whether the service is ready before it listens.",
            Is::Inconsistent { .. } => "Report it as a bug of the load engine.",
            Is::LateGenerator { .. } | Is::LateStarts { .. } => {
                "Give the generator a CPU of its own, or ask for a lower rate."
            }
            Is::LowerBounds => "Read the latency as \"at least\". A longer `--drain` waits for late answers.",
            Is::NeverSteady { .. }
            | Is::SteadyUnknown { .. }
            | Is::StillWarming { .. }
            | Is::Rising { .. } => "Warm up for longer (`warm-up-max`, a longer `--budget`).",
            Is::CostStep(_) | Is::Stalls(_) | Is::LateAnswers(_) => {
                "Look in the report's slices when it happened: garbage collection, compilation, a cache, another program."
            }
            Is::MemoryGrowth(_) => "Run `tare load --duration 10m`: it shows whether memory goes on growing.",
            Is::UncleanStop { .. } => "Let the service end on SIGTERM.",
            Is::Sample { .. } => "Run more blocks by a longer `--budget`; drop none.",
            Is::AllRatesHeld { .. } => {
                "Give more connections or generator threads: the limit lies above what was tried."
            }
            Is::NoRateHeld { .. } => {
                "Ask for a weaker SLO, or look at the service with `tare load --rate` at a low rate."
            }
            Is::ShortWindow { .. } => "Give a longer `--window`.",
            Is::TooFewRequests { .. } => "Give more connections, or longer blocks by a longer `--budget`.",
            Is::NotMeasured => "Read the reason of the other row.",
            Is::RoundsInvalid { first, .. } => return first.remedy(),
        })
    }
}

impl RunIssue {
    fn remedy(&self) -> Option<&'static str> {
        use RunIssue as Is;
        Some(match self {
            Is::Damaged { .. } => "Run again. What can be read is shown.",
            Is::NoisyHost { .. } => "End what else runs, or measure on another machine.",
            Is::SharedCpus => "Use a machine with two CPUs or more.",
            Is::Unfinished { .. } => "Continue it by `tare run --resume`.",
            Is::NoBlock(_) | Is::TooFewBlocks { .. } | Is::PilotsCutShort { .. } => {
                "Give a longer `--budget`."
            }
            Is::UnplannedLooks => "Do not stop a run for its figures: give a budget or a precision before.",
            Is::SlicesDiscarded(_) | Is::UnequalAgents(_) => {
                "Look at the agents that are named: their machines, links and load."
            }
            Is::BlocksDisturbed { .. } => "Run again on a quiet machine.",
            Is::TwinSeparated { .. } => {
                "Trust no difference of this size on this machine; run `tare selftest`."
            }
            Is::TwinFailed { .. } => "Read the twin's reason, and run again.",
            Is::ServedByOther { .. } => {
                "Start the server in the foreground, without a daemon or a supervisor that keeps it."
            }
            Is::CpuTime(totals) if !totals.closes() => {
                "Run again; if it happens again, trust no CPU time of this machine."
            }
            Is::AlreadyRunning { .. }
            | Is::InterimAnalyses { .. }
            | Is::AfterTheLook { .. }
            | Is::SlicesDropped(_)
            | Is::BlocksCut { .. }
            | Is::CpuTime(_)
            | Is::ProcessesKept { .. }
            | Is::Scaled { .. }
            | Is::OtherLoad { .. }
            | Is::GeneratorShared { .. }
            | Is::OtherThreads { .. }
            | Is::SlowLink(_) => return None,
        })
    }
}
