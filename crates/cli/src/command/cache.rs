//! `tare cache`: what TARE_HOME has, and the removal of what was not used.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use anyhow::Context;
use indicatif::DecimalBytes;
use serde::Serialize;
use tare_host::signals;
use tare_service::{
    build::Store,
    survey::{CacheItem, CacheKind},
};

use crate::{
    exit::Outcome,
    output::{paint, print_either},
    workspace::Global,
};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A cache that grew beyond this is named at the end of a command. All services of the catalogue take 7 GB.
const BYTES_MANY: u64 = 10_000_000_000;

/// Show what the cache has and how large it is, and remove what was not used
///
/// Prints one line for each kind of what TARE_HOME has: builds, crates that services in Rust share, sources that manifests name,
/// revisions, catalogues, commands that `make build` compiled, records of repositories that cannot be written to, and what scripts
/// installed. Tare makes all but the last two again when it needs them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare cache              what is there, how old and how large it is
  tare cache --prune      remove what was not used for 30 days
  tare cache --prune=0    remove all that is not in use now
  tare cache --json       each build, source and revision, with its folder

Exit codes: 0 fine, 1 the cache cannot be read or changed, 130 or 143 interrupted.")]
pub(crate) struct Args {
    /// Remove what was not used for DAYS days [default: 30]. Records, toolchains and what is in use stay
    #[arg(long, value_name = "DAYS", num_args = 0..=1, require_equals = true, default_missing_value = "30")]
    prune: Option<u16>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct CacheReport {
    folder: PathBuf,
    /// What is there now.
    bytes: u64,
    removed: usize,
    removed_bytes: u64,
    entries: Vec<CacheEntry>,
}

#[derive(Serialize)]
struct CacheEntry {
    kind: CacheKind,
    path: PathBuf,
    bytes: u64,
    /// When it was last used, or made.
    used: jiff::Timestamp,
    removed: bool,
}

pub(crate) fn run(global: &Global, args: &Args) -> anyhow::Result<Outcome> {
    let store = global.store()?;
    let unused = args.prune.map(|days| DAY * u32::from(days));
    let before =
        unused.map(|unused| SystemTime::now().checked_sub(unused).context("that is before the clock began"));
    let home = store.home().to_owned();
    let interrupt = signals::listen()?;
    let found = store.survey(before.transpose()?, &interrupt).with_context(|| home.display().to_string())?;
    let report = CacheReport::new(home, found)?;
    print_either(args.json, &report, || report.text(SystemTime::now()))?;
    Ok(Outcome::Fine)
}

impl CacheReport {
    fn new(folder: PathBuf, found: Vec<(CacheKind, CacheItem)>) -> anyhow::Result<CacheReport> {
        let sum = |removed| {
            found.iter().filter(|(_, kept)| kept.removed == removed).map(|(_, kept)| kept.bytes).sum()
        };
        let (bytes, removed_bytes) = (sum(false), sum(true));
        let entry = |(kind, kept): (CacheKind, CacheItem)| {
            let CacheItem { path, bytes, used, removed } = kept;
            anyhow::Ok(CacheEntry { kind, path, bytes, used: used.try_into()?, removed })
        };
        let mut entries = found.into_iter().map(entry).collect::<anyhow::Result<Vec<_>>>()?;
        entries.sort_by_key(|entry| (entry.kind, entry.used));
        let removed = entries.iter().filter(|entry| entry.removed).count();
        Ok(CacheReport { folder, bytes, removed, removed_bytes, entries })
    }

    fn text(&self, now: SystemTime) -> String {
        let mut text = format!("{} has {}\n", self.folder.display(), DecimalBytes(self.bytes));
        let mut kinds: BTreeMap<CacheKind, Vec<&CacheEntry>> = BTreeMap::new();
        for entry in self.entries.iter().filter(|entry| !entry.removed) {
            kinds.entry(entry.kind).or_default().push(entry);
        }
        for (kind, entries) in kinds {
            let bytes = DecimalBytes(entries.iter().map(|entry| entry.bytes).sum()).to_string();
            let ages: Vec<String> = [entries.first(), entries.last()]
                .into_iter()
                .flatten()
                .map(|entry| age(now, entry.used.into()))
                .collect();
            let used = match ages.as_slice() {
                [oldest, newest] if oldest != newest => format!("{oldest} to {newest}"),
                _ => ages.first().cloned().unwrap_or_default(),
            };
            text += &format!(
                "  {:<16}{:>5}  {bytes:>10}  used {used}{}\n",
                name(kind),
                entries.len(),
                stays(kind, &entries)
            );
        }
        if self.removed > 0 {
            text += &format!(
                "{} {}, {}\n",
                paint("33", "removed"),
                self.removed,
                DecimalBytes(self.removed_bytes)
            );
        }
        text
    }
}

fn name(kind: CacheKind) -> &'static str {
    match kind {
        CacheKind::Builds => "builds",
        CacheKind::SharedCrates => "shared crates",
        CacheKind::Sources => "sources",
        CacheKind::Revisions => "revisions",
        CacheKind::Catalogues => "catalogues",
        CacheKind::Commands => "commands",
        CacheKind::Records => "records",
        CacheKind::Other => "installed",
    }
}

/// What is said of a kind that is never removed.
fn stays(kind: CacheKind, entries: &[&CacheEntry]) -> String {
    let names = entries.iter().filter_map(|entry| entry.path.file_name()?.to_str());
    match kind {
        CacheKind::Records => "; stays".to_owned(),
        CacheKind::Other => format!("; stays: {}", names.collect::<Vec<_>>().join(", ")),
        _ => String::new(),
    }
}

fn age(now: SystemTime, used: SystemTime) -> String {
    match now.duration_since(used).unwrap_or_default().as_secs() / DAY.as_secs() {
        0 => "today".to_owned(),
        1 => "1 day ago".to_owned(),
        days => format!("{days} days ago"),
    }
}

/// Names the cache at the end of a command that let it grow beyond a bound. `began` is when the command began.
pub(crate) fn warn_of_growth(global: &Global, began: SystemTime) {
    let Ok(store) = global.store() else { return };
    // An entry that is made changes the time of the folder around it. To sum up all files takes a second.
    if !has_grown(store.home(), began) {
        return;
    }
    let found = store.survey(None, &std::sync::atomic::AtomicBool::new(false)).unwrap_or_default();
    let bytes = found.iter().map(|(_, kept)| kept.bytes).sum();
    if let Some(line) = growth(store.home(), bytes, BYTES_MANY) {
        tare_host::message!("{line}");
    }
}

fn has_grown(home: &Path, began: SystemTime) -> bool {
    Store::FOLDERS.iter().any(|name| {
        let changed = std::fs::metadata(home.join(name)).and_then(|folder| folder.modified());
        changed.is_ok_and(|changed| changed >= began)
    })
}

fn growth(home: &Path, bytes: u64, many: u64) -> Option<String> {
    (bytes > many).then(|| {
        format!(
            "note: {} has grown to {}; `tare cache` lists it, `tare cache --prune` removes what was not used for 30 days",
            home.display(),
            DecimalBytes(bytes)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(path: &str, bytes: u64, days: u32, removed: bool) -> CacheItem {
        let used = SystemTime::UNIX_EPOCH + (1000 - days) * DAY;
        CacheItem { path: path.into(), bytes, used, removed }
    }

    #[test]
    fn each_kind_is_a_line_with_its_age_and_its_size() {
        let found = vec![
            (CacheKind::Other, kept("/cache/swift", 900_000_000, 40, false)),
            (CacheKind::Builds, kept("/cache/builds/a", 1_000_000, 0, false)),
            (CacheKind::Builds, kept("/cache/builds/b", 2_500_000, 12, false)),
            (CacheKind::Builds, kept("/cache/builds/c", 7_000_000, 50, true)),
            (CacheKind::SharedCrates, kept("/cache/shared/x", 1_100_000_000, 1, false)),
        ];
        let report = CacheReport::new("/cache".into(), found).unwrap();
        let text = report.text(SystemTime::UNIX_EPOCH + 1000 * DAY);
        assert_eq!(
            anstream::adapter::strip_str(&text).to_string(),
            "/cache has 2.00 GB\n  \
             builds              2     3.50 MB  used 12 days ago to today\n  \
             shared crates       1     1.10 GB  used 1 day ago\n  \
             installed           1   900.00 MB  used 40 days ago; stays: swift\n\
             removed 1, 7.00 MB\n"
        );
        assert_eq!((report.bytes, report.removed_bytes), (2_003_500_000, 7_000_000));
    }

    #[test]
    fn growth_is_named_beyond_the_bound_and_after_a_command_that_added_something() {
        let home = tempfile::tempdir().unwrap();
        let before = SystemTime::now() - Duration::from_secs(60);
        assert!(!has_grown(home.path(), before), "there is no cache");
        std::fs::create_dir(home.path().join("builds")).unwrap();
        assert!(has_grown(home.path(), before));
        assert!(!has_grown(home.path(), SystemTime::now() + Duration::from_secs(60)));
        assert_eq!(growth(home.path(), 10, 10), None);
        let line = growth(Path::new("/cache"), 12_300_000_000, 10).unwrap();
        assert_eq!(
            line,
            "note: /cache has grown to 12.30 GB; `tare cache` lists it, `tare cache --prune` removes what was not used for 30 days"
        );
    }
}
