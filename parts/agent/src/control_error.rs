//! Why a load from several generators has no result.

use std::io;

use crate::link::ConnectionError;

/// The reason for the missing result.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    #[error("no agent sends a load: name at least one that was started without --watch")]
    NoAgent,
    #[error("{count} agents are too many: name at most {}", crate::AGENTS_MAX)]
    TooMany { count: usize },
    #[error("{0} and {1} both watch a service: name one agent with --watch")]
    TwoWatch(String, String),
    #[error("no connection to the agent at {address}: {source}; start it by `tare agent` first")]
    Unreachable { address: String, source: io::Error },
    #[error("the agent at {address}: {source}")]
    Refused { address: String, source: ConnectionError },
    #[error("the agent at {address} is lost ({reason}): the load was ended, and there is no result")]
    Lost { address: String, reason: String },
    #[error("the agent at {address}: {reason}")]
    Failed { address: String, reason: String },
    #[error("interrupted before the load: nothing was measured")]
    Interrupted,
}

impl ControlError {
    /// Whether an agent was lost during the run, which says nothing about the server.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        matches!(self, ControlError::Lost { .. })
    }
}
