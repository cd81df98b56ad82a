//! The blocks of an interleaved experiment, and the time that they take.

use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::Plan;

/// Streams of randomness from here on divide rows into groups; those below order blocks.
const CYCLES: u64 = 1 << 32;
/// What a pilot takes at the least: most services are steady by then.
const PILOT_NS: u64 = 3_000_000_000;
/// Most blocks of one process. Powers of two, so that processes of two such services end together.
pub(crate) const BLOCKS_PER_START_MAX: usize = 4;
/// What a start takes beside its warm-up, if no pilot has measured it.
pub(crate) const START_NS: u64 = 600_000_000;
/// A block of more services would last so long that what comes and goes on the machine no longer falls on all alike.
pub(crate) const GROUP_MAX: usize = 12;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocks {
    pub min: usize,
    pub max: usize,
    /// No block is begun that would end after this.
    pub budget_ns: u64,
    /// The longest warm-up of a fresh process: a pilot finds how much each service needs. Absent if all have the same.
    #[serde(default)]
    pub warm_up_ns_max: Option<u64>,
    /// Most rows of one block, the reference among them.
    pub group_max: usize,
    /// Most blocks of one process, if it is slow to warm up; 1 if each block has fresh ones.
    pub per_start_max: usize,
}

impl Blocks {
    pub(super) const ONE: Blocks = Blocks {
        min: 1,
        max: 1,
        budget_ns: u64::MAX,
        warm_up_ns_max: None,
        group_max: usize::MAX,
        per_start_max: 1,
    };
}

impl Plan {
    /// Into how many groups the rows are divided; each block measures one of them, and the reference is in all.
    pub fn groups(&self) -> usize {
        let group_max = self.blocks().group_max;
        match self.members().count() {
            all if all <= group_max => 1,
            all => (all - 1).div_ceil(group_max.max(2) - 1),
        }
    }

    /// The rows of one block. A cycle of blocks measures every row once; if there are several groups, who is
    /// together is drawn anew for each cycle, so that no two rows are tied by the reference alone.
    pub fn group(&self, block: usize) -> Vec<usize> {
        let groups = self.groups();
        if groups == 1 {
            return self.members().collect();
        }
        let is_reference = |row: &usize| self.is_reference(&self.rows[*row].label);
        let (reference, mut others): (Vec<usize>, Vec<usize>) = self.members().partition(is_reference);
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(CYCLES + (block / groups) as u64);
        others.shuffle(&mut random);
        let mine = others.into_iter().skip(block % groups).step_by(groups);
        reference.into_iter().chain(mine).collect()
    }

    /// Time for which one row is measured in a block.
    pub(crate) fn measured_ns(&self) -> u64 {
        self.points.iter().map(|point| point.load.duration_ns() * point.rounds as u64).sum()
    }

    /// A guess, before anything is known of the services.
    pub fn block_ns_expected(&self) -> u64 {
        (self.measured_ns() + self.warm_up_ns() + START_NS) * self.group(0).len() as u64
    }

    /// Time that a run may still take which has measured `done` blocks in `elapsed_ns`, if a block takes `block_ns`:
    /// the fewest blocks in any case, then to the budget or to the most blocks.
    pub fn left_ns(&self, done: usize, elapsed_ns: u64, block_ns: u64) -> u64 {
        let blocks_ns =
            |blocks: usize| block_ns.saturating_mul((blocks * self.groups()).saturating_sub(done) as u64);
        let budget_ns = self.blocks().budget_ns.saturating_sub(elapsed_ns);
        budget_ns.min(blocks_ns(self.blocks().max)).max(blocks_ns(self.blocks().min))
    }

    pub(super) fn blocks_ns_expected(&self) -> u64 {
        let pilots = if self.blocks().warm_up_ns_max.is_some() { self.members().count() as u64 } else { 0 };
        let pilots_ns = pilots * (PILOT_NS + START_NS);
        (self.left_ns(0, pilots_ns, self.block_ns_expected())).saturating_add(pilots_ns)
    }

    /// How many blocks of each row fit into the budget, if the guess holds.
    pub fn blocks_expected(&self) -> usize {
        let fit = self.blocks().budget_ns / (self.block_ns_expected() * self.groups() as u64).max(1);
        (fit as usize).clamp(self.blocks().min, self.blocks().max)
    }
}
