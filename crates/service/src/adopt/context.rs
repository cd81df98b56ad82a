//! What `COPY` copies from: the entry's own folder, or the repository that it lies in where its build begins there.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use ignore::gitignore::Gitignore;

/// Where the entry's files lie in the service, and those of its repository.
pub(super) const ENTRY: &str = "entry";
const REPOSITORY: &str = "repository";
/// An entry lies at most so deep in its repository.
const LEVELS: usize = 3;

#[derive(Debug)]
pub(super) struct Context {
    folder: PathBuf,
    /// Files of the repository that the service needs too: from where, and to where in it.
    pub beyond: BTreeSet<(PathBuf, String)>,
}

/// A file or a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CopiedPlace {
    /// In the service.
    pub here: String,
    pub is_folder: bool,
    /// What a folder has.
    pub names: Vec<String>,
}

impl Context {
    pub(super) fn new(folder: &Path) -> Context {
        Context { folder: folder.to_owned(), beyond: BTreeSet::new() }
    }

    /// The files that a source of `COPY` names.
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

/// The paths below `folder` that a pattern names, whose last part may have `*`, `?` and `[]`.
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
