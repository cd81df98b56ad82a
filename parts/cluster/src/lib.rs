//! Runs on many machines: the jobs, the engines of clusters that run them, their bundles, and the collector
//! that checks these.
//!
//! A job is one whole run on one machine: rows are compared within blocks, so a run is never divided by
//! service. The identifier of a job is derived from its work. Everything of a batch of jobs is in a folder
//! that all machines share ([`Batch`]). A job leaves a bundle there, complete or not at all, and the first
//! complete bundle of a job counts. So it does no harm if an engine runs a job twice, and a job without a
//! bundle is reported as missing. If machines share no folder, jobs push their bundles to a collector that
//! has it ([`push`]).
//!
//! Only this crate knows engines and their programs. It does not know how a run is measured, or how its
//! figures are computed: the caller gives that check to the collector.
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
pub use certificates::{CertificateFolder, MachineIdentity, StoredCertificate};
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
