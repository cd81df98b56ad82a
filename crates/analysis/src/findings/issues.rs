//! The kinds of findings and their data. Shares are of 1; times are nanoseconds unless the name has another unit.

use std::collections::BTreeMap;

use serde::Serialize;
use strum::IntoStaticStr;
use tare_bench::{metric::Metric, plan::RunningServer};
use tare_host::process::{CpuUnknown, PortOwner, Priority, Process, Unseen, Unwaited};
use tare_stats::Warning;

use super::Severity;
use crate::{
    accounting::CpuTotals,
    agents::{DiscardedSlices, UnequalAgents},
    behaviour::{
        answers::{LateAnswers, Stalls},
        cost::CostStep,
        memory::MemoryGrowth,
        thaw::ClosedAtThaw,
    },
    validity::Dropped,
};

/// An issue of a row, one of its cells, or a pair.
#[derive(Debug, Clone, PartialEq, Serialize, IntoStaticStr)]
#[serde(tag = "code", content = "data", rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum RowIssue {
    /// A quota kept the service from running.
    Throttled {
        share: f64,
    },
    /// Other processes took the CPUs of a service below its own limit.
    Interference {
        share: f64,
        server_share: f64,
        pressure_share: Option<f64>,
    },
    /// Threads of the service may use CPUs that were not given to it.
    LeftCpus {
        threads: u64,
        of: u64,
        /// The name of one of them.
        name: String,
        given: Vec<usize>,
        may_use: Vec<usize>,
        ran_on: Vec<usize>,
    },
    /// Threads of the service have another priority than it was started with.
    OtherPriority {
        threads: u64,
        of: u64,
        name: String,
        given: Priority,
        found: Priority,
    },
    /// More threads ran simultaneously than `THREADS` allows.
    MoreThreads {
        busy_cpus: f64,
        threads: usize,
    },
    /// More threads were runnable than `THREADS` allows, and shared the given CPUs.
    ThreadsAtWork {
        at_work: f64,
        threads: usize,
    },
    /// Less CPU time than a system call takes: the work is done by another, uncounted process.
    ImpossibleCost {
        cpu_ns_per_request: f64,
    },
    /// Another process listens on its port, so its CPU time is unknown.
    ServedByOther(PortOwner),
    /// A running server whose processes cannot be found.
    CpuUnknown(Unseen),
    /// One of its processes ended under load and was not waited for by the others, so its CPU time was lost.
    CpuEnded(Unwaited),
    /// During its load other processes used more CPU time than before, and enough to matter beside its own:
    /// they work for it.
    CpuElsewhere {
        /// Absent if no single process took most of it, or those processes ended.
        process: Option<Process>,
        others_ns_per_request: f64,
        own_ns_per_request: f64,
    },
    /// The generator was at its limit, and the service was not, or may not have been.
    GeneratorBound {
        generator_share: f64,
        server_share: Option<f64>,
    },
    /// The slow link was at its limit.
    LinkBound {
        unread: u64,
        busy_share: f64,
    },
    /// The service's CPUs were idle for a part of the time.
    NotServerBound {
        server_share: f64,
    },
    /// Neither its CPUs nor the reference's were busy, so their rates do not compare capacities.
    NeitherSaturated {
        server_share: f64,
        reference_share: f64,
    },
    /// Users with think times cannot send more.
    LoadBound {
        users: usize,
        ceiling_per_second: f64,
        waited_share: f64,
    },
    /// Wrong answers, of which no valid measurement has any.
    WrongAnswers {
        wrong: u64,
        sent: u64,
        by_class: BTreeMap<String, u64>,
        first: Option<String>,
    },
    /// More resets, time-outs and other missing answers than a valid measurement may have.
    Failing {
        failed: u64,
        sent: u64,
        by_class: BTreeMap<String, u64>,
        first: Option<String>,
    },
    ClosedAtThaw(ClosedAtThaw),
    /// Some failures, within the allowed share.
    SomeFailed {
        failed: u64,
        sent: u64,
        first: Option<String>,
    },
    /// Requests failed during warm-ups, which are not counted.
    FailedInWarmUp {
        failed: u64,
        by_class: BTreeMap<String, u64>,
        processes: usize,
    },
    NoAnswer,
    /// A whole block without an answer.
    NoProgress,
    /// Rate x time contradicts the number in flight.
    Inconsistent {
        counted: f64,
        by_law: f64,
    },
    /// In an open loop: late in half of its slices. Without a named load: late in the only slice.
    LateGenerator {
        load: Option<String>,
        lag_ns: f64,
    },
    /// Some requests were never answered.
    LowerBounds,
    NeverSteady {
        load_seconds: f64,
    },
    /// The pilot was disturbed for most of its time.
    SteadyUnknown {
        load_seconds: f64,
        taken_seconds: f64,
    },
    StillWarming {
        more_share: f64,
    },
    /// The second half of its slices in a block cost more than the first.
    Rising {
        more_share: f64,
    },
    CostStep(CostStep),
    Stalls(Stalls),
    LateAnswers(LateAnswers),
    MemoryGrowth(MemoryGrowth),
    UncleanStop {
        what: String,
    },
    /// A statistical warning about the sample behind a figure.
    Sample {
        metric: Option<Metric>,
        warning: Warning,
    },
    /// Searches in which the generator was late too often.
    LateStarts {
        late: usize,
        starts: usize,
    },
    AllRatesHeld {
        held: usize,
        starts: usize,
        generator_was_late: bool,
    },
    NoRateHeld {
        held_none: usize,
        starts: usize,
    },
    ShortWindow {
        due: f64,
        needed: u64,
    },
    /// A percentile comparison in which one row's blocks have too few requests.
    TooFewRequests {
        percentile: f64,
        requests: f64,
        needed: u64,
    },
    /// One of two compared rows has no figures.
    NotMeasured,
    /// Rounds of a cell that do not count, with the reason of the first.
    RoundsInvalid {
        invalid: usize,
        rounds: usize,
        first: Box<RowIssue>,
    },
}

/// An issue of a whole run.
#[derive(Debug, Clone, PartialEq, Serialize, IntoStaticStr)]
#[serde(tag = "code", content = "data", rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum RunIssue {
    /// A part of the run folder cannot be read.
    Damaged {
        what: String,
    },
    NoisyHost {
        share: f64,
    },
    SharedCpus,
    /// Servers that Tare did not start: never frozen, and with the same processes in all blocks.
    AlreadyRunning {
        rows: Vec<RunningRow>,
    },
    Unfinished {
        in_progress: bool,
    },
    /// The run ended before any block had a round, although no row failed.
    NoBlock(NoBlock),
    /// Too few blocks for any interval.
    TooFewBlocks {
        blocks: usize,
        needed: usize,
    },
    InterimAnalyses {
        blocks: Vec<usize>,
    },
    UnplannedLooks,
    AfterTheLook {
        look: usize,
        later: usize,
    },
    SlicesDropped(Dropped),
    /// Slices without figures, because an agent was not valid or was lost.
    SlicesDiscarded(DiscardedSlices),
    /// Slices whose slow answers come from some agents only.
    UnequalAgents(UnequalAgents),
    BlocksDisturbed {
        blocks: usize,
    },
    BlocksCut {
        cut: usize,
        begun: usize,
    },
    CpuTime(CpuTotals),
    ProcessesKept {
        rows: Vec<KeptProcesses>,
    },
    /// The pilots of these rows were too short to show whether a service is steady.
    PilotsCutShort {
        rows: Vec<String>,
        needed_seconds: f64,
    },
    /// The twin is separated from its original.
    TwinSeparated {
        original: String,
        twin: String,
        by: Metric,
        value: f64,
        low: f64,
        high: f64,
    },
    /// The twin has no figures.
    TwinFailed {
        original: String,
        twin: String,
        reason: String,
    },
    Scaled {
        scale: f64,
    },
    OtherLoad {
        here: String,
        published: String,
    },
    GeneratorShared {
        threads: usize,
        cpus: usize,
    },
    OtherThreads {
        row: String,
        threads: usize,
    },
    /// For a sequential experiment, whose cells have no findings of their own.
    ServedByOther {
        row: String,
        owner: PortOwner,
    },
    SlowLink(SlowLink),
}

/// A run that ended before any block had a round.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NoBlock {
    pub elapsed_seconds: f64,
    /// Time until the first block began: all pilots with their starts.
    pub pilots_seconds: f64,
    /// In the order of their runs.
    pub pilots: Vec<PilotLoad>,
    /// Slices of unfinished blocks.
    pub slices: usize,
    /// The user ended the run, so nothing took too long.
    pub is_interrupted: bool,
}

/// The load of one pilot.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PilotLoad {
    pub row: String,
    pub load_seconds: f64,
    /// Time in windows without an answer.
    pub silent_seconds: f64,
}

/// A row with processes that lasted for several blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeptProcesses {
    pub row: String,
    pub starts: usize,
    pub blocks: usize,
}

/// A row that is a running server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunningRow {
    pub row: String,
    #[serde(flatten)]
    pub server: RunningServer,
}

/// Behaviour of a slow link over a whole run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SlowLink {
    pub kind: String,
    /// Absent if the kernel does the link's work instead of a generator thread.
    pub cpu_ns_per_packet: Option<f64>,
    pub packets: u64,
    pub lost: u64,
    pub dropped: u64,
    /// The median over cells of the packets' p99 excess delay.
    pub late_ns_p99: f64,
}

impl From<CpuUnknown> for RowIssue {
    fn from(why: CpuUnknown) -> RowIssue {
        match why {
            CpuUnknown::ServedBy(owner) => RowIssue::ServedByOther(owner),
            CpuUnknown::Unseen(unseen) => RowIssue::CpuUnknown(unseen),
            CpuUnknown::Unwaited(ended) => RowIssue::CpuEnded(ended),
        }
    }
}

impl RowIssue {
    /// Whether it explains missing CPU time.
    pub(crate) fn is_of_missing_cpu(&self) -> bool {
        matches!(
            self,
            RowIssue::ImpossibleCost { .. }
                | RowIssue::ServedByOther(_)
                | RowIssue::CpuUnknown(_)
                | RowIssue::CpuEnded(_)
                | RowIssue::CpuElsewhere { .. }
        )
    }

    pub(crate) fn code(&self) -> &'static str {
        self.into()
    }

    pub(crate) fn severity(&self) -> Severity {
        match self {
            RowIssue::NotServerBound { .. }
            | RowIssue::ThreadsAtWork { .. }
            | RowIssue::NeitherSaturated { .. }
            | RowIssue::ImpossibleCost { .. }
            | RowIssue::ServedByOther(_)
            | RowIssue::CpuUnknown(_)
            | RowIssue::CpuEnded(_)
            | RowIssue::CpuElsewhere { .. }
            | RowIssue::LoadBound { .. }
            | RowIssue::SomeFailed { .. }
            | RowIssue::FailedInWarmUp { .. }
            | RowIssue::LowerBounds
            | RowIssue::NeverSteady { .. }
            | RowIssue::SteadyUnknown { .. }
            | RowIssue::StillWarming { .. }
            | RowIssue::Rising { .. }
            | RowIssue::CostStep(_)
            | RowIssue::Stalls(_)
            | RowIssue::LateAnswers(_)
            | RowIssue::MemoryGrowth(_)
            | RowIssue::UncleanStop { .. }
            | RowIssue::Sample { .. }
            | RowIssue::AllRatesHeld { .. }
            | RowIssue::NoRateHeld { .. }
            | RowIssue::ShortWindow { .. } => Severity::Warning,
            // To be safe, an issue without its own severity invalidates the figure.
            _ => Severity::Invalid,
        }
    }
}

impl RunIssue {
    pub(crate) fn code(&self) -> &'static str {
        self.into()
    }

    pub(crate) fn severity(&self) -> Severity {
        match self {
            RunIssue::CpuTime(accounting) if !accounting.closes() => Severity::Warning,
            RunIssue::InterimAnalyses { .. }
            | RunIssue::AfterTheLook { .. }
            | RunIssue::SlicesDropped(_)
            | RunIssue::BlocksCut { .. }
            | RunIssue::CpuTime(_)
            | RunIssue::ProcessesKept { .. }
            | RunIssue::PilotsCutShort { .. }
            | RunIssue::AlreadyRunning { .. }
            | RunIssue::Scaled { .. }
            | RunIssue::OtherLoad { .. }
            | RunIssue::GeneratorShared { .. }
            | RunIssue::OtherThreads { .. }
            | RunIssue::SlowLink(_) => Severity::Note,
            _ => Severity::Warning,
        }
    }
}
