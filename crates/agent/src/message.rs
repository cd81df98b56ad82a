//! What controller and agent say to each other over TLS, as JSON. It does no I/O.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::job::{Job, Right};
use crate::report::{IntervalParts, ReportParts};

/// Before a run: the first message of either end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Greeting {
    Hello {
        /// The version of Tare.
        tare: String,
    },
    /// From an agent that serves another run.
    Busy,
}

/// From the controller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Order {
    /// Answer at once with the time of your clock. It also says that the controller is there.
    Ping { sent_ns: u64 },
    /// Ask the server what is right.
    Learn(Box<Job>),
    /// Get ready: connections open, nothing sent.
    Prepare(Box<Job>),
    /// Begin at this instant of your clock.
    Begin { at_ns: u64, warm_up: bool },
    /// End the load now, and report.
    Stop,
    /// Close the connections of the job: its load is over, and another may follow.
    Release,
    /// There is nothing more to do.
    Bye,
}

/// From an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Reply {
    About(About),
    Pong {
        sent_ns: u64,
        clock_ns: u64,
    },
    Learned(Learned),
    Prepared(Prepared),
    WarmedUp,
    Interval(Box<IntervalParts>),
    Finished(Box<ReportParts>),
    /// The CPU time of what is watched, at each mark.
    Watched(Vec<CpuReading>),
    /// It cannot go on; why, in one sentence.
    Failed(String),
}

/// What an agent is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// The server that it may load although that is another machine, as HOST:PORT, or as HOST for each port of it.
    pub target: Option<String>,
    /// The process whose CPU time it reads; an agent that watches sends no load.
    pub watch: Option<u32>,
    /// What two agents in one network namespace of one machine have in common, and no others.
    pub machine: String,
    pub cpus: usize,
    /// The CPUs that its threads are pinned to; empty: any.
    pub pinned: Vec<usize>,
    /// Whether it serves one run after the other.
    pub keep: bool,
}

/// What was learned from the server before the load.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Learned {
    /// For each request of the job in its order; none of a contract, which says it itself.
    pub right: Vec<Right>,
    /// In words, what responses are compared with.
    pub check: String,
    /// Each is one sentence.
    pub warnings: Vec<String>,
}

/// An agent that is ready.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prepared {
    /// The address that it loads.
    pub endpoint: String,
    /// Whether that is its own machine.
    pub is_here: bool,
    /// Whether it is one that each machine has.
    pub is_loopback: bool,
    /// Of the requests that were sent over its connections before the load; absent if none were.
    pub primed: Option<Box<ReportParts>>,
}

/// One reading of a CPU clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuReading {
    /// When, counted from the start of the load.
    pub at_ns: u64,
    /// CPU time so far.
    pub cpu_ns: u64,
}

/// Bytes that are no message of this protocol.
#[derive(Debug, thiserror::Error)]
#[error("a message cannot be read: {0}")]
pub struct BadMessage(serde_json::Error);

/// # Errors
/// The bytes are no message.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, BadMessage> {
    serde_json::from_slice(bytes).map_err(BadMessage)
}

/// A message as bytes.
#[must_use]
pub fn write<T: Serialize>(message: &T) -> Vec<u8> {
    serde_json::to_vec(message).expect("messages have keys of text only")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_read_back_and_strangers_are_refused() {
        let orders = [
            Order::Ping { sent_ns: u64::MAX },
            Order::Prepare(Box::new(crate::job::tests::job())),
            Order::Begin { at_ns: 1, warm_up: true },
            Order::Release,
            Order::Bye,
        ];
        for order in orders {
            assert_eq!(read::<Order>(&write(&order)).unwrap(), order);
        }
        let pong = Reply::Pong { sent_ns: 1, clock_ns: 2 };
        assert_eq!(read::<Reply>(&write(&pong)).unwrap(), pong);
        assert!(read::<Order>(b"{\"ping\":{\"sent_ns\":1,\"more\":2}}").is_err());
        assert!(read::<Order>(b"{\"explode\":{}}").is_err() && read::<Reply>(b"\xff").is_err());
    }
}
