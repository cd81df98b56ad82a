//! Which run a command means if it names none.

use std::path::PathBuf;

use anyhow::Context;
use tare_bench::folder::series;

use crate::workspace::Global;

/// The newest run of the checkout: names of run folders begin with the time.
pub(super) fn newest(global: &Global) -> anyhow::Result<PathBuf> {
    let runs = global.find()?.join("runs");
    let entries = std::fs::read_dir(&runs).with_context(|| format!("{}: no runs yet", runs.display()))?;
    let folders = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let newest = folders.filter(|path| path.join("run.json").exists() || series::is_one(path)).max();
    newest.with_context(|| format!("{}: no runs yet", runs.display()))
}
