//! Runs that are spread over machines: which jobs there are, which engine of a cluster runs them, what each leaves behind, and the
//! collector that takes it in.
//!
//! A job is one whole run on one machine: rows are compared within blocks, so a run is never divided by service. A job is known by
//! an identifier that follows from what it does. Everything of a batch of jobs lies in a folder that all machines share ([`Batch`]):
//! a job leaves a bundle there, whole or not at all, and the first whole bundle of a job is the one that counts. So it does no
//! harm if an engine runs a job twice, and a job of which no bundle arrived is named as missing. Where machines share no folder, jobs
//! push their bundles to a collector that has it ([`push`]).
//!
//! It knows engines and their programs, which no other crate does. It does not know how a run is measured, what its figures mean, or
//! how they are computed again: the collector is given that check.
#![warn(clippy::disallowed_macros, clippy::missing_errors_doc, unreachable_pub)]

mod attempt;
mod batch;
mod bundle;
mod certificates;
mod collect;
mod engine;
mod engine_name;
#[cfg(test)]
mod fixture;
mod job;
mod job_list;
mod list_head;
mod machines;
pub mod push;
mod received;
mod revision_sets;
mod status;

pub use attempt::{AttemptOutcome, AttemptRecord, Attempts, Phase};
pub use batch::{Batch, BatchError, BatchHead, BatchLock, Selftest};
pub use bundle::{Bundle, BundleError, BundleHead, Committed, Staging, StoredFile};
pub use certificates::{Certificates, MachineIdentity, StoredCertificate};
pub use collect::{Collected, CollectedJob, RejectedBundle, collect};
pub use engine::{
    Allocation, Engine, EngineError, EngineState, Start, Variables, engine,
    kubernetes::{
        Kubernetes,
        group::{GROUP_ENGINES, GroupError, GroupPlan, GroupPod, GroupService, LoadGroup, Waits},
    },
    slurm::{Slurm, queue},
};
pub use engine_name::EngineName;
pub use job::{JobId, PlannedJob, content};
pub use job_list::{JobList, PlanRequest};
pub use list_head::ListHead;
pub use machines::{KubernetesNodes, MachineClass, Machines, SlurmNodes};
pub use push::{
    client::{Collector, PushError, collector_address},
    desk::{CollectorDesk, Presented},
};
pub use received::{Received, SharedCpus};
pub use revision_sets::{SET_MAX, revision_sets};
pub use status::{BatchStatus, JobState, JobStatus};
