//! Reasons to distrust the figures of a load: contradictory counts of the engine, and interference.

use std::fmt;

use tare_load::EngineFinding;

use super::machine::Interference;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LoadFinding {
    Engine(EngineFinding),
    Machine(Interference),
    /// A finding of a load from several generators.
    Several {
        name: &'static str,
        agent: Option<String>,
        text: String,
    },
}

impl LoadFinding {
    /// The stable name of the finding in the verdict.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            LoadFinding::Engine(doubt) => doubt.name(),
            LoadFinding::Machine(_) => "interference",
            LoadFinding::Several { name, .. } => name,
        }
    }
}

impl fmt::Display for LoadFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadFinding::Engine(doubt) => doubt.fmt(f),
            LoadFinding::Machine(interference) => interference.fmt(f),
            LoadFinding::Several { text, .. } => f.write_str(text),
        }
    }
}
