//! Engines, which run jobs on the nodes of a cluster. The rest of the crate only knows [`Engine`].

pub(crate) mod kubernetes;
pub(crate) mod slurm;

use std::{collections::BTreeMap, fmt, io, process::Command, time::Duration};

use serde::{Deserialize, Serialize};
use tare_host::process::Query;

use crate::{batch::Batch, engine_name::EngineName};

/// The time limit for a program of an engine.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);

/// Why an engine did not do what was requested.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("{program} is not installed here: Debian's package {package} provides it")]
    NoProgram { program: String, package: &'static str },
    #[error("{program} cannot be run: {source}")]
    Run { program: String, source: io::Error },
    /// The engine may be back in a moment: submitted jobs are not lost.
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
    /// Whether retrying may help.
    pub fn is_passing(&self) -> bool {
        match self {
            EngineError::Unreachable { .. } => true,
            EngineError::Run { source, .. } => source.kind() == io::ErrorKind::TimedOut,
            _ => false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum EngineState {
    /// It waits for nodes, for a limit, or for a restart.
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

/// The command that a node runs for each job. It finds its batch by these words, and its job by
/// [`Engine::allocation`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    pub command: Vec<String>,
}

/// A lookup of environment variables.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The assignment of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allocation {
    /// The position of its job in the list.
    pub position: usize,
    /// The name of the attempt: letters, digits, dots and hyphens, unique among the attempts of the job.
    pub attempt: String,
    pub node: String,
    /// Whether the engine gives the CPUs to no other job; `None` if it does not say.
    pub is_exclusive: Option<bool>,
}

/// The interface of an engine. Requirements for an adapter:
///
/// - **A job is its position in the list.** An array element, or a completion index, maps to it. If an engine
///   bounds the index, or allows no gaps, the adapter keeps the mapping (several arrays with an offset, or a
///   list stored with the batch).
/// - **Submitting is idempotent by name.** Everything that is submitted carries [`Batch::name`]. The caller
///   holds the lock of the batch and submits only jobs that [`Engine::states`] does not report as active. So
///   an adapter may be killed at any time: jobs that the engine has accepted are found by name, and are not
///   submitted twice.
/// - **Jobs run alone on whole CPUs**, at least as many as their class requires: requests equal to limits in
///   whole CPUs under a static CPU manager, or an exclusive node. [`Allocation::is_exclusive`] is the
///   engine's guarantee for this attempt, not the request.
/// - **A job may run twice.** If a node is lost the engine restarts the job, and the first attempt may still
///   be running. Each has a name of its own (for Kubernetes: the name of the pod). The store keeps the first
///   complete bundle, so an engine needs no fencing.
/// - **A failed job is not restarted**: its exit status is not 0 if it left no bundle, and another `tare
///   submit` submits missing jobs. The engine only handles lost nodes (for Kubernetes: back-off limit 0 per
///   index, and `Ignore` for disruptions; `podReplacementPolicy: Failed` separates the two attempts).
/// - **States are temporary or final.** An engine that does not answer is [`EngineError::Unreachable`], and
///   its caller retries. A job that the engine has forgotten is not in the states. Unknown states count as
///   active.
/// - **The store is the same folder on every node**, and so are the repository and the program, or the
///   adapter mounts them there. If jobs push their bundles ([`BatchHead::push`](crate::BatchHead::push)) a
///   node has no store. The adapter then gives each job the token of the batch as
///   [`TOKEN_VARIABLE`](crate::push::TOKEN_VARIABLE), not on a command line or in anything that others can
///   read.
/// - **Results are never read from the engine** (logs, termination messages, sidecars): a job pushes its bundle to the store.
/// - [`Engine::clean_up`] removes everything with the batch's name after jobs were cancelled. It is no error
///   if there is nothing.
pub trait Engine: fmt::Debug {
    fn name(&self) -> EngineName;

    /// Submits the jobs at these positions. Returns a line for people about each submitted object.
    ///
    /// # Errors
    /// The engine does not answer, or refuses; some of the jobs may have been submitted.
    fn submit(&self, batch: &Batch, positions: &[usize], start: &Start) -> Result<Vec<String>, EngineError>;

    /// The input that [`Engine::submit`] would give to the engine: a script, or a manifest.
    ///
    /// # Errors
    /// The errors of [`Engine::submit`]. If the folder of the batch does not exist yet, the engine is not
    /// queried.
    fn preview(&self, batch: &Batch, positions: &[usize], start: &Start) -> Result<String, EngineError>;

    /// The engine's state of each job of the batch, by position in the list.
    ///
    /// # Errors
    /// The engine does not answer, or refuses.
    fn states(&self, batch: &Batch) -> Result<BTreeMap<usize, EngineState>, EngineError>;

    /// Ends the waiting and the running jobs of the batch.
    ///
    /// # Errors
    /// The engine does not answer, or refuses.
    fn cancel(&self, batch: &Batch) -> Result<(), EngineError>;

    /// Removes the engine's objects of the batch.
    ///
    /// # Errors
    /// The engine does not answer, or refuses.
    fn clean_up(&self, batch: &Batch) -> Result<(), EngineError>;

    /// On a node: the attempt of this process.
    ///
    /// # Errors
    /// The engine did not start this process.
    fn allocation(&self, variables: Variables) -> Result<Allocation, EngineError>;

    /// Where a user finds the output of an attempt or, before the first one, the engine's view of the batch;
    /// `None` if there is nothing.
    fn look_at(&self, batch: &Batch, attempt: Option<&str>) -> Option<String>;
}

pub fn engine(name: EngineName) -> Box<dyn Engine> {
    match name {
        EngineName::Kubernetes => Box::new(kubernetes::Kubernetes),
        EngineName::Slurm => Box::new(slurm::Slurm),
    }
}

/// The output of an engine's program, if it succeeded.
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
        Query::put(command, ANSWER_WITHIN).and_then(Query::answer).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => EngineError::NoProgram { program: program.to_owned(), package },
            _ => EngineError::Run { program: program.to_owned(), source },
        })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(text(&output.stderr)),
    })
}
