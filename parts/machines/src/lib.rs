//! Runs of one experiment on several machines: the ratio of each service to the reference, over all machines.
//!
//! Only a [`MachineRatio`] is combined across machines, and only a run with its own reference can
//! create one. A rate, a time or a size cannot become one, so absolute figures of machines are never pooled:
//!
//! ```compile_fail
//! // The fields are private: no number becomes a ratio to a reference.
//! fn set(ratio: &mut tare_machines::MachineRatio) {
//!     ratio.blocks = 3;
//! }
//! ```
//!
//! Runs are sorted first, so that their order of arrival does not change any digit. `tare-analysis` computes the figures of each run,
//! and the module `document` lays out what is pooled.
#![warn(clippy::disallowed_macros, clippy::missing_errors_doc, unreachable_pub)]

mod admit;
mod agree;
mod bundle;
mod document;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod folder;
mod identity;
mod pooled;
mod ratio;

use tare_analysis::{
    estimate::UnitEstimate,
    history::{comparable::Difference, run::NamedRun},
};
use tare_host::environment::Environment;

pub use admit::{LeftOutMachine, Reason};
pub use bundle::{Certified, RunBundle, runs_in};
pub use document::machines;
pub use identity::{Identity, RunId};
pub use pooled::{Agreement, OverMachines, PooledLoad, PooledRatio, PooledRow};
pub use ratio::{MachineRatio, RatioMetric};

/// The combined results of several machines.
#[derive(Debug)]
pub struct Merged {
    /// Without copies, sorted by id, including those left out.
    pub runs: Vec<MergedRun>,
    /// Sorted by class and name, including those left out.
    pub machines: Vec<Machine>,
    /// Machines and runs without influence on figures, and why.
    pub left_out: Vec<LeftOutMachine>,
    /// One entry per load of the experiment.
    pub loads: Vec<PooledLoad>,
    /// Common values of the runs, and harmless differences.
    pub agreement: Vec<Difference>,
    /// Number of duplicate runs.
    pub copies: usize,
    /// Some machines are identified by a job's name, others by their hardware or id.
    pub has_mixed_identities: bool,
}

/// A run, and the machine that it was made on.
#[derive(Debug)]
pub struct MergedRun {
    pub id: RunId,
    pub run: NamedRun,
    /// Index of its machine.
    pub machine: usize,
    /// The class from its job, or the architecture.
    pub class: String,
    pub certified: Certified,
    /// Codes of CPU resources that it shared with others.
    pub shared: Vec<String>,
}

/// A machine.
#[derive(Debug, Clone)]
pub struct Machine {
    /// Its name in tables: from its job, or a number.
    pub name: String,
    pub identity: Identity,
    /// Classes of its runs without duplicates; several if it ran several kernels, for example.
    pub classes: Vec<String>,
    /// From its first run.
    pub environment: Environment,
    /// Kernels of its runs, without repetition.
    pub kernels: Vec<String>,
    /// Indices of its runs.
    pub runs: Vec<usize>,
    /// Indices of its counted runs; empty if it is left out.
    pub counted: Vec<usize>,
    /// Blocks of its counted runs.
    pub blocks: usize,
    /// The twin divided by the reference, over usable runs; absent without twins.
    pub twin: Option<UnitEstimate>,
    pub certified: Certified,
}

/// Reasons why runs cannot be merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    #[error("there is no run to merge{}", because(left_out))]
    Nothing {
        /// Why the given folders have no run, with a sentence each.
        left_out: Vec<String>,
    },
    /// One of two copies was changed or is incomplete.
    #[error(
        "two contents of one run ({id}): {what} differ between \"{one}\" and \"{other}\"; remove the one that is not whole"
    )]
    Conflict { id: RunId, one: String, other: String, what: &'static str },
    /// A job that was repeated after its result had arrived.
    #[error("two runs of one job ({job}): \"{one}\" and \"{other}\"; name one of them")]
    JobTwice { job: String, one: String, other: String },
    #[error("not runs of one experiment: {}", reasons.join("; "))]
    Differ {
        /// The differences, with the value of each run, and the folder of each run.
        reasons: Vec<String>,
    },
}

fn because(left_out: &[String]) -> String {
    if left_out.is_empty() { String::new() } else { format!(": {}", left_out.join("; ")) }
}

impl Merged {
    /// Merges these runs.
    ///
    /// # Errors
    /// If there are none, two contents have one id, or they are not of one experiment.
    pub fn of(bundles: Vec<RunBundle>) -> Result<Merged, MergeError> {
        let (bundles, copies) = identity::without_copies(bundles)?;
        if bundles.is_empty() {
            return Err(MergeError::Nothing { left_out: Vec::new() });
        }
        identity::refuse_a_job_twice(&bundles)?;
        let agreement = agree::agreement(&bundles)?;
        let (mut machines, runs) = identity::by_machine(bundles);
        let left_out = admit::admit(&mut machines, &runs);
        let loads = pooled::loads(&machines, &runs);
        let names = machines.iter().map(|machine| matches!(machine.identity, Identity::Named(_)));
        let named = names.filter(|is_named| *is_named).count();
        let has_mixed_identities = named > 0 && named < machines.len();
        Ok(Merged { runs, machines, left_out, loads, agreement, copies, has_mixed_identities })
    }

    /// Counted machines.
    pub fn counted(&self) -> impl Iterator<Item = &Machine> {
        self.machines.iter().filter(|machine| !machine.counted.is_empty())
    }

    /// The classes of the counted runs, in order.
    pub fn classes(&self) -> Vec<String> {
        pooled::classes(&self.machines, &self.runs)
    }
}

#[cfg(test)]
mod tests;
