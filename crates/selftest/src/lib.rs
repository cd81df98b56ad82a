//! The instrument on trial: servers with known faults are weighed by the very code that weighs services, and each fault
//! must be seen.
//!
//! [`trials`] is the list; [`Bench`] carries an act out (through `run::prepare::prove`, or a whole campaign with
//! `run::bench`); `judge` says from transcripts and records, purely, whether what must be seen is there; the
//! [`Certificate`] is what is kept. Nothing here prints.

mod act;
mod bench;
mod certificate;
mod disturb;
mod judge;
mod series;
mod trial;

pub use act::{Act, Campaign, Disturbance};
pub use bench::{Bench, SelftestError, Site};
pub use certificate::{Certificate, FORMAT, Finding};
pub use judge::{Evidence, Judgement, Outcome};
pub use trial::{Trial, trials};
