//! Why the figures of a load are not to be trusted: what the engine found in its own counts, and what the machine did.

use std::fmt;

use tare_agent::FleetFinding;
use tare_load::Doubt;

use super::machine::Interference;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum LoadFinding {
    Engine(Doubt),
    Machine(Interference),
    /// Of a load from several generators.
    Fleet(FleetFinding),
}

impl LoadFinding {
    /// The stable word of the verdict.
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
