//! Why a figure of a service is not known.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{port::PortOwner, procfs::Process};

/// Why the CPU time of a service is not known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CpuUnknown {
    Unseen(Unseen),
    Unwaited(Unwaited),
    /// Something listens on its port that its command did not start.
    ServedBy(PortOwner),
}

/// A process of the service ended, and none of the service's waited for it: what it took ended with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unwaited {
    /// This one, which was seen before.
    #[serde(rename = "ended")]
    Seen(Process),
    /// Those that began and ended between two looks: more CPU time was counted than those have that were seen.
    #[serde(rename = "ended-unseen")]
    Unseen,
}

/// Why the processes of a server that ran already cannot be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unseen {
    OtherHost,
    /// No socket that this machine shows listens there: it is in another network namespace, as behind a container engine's
    /// address translation.
    OtherNetwork,
    /// The socket is there, and its process hidden: it is another user's, or in another pid namespace.
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
