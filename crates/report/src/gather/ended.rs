//! How far a run came, whatever kind of run it is.

use tare_bench::{grid, run};

use crate::document::{Check, Status, Verdict};

/// By its last record. Without an end it goes on, or was cut off.
pub fn status(ending: Option<impl Into<Status>>, goes_on: bool) -> Status {
    match ending {
        Some(ending) => ending.into(),
        None if goes_on => Status::Running,
        None => Status::CutOff,
    }
}

/// What a gate is told of a run that has not come to its end.
pub fn check(name: &str, status: Status) -> Option<Check> {
    let why = match status {
        Status::Complete => return None,
        Status::Running => "the run goes on",
        Status::Interrupted | Status::CutOff | Status::Unknown => "the run did not come to its end",
    };
    Some(Check::new(name, Verdict::Inconclusive, why))
}

impl From<run::record::Ending> for Status {
    fn from(ending: run::record::Ending) -> Status {
        match ending {
            run::record::Ending::Interrupted => Status::Interrupted,
            run::record::Ending::Decided
            | run::record::Ending::BudgetSpent
            | run::record::Ending::BlocksMax
            | run::record::Ending::NothingLeft => Status::Complete,
        }
    }
}

impl From<grid::record::Ending> for Status {
    fn from(ending: grid::record::Ending) -> Status {
        match ending {
            grid::record::Ending::Complete => Status::Complete,
            grid::record::Ending::Interrupted => Status::Interrupted,
        }
    }
}
