//! The lines of `journal.ndjson`: one JSON object per fact, with integers in base units. Rows and points are
//! named by their places in the plan. Every table is computed from these lines.

use std::io;

use serde::{Deserialize, Serialize};

use tare_load::{Failures, Handshakes, Negotiated};
use tare_stats::samples::carry;

use crate::{
    sample::{LoadResult, Placement, Sample},
    sample_agents::DiscardedSlice,
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Record {
    /// How a service warmed up before the first block of an interleaved experiment.
    Pilot(Pilot),
    Block(Block),
    /// A service gave its first answer, was warmed up, and was frozen.
    Started(Started),
    Sample(Box<Sample>),
    /// A slice without figures, because an agent was not valid or was lost.
    Discarded(DiscardedSlice),
    /// A service was stopped at the end of a block.
    Stopped(StoppedService),
    /// A row of an interleaved experiment failed; it takes no part in later blocks.
    Failed(Failed),
    /// The run ended regularly. A journal without this line was cut off.
    Ended(EndedRun),
}

/// The place of a record in the plan. A run measures each place once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    Pilot { row: usize },
    Block { block: usize },
    Start { block: usize, row: usize },
    Slice { block: usize, round: usize, point: usize, row: usize },
    Stop { block: usize, row: usize },
    Failure { block: usize, row: usize },
}

/// Destination of records. An error ends the run, because unstored measurements are lost.
pub trait Journal {
    /// Stores a record durably.
    ///
    /// # Errors
    /// If it cannot be written.
    fn append(&mut self, record: &Record) -> io::Result<()>;
}

/// All rows that take part, in starting order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Block {
    pub block: usize,
    pub order: Vec<usize>,
    /// Wall time of the run before this block.
    pub elapsed_ns: u64,
    /// The division chosen after the pilots; absent if the plan fixes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen: Option<ChosenBlocks>,
}

/// How a comparison divides the time that is left after its pilots. It is the same in all blocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChosenBlocks {
    /// Most blocks of the run; its looks are planned from this number.
    pub blocks_max: usize,
    /// Slices of each row in a block.
    pub slices: usize,
    /// Expected half width of the interval of the cost ratio: 0.02 for 2%. Absent if unknown.
    pub half_width_expected: Option<f64>,
}

/// How a fresh process warmed up under load: a curve, and where it becomes flat.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pilot {
    pub row: usize,
    /// Length of a window of the curve.
    pub window_ns: u64,
    pub answered: Vec<u64>,
    /// CPU time of the service's processes in each window; empty if it is unknown.
    pub server_cpu_ns: Vec<u64>,
    /// CPU time that other processes took on the measured CPUs in each window; empty in older runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub taken_ns: Vec<u64>,
    /// Windows left out of the search for the steady state, because other processes took the CPUs.
    pub discarded: usize,
    /// The reference, measured in a short window after each of these.
    pub beside: ReferenceWindows,
    /// Cost of a start beside the load: until the service is ready, and until it has stopped.
    pub start_ns: u64,
    /// The service is steady from here on; absent if it was not steady within its time.
    pub steady_after_ns: Option<u64>,
    /// The pilot was extended beyond its share of the budget, because the service was still compiling.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub went_on: bool,
    /// The first load with wrong answers; absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wrong_aside: Option<Box<LoadResult>>,
    /// Failed requests of its loads.
    #[serde(skip_serializing_if = "is_none")]
    pub failed_in_warm_up: Failures,
}

fn is_none(failures: &Failures) -> bool {
    failures.total() == 0
}

impl Pilot {
    /// The fewest windows that can show whether a service is steady.
    pub const WINDOWS_MIN: usize = 12;

    /// Whether it ended before it had enough windows to show a steady state.
    pub fn was_cut_short(&self) -> bool {
        self.steady_after_ns.is_none() && self.answered.len() < Pilot::WINDOWS_MIN
    }
}

/// Negotiated TLS parameters and the number of handshakes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptHandshakes {
    pub full: u64,
    /// Handshakes that resumed an earlier session.
    pub resumed: u64,
    /// Each negotiated result with its number of handshakes; more than one if connections differ.
    pub negotiated: Vec<(Negotiated, u64)>,
}

impl KeptHandshakes {
    pub fn add(&mut self, other: &KeptHandshakes) {
        self.full += other.full;
        self.resumed += other.resumed;
        for (agreed, count) in &other.negotiated {
            match self.negotiated.iter_mut().find(|(known, _)| known == agreed) {
                Some((_, known)) => *known += count,
                None => self.negotiated.push((agreed.clone(), *count)),
            }
        }
    }
}

impl From<&Handshakes> for KeptHandshakes {
    fn from(of: &Handshakes) -> KeptHandshakes {
        let Handshakes { full, resumed, ref negotiated, .. } = *of;
        KeptHandshakes { full, resumed, negotiated: negotiated.clone() }
    }
}

/// The reference beside a pilot; empty without a reference.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReferenceWindows {
    pub answered: Vec<u64>,
    pub server_cpu_ns: Vec<u64>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Started {
    pub block: usize,
    pub row: usize,
    /// From `exec` to the first correct answer; absent for a server that ran already.
    pub start_up_ns: Option<u64>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoppedService {
    pub block: usize,
    pub row: usize,
    /// Sum of the peak resident memory of its live processes.
    pub rss_bytes_peak: Option<u64>,
    /// Voluntary and involuntary switches together.
    pub context_switches: Option<u64>,
    /// Latency of all answers of the block, per point of the plan; absent without answers.
    pub latency: Vec<Option<Latency>>,
    /// How it stopped, if the stop was not clean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unclean_stop: Option<String>,
    /// Version and settings that its backing (a database) reported. Absent without a backing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backing: Option<String>,
    /// Allowed CPUs and priorities of its threads after its last slice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// The first load outside its slices with wrong answers: a warm-up or a priming.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wrong_aside: Option<Box<LoadResult>>,
    /// Requests that failed during the warm-up.
    #[serde(skip_serializing_if = "is_none")]
    pub failed_in_warm_up: Failures,
    /// TLS handshakes of all connections to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handshakes: Option<KeptHandshakes>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Failed {
    pub block: usize,
    pub row: usize,
    /// The reason, as a table shows it.
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedRun {
    pub reason: Ending,
    /// Wall time of all invocations of the run.
    pub elapsed_ns: u64,
}

/// Latency of answered requests, from the histogram of a block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Latency {
    pub p50_ns: u64,
    pub p90_ns: u64,
    pub p99_ns: u64,
    pub p999_ns: u64,
    pub max_ns: u64,
    /// Some requests were never answered: the quantiles that include them are lower bounds.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
}

impl Latency {
    /// The stored quantiles, each with its probability.
    fn quantiles_ns(&self) -> [(f64, u64); 5] {
        [
            (0.5, self.p50_ns),
            (0.9, self.p90_ns),
            (0.99, self.p99_ns),
            (0.999, self.p999_ns),
            (1.0, self.max_ns),
        ]
    }

    /// One stored quantile; absent if it is not stored, or if `samples` are too few for it.
    pub fn ns_at(&self, probability: f64, samples: u64) -> Option<u64> {
        let kept = self.quantiles_ns().into_iter().find(|(kept, _)| *kept == probability);
        kept.map(|(_, ns)| ns).filter(|_| carry(samples, probability))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// The stopping rule reached a decision.
    Decided,
    /// Another block would not fit into the budget.
    BudgetSpent,
    /// The run has the most blocks that the experiment allows.
    BlocksMax,
    /// Every row has failed, or every row except the reference.
    NothingLeft,
    /// Every sample of a sequential experiment was taken.
    Complete,
    Interrupted,
}

impl Record {
    /// The sample, if it is one.
    pub fn sample(&self) -> Option<&Sample> {
        match self {
            Record::Sample(sample) => Some(sample),
            _ => None,
        }
    }

    /// The slice without figures, if it is one.
    pub fn discarded(&self) -> Option<&DiscardedSlice> {
        match self {
            Record::Discarded(slice) => Some(slice),
            _ => None,
        }
    }

    /// Answers of a row, from a slice, a whole load, or a load with wrong answers beside them.
    pub fn answers_of(&self, row: usize) -> Option<&LoadResult> {
        match self {
            Record::Sample(sample) if sample.row == row => Some(&sample.load),
            Record::Pilot(pilot) if pilot.row == row => pilot.wrong_aside.as_deref(),
            Record::Stopped(stopped) if stopped.row == row => stopped.wrong_aside.as_deref(),
            _ => None,
        }
    }

    /// The place that it fills in the plan; absent for an end, because a resumed run has several.
    pub(crate) fn place(&self) -> Option<Place> {
        Some(match self {
            Record::Pilot(pilot) => Place::Pilot { row: pilot.row },
            Record::Block(block) => Place::Block { block: block.block },
            Record::Started(started) => Place::Start { block: started.block, row: started.row },
            Record::Sample(sample) => {
                let Sample { block, round, point, row, .. } = **sample;
                Place::Slice { block, round, point, row }
            }
            Record::Discarded(slice) => {
                let DiscardedSlice { block, round, point, row, .. } = *slice;
                Place::Slice { block, round, point, row }
            }
            Record::Stopped(stopped) => Place::Stop { block: stopped.block, row: stopped.row },
            Record::Failed(failed) => Place::Failure { block: failed.block, row: failed.row },
            Record::Ended(_) => return None,
        })
    }

    /// Whether all of its row and point numbers are below these counts.
    pub(crate) fn is_within(&self, rows: usize, points: usize) -> bool {
        match self {
            Record::Pilot(pilot) => pilot.row < rows,
            Record::Block(block) => block.order.iter().all(|row| *row < rows),
            Record::Started(started) => started.row < rows,
            Record::Sample(sample) => sample.row < rows && sample.point < points,
            Record::Discarded(slice) => slice.row < rows && slice.point < points,
            Record::Stopped(stopped) => stopped.row < rows && stopped.latency.len() <= points,
            Record::Failed(failed) => failed.row < rows,
            Record::Ended(_) => true,
        }
    }
}

impl StoppedService {
    /// Latency of all answers at a point.
    pub fn latency_at(&self, point: usize) -> Option<&Latency> {
        self.latency.get(point)?.as_ref()
    }
}

/// Why and when a run ended. A resumed run has no ending until it ends again.
pub fn ending(records: &[Record]) -> Option<(Ending, u64)> {
    match records.last()? {
        Record::Ended(ended) => Some((ended.reason, ended.elapsed_ns)),
        _ => None,
    }
}

impl Ending {
    /// The reason, for the foot of a table.
    pub fn text(self) -> &'static str {
        match self {
            Ending::Decided => "the question was answered",
            Ending::BudgetSpent => "the budget was spent",
            Ending::BlocksMax => "all blocks were measured",
            Ending::NothingLeft => "no service was left to measure",
            Ending::Complete => "everything was measured",
            Ending::Interrupted => "interrupted",
        }
    }
}
