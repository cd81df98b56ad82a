//! Rust: `cargo update --dry-run` refreshes the index and reports the state of the lock. Releases and dates
//! then come from Cargo's cached index entry: no command prints dates, and `cargo info` includes
//! pre-releases.
//!
//! The newest release may need a newer compiler than the service allows. It is listed, but not locked.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::{Answer, client, version};

/// The fields of a release that are read here.
#[derive(Debug, Deserialize)]
struct Release {
    vers: String,
    yanked: bool,
    pubtime: Option<String>,
}

pub(super) fn ask(folder: &Path, name: &str) -> Result<Answer> {
    let lock = fs::read_to_string(folder.join("Cargo.lock")).context("it has no Cargo.lock")?;
    let used = used(&lock, name).with_context(|| format!("Cargo.lock has no {name}"))?;
    let printed = client::run(folder, &["cargo", "update", "--dry-run", "--verbose"])?;
    let entry = kept_entry(name).context("cargo keeps no index entry where it used to")?;
    let newest = newest(&entry).context("every release is a pre-release or yanked")?;
    Ok(Answer {
        used,
        date: newest.pubtime.as_deref().and_then(version::day),
        newest: newest.vers,
        lock: Some(behind(&printed.stderr, name)),
    })
}

/// The version that the service depends on directly; the lock may have other versions of the same name.
fn used(lock: &str, name: &str) -> Option<String> {
    let lock: toml::Table = lock.parse().ok()?;
    let packages = lock.get("package")?.as_array()?;
    let text = |package: &toml::Value, key| package.get(key).and_then(toml::Value::as_str).map(str::to_owned);
    let root = packages.iter().find(|package| package.get("source").is_none())?;
    let wanted = root.get("dependencies")?.as_array()?.iter().filter_map(toml::Value::as_str);
    // "NAME", or "NAME VERSION" if there are several.
    let wanted = wanted.map(|words| words.split_once(' ').unwrap_or((words, "")));
    let (_, only) = wanted.into_iter().find(|(wanted, _)| *wanted == name)?;
    let of_name = packages.iter().filter(|package| text(package, "name").as_deref() == Some(name));
    of_name.filter_map(|package| text(package, "version")).find(|version| only.is_empty() || version == only)
}

/// Packages other than the framework with newer releases, within or beyond what Cargo.toml allows.
fn behind(printed: &str, name: &str) -> usize {
    let told = |line: &&str| {
        let mut words = line.split_whitespace();
        let (what, package) = (words.next(), words.next());
        let newer = what == Some("Updating") && line.contains(" -> ")
            || what == Some("Unchanged") && line.contains("(available:");
        newer && package != Some(name)
    };
    printed.lines().filter(told).count()
}

/// The entry of a package in the most recently used index, from any registry.
fn kept_entry(name: &str) -> Option<Vec<u8>> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")))?;
    let registries = fs::read_dir(home.join("registry/index")).ok()?.flatten();
    let entries = registries.map(|registry| registry.path().join(".cache").join(place(name)));
    let changed = |path: &PathBuf| path.metadata().and_then(|metadata| metadata.modified()).ok();
    let newest = entries.filter(|path| path.is_file());
    fs::read(newest.max_by_key(|path| changed(path).unwrap_or(SystemTime::UNIX_EPOCH))?).ok()
}

/// Path of a package in an index: `2/ab`, `3/a/abc`, `ab/cd/abcde`.
fn place(name: &str) -> String {
    let name = name.to_lowercase();
    match name.len() {
        1 | 2 => format!("{}/{name}", name.len()),
        3 => format!("3/{}/{name}", &name[..1]),
        _ => format!("{}/{}/{name}", &name[..2], &name[2..4]),
    }
}

/// The newest release, neither yanked nor a pre-release. JSON objects are separated by zero bytes.
fn newest(entry: &[u8]) -> Option<Release> {
    let releases = entry.split(|byte| *byte == 0).filter_map(|json| serde_json::from_slice(json).ok());
    let stable = |release: &Release| {
        let core = release.vers.split('+').next().unwrap_or_default();
        !release.yanked && !core.contains('-')
    };
    releases.filter(stable).max_by_key(|release| version::numbers(&release.vers))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = r#"
        [[package]]
        name = "hyper"
        version = "0.14.1"
        source = "registry+x"
        [[package]]
        name = "hyper"
        version = "1.12.0"
        source = "registry+x"
        [[package]]
        name = "serde"
        version = "1.0.1"
        source = "registry+x"
        [[package]]
        name = "hyper-service"
        version = "0.1.0"
        dependencies = ["hyper 1.12.0", "serde"]
    "#;

    #[test]
    fn used_is_what_the_service_depends_on() {
        assert_eq!(used(LOCK, "hyper").as_deref(), Some("1.12.0"));
        assert_eq!(used(LOCK, "serde").as_deref(), Some("1.0.1"));
        assert_eq!(used(LOCK, "axum"), None);
        assert_eq!(used("", "axum"), None);
    }

    #[test]
    fn counts_what_the_lock_could_move_to_without_the_framework() {
        let printed = "    Updating crates.io index\n\
            \x20    Locking 1 package to latest Rust 1.88 compatible versions\n\
            \x20   Updating tokio v1.54.0 -> v1.54.1\n\
            \x20  Unchanged ntex v3.12.3 (available: v4.5.0, requires Rust 1.97)\n\
            \x20  Unchanged uuid v1.26.1 (available: v1.29.1, requires Rust 1.89.0)\n\
            note: to see how you depend on a package, run `cargo tree`\n";
        assert_eq!(behind(printed, "ntex"), 2);
        assert_eq!(behind("    Updating crates.io index\n", "ntex"), 0);
    }

    #[test]
    fn the_newest_is_neither_yanked_nor_a_pre_release() {
        let entry = b"\x03\x02\0\0\0etag: x\0\
            0.9.0\0{\"vers\":\"0.9.0\",\"yanked\":false}\0\
            0.10.0\0{\"vers\":\"0.10.0\",\"yanked\":false,\"pubtime\":\"2026-10-23T11:33:42Z\",\"deps\":[]}\0\
            0.11.0\0{\"vers\":\"0.11.0\",\"yanked\":true}\0\
            1.0.0-rc.1\0{\"vers\":\"1.0.0-rc.1\",\"yanked\":false}\0";
        let newest = newest(entry).unwrap();
        assert_eq!(newest.vers, "0.10.0");
        assert_eq!(newest.pubtime.as_deref(), Some("2026-10-23T11:33:42Z"));
        assert!(super::newest(b"").is_none());
    }

    #[test]
    fn places_in_the_index() {
        for (name, path) in [("h2", "2/h2"), ("url", "3/u/url"), ("Axum", "ax/um/axum"), ("x", "1/x")] {
            assert_eq!(place(name), path);
        }
    }
}
