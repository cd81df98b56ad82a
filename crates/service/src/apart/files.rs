//! Classifies a file by its path: whether it belongs to a revision, and if not, to what.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// Why a file is not a revision's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
pub enum ForeignOwner {
    #[strum(to_string = "is of your work tree")]
    WorkTree,
    #[strum(to_string = "is of another revision")]
    OtherRevision,
    #[strum(to_string = "is a package outside of its tree")]
    Elsewhere,
}

/// Folders of the system and its administrator.
const SYSTEM: [&str; 9] = ["/usr", "/lib", "/lib32", "/lib64", "/opt", "/bin", "/sbin", "/nix", "/snap"];
/// Folders of packages.
const PACKAGES: [&str; 4] = ["node_modules", "site-packages", "dist-packages", "gems"];
/// Parts of cache paths in which the file of a version never changes.
const CACHES: [&str; 8] = [
    "/pkg/mod/",
    "/.cargo/registry/",
    "/.m2/repository/",
    "/.gradle/caches/",
    "/pnpm/store/",
    "/.pnpm-store/",
    "/.cache/uv/",
    "/.yarn/berry/cache/",
];

/// The path without links and dots, as far as it exists.
pub(super) fn resolved(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    match there {
        Some((above, real)) => match path.strip_prefix(above) {
            Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
            _ => real,
        },
        None => path.to_owned(),
    }
}

/// Installation folders of the programs among `files`, which also hold their packages: the parents of `bin`.
pub(super) fn homes(files: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let home = |file: &PathBuf| {
        let folder = file.parent().filter(|folder| folder.ends_with("bin"))?.parent()?;
        // `~/.local` also holds packages of the user, which are not part of a toolchain.
        (!folder.ends_with(".local") && folder != Path::new("/")).then(|| folder.to_owned())
    };
    files.iter().filter_map(home).collect()
}

/// Whether a file belongs to a package outside the system, the toolchains in `homes`, and content-addressed
/// caches.
pub(super) fn packages_elsewhere(file: &Path, homes: &[PathBuf]) -> bool {
    is_of_packages(file) && !is_shared(file) && !homes.iter().any(|home| file.starts_with(home))
}

/// Rejects a package link that leads out of the tree, unless to the system or a cache.
pub(super) fn of_packages(link: &Path, to: &Path, tree: &Path) -> Option<ForeignOwner> {
    let inner = link.strip_prefix(tree).unwrap_or(link);
    (inner.components().any(|part| part.as_os_str() == "node_modules")
        && !to.starts_with(tree)
        && !is_shared(to))
    .then_some(ForeignOwner::Elsewhere)
}

fn is_of_packages(file: &Path) -> bool {
    file.components().any(|part| PACKAGES.iter().any(|name| part.as_os_str() == *name))
}

fn is_shared(file: &Path) -> bool {
    let text = file.to_string_lossy();
    SYSTEM.iter().any(|folder| file.starts_with(folder)) || CACHES.iter().any(|part| text.contains(part))
}
