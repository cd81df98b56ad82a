//! The records of a run in, figures, intervals, findings and verdicts out. Pure but for the reading of run folders.
#![warn(clippy::disallowed_macros, clippy::missing_errors_doc, unreachable_pub)]

mod accounting;
pub mod agents;
pub mod analysis;
pub mod apart;
pub mod behaviour;
pub mod bisection;
pub mod capacity;
pub mod checks;
pub mod comparison;
pub mod estimate;
pub mod expected;
pub mod faults;
pub mod figures;
pub mod findings;
pub mod history;
pub mod interleaved;
pub mod level;
pub mod loads;
pub mod machines;
pub mod sequential;
pub mod series;
pub mod status;
pub mod stop;
pub mod validity;
pub mod verdict;
pub mod versions;
