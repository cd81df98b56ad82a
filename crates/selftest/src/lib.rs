//! Tests the instrument: servers with known faults are verified, measured and analysed by the code used for
//! services, and each fault must be detected.
//!
//! [`trials`] is the list, and [`TrialBench`] runs it. `evaluate` decides from transcripts and analyses whether a
//! fault was detected, without I/O. The [`Certificate`] is stored. Nothing here prints.
#![warn(clippy::disallowed_macros, clippy::missing_errors_doc, unreachable_pub)]

mod action;
mod bench;
mod certificate;
mod disturb;
mod evaluate;
mod trial;

pub use action::{Action, LoadDisturbance, LoadRun};
pub use bench::{SelftestError, TrialBench, TrialSite};
pub use certificate::{Certificate, FORMAT, TrialFinding};
pub use evaluate::{Analysed, Evaluation, Evidence, TrialOutcome};
pub use trial::{Trial, trials};
