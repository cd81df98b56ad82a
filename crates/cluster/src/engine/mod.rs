//! What runs jobs on the nodes of a cluster. The rest of the crate knows an engine by [`Engine`] only.

pub(crate) mod kubernetes;
pub(crate) mod slurm;

use std::{collections::BTreeMap, fmt, io, process::Command, time::Duration};

use serde::{Deserialize, Serialize};
use tare_host::process::Asked;

use crate::{batch::Batch, engine_name::EngineName};

/// A program of an engine answers sooner, or not at all.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);

/// Why an engine did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("{program} is not installed here: Debian's package {package} provides it")]
    NoProgram { program: String, package: &'static str },
    #[error("{program} cannot be run: {source}")]
    Run { program: String, source: io::Error },
    /// It may be there again in a moment: what was submitted is not lost.
    #[error("{engine} does not answer: {said}")]
    Unreachable { engine: EngineName, said: String },
    #[error("{program}: {said}")]
    Refused { program: String, said: String },
    #[error(
        "no cluster of {engine} is configured here, by KUBECONFIG, ~/.kube/config or a service account: {reason}"
    )]
    NoCluster { engine: EngineName, reason: String },
    #[error(
        "{engine} does not permit to {verb} {resource} in the namespace \"{namespace}\": \
        docs/examples/kubernetes-role.yaml grants what is needed ({said})"
    )]
    Forbidden { engine: EngineName, verb: String, resource: String, namespace: String, said: String },
    #[error("this is no job of {engine}: {reason}")]
    NoJob { engine: EngineName, reason: String },
    #[error("{engine}: {reason}")]
    Batch { engine: EngineName, reason: String },
}

impl EngineError {
    /// Whether asking again may help.
    pub fn is_passing(&self) -> bool {
        match self {
            EngineError::Unreachable { .. } => true,
            EngineError::Run { source, .. } => source.kind() == io::ErrorKind::TimedOut,
            _ => false,
        }
    }
}

/// What an engine knows of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum EngineState {
    /// For nodes, for a limit, or to be started again.
    Waiting {
        why: String,
    },
    Running {
        node: String,
    },
    /// It will not run again by itself.
    Ended {
        how: String,
    },
}

impl EngineState {
    pub fn is_active(&self) -> bool {
        !matches!(self, EngineState::Ended { .. })
    }
}

/// What a node runs for each job: a program that finds its batch by these words, and its job by [`Engine::allocation`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    pub command: Vec<String>,
}

/// Environment variables, as a function.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What an attempt was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allocation {
    /// The place of its job in the list.
    pub position: usize,
    /// The name of the attempt: letters, digits, dots and hyphens, and unlike that of each other attempt of the job.
    pub attempt: String,
    pub node: String,
    /// Whether the engine gives the CPUs to no other job; absent if it does not say.
    pub is_exclusive: Option<bool>,
}

/// An engine, as far as jobs need one. What an adapter must do:
///
/// - **A job is its place in the list.** An array element, or a completion index, is mapped to it; where an engine bounds the index,
///   or wants it without gaps, the adapter has the mapping (several arrays with an offset, or a list that it stores with the batch).
/// - **Submitting is idempotent by name.** Everything that is submitted carries [`Batch::name`]. The caller holds the lock of the
///   batch and submits only jobs that [`Engine::states`] does not give as active. So an adapter may be killed at any instant: what
///   the engine had accepted is found again by the name, and is not submitted twice.
/// - **Jobs run alone on whole CPUs**, at least as many as their class says: requests equal to limits in whole CPUs under a static CPU
///   manager, or an exclusive node. [`Allocation::is_exclusive`] is what the engine promises of this attempt, not what was asked for.
/// - **A job may run twice.** After a node was lost the engine starts a job again, and the first attempt may still be running. Each has a
///   name of its own (for Kubernetes: the name of the pod). The store keeps the first whole bundle, so an engine needs no fencing.
/// - **A job that fails is not started again**: its exit status is not 0 if it left no bundle, and a further `tare submit` submits what
///   is missing. Only the loss of a node is the engine's to repair (for Kubernetes: back-off limit 0 per index, and `Ignore` for
///   disruptions; `podReplacementPolicy: Failed` keeps the two attempts apart in time).
/// - **States are passing or final.** An engine that does not answer is [`EngineError::Unreachable`], and its caller asks again. A job
///   that the engine has forgotten is left out of the states. A state that the adapter does not know is active.
/// - **The store is the same folder on every node**, and so are the repository and the program, or the adapter mounts them there.
///   Where jobs push their bundles ([`BatchHead::push`](crate::BatchHead::push)) there is no store on a node: the adapter gives
///   each job the token of the batch as [`TOKEN_VARIABLE`](crate::push::TOKEN_VARIABLE), on no command line and in nothing that
///   others can read.
/// - **Results are never read from the engine** (logs, termination messages, sidecars): a job pushes its bundle to the store.
/// - [`Engine::clean_up`] removes everything that carries the name, after jobs were cancelled, and is no error if there is nothing.
pub trait Engine: fmt::Debug {
    fn name(&self) -> EngineName;

    /// Submits the jobs at these places of the list. Gives back a line for each thing that the engine was given, for people.
    ///
    /// # Errors
    /// The engine does not answer, or refuses: then some of the jobs may have been submitted.
    fn submit(&self, batch: &Batch, positions: &[usize], start: &Start) -> Result<Vec<String>, EngineError>;

    /// What [`Engine::submit`] would give to the engine, as its own tools take it: a script, or a manifest.
    ///
    /// # Errors
    /// As of [`Engine::submit`]. Of a batch whose folder is not there yet, the engine is not asked anything.
    fn preview(&self, batch: &Batch, positions: &[usize], start: &Start) -> Result<String, EngineError>;

    /// What the engine knows of each job of the batch, by its place in the list.
    ///
    /// # Errors
    /// The engine does not answer, or refuses.
    fn states(&self, batch: &Batch) -> Result<BTreeMap<usize, EngineState>, EngineError>;

    /// Ends the jobs of the batch, those that wait and those that run.
    ///
    /// # Errors
    /// The engine does not answer, or refuses.
    fn cancel(&self, batch: &Batch) -> Result<(), EngineError>;

    /// Removes what the engine keeps of the batch.
    ///
    /// # Errors
    /// The engine does not answer, or refuses.
    fn clean_up(&self, batch: &Batch) -> Result<(), EngineError>;

    /// On a node: which attempt this process is.
    ///
    /// # Errors
    /// The engine did not start it.
    fn allocation(&self, variables: Variables) -> Result<Allocation, EngineError>;

    /// Where a user finds what an attempt printed or, if none began, what the engine says of the batch; absent if there is nothing.
    fn look_at(&self, batch: &Batch, attempt: Option<&str>) -> Option<String>;
}

/// The adapter of an engine.
pub fn engine(name: EngineName) -> Box<dyn Engine> {
    match name {
        EngineName::Kubernetes => Box::new(kubernetes::Kubernetes),
        EngineName::Slurm => Box::new(slurm::Slurm),
    }
}

/// What a program of an engine printed, if it ended well.
pub(crate) fn ask(
    program: &str,
    package: &'static str,
    words: &[String],
) -> Result<Result<String, String>, EngineError> {
    ask_with(Command::new(program).args(words), program, package)
}

pub(crate) fn ask_with(
    command: &mut Command,
    program: &str,
    package: &'static str,
) -> Result<Result<String, String>, EngineError> {
    let output =
        Asked::put(command, ANSWER_WITHIN).and_then(Asked::answer).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => EngineError::NoProgram { program: program.to_owned(), package },
            _ => EngineError::Run { program: program.to_owned(), source },
        })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(text(&output.stderr)),
    })
}
