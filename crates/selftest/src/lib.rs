//! Tests the instrument: servers with known faults are verified, measured and analysed by the code that does so for
//! services, and each fault must be noticed.
//!
//! [`trials`] is the list; [`Bench`] runs them; `evaluate` decides from transcripts and from the analysis of a run whether
//! the fault was noticed, and does no I/O; the [`Certificate`] is stored. Nothing here prints.
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
