//! A source in a build, and its licence.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use tare_host::foreign;

use super::recognise;
use crate::catalogue::GitSource;

/// Size limit of a licence; the GPL has 35 kB.
const BYTES_MAX: u64 = 256 << 10;

/// A source in a build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Laid {
    pub git: String,
    pub commit: String,
    pub tree: String,
    pub into: PathBuf,
    /// Patches by Tare's authors that were applied.
    pub patch: Vec<PathBuf>,
    /// Absent if the top folder has no licence file.
    pub licence: Option<LicenceFile>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LicenceFile {
    pub file: String,
    /// Absent if the licence was not recognised.
    pub spdx: Option<String>,
}

impl Laid {
    pub(super) fn found(source: &GitSource, into: &Path) -> Laid {
        let GitSource { git, commit, tree, into: name, patch } = source.clone();
        Laid { git, commit, tree, into: name, patch, licence: LicenceFile::found(into) }
    }

    /// One line: repository, commit and licence.
    pub fn line(&self) -> String {
        const DIGITS: usize = 12;
        let commit = &self.commit[..DIGITS.min(self.commit.len())];
        let licence = match &self.licence {
            Some(LicenceFile { file, spdx: Some(spdx) }) => format!("licence {spdx} ({file})"),
            Some(LicenceFile { file, spdx: None }) => format!("its licence is in {file}"),
            None => "no licence file lies at its top".to_owned(),
        };
        let patched = match self.patch.len() {
            0 => String::new(),
            _ => {
                let names: Vec<String> = self.patch.iter().map(|path| path.display().to_string()).collect();
                format!(", changed by {}", names.join(", "))
            }
        };
        format!("{} at {commit}: {licence}{patched}", self.git)
    }
}

impl LicenceFile {
    /// The first recognised licence file at the top of `folder`, by name, or else the first one.
    fn found(folder: &Path) -> Option<LicenceFile> {
        let is_one = |name: &str| {
            let lower = name.to_lowercase();
            ["license", "licence", "copying"].iter().any(|word| lower.starts_with(word))
        };
        let entries = fs::read_dir(folder).ok()?.flatten();
        // Links and devices of an untrusted tree are not read.
        let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
        let names = files.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| is_one(name)).collect();
        names.sort();
        let of = |name: String| {
            let bytes = foreign::read(&folder.join(&name), BYTES_MAX).ok()?;
            let spdx = recognise::in_text(&String::from_utf8_lossy(&bytes));
            Some(LicenceFile { file: foreign::quotable(&name), spdx })
        };
        let mut found: Vec<LicenceFile> = names.into_iter().filter_map(of).collect();
        let best = found.iter().position(|file| file.spdx.is_some()).unwrap_or(0);
        (best < found.len()).then(|| found.swap_remove(best))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> Option<LicenceFile> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        LicenceFile::found(folder.path())
    }

    fn file(name: &str, spdx: Option<&str>) -> Option<LicenceFile> {
        Some(LicenceFile { file: name.to_owned(), spdx: spdx.map(str::to_owned) })
    }

    #[test]
    fn the_licence_of_a_source_is_that_of_the_file_at_its_top() {
        let mit = "The MIT License (MIT)\n\nCopyright (c) 2014";
        assert_eq!(of(&[("LICENSE", mit), ("README", "MIT")]), file("LICENSE", Some("MIT")));
        assert_eq!(of(&[("Licence.md", mit)]), file("Licence.md", Some("MIT")));
        assert_eq!(of(&[("COPYING", "ask us"), ("LICENSE.txt", mit)]), file("LICENSE.txt", Some("MIT")));
        assert_eq!(of(&[("COPYING", "ask us")]), file("COPYING", None));
        assert_eq!(of(&[("README", "MIT")]), None);
    }

    #[test]
    fn a_link_out_of_the_tree_is_no_licence() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::NamedTempFile::new().unwrap());
        fs::write(other.path(), "MIT License").unwrap();
        std::os::unix::fs::symlink(other.path(), folder.path().join("LICENSE")).unwrap();
        assert_eq!(LicenceFile::found(folder.path()), None);
    }

    #[test]
    fn a_line_says_what_came_under_which_licence() {
        let laid = Laid {
            git: "https://example.org/frame".to_owned(),
            commit: "0123456789abcdef0123456789abcdef01234567".to_owned(),
            tree: String::new(),
            into: "frame".into(),
            patch: Vec::new(),
            licence: file("LICENSE", Some("MIT")),
        };
        assert_eq!(laid.line(), "https://example.org/frame at 0123456789ab: licence MIT (LICENSE)");
        let unknown = Laid { licence: file("COPYING", None), ..laid.clone() };
        assert!(unknown.line().ends_with(": its licence is in COPYING"));
        let patched = Laid { licence: None, patch: vec!["a.patch".into(), "b.patch".into()], ..laid };
        assert!(patched.line().ends_with(": no licence file lies at its top, changed by a.patch, b.patch"));
    }
}
