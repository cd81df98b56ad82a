//! Run against run, and a history of runs: what of them is comparable, what differs, and where a level changed.

pub mod changes;
pub mod comparable;
pub mod effects;
pub mod run;
pub mod scope;
pub mod spread;
