//! Attributes a failure to the service or the instrument. A failed service is excluded, and the others
//! continue. A slice that an agent spoils has no figures, and its service continues. A failed instrument cuts
//! the run off without a finding about any service; the run can be resumed once the cause is removed.

use std::io;

use crate::sample_agents::DiscardedSlice;

/// Why a service has no figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowFailure(pub String);

/// Why nothing can be measured: a full disk, no descriptors or memory left, refused cgroups.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InstrumentFailure(pub String);

/// Why an [`Executor`](super::Executor) could not do a step of the schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExecutorError {
    Row(RowFailure),
    Instrument(InstrumentFailure),
    /// Failure of one slice alone; its service is left frozen.
    Slice(Box<DiscardedSlice>),
}

/// Why a run was cut off. Earlier measurements are stored, and the run can be resumed.
#[derive(Debug, thiserror::Error)]
pub enum CutOff {
    #[error("nothing more can be stored: {0}")]
    Storage(#[from] io::Error),
    #[error(transparent)]
    Instrument(#[from] InstrumentFailure),
}

impl ExecutorError {
    pub(crate) fn of_instrument(cause: impl std::fmt::Display) -> ExecutorError {
        InstrumentFailure(cause.to_string()).into()
    }
}

impl From<RowFailure> for ExecutorError {
    fn from(failure: RowFailure) -> ExecutorError {
        ExecutorError::Row(failure)
    }
}

impl From<InstrumentFailure> for ExecutorError {
    fn from(failure: InstrumentFailure) -> ExecutorError {
        ExecutorError::Instrument(failure)
    }
}
