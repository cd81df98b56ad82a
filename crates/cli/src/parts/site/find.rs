//! Finds the runs of a site, each with the name in its address.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::bail;
use tare_bench::folder::{self, series};
use tare_report::gather::merged;

use crate::command::run_folders::{Place, folders_in};

#[derive(Debug)]
pub(super) struct FoundRun {
    /// The name; the second of two runs with the same name gets a number.
    pub(super) id: String,
    pub(super) path: PathBuf,
}

/// The files read from a run, with sizes and times. Reports are excluded, because Tare writes them.
pub(super) type Stamp = BTreeMap<String, (u64, u64)>;

/// The reports, which are made from the other files.
const REPORTS: [&str; 4] = ["report.html", "report.json", "report.md", "hgrm"];

/// The runs in these folders; of several names those of files are left out. If the user `named` them, a folder without
/// any run is an error.
pub(super) fn runs(folders: &[PathBuf], named: bool) -> anyhow::Result<Vec<FoundRun>> {
    let mut found: Vec<FoundRun> = Vec::new();
    for folder in folders {
        let before = found.len();
        for place in places(folder) {
            // A run in progress has no final figures.
            if folder::is_being_written(&place.path) {
                tare_host::message!("left out: {}: is still running", place.path.display());
                continue;
            }
            if found.iter().all(|known| known.path != place.path) {
                let id = free(&place.name, &found);
                found.push(FoundRun { id, path: place.path });
            }
        }
        // A shell's `record/*` names a README too.
        if folders.len() > 1 && folder.is_file() {
            continue;
        }
        if named && found.len() == before && !folder.is_dir() {
            bail!("{}: is no folder; name run folders, or a folder of run folders", folder.display());
        }
        if named && found.len() == before {
            bail!("{}: is no run folder, and there is none in it", folder.display());
        }
    }
    Ok(found)
}

/// The run that this folder is, or the runs in it, by their names.
fn places(folder: &Path) -> Vec<Place> {
    if is_run(folder) || series::is_one(folder) {
        let name = folder.canonicalize().ok().and_then(|path| Some(path.file_name()?.to_str()?.to_owned()));
        let place = Place { name: name.unwrap_or_else(|| "run".to_owned()), path: folder.to_owned() };
        return place.open();
    }
    let mut places: Vec<Place> = folders_in(folder).into_iter().flat_map(Place::open).collect();
    places.retain(|place| is_run(&place.path));
    places.sort();
    places
}

fn is_run(folder: &Path) -> bool {
    folder.join("run.json").is_file() || merged::is_one(folder)
}

fn free(name: &str, found: &[FoundRun]) -> String {
    let is_free = |name: &str| found.iter().all(|known| known.id != name);
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(|name| is_free(name)).unwrap_or_default()
}

impl FoundRun {
    pub(super) fn stamp(&self) -> Stamp {
        let mut stamp = Stamp::new();
        collect(&self.path, &self.path, &mut stamp);
        stamp
    }
}

fn collect(root: &Path, folder: &Path, stamp: &mut Stamp) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, Ok(seen)) = (entry.path(), entry.metadata()) else { continue };
        let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
        if REPORTS.contains(&name.as_str()) {
            continue;
        }
        if seen.is_dir() {
            collect(root, &path, stamp);
            continue;
        }
        let modified = seen.modified().ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        let modified_ns = modified.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX));
        stamp.insert(name, (seen.len(), modified_ns));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_of_runs(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            fs::create_dir_all(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("run.json"), "{}").unwrap();
        }
        folder
    }

    #[test]
    fn two_runs_of_one_name_have_two_addresses_and_one_run_has_one() {
        let [one, other] = [folder_of_runs(&["quick", "all"]), folder_of_runs(&["quick"])];
        let all = [one.path().to_owned(), other.path().to_owned(), one.path().join("quick")];
        let ids: Vec<String> = runs(&all[..2], true).unwrap().into_iter().map(|found| found.id).collect();
        assert_eq!(ids, ["all", "quick", "quick-2"]);
        let error = runs(&all, true).unwrap_err().to_string();
        assert!(error.ends_with("is no run folder, and there is none in it"), "{error}");
    }

    #[test]
    fn what_is_read_of_a_run_is_in_its_stamp_and_reports_are_not() {
        let folder = folder_of_runs(&["one"]);
        let found = FoundRun { id: "one".to_owned(), path: folder.path().join("one") };
        let before = found.stamp();
        fs::write(found.path.join("report.html"), "page").unwrap();
        assert_eq!(found.stamp(), before);
        fs::create_dir(found.path.join("histograms")).unwrap();
        fs::write(found.path.join("histograms/a"), "1").unwrap();
        assert_ne!(found.stamp(), before);
    }
}
