//! Reasons to distrust the figures of a load: contradictory counts of the engine, and interference.

use std::fmt;

use tare_agent::FleetFinding;
use tare_load::EngineFinding;

use super::machine::Interference;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum LoadFinding {
    Engine(EngineFinding),
    Machine(Interference),
    /// A finding of a load from several generators.
    Fleet(FleetFinding),
}

impl LoadFinding {
    /// The stable name of the finding in the verdict.
    pub(super) fn name(&self) -> &'static str {
        match self {
            LoadFinding::Engine(doubt) => doubt.name(),
            LoadFinding::Machine(_) => "interference",
            LoadFinding::Fleet(found) => found.name(),
        }
    }
}

impl fmt::Display for LoadFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadFinding::Engine(doubt) => doubt.fmt(f),
            LoadFinding::Machine(interference) => interference.fmt(f),
            LoadFinding::Fleet(found) => found.fmt(f),
        }
    }
}
