//! The start options of an agent.

use std::time::Duration;

use crate::message::AgentDescription;
use crate::token::Token;

#[derive(Debug, Clone)]
pub struct AgentOptions {
    pub token: Token,
    pub tare: String,
    /// Another machine that it may load, as HOST:PORT, or as HOST for all of its ports.
    pub target: Option<String>,
    /// The process whose CPU time it reads.
    pub watch: Option<u32>,
    /// An identifier of the machine and its network namespace.
    pub machine: String,
    pub cpus: usize,
    /// The CPUs that its threads are pinned to; empty means any.
    pub pinned: Vec<usize>,
    /// Whether it serves several runs in sequence.
    pub keep: bool,
    /// The silence after which a controller counts as gone.
    pub silence: Duration,
    /// How long it waits for a run; `None` means for ever.
    pub wait: Option<Duration>,
}

impl AgentOptions {
    pub(crate) fn about(&self) -> AgentDescription {
        AgentDescription {
            target: self.target.clone(),
            watch: self.watch,
            machine: self.machine.clone(),
            cpus: self.cpus,
            pinned: self.pinned.clone(),
            keep: self.keep,
        }
    }
}
