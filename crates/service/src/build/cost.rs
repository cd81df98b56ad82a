//! What a build costs whoever includes the framework: time, CPU, network, disk.

use std::{
    collections::HashSet,
    fs, io,
    os::unix::fs::MetadataExt,
    path::Path,
    sync::{Mutex, PoisonError},
};

use ignore::WalkBuilder;
use serde::{Deserialize, Serialize};

use super::content;

/// What a build cost. A tool's cache outside of the folder makes a build cheaper than the first one on a new machine:
/// such a one is what a fresh machine shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// Time of its steps, in seconds, without waiting for other builds.
    pub seconds: f64,
    /// CPU time of its steps, in seconds.
    pub cpu_seconds: f64,
    /// What came over the network during the steps that bring packages, in bytes, of whatever the machine received then;
    /// none where the kernel does not tell.
    pub download_bytes: Option<u64>,
    /// What the service's folder holds afterwards beyond its sources, in bytes on the disk.
    pub disk_bytes: u64,
    /// Whether nothing of an earlier build was in the folder: only then the figures are those of a whole build.
    pub from_nothing: bool,
}

/// The network, which one build uses at a time.
#[derive(Debug, Default)]
pub(super) struct Network(Mutex<()>);

impl Network {
    /// Does `work` with the network to itself, and tells what came in meanwhile.
    pub fn alone<T>(&self, work: impl FnOnce() -> T) -> (T, Option<u64>) {
        let _turn = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = received_bytes();
        let done = work();
        let bytes = before.zip(received_bytes()).map(|(before, after)| after.saturating_sub(before));
        (done, bytes)
    }
}

/// What all interfaces but the loopback have received.
fn received_bytes() -> Option<u64> {
    received(&fs::read_to_string("/proc/net/dev").ok()?)
}

fn received(table: &str) -> Option<u64> {
    let lines = table.lines().filter_map(|line| line.split_once(':'));
    let outside = lines.filter(|(name, _)| name.trim() != "lo");
    outside.map(|(_, counters)| counters.split_ascii_whitespace().next()?.parse::<u64>().ok()).sum()
}

/// What a folder holds beyond its sources, in bytes on the disk. A file with several names counts once.
pub(super) fn disk_bytes(folder: &Path) -> io::Result<u64> {
    let sources: HashSet<_> = content::files(folder)?.into_iter().collect();
    let everything = WalkBuilder::new(folder).standard_filters(false).build();
    let mut seen = HashSet::new();
    let mut bytes = 0;
    for entry in everything {
        let entry = entry.map_err(io::Error::other)?;
        let Ok(metadata) = entry.path().symlink_metadata() else { continue };
        let counts = metadata.is_file() && !sources.contains(entry.path());
        if counts && seen.insert((metadata.dev(), metadata.ino())) {
            bytes += metadata.blocks() * 512;
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_is_no_download() {
        let table = "Inter-|   Receive                            |  Transmit\n \
            face |bytes    packets errs drop fifo frame compressed multicast|bytes\n    \
            lo: 900 1 0 0 0 0 0 0 900\n  eth0: 70 1 0 0 0 0 0 0 5\n  eth1:3 1 0\n";
        assert_eq!(received(table), Some(73));
        assert_eq!(received("  eth0: many"), None);
    }

    #[test]
    fn only_what_is_no_source_takes_disk() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, length| fs::write(folder.path().join(name), vec![1; length]).unwrap();
        write(".gitignore", 10);
        fs::write(folder.path().join(".gitignore"), "made\n").unwrap();
        write("source", 100_000);
        assert_eq!(disk_bytes(folder.path()).unwrap(), 0);
        fs::create_dir(folder.path().join("made")).unwrap();
        write("made/artefact", 100_000);
        fs::hard_link(folder.path().join("made/artefact"), folder.path().join("made/again")).unwrap();
        let bytes = disk_bytes(folder.path()).unwrap();
        assert!((100_000..200_000).contains(&bytes), "{bytes}");
    }
}
