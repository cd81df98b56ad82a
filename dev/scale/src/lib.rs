//! Simulates many jobs on many machines and one collector for their results, by discrete events. Pure: a
//! scenario and a seed in, an outcome out. It starts no thread, reads no clock, and is deterministic by seed.
//!
//! A job is a whole run: it is built and measured on one exclusive machine, and leaves one bundle. The bundle
//! is pushed to the collector, checked, and committed once. Machines vanish and return, are disconnected from
//! the network, or are slow; a lost job is placed again. The simulation does not model differences of figures
//! between machines, or the measurement itself.
#![warn(clippy::missing_errors_doc, unreachable_pub)]

pub mod column;
mod events;
mod fleet;
mod jobs;
mod outcome;
pub mod random;
pub mod scenario;
mod simulation;
pub mod station;
pub mod tables;
pub mod uncertainty;

pub use outcome::{Outcome, Summary};
pub use simulation::run;

/// Time of the simulation, in microseconds from its start. Integers, so that rounding affects no order.
pub type Micros = u64;

/// Converts seconds to simulation time; never below 0.
pub fn micros(seconds: f64) -> Micros {
    (seconds.max(0.0) * 1e6).round() as Micros
}

/// Converts simulation time to seconds.
pub fn seconds(time: Micros) -> f64 {
    time as f64 / 1e6
}
