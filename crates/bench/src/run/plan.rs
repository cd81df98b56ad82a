//! The complete list of what a run will do, made before anything is started and kept in `run.json`.

use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::experiment::{Experiment, LatencySetting, LoadSetting, Point};
use tare_service::{
    catalogue::{Row, Setting, Style},
    settings::ServiceSettings,
};

use super::until::Until;
use tare_host::cpus::Pinning;

/// What will be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The experiment's name.
    pub experiment: String,
    /// Its title.
    pub title: String,
    /// Its question.
    pub question: String,
    /// Name of the contract.
    pub contract: String,
    /// Label of the row that is 100%.
    pub reference: String,
    /// Determines the order of rows and the values of placeholders.
    pub seed: u64,
    /// How requests arrive: at least one closed loop, each a point of the plan. See [`super::loads`].
    #[serde(rename = "load", with = "crate::experiment::one_or_many")]
    pub loads: Vec<LoadSetting>,
    /// The settings that services are given.
    #[serde(alias = "knobs")]
    pub service_settings: ServiceSettings,
    /// No block is begun that would end after this.
    pub budget_ns: u64,
    /// Length of a slice.
    pub slice_ns: u64,
    /// Slices of each row in a block.
    pub slices_per_block: usize,
    /// Load on a fresh process before its first slice.
    pub warm_up_ns: u64,
    /// The most of it: a pilot finds how much each service needs. Absent if all have the same.
    #[serde(default)]
    pub warm_up_ns_max: Option<u64>,
    /// Most rows of one block, the reference among them.
    #[serde(default = "group_max_default")]
    pub group_max: usize,
    /// Most blocks of one process, where it is slow to warm up; 1 where each block has fresh ones.
    #[serde(default = "one")]
    pub blocks_per_start_max: usize,
    /// Open loops after the closed ones.
    #[serde(default)]
    pub latency: Option<LatencyPlan>,
    /// What ends it, beside the budget and the most blocks.
    #[serde(default)]
    pub until: Until,
    /// Fewest blocks.
    pub blocks_min: usize,
    /// Most blocks.
    pub blocks_max: usize,
    /// Which CPUs serve and which generate.
    pub pinning: Pinning,
    /// Every row that was asked for.
    pub rows: Vec<PlannedRow>,
}

/// Open loops in which latency is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencyPlan {
    /// At which rates.
    pub points: Vec<Point>,
    /// Length of a slice.
    pub slice_ns: u64,
    /// Slices of each row at each rate in a block.
    pub slices_per_block: usize,
}

impl LatencyPlan {
    fn new(setting: &LatencySetting) -> LatencyPlan {
        LatencyPlan {
            points: setting.points.clone(),
            slice_ns: setting.slice.as_nanos() as u64,
            slices_per_block: setting.slices_per_block,
        }
    }

    /// Time that it takes of one row in a block.
    fn row_ns(&self) -> u64 {
        self.slice_ns * (self.slices_per_block * self.points.len()) as u64
    }
}

/// Streams of randomness from here on divide rows into groups; those below order blocks.
const CYCLES: u64 = 1 << 32;

/// What a pilot takes at the least: most services are steady by then.
const PILOT_NS: u64 = 3_000_000_000;

/// Most blocks of one process. Powers of two, so that processes of two such services end together.
pub const BLOCKS_PER_START_MAX: usize = 4;
/// What a start takes beside its warm-up, where no pilot has told.
pub const START_NS: u64 = 600_000_000;

/// A block of more services would last so long that what comes and goes on the machine no longer falls on all alike.
pub const GROUP_MAX: usize = 12;

/// Of runs from before services could keep a process.
fn one() -> usize {
    1
}

fn group_max_default() -> usize {
    GROUP_MAX
}

/// One row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedRow {
    /// Unique within the run.
    pub label: String,
    /// The service's id.
    pub service: String,
    /// How a variant differs.
    pub title: Option<String>,
    /// Language.
    pub language: String,
    /// Framework.
    pub framework: String,
    /// SPDX expression.
    pub licence: String,
    /// What kind of weight it is.
    pub style: Style,
    /// What is not the framework's default.
    pub settings: Vec<Setting>,
    /// The version that the build reported, once it is built.
    pub version: Option<String>,
    /// The content hash of its build: a run is resumed with the same build.
    #[serde(default)]
    pub content: Option<String>,
    /// Why it takes no part, where it does not.
    pub excluded: Option<Excluded>,
}

/// Why a row takes no part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excluded {
    /// The kind of reason.
    pub why: Exclusion,
    /// What the reader of a table is shown.
    pub reason: String,
}

/// Kinds of reasons not to take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exclusion {
    /// A toolchain or a library is missing: no fault of the service.
    NotOnThisMachine,
    /// It serves other contracts.
    AnotherContract,
    /// Building it failed.
    NotBuilt,
    /// It does not do what its contract says, or does not start or stop as a service must.
    AgainstItsContract,
}

impl Plan {
    /// The plan of `experiment` over `rows`, nothing built yet.
    pub fn new(experiment: &Experiment, rows: &[Row], seed: u64, pinning: Pinning) -> Plan {
        let ns = |duration: std::time::Duration| duration.as_nanos() as u64;
        let campaign = &experiment.campaign;
        Plan {
            experiment: experiment.name.clone(),
            title: experiment.title.clone(),
            question: experiment.question.clone(),
            contract: experiment.contract.clone(),
            reference: experiment.reference.clone(),
            seed,
            loads: experiment.loads.clone(),
            service_settings: experiment.service_settings.clone(),
            budget_ns: ns(campaign.budget),
            slice_ns: ns(campaign.slice),
            slices_per_block: campaign.slices_per_block,
            warm_up_ns: ns(campaign.warm_up),
            warm_up_ns_max: campaign.warm_up_max.map(ns),
            group_max: GROUP_MAX,
            blocks_per_start_max: BLOCKS_PER_START_MAX,
            latency: experiment.latency.as_ref().map(LatencyPlan::new),
            until: Until::Budget,
            blocks_min: campaign.blocks_min,
            blocks_max: campaign.blocks_max,
            pinning,
            rows: rows.iter().map(PlannedRow::new).collect(),
        }
    }

    /// Rows that take part.
    pub(super) fn members(&self) -> impl Iterator<Item = usize> {
        (0..self.rows.len()).filter(|row| self.rows[*row].excluded.is_none())
    }

    /// Into how many groups the rows are divided; each block measures one of them, and the reference is in all.
    pub fn groups(&self) -> usize {
        match self.members().count() {
            all if all <= self.group_max => 1,
            all => (all - 1).div_ceil(self.group_max.max(2) - 1),
        }
    }

    /// The rows of one block. A cycle of blocks measures every row once; where there are several groups, who is
    /// together is drawn anew for each cycle, so that no two rows are tied by the reference alone.
    pub fn group(&self, block: usize) -> Vec<usize> {
        let groups = self.groups();
        if groups == 1 {
            return self.members().collect();
        }
        let is_reference = |row: &usize| self.rows[*row].label == self.reference;
        let (reference, mut others): (Vec<usize>, Vec<usize>) = self.members().partition(is_reference);
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(CYCLES + (block / groups) as u64);
        others.shuffle(&mut random);
        let mine = others.into_iter().skip(block % groups).step_by(groups);
        reference.into_iter().chain(mine).collect()
    }

    /// Time for which one row is measured in a block.
    pub fn measured_ns(&self) -> u64 {
        self.slice_ns * (self.slices_per_block * self.loads.len()) as u64
            + self.latency.as_ref().map_or(0, LatencyPlan::row_ns)
    }

    /// A guess, before anything is known of the services.
    pub fn block_ns_expected(&self) -> u64 {
        (self.measured_ns() + self.warm_up_ns + START_NS) * self.group(0).len() as u64
    }

    /// Time that a run may still take which has measured `done` blocks in `elapsed_ns`, where a block takes `block_ns`:
    /// the fewest blocks in any case, then to the budget or to the most blocks.
    pub fn left_ns(&self, done: usize, elapsed_ns: u64, block_ns: u64) -> u64 {
        let blocks_ns =
            |blocks: usize| block_ns.saturating_mul((blocks * self.groups()).saturating_sub(done) as u64);
        let budget_ns = self.budget_ns.saturating_sub(elapsed_ns);
        budget_ns.min(blocks_ns(self.blocks_max)).max(blocks_ns(self.blocks_min))
    }

    /// Time that all of it is expected to take, before anything is known of the services; less where a result ends it.
    pub fn expected_ns(&self) -> u64 {
        let pilots = if self.warm_up_ns_max.is_some() { self.members().count() as u64 } else { 0 };
        let pilots_ns = pilots * (PILOT_NS + START_NS);
        (self.left_ns(0, pilots_ns, self.block_ns_expected())).saturating_add(pilots_ns)
    }

    /// How many blocks of each row fit into the budget, if the guess holds.
    pub fn blocks_expected(&self) -> usize {
        let fit = self.budget_ns / (self.block_ns_expected() * self.groups() as u64).max(1);
        (fit as usize).clamp(self.blocks_min, self.blocks_max)
    }
}

impl PlannedRow {
    /// Nothing of it built yet.
    pub(crate) fn new(row: &Row) -> PlannedRow {
        let service = &row.service;
        PlannedRow {
            label: row.label.clone(),
            service: service.id.clone(),
            title: service.title.clone(),
            language: service.language.clone(),
            framework: service.framework.clone(),
            licence: service.licence.clone(),
            style: service.style,
            settings: service.settings.clone(),
            version: None,
            content: None,
            excluded: None,
        }
    }
}
