//! From the records of a run to figures, intervals, findings and verdicts. Only run folders are read.
#![warn(clippy::disallowed_macros, clippy::missing_errors_doc, unreachable_pub)]

mod accounting;
pub mod agents;
pub mod analysis;
pub mod apart;
pub mod behaviour;
pub mod bisection;
pub mod call_tree;
pub mod capacity;
pub mod checks;
pub mod comparison;
pub mod estimate;
pub mod expected;
pub mod figures;
pub mod findings;
pub mod history;
pub mod interleaved;
pub mod level;
pub mod loads;
pub mod sequential;
pub mod series;
pub mod status;
pub mod stop;
pub mod validity;
pub mod verdict;
pub mod versions;
pub mod why;
