//! The packages that are a service's own: those of its lock file that come from no registry and no repository.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use serde::Deserialize;

/// Hexadecimal digits of the hash by which Cargo tells the ways to compile a package apart.
const HASH_DIGITS: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OwnPackages {
    pub(super) names: BTreeSet<String>,
}

#[derive(Deserialize)]
struct LockFile {
    package: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    source: Option<String>,
}

impl OwnPackages {
    /// By the nearest `Cargo.lock` from `folder` up to `top`; absent without one.
    pub(super) fn find(folder: &Path, top: &Path) -> Option<OwnPackages> {
        let within = folder.ancestors().take_while(|above| above.starts_with(top));
        within.map(|above| above.join("Cargo.lock")).find_map(|path| OwnPackages::read(&path))
    }

    fn read(path: &Path) -> Option<OwnPackages> {
        let lock: LockFile = toml::from_str(&fs::read_to_string(path).ok()?).ok()?;
        let own = lock.package.into_iter().filter(|package| package.source.is_none());
        let names = own.map(|package| package.name).collect::<BTreeSet<_>>();
        (!names.is_empty()).then_some(OwnPackages { names })
    }

    /// Removes what Cargo has compiled of these packages in the folder of a profile. Without the record in `.fingerprint` Cargo
    /// compiles a package again, so that is removed first; the rest would only take space.
    pub(super) fn remove(&self, units: &Path) -> io::Result<()> {
        let mut hashes = BTreeSet::new();
        for records in [".fingerprint", "build"] {
            for path in listed(&units.join(records))? {
                let name = name_of(&path);
                let (package, hash) = split(name);
                if self.names.contains(package) {
                    hashes.extend(hash.map(str::to_owned));
                    fs::remove_dir_all(&path)?;
                }
            }
        }
        let libraries: BTreeSet<String> = self.names.iter().map(|name| name.replace('-', "_")).collect();
        for path in listed(&units.join("deps"))? {
            let stem = name_of(&path).split('.').next().unwrap_or_default();
            let (name, hash) = split(stem);
            let library = name.strip_prefix("lib").unwrap_or(name);
            let is_own = [name, library].iter().any(|name| libraries.contains(*name));
            if is_own || hash.is_some_and(|hash| hashes.contains(hash)) {
                remove_any(&path)?;
            }
        }
        match fs::remove_dir_all(units.join("incremental")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

fn remove_any(path: &Path) -> io::Result<()> {
    if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

fn listed(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn name_of(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// `axum-service-0123456789abcdef` is a package and a hash.
fn split(name: &str) -> (&str, Option<&str>) {
    let is_hash =
        |text: &str| text.len() == HASH_DIGITS && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    match name.rsplit_once('-') {
        Some((package, hash)) if is_hash(hash) => (package, Some(hash)),
        _ => (name, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_without_a_source_are_the_services_own() {
        let folder = tempfile::tempdir().unwrap();
        let lock = "version = 4\n[[package]]\nname = \"my-service\"\nversion = \"0.1.0\"\ndependencies = [\"tokio\"]\n\
            [[package]]\nname = \"tokio\"\nversion = \"1.0.0\"\nsource = \"registry+https://example.org/index\"\n\
            [[package]]\nname = \"of-git\"\nversion = \"1.0.0\"\nsource = \"git+https://example.org/x#0123\"\n";
        let within = folder.path().join("crates/server");
        fs::create_dir_all(&within).unwrap();
        assert_eq!(OwnPackages::find(&within, folder.path()), None, "there is no lock file");
        fs::write(folder.path().join("Cargo.lock"), lock).unwrap();
        let own = OwnPackages::find(&within, folder.path()).unwrap();
        assert_eq!(own.names, BTreeSet::from(["my-service".to_owned()]));
        assert_eq!(OwnPackages::find(&within, &within), None, "what lies above the build is no part of it");
    }

    #[test]
    fn all_that_is_compiled_of_them_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            ".fingerprint/my-service-00000000000000aa/bin-my-service",
            ".fingerprint/my-service-client-00000000000000cc/lib",
            ".fingerprint/tokio-00000000000000bb/lib-tokio",
            "build/my-service-00000000000000ab/out/x",
            "build/ring-00000000000000dd/out/x",
            "deps/my_service-00000000000000aa",
            "deps/my_service-00000000000000aa.d",
            "deps/libmy_service-00000000000000ff.rlib",
            "deps/other_name-00000000000000aa",
            "deps/libtokio-00000000000000bb.rlib",
            "deps/libmy_service_client-00000000000000cc.rmeta",
            "incremental/my_service-1/s",
        ];
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let own = OwnPackages { names: BTreeSet::from(["my-service".to_owned()]) };
        own.remove(folder.path()).unwrap();
        own.remove(folder.path()).unwrap();
        let left: Vec<&str> = files.into_iter().filter(|file| folder.path().join(file).exists()).collect();
        assert_eq!(left, [files[1], files[2], files[4], files[9], files[10]]);
    }
}
