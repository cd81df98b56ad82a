//! The source of `COPY`: the entry's own folder, or the repository around it if its build starts there.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use ignore::gitignore::Gitignore;

/// Folders of the service for the entry's files and for files of its repository.
pub(super) const ENTRY: &str = "entry";
const REPOSITORY: &str = "repository";
/// Depth of an entry in its repository.
const LEVELS: usize = 3;

#[derive(Debug)]
pub(super) struct Context {
    folder: PathBuf,
    /// Further files of the repository: the path there, and the path in the service.
    pub beyond: BTreeSet<(PathBuf, String)>,
}

/// A file or a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CopiedPlace {
    /// The path in the service.
    pub here: String,
    pub is_folder: bool,
    /// The names of a folder's entries.
    pub names: Vec<String>,
}

impl Context {
    pub(super) fn new(folder: &Path) -> Context {
        Context { folder: folder.to_owned(), beyond: BTreeSet::new() }
    }

    /// The files that a source of `COPY` matches.
    pub(super) fn find(&mut self, source: &str) -> Vec<CopiedPlace> {
        let path = super::paths::absolute("/", source);
        let path = path.trim_start_matches('/');
        let own: Vec<CopiedPlace> =
            matching(&self.folder, path).iter().filter_map(|path| place(&self.folder, ENTRY, path)).collect();
        if !own.is_empty() {
            return own;
        }
        for above in self.folder.ancestors().skip(1).take(LEVELS) {
            let found = if path.is_empty() { Vec::new() } else { matching(above, path) };
            if !found.is_empty() {
                self.beyond
                    .extend(found.iter().map(|path| (above.join(path), format!("{REPOSITORY}/{path}"))));
                return found.iter().filter_map(|path| place(above, REPOSITORY, path)).collect();
            }
            if above.join(".git").exists() {
                break;
            }
        }
        Vec::new()
    }
}

fn place(folder: &Path, here: &str, path: &str) -> Option<CopiedPlace> {
    let metadata = folder.join(path).metadata().ok()?;
    let entries = fs::read_dir(folder.join(path)).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let here = if path.is_empty() { here.to_owned() } else { format!("{here}/{path}") };
    Some(CopiedPlace { here, is_folder: metadata.is_dir(), names })
}

/// The paths below `folder` that match a pattern; its last part may contain `*`, `?` and `[]`.
fn matching(folder: &Path, pattern: &str) -> Vec<String> {
    if !pattern.contains(['*', '?', '[']) {
        return if folder.join(pattern).exists() { vec![pattern.to_owned()] } else { Vec::new() };
    }
    let (parent, last) = pattern.rsplit_once('/').unwrap_or(("", pattern));
    let mut builder = ignore::gitignore::GitignoreBuilder::new("");
    if parent.contains(['*', '?', '[']) || builder.add_line(None, &format!("/{last}")).is_err() {
        return Vec::new();
    }
    let matcher = builder.build().unwrap_or_else(|_| Gitignore::empty());
    let entries = fs::read_dir(folder.join(parent)).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut found: Vec<String> = names
        .filter(|name| matcher.matched(name, false).is_ignore())
        .map(|name| if parent.is_empty() { name } else { format!("{parent}/{name}") })
        .collect();
    found.sort();
    found
}
