//! Node packages: npm, pnpm, yarn and bun, by lock file.

use std::{fs, path::Path};

use serde_json::Value;

use super::{InFolder, offline, online};

pub(super) const FILE: &str = "package.json";
/// Ordered by priority. npm's file is often a leftover beside another tool's.
const LOCKS: [(&str, &str); 6] = [
    ("pnpm-lock.yaml", "pnpm install --frozen-lockfile"),
    ("yarn.lock", "yarn install --frozen-lockfile"),
    ("bun.lock", "bun install --frozen-lockfile"),
    ("bun.lockb", "bun install --frozen-lockfile"),
    ("npm-shrinkwrap.json", "npm ci"),
    ("package-lock.json", "npm ci"),
];

/// Installs by the lock file, or by `npm install` without one; then runs the package's build script.
pub(crate) fn install(folder: &Path) -> Option<InFolder> {
    let package = package(folder)?;
    let builds = package["scripts"]["build"].is_string();
    if !needs(&package) && !builds {
        return None;
    }
    let locked = LOCKS.into_iter().find(|(lock, _)| folder.join(lock).is_file());
    let (lock, install) = locked.unwrap_or((FILE, "npm install"));
    // Yarn 2 and later use another option.
    let is_berry = lock == "yarn.lock"
        && fs::read_to_string(folder.join(lock)).is_ok_and(|text| text.contains("__metadata:"));
    let install = if is_berry { "yarn install --immutable" } else { install };
    let script = builds.then(|| offline("npm run build"));
    Some(InFolder::new(lock, [online(install)].into_iter().chain(script).collect()))
}

/// Only with a lock file.
pub(super) fn locked(folder: &Path) -> Option<InFolder> {
    install(folder).filter(|found| found.lock != FILE)
}

pub(super) fn names_packages(folder: &Path) -> bool {
    package(folder).is_some_and(|package| needs(&package))
}

/// Whether packages in subfolders are installed with this one.
pub(super) fn has_workspaces(folder: &Path) -> bool {
    folder.join("pnpm-workspace.yaml").is_file()
        || package(folder).is_some_and(|package| !package["workspaces"].is_null())
}

/// Whether there is anything to install; workspaces may have dependencies.
fn needs(package: &Value) -> bool {
    let names = |key: &str| package[key].as_object().is_some_and(|packages| !packages.is_empty());
    names("dependencies") || names("optionalDependencies") || !package["workspaces"].is_null()
}

fn package(folder: &Path) -> Option<Value> {
    serde_json::from_str(&fs::read_to_string(folder.join(FILE)).ok()?).ok()
}
