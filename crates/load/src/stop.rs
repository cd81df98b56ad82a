//! When a run sends no more requests, and how long it waits for the answers that are still due.
//!
//! It knows nothing of schedules or connections. A caller can also stop a run at any time by its interrupt flag.

use std::time::Duration;

/// The end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop {
    /// What ends it.
    pub after: After,
    /// How long the answers still in flight are then waited for.
    pub drain: Duration,
}

/// What ends the sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// A time: the window that throughput is counted in.
    Time(Duration),
    /// A number of requests or connections, with a time limit in case the server stops to answer.
    Number {
        /// The number, and what it counts.
        quota: Quota,
        /// The longest the sending may take.
        within: Duration,
    },
}

/// A number of requests, however they are shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quota {
    /// A number of requests over all connections: the next free connection sends the next request.
    Requests(u64),
    /// A number of requests for each slot, like producers with messages of their own. A request counts when it is sent,
    /// whatever its outcome.
    RequestsEach(u64),
    /// A number of connections over all slots, each with the number of requests that the load sets (httperf's sessions). A
    /// connection that fails or breaks counts too.
    Connections(u64),
}

impl Stop {
    /// After a window.
    #[must_use]
    pub fn after(window: Duration, drain: Duration) -> Stop {
        Stop { after: After::Time(window), drain }
    }

    /// After a quota, or after the time `within`.
    #[must_use]
    pub fn count(quota: Quota, within: Duration, drain: Duration) -> Stop {
        Stop { after: After::Number { quota, within }, drain }
    }

    /// The longest time for which requests are sent.
    #[must_use]
    pub fn window(&self) -> Duration {
        match self.after {
            After::Time(window) => window,
            After::Number { within, .. } => within,
        }
    }

    /// The quota, if that is what ends the run.
    #[must_use]
    pub fn quota(&self) -> Option<Quota> {
        match self.after {
            After::Time(_) => None,
            After::Number { quota, .. } => Some(quota),
        }
    }
}
