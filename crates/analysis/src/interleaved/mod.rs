//! From the records of a run to the figures of a table, by pure functions. `tare-report` formats them.

mod added;
mod backing;
pub(crate) mod blocks;
mod bound;
pub(crate) mod compute;
mod cores;
mod equal_rate;
mod handshakes;
mod latency;
pub(crate) mod notes;
mod pairs;
mod ranks;
pub(crate) mod relation;
mod role;
pub(crate) mod rounds;
mod row;
pub mod slices;
pub(crate) mod spent;
mod spread;
mod starts;
mod state;
mod twin;
mod uncounted;

pub use added::{AddedCost, added_costs};
pub use backing::{BackingCost, BackingKind, KernelShare};
pub use bound::RatioBound;
pub use compute::compute;
pub use cores::{AtThreads, FittedLaw, Scaling, scalings};
pub use equal_rate::CostAtRate;
pub use handshakes::{RowHandshakes, handshakes};
pub use pairs::{PairRatios, pair_ratios};
pub use ranks::{AdjacentPair, Place, Ranks};
pub use role::Role;
pub use row::{OpenLatency, RowReport};
pub use spread::spread;
pub use state::State;
pub(crate) use state::wrong_answers;
pub use twin::Twin;

pub use crate::{accounting::CpuAccounting, figures, validity::Dropped};

use crate::findings::Finding;
use tare_bench::record::Ending;

#[derive(Debug, Clone)]
pub struct Report {
    /// Label of the row that is 100%.
    pub reference: String,
    pub blocks: usize,
    /// Wall time of the run; absent if it was cut off.
    pub elapsed_ns: Option<u64>,
    /// Why it ended; absent if it was cut off.
    pub ending: Option<Ending>,
    pub load: String,
    /// The share of the measured CPUs that other programs took, on this machine or in other guests.
    pub interference_share: Option<f64>,
    /// Slices left out because of disturbances.
    pub dropped: Dropped,
    /// CPU accounting of the run; absent if no slice has it.
    pub cpu_accounting: Option<CpuAccounting>,
    /// The separated rows and ranks; absent without two rows with figures.
    pub ranks: Option<Ranks>,
    /// The twin of the reference or candidate; absent without one.
    pub twin: Option<Twin>,
    /// References first, then the others from best to worst; rows without figures last. Excludes the twin.
    pub rows: Vec<RowReport>,
    pub findings: Vec<Finding>,
}

#[cfg(test)]
mod tests;
