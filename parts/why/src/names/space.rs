//! The addresses of one process: where its files are mapped, and what its runtime says of the code that it made.

use std::{
    cell::{OnceCell, RefCell},
    fs::{self, File},
    os::unix::fs::MetadataExt,
    path::PathBuf,
};

use super::{
    hotspot::CompiledCode,
    perf_map::{self, PerfMap},
};
use crate::sample::Mapping;

/// A process as it was at the end of a slice.
#[derive(Debug, Default)]
pub struct Space {
    pid: u32,
    mappings: Vec<Mapping>,
    program: Option<String>,
    perf_map: PerfMap,
    /// The code of a JVM, from the first address on that needs it.
    pub(super) java: OnceCell<Option<RefCell<CompiledCode<File>>>>,
}

/// The library of a JVM.
pub(super) const JVM: &str = "libjvm.so";

impl Space {
    /// A live process with these mappings.
    pub fn of(pid: u32, mut mappings: Vec<Mapping>) -> Space {
        mappings.sort_by_key(|mapping| mapping.start);
        let program = fs::read_link(format!("/proc/{pid}/exe")).ok();
        let program = program.map(|path| path.to_string_lossy().into_owned());
        Space { pid, mappings, program, perf_map: perf_map(pid).unwrap_or_default(), java: OnceCell::new() }
    }

    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    pub fn mappings(&self) -> &[Mapping] {
        &self.mappings
    }

    pub(super) fn mapping(&self, address: u64) -> Option<&Mapping> {
        let after = self.mappings.partition_point(|mapping| mapping.start <= address);
        let mapping = self.mappings.get(after.checked_sub(1)?)?;
        (address < mapping.end).then_some(mapping)
    }

    pub(super) fn is_program(&self, path: &str) -> bool {
        self.program.as_deref() == Some(path)
    }

    /// Where a file of the process is to be read: as it sees it. A program that was replaced since is still there as such.
    pub(super) fn file(&self, path: &str) -> PathBuf {
        match self.is_program(path) {
            true => format!("/proc/{}/exe", self.pid).into(),
            false => format!("/proc/{}/root{path}", self.pid).into(),
        }
    }

    pub(super) fn jitted(&self, address: u64) -> Option<&str> {
        self.perf_map.find(address)
    }

    /// Code of the library with this file name.
    pub(super) fn library(&self, file: &str) -> Option<&Mapping> {
        self.mappings.iter().find(|mapping| mapping.path.rsplit('/').next() == Some(file))
    }

    /// The runtime of the process, by its files: only such a runtime makes code that needs a map.
    pub fn runtime(&self) -> Option<&'static str> {
        let has = |file: &str| self.library(file).is_some();
        let starts = |name: &str| {
            let program = self.program.as_deref().and_then(|path| path.rsplit('/').next());
            program.is_some_and(|program| program.starts_with(name))
        };
        if has(JVM) {
            Some("Java")
        } else if has("libcoreclr.so") {
            Some(".NET")
        } else if starts("node") {
            Some("Node.js")
        } else if starts("python") {
            Some("Python")
        } else {
            None
        }
    }

    /// Where CPython keeps a piece of code for each of its functions.
    pub(crate) fn trampolines(&self) -> impl Iterator<Item = &Mapping> {
        let is_python = self.runtime() == Some("Python");
        self.mappings.iter().filter(move |mapping| {
            is_python && mapping.path.is_empty() && self.perf_map.has_within(mapping.start, mapping.end)
        })
    }

    /// Whether the code has names that its runtime made.
    pub fn has_names(&self) -> bool {
        !self.perf_map.is_empty() || self.java.get().is_some_and(Option::is_some)
    }
}

/// The map of a process, which writes it under the number that it has in its own namespace.
fn perf_map(pid: u32) -> Option<PerfMap> {
    let (path, owner) = map_path(pid)?;
    let file = perf_map::open(&path, owner).ok()?;
    PerfMap::read(&file).ok()
}

/// Removes the map of a process that was started to write one.
pub fn remove_perf_map(pid: u32) {
    let Some((path, owner)) = map_path(pid) else { return };
    if perf_map::open(&path, owner).is_ok() {
        // A map that stays takes room, and no more.
        let _gone = fs::remove_file(path);
    }
}

/// Where the map of a process is, and its owner.
fn map_path(pid: u32) -> Option<(PathBuf, u32)> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    let inner: u32 = numbers.split_ascii_whitespace().next_back()?.parse().ok()?;
    let owner = fs::metadata(format!("/proc/{pid}")).ok()?.uid();
    // The process may have another root: it writes the map below that.
    let root = PathBuf::from(format!("/proc/{pid}/root"));
    Some((root.join(format!("tmp/perf-{inner}.map")), owner))
}
