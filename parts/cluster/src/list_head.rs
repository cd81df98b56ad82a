//! The head of a job list: the common part of all jobs.

use serde::{Deserialize, Serialize};

use crate::machines::MachineClass;

/// The version of the format: `major.minor`.
pub(crate) const FORMAT: &str = "1.0";

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListHead {
    /// The format version, [`ListHead::FORMAT`].
    pub format: String,
    /// The version of Tare that planned it.
    pub tare: String,
    /// The path of the experiment, relative to the root of the repository.
    pub experiment: String,
    /// The BLAKE3 hash of the experiment's file: a changed experiment makes other jobs.
    pub content: String,
    /// The service whose revisions are compared; `None` if the services are measured as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// More options of the measuring command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// The expected measuring time of a job, as of its planning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_s: Option<u64>,
    pub classes: Vec<MachineClass>,
}

impl ListHead {
    /// The format version of a new list.
    pub const FORMAT: &str = FORMAT;
}
