//! Finds an experiment: a file, or the name of an experiment in the repository.

use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use tare_base::spelling::suggestion;

use crate::workspace::Global;

/// The advice for a path of no file.
const EXPERIMENTS: &str =
    "The experiments of Tare have names: quick, all, and those that `tare catalogue` prints";

/// The file of an experiment. If there is no such file, a word without a slash and an ending is a name.
pub(crate) fn file(global: &Global, word: &Path) -> anyhow::Result<PathBuf> {
    let is_name = word.components().count() == 1 && word.extension().is_none();
    if word.is_file() || (!is_name && word.exists()) {
        return Ok(word.to_owned());
    }
    ensure!(is_name, "{}: there is no such file. {EXPERIMENTS}", word.display());
    let files = global.find()?.experiments()?;
    let wanted = word.to_string_lossy();
    if let Some(path) = among(&files, &wanted) {
        return Ok(path);
    }
    let names: Vec<String> = files.iter().filter_map(name).collect();
    if names.is_empty() {
        bail!("\"{wanted}\": there is no such file, and no experiments are named in a tare.toml");
    }
    bail!("unknown experiment \"{wanted}\"{}", suggestion(&wanted, names.iter().map(String::as_str)))
}

/// The file of the experiment with this name, if there is one.
pub(crate) fn named(global: &Global, word: &str) -> anyhow::Result<Option<PathBuf>> {
    Ok(among(&global.find()?.experiments()?, word))
}

fn among(files: &[PathBuf], wanted: &str) -> Option<PathBuf> {
    files.iter().find(|path| name(path).as_deref() == Some(wanted)).cloned()
}

fn name(path: impl AsRef<Path>) -> Option<String> {
    path.as_ref().file_stem().map(|stem| stem.to_string_lossy().into_owned())
}
