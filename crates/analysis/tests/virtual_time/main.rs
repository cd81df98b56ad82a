//! Whole runs in virtual time: the real scheduler over simulated services, from the plan to the figures.

mod identical;
mod machine;
mod slo;
