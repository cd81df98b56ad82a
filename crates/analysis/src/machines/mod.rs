//! Runs of one experiment on several machines: what each service is of the reference, over all of them.
//!
//! What crosses from one machine to another is a [`ratio::MachineRatio`], which only a run and its own reference make. There is no
//! way from a rate, a time or a size to one, so no absolute figure of a machine is ever pooled with that of another:
//!
//! ```compile_fail
//! // The fields are private: a number is no ratio to a reference.
//! let ratio = tare_analysis::machines::ratio::MachineRatio { finding: todo!(), blocks: 3, runs: 1 };
//! ```
//!
//! Runs are sorted before anything is computed, so that the order in which they arrive changes no digit.

pub mod admit;
mod agree;
pub mod bundle;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod identity;
pub mod pooled;
pub mod ratio;

use tare_host::environment::Environment;

pub use admit::{LeftOut, Reason};
pub use bundle::{Bundle, Certified};
pub use identity::{Identity, RunId};
pub use pooled::{Agreement, OverMachines, PooledLoad, PooledRatio, PooledRow};
pub use ratio::{MachineRatio, RatioMetric};

use crate::{
    estimate::Estimate,
    history::{comparable::Difference, run::NamedRun},
};

/// What several machines say together.
#[derive(Debug)]
pub struct Merged {
    /// Each once, in the order of their ids; also those that are left out.
    pub runs: Vec<MergedRun>,
    /// In the order of their classes and names; also those that are left out.
    pub machines: Vec<Machine>,
    /// What has no part in any figure, and why.
    pub left_out: Vec<LeftOut>,
    /// One for each load of the experiment.
    pub loads: Vec<PooledLoad>,
    /// What the runs have in common, and what differs and does no harm.
    pub agreement: Vec<Difference>,
    /// Copies of runs that were there already.
    pub copies: usize,
    /// Some machines are known by a name that a job gave, others by what was read of them.
    pub has_mixed_identities: bool,
}

/// A run, and the machine that it was made on.
#[derive(Debug)]
pub struct MergedRun {
    pub id: RunId,
    pub run: NamedRun,
    /// Its place among the machines.
    pub machine: usize,
    /// The class that its job gave, or the architecture.
    pub class: String,
    pub certified: Certified,
    /// What of its CPUs was not its own, by codes.
    pub shared: Vec<String>,
}

/// A machine.
#[derive(Debug, Clone)]
pub struct Machine {
    /// What it is called in tables: the name that its job gave, or a number.
    pub name: String,
    pub identity: Identity,
    /// Those of its runs, without repetition: more than one if it was measured in several states, such as two kernels.
    pub classes: Vec<String>,
    /// As its first run found it.
    pub environment: Environment,
    /// Kernels of its runs, without repetition.
    pub kernels: Vec<String>,
    /// Places of its runs.
    pub runs: Vec<usize>,
    /// Those of them that count; empty if it is left out.
    pub counted: Vec<usize>,
    /// Blocks of the runs that count.
    pub blocks: usize,
    /// The reference under its second name, over the runs that could count; absent without twins.
    pub twin: Option<Estimate>,
    pub certified: Certified,
}

/// Why runs are not merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    #[error("there is no run to merge{}", because(left_out))]
    Nothing {
        /// Why those that were named are none, a sentence each.
        left_out: Vec<String>,
    },
    /// Of two copies one was changed, or is not whole.
    #[error(
        "two contents of one run ({id}): {what} differ between \"{one}\" and \"{other}\"; remove the one that is not whole"
    )]
    Conflict { id: RunId, one: String, other: String, what: &'static str },
    /// A job that was run again after its result had arrived.
    #[error("two runs of one job ({job}): \"{one}\" and \"{other}\"; name one of them")]
    JobTwice { job: String, one: String, other: String },
    #[error("not runs of one experiment: {}", reasons.join("; "))]
    Differ {
        /// What differs, with the value of each run, and which run is which folder.
        reasons: Vec<String>,
    },
}

fn because(left_out: &[String]) -> String {
    if left_out.is_empty() { String::new() } else { format!(": {}", left_out.join("; ")) }
}

impl Merged {
    /// What these runs say together.
    ///
    /// # Errors
    /// If there is none, two contents have one id, or they are not of one experiment.
    pub fn of(bundles: Vec<Bundle>) -> Result<Merged, MergeError> {
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

    /// Machines that count.
    pub fn counted(&self) -> impl Iterator<Item = &Machine> {
        self.machines.iter().filter(|machine| !machine.counted.is_empty())
    }

    /// The classes of the runs that count, in their order.
    pub fn classes(&self) -> Vec<String> {
        pooled::classes(&self.machines, &self.runs)
    }
}

#[cfg(test)]
mod tests;
