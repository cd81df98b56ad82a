//! Builds the programs of Kubernetes from the Go module in `dev/engines/kubernetes`, and caches them by
//! content: the first time takes ten minutes of CPU time.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

/// The files of the module, embedded so that a build needs no checkout.
const MODULE: [(&str, &str); 5] = [
    ("go.mod", include_str!("../../kubernetes/go.mod")),
    ("go.sum", include_str!("../../kubernetes/go.sum")),
    ("main.go", include_str!("../../kubernetes/main.go")),
    ("cluster.go", include_str!("../../kubernetes/cluster.go")),
    ("pause/main.go", include_str!("../../kubernetes/pause/main.go")),
];
const DIGITS: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Programs {
    folder: PathBuf,
}

impl Programs {
    /// The cached programs, which may not exist yet.
    ///
    /// # Errors
    /// There is no folder for caches.
    pub fn cached() -> Result<Programs> {
        let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let cache = variable("XDG_CACHE_HOME").filter(|path| path.is_absolute());
        let cache = cache.or_else(|| variable("HOME").map(|home| home.join(".cache")));
        let home = variable("TARE_HOME").or_else(|| cache.map(|cache| cache.join("tare")));
        let home = home.context("none of TARE_HOME, XDG_CACHE_HOME and HOME is set")?;
        Ok(Programs::below(&std::path::absolute(home)?))
    }

    fn below(home: &Path) -> Programs {
        Programs { folder: home.join("engines").join(format!("kubernetes-{}", &content()[..DIGITS])) }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn are_built(&self) -> bool {
        self.kubernetes().is_file() && self.pause().is_file()
    }

    pub(super) fn kubernetes(&self) -> PathBuf {
        self.folder.join("kubernetes")
    }

    pub(super) fn pause(&self) -> PathBuf {
        self.folder.join("pause")
    }

    /// Builds them, unless they exist.
    ///
    /// # Errors
    /// Go is missing, a module cannot be downloaded, or there is no space.
    pub fn build(&self) -> Result<()> {
        if self.are_built() {
            return Ok(());
        }
        let place = self.folder.with_extension(format!("new-{}", std::process::id()));
        let built = build_in(&place).with_context(|| format!("building Kubernetes in {}", place.display()));
        // Another build of the same content may have finished first.
        let placed = built.and_then(|()| match fs::rename(place.join("bin"), &self.folder) {
            Err(error) if !self.are_built() => Err(error.into()),
            _ => Ok(()),
        });
        fs::remove_dir_all(&place)?;
        placed
    }
}

/// The name of the build: a hash of its sources.
fn content() -> String {
    let mut hasher = blake3::Hasher::new();
    for (name, text) in MODULE {
        for part in [name, text] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
    }
    hasher.finalize().to_hex().to_string()
}

fn build_in(place: &Path) -> Result<()> {
    let source = place.join("source");
    for (name, text) in MODULE {
        let path = source.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&source))?;
        fs::write(path, text)?;
    }
    fs::create_dir_all(place.join("bin"))?;
    for (package, name) in [("./pause", "pause"), (".", "kubernetes")] {
        let mut command = Command::new("nice");
        command.args(["-n", "19", "go", "build", "-trimpath", "-mod=readonly", "-ldflags=-s -w", "-o"]);
        command.arg(place.join("bin").join(name)).arg(package);
        // Without cgo, so that it runs on every machine, and in images without libraries.
        command.current_dir(&source).env("CGO_ENABLED", "0").env("GOWORK", "off").env_remove("GOFLAGS");
        let status = command.status().context("nice")?;
        if !status.success() {
            bail!("`go build` of {package} failed, {status}");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_found_by_the_content_of_its_module() {
        let home = tempfile::tempdir().unwrap();
        let programs = Programs::below(home.path());
        assert!(!programs.are_built() && programs == Programs::below(home.path()));
        let name = programs.folder().file_name().unwrap().to_str().unwrap();
        assert_eq!((name.len(), &name[..11]), (11 + DIGITS, "kubernetes-"));
        fs::create_dir_all(programs.folder()).unwrap();
        fs::write(programs.kubernetes(), "").unwrap();
        assert!(!programs.are_built(), "half of it");
        fs::write(programs.pause(), "").unwrap();
        assert!(programs.are_built());
        programs.build().unwrap();
    }
}
