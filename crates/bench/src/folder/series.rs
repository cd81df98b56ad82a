//! A folder of several runs: `series.json`, which names the run folders in it.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use serde_json::Value;
use tare_base::whole;
use tare_host::{
    foreign,
    seal::{self, BrokenSeal},
};

use super::{
    FILE_BYTES_MAX, FORMAT, FolderError, document,
    read::{is_readable, known, other_format},
};

/// `series.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeriesHead {
    /// [`FORMAT`] of the program that wrote it.
    pub format: String,
    pub title: String,
    /// Names of the run folders in it, in order. After reading, none is a path.
    pub members: Vec<String>,
}

pub(super) fn head_path(folder: &Path) -> PathBuf {
    folder.join("series.json")
}

/// Whether a folder holds a series.
pub fn is_one(folder: &Path) -> bool {
    head_path(folder).is_file()
}

impl SeriesHead {
    pub fn new(title: &str, members: Vec<String>) -> SeriesHead {
        SeriesHead { format: FORMAT.to_owned(), title: title.to_owned(), members }
    }

    /// Creates the folder of the series. An existing head stays unchanged.
    ///
    /// # Errors
    /// If the file system refuses.
    pub fn keep(&self, folder: &Path) -> Result<(), FolderError> {
        let path = head_path(folder);
        if path.exists() {
            return Ok(());
        }
        let write = || {
            let text = document(self)?;
            fs::create_dir_all(folder)?;
            whole::write(&path, text)
        };
        write().map_err(|source| FolderError::Io { path: path.clone(), source })
    }

    /// Reads the folder; also returns what was skipped: unknown fields, and names that are paths.
    ///
    /// # Errors
    /// If it cannot be read or understood, or has another major format.
    pub fn read(folder: &Path) -> Result<(SeriesHead, Vec<String>), FolderError> {
        let path = head_path(folder);
        let wrong = |reason: String| FolderError::Series { path: path.clone(), reason };
        let bytes = foreign::read(&path, FILE_BYTES_MAX).map_err(|error| wrong(error.to_string()))?;
        let bytes = seal::DOCUMENT
            .unseal(&bytes)
            .map_err(|_: BrokenSeal| FolderError::Broken { path: path.clone() })?;
        let value = foreign::json_value(&bytes).map_err(|error| wrong(error.to_string()))?;
        let format = value.get("format").and_then(Value::as_str).unwrap_or(FORMAT).to_owned();
        if !is_readable(&format) {
            return Err(wrong(format!("has {}", other_format(&format))));
        }
        let (mut head, mut damage) = known::<SeriesHead>("series.json", &format, value).map_err(wrong)?;
        let refused = head.members.iter().filter_map(|name| why_no_name(name));
        damage.extend(refused.map(|reason| format!("series.json {reason}: left out")));
        head.members.retain(|name| why_no_name(name).is_none());
        Ok((head, damage))
    }
}

/// The error in the name of a run folder. A path could lead out of the series' folder.
pub(super) fn why_no_name(name: &str) -> Option<String> {
    let mut parts = Path::new(name).components();
    let is_name =
        matches!((parts.next(), parts.next()), (Some(Component::Normal(only)), None) if only == name);
    (!is_name).then(|| format!("names {name:?}, which is no folder in it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_nowhere_else() {
        for name in ["a", "restinio-2017", "a..b", "..."] {
            assert_eq!(why_no_name(name), None);
        }
        for name in ["", ".", "..", "../x", "../../x", "/etc", "a/b", "a/", "./a", "a/../b"] {
            assert!(why_no_name(name).is_some(), "{name:?}");
        }
    }

    #[test]
    fn a_head_is_read_as_it_was_kept_and_a_foreign_one_as_far_as_it_can_be() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_one(folder.path()));
        let head = SeriesHead::new("All", vec!["a".to_owned(), "b".to_owned()]);
        head.keep(folder.path()).unwrap();
        SeriesHead::new("Another", Vec::new()).keep(folder.path()).unwrap();
        assert_eq!(SeriesHead::read(folder.path()).unwrap(), (head, Vec::new()), "it stays as it is");
        let cases = [
            r#"{"format": "2.0", "title": "T", "members": ["a", "../../x"]}"#,
            r#"{"format": "2.9", "title": "T", "members": ["a"], "mood": 1}"#,
            r#"{"format": "3.0", "title": "T", "members": ["a"]}"#,
            r#"{"format": "2.0", "title": "T"}"#,
            "{\"format\"",
        ];
        let told = cases.map(|text| {
            fs::write(head_path(folder.path()), text).unwrap();
            match SeriesHead::read(folder.path()) {
                Ok((head, damage)) => format!("{text}\n  {}; {}", head.members.join(", "), damage.join("; ")),
                Err(error) => format!("{text}\n  error: {error}"),
            }
        });
        insta::assert_snapshot!(told.join("\n").replace(&folder.path().display().to_string(), "FOLDER"));
    }
}
