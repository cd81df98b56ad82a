//! Why a figure of a service is unknown.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{port::PortOwner, procfs::Process};

/// Why the CPU time of a service is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CpuUnknown {
    Unseen(Unseen),
    Unwaited(Unwaited),
    /// Another process than the started ones listens on its port.
    ServedBy(PortOwner),
}

/// A process of the service ended unreaped, so its last CPU time is lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unwaited {
    /// This process, which was seen before.
    #[serde(rename = "ended")]
    Seen(Process),
    /// Processes that began and ended between two looks: counters show more CPU time than the seen processes.
    #[serde(rename = "ended-unseen")]
    Unseen,
}

/// Why the processes of a server that Tare did not start cannot be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unseen {
    OtherHost,
    /// No visible socket listens at the address: the server is in another network namespace, such as behind a
    /// container engine's address translation.
    OtherNetwork,
    /// The socket is visible but its process is not: it belongs to another user or PID namespace.
    OtherUser,
}

impl fmt::Display for Unseen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unseen::OtherHost => "it is on another host",
            Unseen::OtherNetwork => "no process that listens there can be seen",
            Unseen::OtherUser => "the process that listens there is hidden, as another user's is",
        })
    }
}

impl From<Unseen> for CpuUnknown {
    fn from(unseen: Unseen) -> CpuUnknown {
        CpuUnknown::Unseen(unseen)
    }
}
