//! The record of a good build, on disk. One that cannot be read means "build again", never an error.

use std::{fs, io, path::Path};

use serde::{Deserialize, Serialize};

/// What a good build leaves behind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stamp {
    /// The content hash it was made from.
    pub content: String,
    /// How long the steps took.
    pub build_seconds: f64,
    /// The receipt at that time.
    pub version: String,
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
