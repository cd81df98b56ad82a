//! Packages of Node: npm, pnpm, yarn and bun, each by its own lock file.

use std::{fs, path::Path};

use serde_json::Value;

use super::{InFolder, offline, online};

pub(super) const FILE: &str = "package.json";
/// In the order in which they count. That of npm is often left over where another tool is used.
const LOCKS: [(&str, &str); 6] = [
    ("pnpm-lock.yaml", "pnpm install --frozen-lockfile"),
    ("yarn.lock", "yarn install --frozen-lockfile"),
    ("bun.lock", "bun install --frozen-lockfile"),
    ("bun.lockb", "bun install --frozen-lockfile"),
    ("npm-shrinkwrap.json", "npm ci"),
    ("package-lock.json", "npm ci"),
];

/// By the lock file, or by `npm install` where there is none; then what the package builds by itself.
pub(crate) fn install(folder: &Path) -> Option<InFolder> {
    let package = package(folder)?;
    let builds = package["scripts"]["build"].is_string();
    if !needs(&package) && !builds {
        return None;
    }
    let locked = LOCKS.into_iter().find(|(lock, _)| folder.join(lock).is_file());
    let (lock, install) = locked.unwrap_or((FILE, "npm install"));
    // The second generation of yarn has another word for it.
    let is_berry = lock == "yarn.lock"
        && fs::read_to_string(folder.join(lock)).is_ok_and(|text| text.contains("__metadata:"));
    let install = if is_berry { "yarn install --immutable" } else { install };
    let script = builds.then(|| offline("npm run build"));
    Some(InFolder::new(lock, [online(install)].into_iter().chain(script).collect()))
}

/// By a lock file only.
pub(super) fn locked(folder: &Path) -> Option<InFolder> {
    install(folder).filter(|found| found.lock != FILE)
}

pub(super) fn names_packages(folder: &Path) -> bool {
    package(folder).is_some_and(|package| needs(&package))
}

/// Whether packages below it are installed with it.
pub(super) fn has_workspaces(folder: &Path) -> bool {
    folder.join("pnpm-workspace.yaml").is_file()
        || package(folder).is_some_and(|package| !package["workspaces"].is_null())
}

/// A package of workspaces needs what they need.
fn needs(package: &Value) -> bool {
    let names = |key: &str| package[key].as_object().is_some_and(|packages| !packages.is_empty());
    names("dependencies") || names("optionalDependencies") || !package["workspaces"].is_null()
}

fn package(folder: &Path) -> Option<Value> {
    serde_json::from_str(&fs::read_to_string(folder.join(FILE)).ok()?).ok()
}
