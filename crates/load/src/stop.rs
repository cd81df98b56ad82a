//! When a run sends no more requests, and how long it waits for the answers that are still due.
//!
//! It knows nothing of schedules or connections. A caller can also stop a run at any time by its interrupt flag.

use std::time::Duration;

/// The end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// After a time.
    After {
        /// How long requests are sent: the window that throughput is counted in.
        window: Duration,
        /// How long the answers still in flight are then waited for.
        drain: Duration,
    },
    /// After a number of requests.
    Count {
        /// How many are sent, over all connections.
        requests: u64,
        /// The longest the sending may take: a server that is gone must not hold the run for ever.
        within: Duration,
        /// How long the answers still in flight are then waited for.
        drain: Duration,
    },
}

impl Stop {
    /// The longest time requests are sent.
    #[must_use]
    pub fn window(&self) -> Duration {
        match *self {
            Stop::After { window, .. } => window,
            Stop::Count { within, .. } => within,
        }
    }

    /// How long answers are waited for after the last request.
    #[must_use]
    pub fn drain(&self) -> Duration {
        match *self {
            Stop::After { drain, .. } | Stop::Count { drain, .. } => drain,
        }
    }

    /// The number of requests, if that is what ends the run.
    #[must_use]
    pub fn requests(&self) -> Option<u64> {
        match *self {
            Stop::After { .. } => None,
            Stop::Count { requests, .. } => Some(requests),
        }
    }
}
