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
    /// A number of something, or a time all the same: a server that is gone must not hold the run for ever.
    Number {
        /// Of what, and how many.
        quota: Quota,
        /// The longest the sending may take.
        within: Duration,
    },
}

/// A number of requests, however they are shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quota {
    /// So many over all connections: whoever is free sends the next.
    Requests(u64),
    /// So many by each slot: a producer with its own messages. A request counts when it is sent, whatever becomes of it.
    RequestsEach(u64),
    /// So many connections over all slots, each with the requests that the load allows it (httperf's sessions). One that
    /// cannot be established or breaks is used up too.
    Connections(u64),
}

impl Stop {
    /// After a window.
    #[must_use]
    pub fn after(window: Duration, drain: Duration) -> Stop {
        Stop { after: After::Time(window), drain }
    }

    /// After a quota, or `within` so long.
    #[must_use]
    pub fn count(quota: Quota, within: Duration, drain: Duration) -> Stop {
        Stop { after: After::Number { quota, within }, drain }
    }

    /// The longest time requests are sent.
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
