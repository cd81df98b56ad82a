//! Whose a file is, by its path.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// Why a file is not a revision's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
pub enum Whose {
    #[strum(to_string = "is of your work tree")]
    WorkTree,
    #[strum(to_string = "is of another revision")]
    OtherRevision,
    #[strum(to_string = "is a package outside of its tree")]
    Elsewhere,
}

/// Where the system has its files, and whoever administers it.
const SYSTEM: [&str; 9] = ["/usr", "/lib", "/lib32", "/lib64", "/opt", "/bin", "/sbin", "/nix", "/snap"];
/// Folders of packages.
const PACKAGES: [&str; 4] = ["node_modules", "site-packages", "dist-packages", "gems"];
/// Parts of the paths of caches in which a file of a version is always the same.
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

/// Without links and dots, as far as it is there.
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

/// Where the programs among `files` are installed, with the packages that they bring: the folder around their `bin`.
pub(super) fn homes(files: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let home = |file: &PathBuf| {
        let folder = file.parent().filter(|folder| folder.ends_with("bin"))?.parent()?;
        // Packages of the user lie beside programs of the user there.
        (!folder.ends_with(".local") && folder != Path::new("/")).then(|| folder.to_owned())
    };
    files.iter().filter_map(home).collect()
}

/// Whether a file is one of a package that neither the system has, nor a toolchain among `homes`, nor a cache that is addressed by
/// content.
pub(super) fn packages_elsewhere(file: &Path, homes: &[PathBuf]) -> bool {
    is_of_packages(file) && !is_shared(file) && !homes.iter().any(|home| file.starts_with(home))
}

/// Where a link among the packages of a tree leads: within the tree, to the system and to caches is allowed.
pub(super) fn of_packages(link: &Path, to: &Path, tree: &Path) -> Option<Whose> {
    let inner = link.strip_prefix(tree).unwrap_or(link);
    (inner.components().any(|part| part.as_os_str() == "node_modules")
        && !to.starts_with(tree)
        && !is_shared(to))
    .then_some(Whose::Elsewhere)
}

fn is_of_packages(file: &Path) -> bool {
    file.components().any(|part| PACKAGES.iter().any(|name| part.as_os_str() == *name))
}

fn is_shared(file: &Path) -> bool {
    let text = file.to_string_lossy();
    SYSTEM.iter().any(|folder| file.starts_with(folder)) || CACHES.iter().any(|part| text.contains(part))
}
