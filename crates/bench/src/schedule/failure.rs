//! Whose failure it is that nothing could be measured: the service's, or the instrument's. A service that fails is out, and the
//! others go on. A slice that an agent spoils has no figures, and its service goes on too. An instrument that fails can measure no
//! service: the run is cut off, nothing is said of any service, and the rest of the run can be measured once the cause is gone.

use std::io;

use crate::sample_agents::DiscardedSlice;

/// Why a service has no figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowFailure(pub String);

/// Why nothing can be measured, whatever the service: a full disk, no descriptors or memory left, cgroups that are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InstrumentFailure(pub String);

/// Why an [`Executor`](super::Executor) could not do what the schedule asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExecutorError {
    Row(RowFailure),
    Instrument(InstrumentFailure),
    /// Of one slice alone; its service is left frozen.
    Slice(Box<DiscardedSlice>),
}

/// Why a run has no end of its own. What was measured before is stored, and the run can be resumed.
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
