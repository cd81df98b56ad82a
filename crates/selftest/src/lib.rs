//! Tests the instrument: servers with known faults are verified, measured and analysed by the code used for
//! services, and each fault must be detected.
//!
//! [`trials`] is the list, and [`Bench`] runs it. `evaluate` decides from transcripts and analyses whether a
//! fault was detected, without I/O. The [`Certificate`] is stored. Nothing here prints.
#![warn(clippy::disallowed_macros, clippy::missing_errors_doc, unreachable_pub)]

mod action;
mod bench;
mod certificate;
mod disturb;
mod evaluate;
mod trial;

pub use action::{Action, Disturbance, LoadRun};
pub use bench::{Bench, SelftestError, Site};
pub use certificate::{Certificate, FORMAT, Finding};
pub use evaluate::{Analysed, Evaluation, Evidence, Outcome};
pub use trial::{Trial, trials};
