//! Programs of this machine, and folders of clusters.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

/// The missing Debian packages for these programs.
pub(crate) fn missing(programs: &[(&str, &'static str)]) -> Vec<&'static str> {
    let is_missing = |program: &str| find(program).is_none();
    let mut missing: Vec<&str> =
        programs.iter().filter(|(program, _)| is_missing(program)).map(|(_, package)| *package).collect();
    missing.dedup();
    missing
}

/// Finds a program by name or path. Debian keeps daemons outside of users' PATH.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    folders.map(|folder| folder.join(program)).find(|path| path.is_file())
}

pub(crate) fn path(name: &str) -> Result<String> {
    let found = find(name).with_context(|| format!("{name} is not installed"))?;
    Ok(found.display().to_string())
}

/// The output of a program; a failure is an error with its output.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().with_context(|| name.clone())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if !output.status.success() {
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
        bail!("`{name} {}`: {}: {}", words.join(" "), output.status, text(&output.stderr).trim());
    }
    Ok(text(&output.stdout))
}

pub(crate) fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| folder.display().to_string())
        }
        _ => Ok(()),
    }
}
