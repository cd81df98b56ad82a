//! The messages between controller and agent over TLS, as JSON. It does no I/O.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::job::{Job, Right};
use crate::report::{IntervalParts, ReportParts};

/// The first message of either side, before a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Greeting {
    Hello {
        tare: String,
    },
    /// Sent by an agent that serves another run.
    Busy,
}

/// A message of the controller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ControllerMessage {
    /// Answer at once with the time of your clock. This also shows that the controller is alive.
    Ping {
        sent_ns: u64,
    },
    /// Learn the correct answers from the server.
    Learn(Box<Job>),
    /// Get ready: open connections, but send nothing.
    Prepare(Box<Job>),
    /// Begin at this instant of your clock.
    Begin {
        at_ns: u64,
        warm_up: bool,
    },
    /// End the load now, and report.
    Stop,
    /// Close the connections of the job: its load is over, and another may follow.
    Release,
    Bye,
}

/// A message of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Reply {
    About(AgentDescription),
    Pong {
        sent_ns: u64,
        clock_ns: u64,
    },
    Learned(LearnedByAgent),
    Prepared(Prepared),
    WarmedUp,
    Interval(Box<IntervalParts>),
    Finished(Box<ReportParts>),
    /// The CPU time of the watched process, at each mark.
    Watched(Vec<CpuReading>),
    /// The agent cannot continue, for the reason in one sentence.
    Failed(String),
}

/// The description of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentDescription {
    /// Another machine that it may load, as HOST:PORT, or as HOST for all of its ports.
    pub target: Option<String>,
    /// The process whose CPU time it reads; an agent that watches sends no load.
    pub watch: Option<u32>,
    /// An identifier shared by the agents in one network namespace of one machine, and by no others.
    pub machine: String,
    pub cpus: usize,
    /// The CPUs that its threads are pinned to; empty means any.
    pub pinned: Vec<usize>,
    /// Whether it serves several runs in sequence.
    pub keep: bool,
}

/// The result of learning from the server before the load.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearnedByAgent {
    /// For each request of the job, in order; empty for a contract, which defines its own answers.
    pub right: Vec<Right>,
    /// The check of responses, in words.
    pub check: String,
    /// Warnings, each one sentence.
    pub warnings: Vec<String>,
}

/// An agent that is ready.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prepared {
    /// The address that it loads.
    pub endpoint: String,
    /// Whether the server is on its own machine.
    pub is_here: bool,
    /// Whether it is a loopback address, which every machine has.
    pub is_loopback: bool,
    /// The report of the requests sent over its connections before the load; `None` if there were none.
    pub primed: Option<Box<ReportParts>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuReading {
    /// The time of the reading, counted from the start of the load.
    pub at_ns: u64,
    /// CPU time so far.
    pub cpu_ns: u64,
}

/// The bytes are no message of this protocol.
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
            ControllerMessage::Ping { sent_ns: u64::MAX },
            ControllerMessage::Prepare(Box::new(crate::job::tests::job())),
            ControllerMessage::Begin { at_ns: 1, warm_up: true },
            ControllerMessage::Release,
            ControllerMessage::Bye,
        ];
        for order in orders {
            assert_eq!(read::<ControllerMessage>(&write(&order)).unwrap(), order);
        }
        let pong = Reply::Pong { sent_ns: 1, clock_ns: 2 };
        assert_eq!(read::<Reply>(&write(&pong)).unwrap(), pong);
        assert!(read::<ControllerMessage>(b"{\"ping\":{\"sent_ns\":1,\"more\":2}}").is_err());
        assert!(read::<ControllerMessage>(b"{\"explode\":{}}").is_err() && read::<Reply>(b"\xff").is_err());
    }
}
