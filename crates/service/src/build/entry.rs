//! A build-cache entry: the record of a successful build. An unreadable one causes a new build, no error.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use tare_base::whole;

use super::{BuildCost, Built, Laid};

/// The record of a successful build.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Hash of its input.
    pub content: String,
    /// Hash without the toolchain, to notice changed files or steps. Absent in older entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<String>,
    pub version: String,
    pub cost: BuildCost,
    /// The folder in which it runs. Products contain this path, so a moved cache is useless.
    pub folder: PathBuf,
    /// The sources that were copied into it.
    #[serde(default)]
    pub sources: Vec<Laid>,
}

impl Entry {
    pub(super) fn of(built: &Built) -> Entry {
        let Built { version, cost, content, files, place, sources, .. } = built.clone();
        Entry { content, files, version, cost, folder: place.to_path_buf(), sources }
    }

    /// Whether it is an existing build of these files.
    pub(super) fn is_of(&self, files: &str) -> bool {
        self.files.as_deref() == Some(files) && self.folder.is_dir()
    }

    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        whole::write(path, serde_json::to_string_pretty(self)?)
    }

    pub(super) fn read(path: &Path) -> Option<Entry> {
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Entry {
        Entry {
            content: "abc".into(),
            files: None,
            version: "1.2".into(),
            cost: BuildCost::NONE,
            folder: "/builds/abc/1".into(),
            sources: Vec::new(),
        }
    }

    #[test]
    fn an_entry_replaces_the_one_before_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("entry.json");
        assert_eq!(Entry::read(&path), None);
        for version in ["1.2", "1.3"] {
            let entry = Entry { version: version.to_owned(), ..entry() };
            entry.write(&path).unwrap();
            assert_eq!(Entry::read(&path), Some(entry));
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn an_entry_of_a_newer_tare_is_read_and_a_torn_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("entry.json");
        let mut json = serde_json::to_value(entry()).unwrap();
        json["signature"] = "new".into();
        let text = json.to_string();
        fs::write(&path, &text).unwrap();
        assert_eq!(Entry::read(&path), Some(entry()));
        for length in [0, 1, text.len() / 2, text.len() - 1] {
            fs::write(&path, &text[..length]).unwrap();
            assert_eq!(Entry::read(&path), None, "{length} bytes");
        }
    }
}
