//! When a run stops to send requests, and how long it then waits for outstanding answers.
//!
//! The module knows nothing of schedules or connections. A caller can also stop a run at any time by its
//! interrupt flag.

use std::time::Duration;

/// The end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop {
    /// The condition that ends it.
    pub after: After,
    /// How long the run then waits for answers in flight.
    pub drain: Duration,
}

/// The condition that ends the sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// A time: the window in which throughput is counted.
    Time(Duration),
    /// A number of requests or connections, with a time limit in case the server stops answering.
    Number {
        /// The number, and what it counts.
        quota: RequestQuota,
        /// The longest time for sending.
        within: Duration,
    },
}

/// A number of requests, and how connections share them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestQuota {
    /// A number of requests over all connections: the next free connection sends the next request.
    Requests(u64),
    /// A number of requests for each slot, like producers with messages of their own. A request counts when
    /// it is sent, whatever its outcome.
    RequestsEach(u64),
    /// A number of connections over all slots, each with the number of requests that the load sets (httperf's
    /// sessions). A connection that fails or breaks counts too.
    Connections(u64),
}

impl Stop {
    /// Stops after a window.
    #[must_use]
    pub fn after(window: Duration, drain: Duration) -> Stop {
        Stop { after: After::Time(window), drain }
    }

    /// Stops after a quota, or after the time `within`.
    #[must_use]
    pub fn count(quota: RequestQuota, within: Duration, drain: Duration) -> Stop {
        Stop { after: After::Number { quota, within }, drain }
    }

    /// The longest time in which requests are sent.
    #[must_use]
    pub fn window(&self) -> Duration {
        match self.after {
            After::Time(window) => window,
            After::Number { within, .. } => within,
        }
    }

    /// The quota, if that is what ends the run.
    #[must_use]
    pub fn quota(&self) -> Option<RequestQuota> {
        match self.after {
            After::Time(_) => None,
            After::Number { quota, .. } => Some(quota),
        }
    }
}
