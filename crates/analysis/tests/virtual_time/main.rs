//! Whole runs in virtual time: the real scheduler over simulated services, from the plan to the figures.

mod bisect;
mod compare;
mod history;
mod identical;
mod machine;
mod runs;
mod slo;
