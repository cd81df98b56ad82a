//! How far a run came, for any kind of run.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;
use tare_bench::record::Ending;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Status {
    /// It ended regularly.
    Complete,
    Interrupted,
    /// A process is currently writing its records.
    Running,
    CutOff,
    /// Its records cannot be read.
    Unknown,
}

impl Status {
    pub fn of(ending: Option<impl Into<Status>>, in_progress: bool) -> Status {
        match ending {
            Some(ending) => ending.into(),
            None if in_progress => Status::Running,
            None => Status::CutOff,
        }
    }

    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn text(self) -> &'static str {
        match self {
            Status::Complete => "complete",
            Status::Interrupted => "stopped by the user",
            Status::Running => "still running",
            Status::CutOff => "cut off",
            Status::Unknown => "end not known",
        }
    }
}

impl From<Ending> for Status {
    fn from(ending: Ending) -> Status {
        match ending {
            Ending::Interrupted => Status::Interrupted,
            Ending::Decided
            | Ending::BudgetSpent
            | Ending::BlocksMax
            | Ending::NothingLeft
            | Ending::Complete => Status::Complete,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_an_end_is_running_or_was_cut_off() {
        assert_eq!(Status::of(None::<Ending>, true), Status::Running);
        assert_eq!(Status::of(None::<Ending>, false), Status::CutOff);
        assert_eq!(Status::of(Some(Ending::Interrupted), true), Status::Interrupted);
        for ending in [Ending::Decided, Ending::BudgetSpent, Ending::BlocksMax, Ending::NothingLeft] {
            assert_eq!(Status::of(Some(ending), false), Status::Complete);
        }
    }
}
