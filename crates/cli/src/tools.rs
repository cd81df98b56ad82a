//! Toolchains that `tare doctor --install` put below the cache of builds, which come first on PATH.

use std::{
    env,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::Command,
};

/// The variable by which the script of installation knows the folder.
pub(crate) const VARIABLE: &str = "TARE_TOOLS";

pub(crate) fn folder(cache: &Path) -> PathBuf {
    cache.join("tools")
}

/// Starts this program anew with the toolchains on PATH, if there are any that are not there yet: what it starts has
/// its environment. If that fails, they are not found, and each service says what it lacks.
pub(crate) fn enter(cache: &Path) {
    let path = env::var_os("PATH").unwrap_or_default();
    let installed = ["bin", "dotnet/bin"].map(|name| folder(cache).join(name));
    let new: Vec<PathBuf> = installed
        .into_iter()
        .filter(|folder| folder.is_dir() && !env::split_paths(&path).any(|known| known == *folder))
        .collect();
    if new.is_empty() {
        return;
    }
    let all = env::join_paths(new.into_iter().chain(env::split_paths(&path)));
    if let (Ok(all), Ok(program)) = (all, env::current_exe()) {
        let _error = Command::new(program).args(env::args_os().skip(1)).env("PATH", all).exec();
    }
}
