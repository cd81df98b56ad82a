//! The blocks of an interleaved experiment, and their duration.

use std::time::Duration;

use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use tare_load::Protocol;

use super::{
    Plan, PlannedRow, Until,
    division::{BlockCosts, Spread},
};

/// Random streams from here on divide rows into groups; lower ones order blocks.
const CYCLES: u64 = 1 << 32;
/// Duration of a pilot beside the start: twelve windows, with the reference's beside them, and a few more.
const PILOT_NS: u64 = 2_300_000_000;
/// Expected average warm-up of a fresh process, if a pilot determines it.
const WARM_UP_NS: u64 = 500_000_000;
/// In a bounded run pilots take at most 1/24 of the budget, twice that under disturbances.
const PILOTS_SHARE: u64 = 24;
/// Pilots of services that still compile then may take 1/6: figures from before are not steady.
const COMPILING_SHARE: u64 = 6;
/// A bounded run has at least this many blocks, if starts leave time for them. With fewer blocks their
/// variance is poorly known, and intervals are wide.
const BOUNDED_BLOCKS_MIN: usize = 8;
/// Most blocks of one process. Powers of two, so that the processes of any two services end together.
pub(crate) const BLOCKS_PER_START_MAX: usize = 4;
/// Assumed duration of a start without a pilot. Compiled services take 50 ms, scripts and JVMs up to 1 s.
pub(crate) const START_NS: u64 = 300_000_000;
/// Most services of one block. A longer block would no longer expose all services to the same disturbances.
pub(crate) const GROUP_MAX: usize = 12;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Blocks {
    pub min: usize,
    pub max: usize,
    /// No block begins that would end after this time.
    pub budget_ns: u64,
    /// Whether the budget is a hard limit. Otherwise the minimum number of blocks is measured even beyond the
    /// budget. In both cases the time is divided into at least `min` blocks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_bound: bool,
    /// The longest warm-up of a fresh process, if pilots find it; absent if all have the same.
    #[serde(default)]
    pub warm_up_ns_max: Option<u64>,
    /// The longest pilot and warm-up of a service that compiles beyond a shortened pilot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up_ns_limit: Option<u64>,
    /// Most rows of one block, including the reference.
    pub group_max: usize,
    /// Most blocks of one process that warms up slowly; 1 if each block starts fresh processes.
    pub per_start_max: usize,
    /// The spread that determines the number of slices; absent if the plan fixes the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
}

impl Blocks {
    pub(super) const ONE: Blocks = Blocks {
        min: 1,
        max: 1,
        budget_ns: u64::MAX,
        is_bound: false,
        warm_up_ns_max: None,
        warm_up_ns_limit: None,
        group_max: usize::MAX,
        per_start_max: 1,
        spread: None,
    };
}

impl Plan {
    /// Whether rows are versions of one service. All of them then warm up as long as the slowest, so that
    /// warm-up explains no difference between them. Beside a compiler the pilots of a comparison chose 0.4 s
    /// and 3.75 s, and a candidate that costs 5% more seemed to cost 5% less.
    pub(crate) fn compares_versions(&self) -> bool {
        self.are_versions || matches!(self.until, Until::Gate(_) | Until::Apart(_))
    }

    /// Number of groups of rows. Each block measures one group, and the reference is in all.
    pub fn groups(&self) -> usize {
        let group_max = self.blocks().group_max;
        if self.members().count() <= group_max {
            return 1;
        }
        let (references, units) = self.units();
        let rows = units.iter().map(Vec::len).max().unwrap_or(1);
        // A plan without a reference keeps the room for one.
        let (in_all, without) = (references.len().max(1), usize::from(references.is_empty()));
        let units_max = (group_max.saturating_sub(in_all) / rows).max(1);
        (units.len() - without).div_ceil(units_max)
    }

    /// The rows of one block. A cycle of blocks measures every row once. Several groups are drawn anew for
    /// each cycle, so that the reference is not the only link between two rows.
    pub fn group(&self, block: usize) -> Vec<usize> {
        let groups = self.groups();
        if groups == 1 {
            return self.members().collect();
        }
        let (references, mut units) = self.units();
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(CYCLES + (block / groups) as u64);
        units.shuffle(&mut random);
        let mine = units.into_iter().skip(block % groups).step_by(groups);
        references.into_iter().chain(mine.flatten()).collect()
    }

    /// The rows that are in every block, and the units of rows that always share a block. A unit is one
    /// service in several protocols or with several numbers of threads: they are compared with one another,
    /// and with the same steps of the reference.
    fn units(&self) -> (Vec<usize>, Vec<Vec<usize>>) {
        let row = |place: usize| &self.rows[place];
        let reference = self.members().find(|place| self.is_reference(&row(*place).label));
        // A row with the same protocol and threads is a second row of the same service, and is its own unit.
        let is_other = |one: usize, other: usize| {
            let differs = |of: fn(&PlannedRow) -> (Protocol, Option<usize>)| of(row(one)) != of(row(other));
            row(one).service == row(other).service && differs(|row| (row.protocol, row.threads))
        };
        let is_of_reference =
            |place: &usize| reference.is_some_and(|it| it == *place || is_other(it, *place));
        let (references, others): (Vec<usize>, Vec<usize>) = self.members().partition(is_of_reference);
        let mut units: Vec<Vec<usize>> = Vec::new();
        for place in others {
            match units.iter_mut().find(|unit| unit.iter().all(|member| is_other(*member, place))) {
                Some(unit) => unit.push(place),
                None => units.push(vec![place]),
            }
        }
        (references, units)
    }

    /// Expected cost of a block before the pilots. Pilots are excluded; they are part of the budget.
    pub(super) fn costs_expected(&self) -> BlockCosts {
        let rows = self.group(0).len();
        let warm_up_ns = match self.blocks().warm_up_ns_max {
            Some(longest) => self.warm_up_ns().max(WARM_UP_NS.min(longest)),
            None => self.warm_up_ns(),
        };
        BlockCosts {
            rows,
            starts_ns: (warm_up_ns + START_NS) * rows as u64,
            left_ns: self.blocks().budget_ns.saturating_sub(self.pilots_ns_expected()),
        }
    }

    /// Expected duration of a block before the pilots.
    pub fn block_ns_expected(&self) -> u64 {
        self.block_ns(&self.costs_expected(), self.slices_per_block())
    }

    /// Time that a run may still take after `done` blocks in `elapsed_ns`, if a block takes `block_ns`. It
    /// lasts until the budget or the most blocks, but at least for the fewest blocks.
    pub fn left_ns(&self, done: usize, elapsed_ns: u64, block_ns: u64) -> u64 {
        let blocks_ns =
            |blocks: usize| block_ns.saturating_mul((blocks * self.groups()).saturating_sub(done) as u64);
        let budget_ns = self.blocks().budget_ns.saturating_sub(elapsed_ns);
        let most_ns = budget_ns.min(blocks_ns(self.blocks().max));
        if self.blocks().is_bound { most_ns } else { most_ns.max(blocks_ns(self.blocks().min)) }
    }

    /// The plan with a budget that limits the whole run, including pilots and the fewest blocks. Pilots are
    /// shortened, so that most of the time remains for blocks.
    #[must_use]
    pub fn bounded(mut self, budget: Duration) -> Plan {
        let budget_ns = u64::try_from(budget.as_nanos()).unwrap_or(u64::MAX);
        let pilots = self.members().filter(|row| !self.is_twin(&self.rows[*row].label)).count().max(1) as u64;
        let warm_up_ns = self.warm_up_ns();
        if let super::Order::Interleaved(blocks) = &mut self.order {
            (blocks.budget_ns, blocks.is_bound) = (budget_ns, true);
            blocks.min = blocks.min.min(BOUNDED_BLOCKS_MIN);
            let (pilot_ns, limit_ns) =
                (budget_ns / (PILOTS_SHARE * pilots), budget_ns / (COMPILING_SHARE * pilots));
            blocks.warm_up_ns_limit = blocks.warm_up_ns_max.map(|longest| longest.min(limit_ns));
            blocks.warm_up_ns_max =
                blocks.warm_up_ns_max.map(|longest| longest.min(pilot_ns).max(warm_up_ns));
        }
        self
    }

    pub(crate) fn pilots_ns_expected(&self) -> u64 {
        let pilots = self.members().filter(|row| !self.is_twin(&self.rows[*row].label)).count() as u64;
        if self.blocks().warm_up_ns_max.is_some() { pilots * (PILOT_NS + START_NS) } else { 0 }
    }

    pub(super) fn blocks_ns_expected(&self) -> u64 {
        let (pilots_ns, block_ns) = (self.pilots_ns_expected(), self.block_ns_expected());
        if self.until.has_looks() {
            return self.left_ns(0, pilots_ns, block_ns).saturating_add(pilots_ns);
        }
        // The last block ends before the budget, so whole blocks are counted.
        let blocks_ns = block_ns.saturating_mul((self.blocks_expected() * self.groups()) as u64);
        let all_ns = pilots_ns.saturating_add(blocks_ns);
        if self.blocks().is_bound { all_ns.min(self.blocks().budget_ns) } else { all_ns }
    }

    /// Expected time for this number of blocks of each row, including pilots.
    pub fn ns_for_blocks(&self, blocks: usize) -> u64 {
        let blocks_ns = self.block_ns_expected().saturating_mul((blocks * self.groups()) as u64);
        self.pilots_ns_expected().saturating_add(blocks_ns)
    }

    /// Expected number of blocks of each row within the budget.
    pub fn blocks_expected(&self) -> usize {
        let blocks = self.division_expected().blocks;
        if !self.blocks().is_bound {
            return blocks;
        }
        // Nothing begins after the budget of a bounded run, even if it has fewer than the fewest blocks.
        let cycle_ns = self.block_ns_expected().saturating_mul(self.groups() as u64).max(1);
        let fit = self.costs_expected().left_ns / cycle_ns;
        blocks.min(usize::try_from(fit).unwrap_or(usize::MAX)).max(1)
    }
}
