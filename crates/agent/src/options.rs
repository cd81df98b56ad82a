//! What an agent is started with.

use std::time::Duration;

use crate::message::About;
use crate::token::Token;

/// What an agent is started with.
#[derive(Debug, Clone)]
pub struct AgentOptions {
    pub token: Token,
    /// The version of Tare.
    pub tare: String,
    /// The server that it may load although that is another machine, as HOST:PORT, or as HOST for each port of it.
    pub target: Option<String>,
    /// The process whose CPU time it reads.
    pub watch: Option<u32>,
    /// What names the machine and its network namespace.
    pub machine: String,
    pub cpus: usize,
    /// The CPUs that its threads are pinned to; empty: any.
    pub pinned: Vec<usize>,
    /// Whether it serves one run after the other.
    pub keep: bool,
    /// A controller that says nothing for so long is gone.
    pub silence: Duration,
    /// How long it waits for a run; absent: for ever.
    pub wait: Option<Duration>,
}

impl AgentOptions {
    pub(crate) fn about(&self) -> About {
        About {
            target: self.target.clone(),
            watch: self.watch,
            machine: self.machine.clone(),
            cpus: self.cpus,
            pinned: self.pinned.clone(),
            keep: self.keep,
        }
    }
}
