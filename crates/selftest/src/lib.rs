//! The instrument on trial: servers with known faults are proved, measured and analysed by the code that does so for
//! services, and each fault must be noticed.
//!
//! [`trials`] is the list; [`Bench`] executes them; `evaluate` asks transcripts and the analysis of runs, purely, whether
//! what must be seen is there; the [`Certificate`] is what is stored. Nothing here prints.

mod act;
mod bench;
mod certificate;
mod disturb;
mod evaluate;
mod trial;

pub use act::{Act, Campaign, Disturbance};
pub use bench::{Bench, SelftestError, Site};
pub use certificate::{Certificate, FORMAT, Finding};
pub use evaluate::{Analysed, Evaluation, Evidence, Outcome};
pub use trial::{Trial, trials};
