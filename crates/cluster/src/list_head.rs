//! The head of a job list: what is the same for all of its jobs.

use serde::{Deserialize, Serialize};

use crate::machines::MachineClass;

/// The version of the format: `major.minor`.
pub(crate) const FORMAT: &str = "1.0";

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListHead {
    /// [`ListHead::FORMAT`].
    pub format: String,
    /// The version of Tare that planned it.
    pub tare: String,
    /// The file of the experiment, from the root of the repository.
    pub experiment: String,
    /// BLAKE3 over the file of the experiment: a job of another one is another job.
    pub content: String,
    /// Of which the revisions are compared; absent if the services are measured as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// More words of the command that measures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// How long a job measures, if it takes what was expected when it was planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_s: Option<u64>,
    pub classes: Vec<MachineClass>,
}

impl ListHead {
    /// Of a new list.
    pub const FORMAT: &str = FORMAT;
}
