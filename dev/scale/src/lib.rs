//! What happens when many jobs run on many machines and one collector takes their results: a simulation of discrete events.
//! Pure: a scenario and a seed in, an outcome out. It starts no thread, reads no clock, and the same seed gives the same outcome.
//!
//! A job is a whole run: it is built and measured on one machine, which is its alone, and leaves one bundle. The bundle is
//! pushed to the collector, checked, and committed once. Machines vanish and come back, are cut off from the network, or are
//! slow; a job that is lost is placed again. What the simulation does not know: how figures differ between machines, and
//! anything of the measuring itself.
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

/// Time of the simulation, in microseconds from its start. Whole numbers, so that no order of events depends on rounding.
pub type Micros = u64;

/// A time in seconds as the simulation counts it; never below 0.
pub fn micros(seconds: f64) -> Micros {
    (seconds.max(0.0) * 1e6).round() as Micros
}

/// The same the other way round.
pub fn seconds(time: Micros) -> f64 {
    time as f64 / 1e6
}
