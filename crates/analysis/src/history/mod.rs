//! Run against run, and histories of runs: what is comparable, what differs, and where levels changed.

pub mod changes;
pub mod comparable;
pub mod effects;
pub mod run;
pub mod scope;
pub mod spread;
