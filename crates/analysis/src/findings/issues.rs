//! The kinds of findings and their data. Shares are of 1; times are nanoseconds unless the name has another unit.

use std::collections::BTreeMap;

use serde::Serialize;
use strum::IntoStaticStr;
use tare_bench::{metric::Metric, plan::RunningServer};
use tare_host::process::{CpuUnknown, PortOwner, Priority, Process, Unseen, Unwaited};
use tare_stats::Warning;

use super::Severity;
use crate::{
    accounting::CpuAccounting,
    agents::{DiscardedSlices, UnequalAgents},
    behaviour::{
        answers::{LateAnswers, Stalls},
        cost::CostStep,
        memory::MemoryGrowth,
        thaw::ClosedAtThaw,
    },
    validity::Dropped,
};

/// Of a row, of one of its cells, or of a pair.
#[derive(Debug, Clone, PartialEq, Serialize, IntoStaticStr)]
#[serde(tag = "code", content = "data", rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum RowIssue {
    /// A quota kept the service from running.
    Throttled {
        share: f64,
    },
    /// Others took the CPUs of a service that was not at its own limit.
    Interference {
        share: f64,
        server_share: f64,
        pressure_share: Option<f64>,
    },
    /// Threads of the service may use CPUs that it was not given.
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
    /// More of its threads were at work at a time than `THREADS` says.
    MoreThreads {
        busy_cpus: f64,
        threads: usize,
    },
    /// More of its threads wanted a CPU at a time than `THREADS` says, and shared those that it was given.
    ThreadsAtWork {
        at_work: f64,
        threads: usize,
    },
    /// Less CPU time than a system call takes: the service works where its CPU time is not counted.
    ImpossibleCost {
        cpu_ns_per_request: f64,
    },
    /// Another process listens on its port, so its CPU time is not known.
    ServedByOther(PortOwner),
    /// It is a server that ran already, and its processes cannot be found.
    CpuUnknown(Unseen),
    /// A process of it ended under load, and none of the others waited for it: what it took ended with it.
    CpuEnded(Unwaited),
    /// While it was loaded others took more than before, and about as much as would be missing in its own: they work for it.
    CpuElsewhere {
        /// Absent if none alone took most of it, as processes that ended.
        process: Option<Process>,
        others_ns_per_request: f64,
        own_ns_per_request: f64,
    },
    /// The generator was at its limit, and the service was not, or that is not known.
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
    /// Neither its CPUs nor the reference's were busy: their rates say nothing of how their capacities compare.
    NeitherSaturated {
        server_share: f64,
        reference_share: f64,
    },
    /// Users who think cannot ask for more.
    LoadBound {
        users: usize,
        ceiling_per_second: f64,
        waited_share: f64,
    },
    /// Answers came and were wrong, of which no measurement may have one: what was measured is not what was asked for.
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
    /// Some, and not too many.
    SomeFailed {
        failed: u64,
        sent: u64,
        first: Option<String>,
    },
    /// Requests failed while processes of it were warmed up, which count for nothing.
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
    /// Of an open loop: in half of its slices, or, where no load is named, in the only one there was.
    LateGenerator {
        load: Option<String>,
        lag_ns: f64,
    },
    /// Some requests were never answered.
    LowerBounds,
    NeverSteady {
        load_seconds: f64,
    },
    /// The pilot was disturbed for too much of its time.
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
    /// Of the sample behind a figure.
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
    /// Two rows are compared by a percentile, and the blocks of one have too few requests for it.
    TooFewRequests {
        percentile: f64,
        requests: f64,
        needed: u64,
    },
    /// Of two rows that are compared.
    NotMeasured,
    /// Rounds of a cell that do not count, the first of them for this reason.
    RoundsInvalid {
        invalid: usize,
        rounds: usize,
        first: Box<RowIssue>,
    },
}

/// Of a run as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, IntoStaticStr)]
#[serde(tag = "code", content = "data", rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum RunIssue {
    /// Of its folder: what cannot be read.
    Damaged {
        what: String,
    },
    NoisyHost {
        share: f64,
    },
    SharedCpus,
    /// Servers that Tare did not start: never frozen, and of the same processes in all blocks.
    AlreadyRunning {
        rows: Vec<RunningRow>,
    },
    Unfinished {
        in_progress: bool,
    },
    /// It ended before any block had a round, though no row failed.
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
    /// Slices that have no figures, because an agent was not valid or was lost.
    SlicesDiscarded(DiscardedSlices),
    /// Slices in which the slow answers are those of some agents.
    UnequalAgents(UnequalAgents),
    BlocksDisturbed {
        blocks: usize,
    },
    BlocksCut {
        cut: usize,
        begun: usize,
    },
    CpuTime(CpuAccounting),
    ProcessesKept {
        rows: Vec<KeptProcesses>,
    },
    /// The pilots of these rows had less time than it takes to see whether a service is steady.
    PilotsCutShort {
        rows: Vec<String>,
        needed_seconds: f64,
    },
    /// A row is distinguished from itself.
    TwinSeparated {
        original: String,
        twin: String,
        by: Metric,
        value: f64,
        low: f64,
        high: f64,
    },
    /// A row has no figures under its second name.
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
    /// Of a sequential experiment, whose cells have no findings of their own.
    ServedByOther {
        row: String,
        owner: PortOwner,
    },
    SlowLink(SlowLink),
}

/// A run that came to its end before any block had a round.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NoBlock {
    pub elapsed_seconds: f64,
    /// Until the first block began: all pilots with their starts.
    pub pilots_seconds: f64,
    /// In the order in which they were made.
    pub pilots: Vec<PilotLoad>,
    /// Slices of the blocks that were begun.
    pub slices: usize,
    /// The user ended it, and nothing took too long.
    pub is_interrupted: bool,
}

/// What a pilot loaded.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PilotLoad {
    pub row: String,
    pub load_seconds: f64,
    /// The part of it in windows without an answer.
    pub silent_seconds: f64,
}

/// A row whose processes lasted for several blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeptProcesses {
    pub row: String,
    pub starts: usize,
    pub blocks: usize,
}

/// A row that is a server that ran already.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunningRow {
    pub row: String,
    #[serde(flatten)]
    pub server: RunningServer,
}

/// What a slow link did over a whole run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SlowLink {
    pub kind: String,
    /// Present if a thread of the generator does the link's work.
    pub cpu_ns_per_packet: Option<f64>,
    pub packets: u64,
    pub lost: u64,
    pub dropped: u64,
    /// The median over cells of what 1% of the packets were later by.
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
    /// Whether it is why there is no CPU time.
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
            // An issue without a severity of its own must not let a figure stand.
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
