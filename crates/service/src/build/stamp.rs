//! The record of a good build, on disk. One that cannot be read means "build again", never an error.

use std::{fs, io, path::Path};

use serde::{Deserialize, Serialize};

use super::Cost;

/// What a good build leaves behind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stamp {
    /// The content hash it was made from.
    pub content: String,
    /// The receipt at that time.
    pub version: String,
    /// What it cost; where it only mended an earlier build of which the whole cost is known, that of the whole one.
    pub cost: Cost,
}

impl Stamp {
    /// The cost to keep: a build that found most of its work done says nothing of what a framework costs.
    pub fn cost_to_keep(earlier: Option<Stamp>, new: Cost) -> Cost {
        match earlier {
            Some(stamp) if stamp.cost.from_nothing && !new.from_nothing => stamp.cost,
            _ => new,
        }
    }
}

/// Whole or not at all: written beside and renamed.
pub fn write(path: &Path, stamp: &Stamp) -> io::Result<()> {
    let beside = path.with_extension("json.new");
    fs::write(&beside, serde_json::to_string_pretty(stamp)?)?;
    fs::rename(beside, path)
}

/// The stamp, if there is a readable one.
pub fn read(path: &Path) -> Option<Stamp> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}
