//! The files of a commit: listed by git, verified by hash, written, and compared with the disk.
//!
//! git's list is verified: a tree's hash follows from its entries, a commit's from its text, and commits are
//! requested by hash. So the files equal the commit, whatever the repository contains. They are written as
//! stored: attributes such as `export-subst`, `eol` or `filter` have no effect.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{self, BufRead, BufReader, BufWriter, Read, Write},
    os::unix::{
        ffi::OsStrExt,
        fs::{OpenOptionsExt, PermissionsExt, symlink},
    },
    path::{Component, Path, PathBuf},
};

use super::{
    RevisionError,
    hash::{bytes_of_hex, file_id, object_id},
    lfs,
};
use crate::git::{ObjectFormat, Repository};

/// A file, link or submodule of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TreeEntry {
    kind: EntryKind,
    /// The mode in the tree, such as `100755`.
    mode: String,
    /// The hash of its content, in hexadecimal digits.
    id: String,
    /// Size of its content; absent for a submodule.
    bytes: Option<u64>,
    path: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntryKind {
    File,
    Program,
    Link,
    Submodule,
}

/// All files of one commit, including its submodules.
#[derive(Debug)]
pub(super) struct Tree {
    format: ObjectFormat,
    entries: Vec<TreeEntry>,
    submodules: Vec<Submodule>,
    /// Pointers of Git LFS by path, which are replaced by the real files.
    large: BTreeMap<PathBuf, lfs::Pointer>,
}

#[derive(Debug)]
struct Submodule {
    path: PathBuf,
    repository: Repository,
    tree: Tree,
}

/// The first path at which a folder differs from its commit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Difference(pub PathBuf);

impl Tree {
    /// The files of `commit`, a full hash.
    pub(super) fn read(repository: &Repository, commit: &str) -> Result<Tree, RevisionError> {
        let text = repository.read(&["cat-file", "commit", commit], &[])?;
        let false_hash = || RevisionError::FalseHash { commit: commit.to_owned() };
        if object_id(repository.format, "commit", &text) != commit {
            return Err(false_hash());
        }
        let first = String::from_utf8_lossy(text.split(|byte| *byte == b'\n').next().unwrap_or_default())
            .into_owned();
        let id = first.strip_prefix("tree ").ok_or_else(false_hash)?;
        let listed = repository.read(&["ls-tree", "-r", "-l", "-z", "--full-tree", id], &[])?;
        let lines = listed.split(|byte| *byte == 0).filter(|line| !line.is_empty());
        let entries: Vec<TreeEntry> =
            lines.map(|line| entry(line).ok_or_else(false_hash)).collect::<Result<_, _>>()?;
        if tree_id(repository.format, &entries) != id {
            return Err(false_hash());
        }
        if let Some(unsafe_one) = entries.iter().find(|entry| !is_within(&entry.path)) {
            return Err(RevisionError::Unsafe { commit: commit.to_owned(), path: unsafe_one.path.clone() });
        }
        let submodules = submodules(repository, &entries, commit)?;
        let large = large(repository, &entries, commit)?;
        Ok(Tree { format: repository.format, entries, submodules, large })
    }

    /// Writes all files into the empty folder `root`. Links come last: nothing is written through one.
    pub(super) fn write(&self, repository: &Repository, root: &Path) -> Result<(), RevisionError> {
        let files: Vec<&TreeEntry> =
            self.entries.iter().filter(|entry| entry.kind != EntryKind::Submodule).collect();
        let mut links = Vec::new();
        batch(repository, &files, |entry, content| {
            let path = root.join(&entry.path);
            match (entry.kind, self.large.get(&entry.path)) {
                (EntryKind::Link, _) => {
                    let mut target = Vec::new();
                    content.read_to_end(&mut target)?;
                    links.push((path, target));
                    Ok(())
                }
                (kind, None) => write_file(&path, kind, content),
                (kind, Some(large)) => write_file(&path, kind, &mut large.open()?),
            }
        })?;
        for Submodule { path, repository, tree } in &self.submodules {
            let folder = root.join(path);
            fs::create_dir_all(&folder)
                .map_err(|source| RevisionError::Io { path: folder.clone(), source })?;
            tree.write(repository, &folder)?;
        }
        for (path, target) in links {
            let made = make_parent(&path).and_then(|()| symlink(std::ffi::OsStr::from_bytes(&target), &path));
            made.map_err(|source| RevisionError::Io { path, source })?;
        }
        Ok(())
    }

    /// Whether `root` contains exactly these files, with modes and links.
    pub(super) fn compare(&self, root: &Path) -> io::Result<Option<Difference>> {
        let mut expected = BTreeSet::new();
        self.expect(Path::new(""), &mut expected);
        if let Some(path) = beside(root, Path::new(""), &expected)? {
            return Ok(Some(Difference(path)));
        }
        self.differing(root, Path::new(""))
    }

    fn expect(&self, within: &Path, expected: &mut BTreeSet<PathBuf>) {
        let files = self.entries.iter().map(|entry| within.join(&entry.path));
        expected.extend(files);
        for Submodule { path, tree, .. } in &self.submodules {
            tree.expect(&within.join(path), expected);
        }
    }

    fn differing(&self, root: &Path, within: &Path) -> io::Result<Option<Difference>> {
        for entry in self.entries.iter().filter(|entry| entry.kind != EntryKind::Submodule) {
            let path = root.join(within).join(&entry.path);
            let is_same = match self.large.get(&entry.path) {
                Some(large) => kind_of(&path) == Some(entry.kind) && large.is_content_of(&path)?,
                None => self.is_at(entry, &path)?,
            };
            if !is_same {
                return Ok(Some(Difference(within.join(&entry.path))));
            }
        }
        for Submodule { path, tree, .. } in &self.submodules {
            if let Some(difference) = tree.differing(root, &within.join(path))? {
                return Ok(Some(difference));
            }
        }
        Ok(None)
    }

    fn is_at(&self, entry: &TreeEntry, path: &Path) -> io::Result<bool> {
        if kind_of(path) != Some(entry.kind) {
            return Ok(false);
        }
        let id = match entry.kind {
            EntryKind::Link => object_id(self.format, "blob", fs::read_link(path)?.as_os_str().as_bytes()),
            _ => file_id(self.format, path)?,
        };
        Ok(id == entry.id)
    }
}

/// Parses `MODE TYPE ID BYTES<tab>PATH`, with spaces before the bytes.
fn entry(line: &[u8]) -> Option<TreeEntry> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let (head, path) = (std::str::from_utf8(&line[..tab]).ok()?, &line[tab + 1..]);
    let mut words = head.split_ascii_whitespace();
    let (mode, _, id, bytes) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let kind = match mode {
        "120000" => EntryKind::Link,
        "160000" => EntryKind::Submodule,
        "100755" => EntryKind::Program,
        // Old repositories contain group-writable files.
        _ if mode.starts_with("100") => EntryKind::File,
        _ => return None,
    };
    let path = PathBuf::from(std::ffi::OsStr::from_bytes(path));
    Some(TreeEntry { kind, mode: mode.to_owned(), id: id.to_owned(), bytes: bytes.parse().ok(), path })
}

/// git itself refuses to check out paths that lead out of the folder or into a repository.
fn is_within(path: &Path) -> bool {
    let is_plain = |part: Component<'_>| match part {
        Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
        _ => false,
    };
    // `components` hides forms that a tree must not have: `a//b` and `a/./b`.
    let is_spelled_out = path.components().collect::<PathBuf>().as_os_str() == path.as_os_str();
    is_spelled_out && path.components().all(is_plain)
}

/// The hash of a tree, computed recursively from its entries.
fn tree_id(format: ObjectFormat, entries: &[TreeEntry]) -> String {
    #[derive(Default)]
    struct Node<'a> {
        leaves: Vec<(&'a [u8], &'a str, &'a str)>,
        folders: BTreeMap<&'a [u8], Node<'a>>,
    }
    fn id(format: ObjectFormat, node: &Node<'_>) -> String {
        let leaves =
            node.leaves.iter().map(|(name, mode, id)| (name.to_vec(), *name, *mode, (*id).to_owned()));
        // git sorts a folder as if its name ended with a slash.
        let folders = node
            .folders
            .iter()
            .map(|(name, folder)| ([name, b"/".as_slice()].concat(), *name, "40000", id(format, folder)));
        let mut all: Vec<_> = leaves.chain(folders).collect();
        all.sort();
        let mut text = Vec::new();
        for (_, name, mode, id) in all {
            text.extend_from_slice(mode.as_bytes());
            text.push(b' ');
            text.extend_from_slice(name);
            text.push(0);
            text.extend(bytes_of_hex(&id));
        }
        object_id(format, "tree", &text)
    }
    let mut root = Node::default();
    for entry in entries {
        let mut parts: Vec<&[u8]> = entry.path.as_os_str().as_bytes().split(|byte| *byte == b'/').collect();
        let name = parts.pop().unwrap_or_default();
        let folder = parts.into_iter().fold(&mut root, |node, part| node.folders.entry(part).or_default());
        folder.leaves.push((name, &entry.mode, &entry.id));
    }
    id(format, &root)
}

fn submodules(
    repository: &Repository,
    entries: &[TreeEntry],
    commit: &str,
) -> Result<Vec<Submodule>, RevisionError> {
    let wanted: Vec<&TreeEntry> = entries.iter().filter(|entry| entry.kind == EntryKind::Submodule).collect();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let names = names_of_submodules(repository, commit);
    wanted
        .into_iter()
        .map(|entry| {
            let missing =
                || RevisionError::NoSubmodule { commit: commit.to_owned(), path: entry.path.clone() };
            let name = names.get(&entry.path).ok_or_else(missing)?;
            let module = repository.submodule(name, &entry.path)?.ok_or_else(missing)?;
            let is_there = format!("{}^{{commit}}", entry.id);
            module.ask(&["cat-file", "-e", &is_there]).map_err(|_| missing())?;
            let tree = Tree::read(&module, &entry.id)?;
            Ok(Submodule { path: entry.path.clone(), repository: module, tree })
        })
        .collect()
}

/// The files that Git LFS stores outside the repository: a tree with its attribute contains pointers.
fn large(
    repository: &Repository,
    entries: &[TreeEntry],
    commit: &str,
) -> Result<BTreeMap<PathBuf, lfs::Pointer>, RevisionError> {
    let is_attributes =
        |entry: &&TreeEntry| entry.path.file_name().is_some_and(|name| name == ".gitattributes");
    let attributes = contents(repository, entries.iter().filter(is_attributes))?;
    if !attributes.iter().any(|(_, content)| lfs::is_asked_for(content)) {
        return Ok(BTreeMap::new());
    }
    let is_small = |entry: &&TreeEntry| entry.bytes.is_some_and(|bytes| bytes <= lfs::POINTER_BYTES_MAX);
    let small = contents(repository, entries.iter().filter(is_small))?;
    let pointers =
        small.iter().filter_map(|(path, content)| Some((path.clone(), lfs::Pointer::parse(content)?)));
    let stored = |(path, mut pointer): (PathBuf, lfs::Pointer)| {
        let missing = || RevisionError::NoLargeFile { commit: commit.to_owned(), path: path.clone() };
        pointer.find(repository.folder()).ok_or_else(missing)?;
        Ok((path, pointer))
    };
    pointers.map(stored).collect()
}

fn contents<'e>(
    repository: &Repository,
    entries: impl Iterator<Item = &'e TreeEntry>,
) -> Result<Vec<(PathBuf, Vec<u8>)>, RevisionError> {
    let entries: Vec<&TreeEntry> = entries.filter(|entry| entry.kind != EntryKind::Submodule).collect();
    let mut found = Vec::new();
    batch(repository, &entries, |entry, content| {
        let mut bytes = Vec::new();
        content.read_to_end(&mut bytes)?;
        found.push((entry.path.clone(), bytes));
        Ok(())
    })?;
    Ok(found)
}

/// Passes the content of each entry to `take`, in order.
fn batch(
    repository: &Repository,
    entries: &[&TreeEntry],
    mut take: impl FnMut(&TreeEntry, &mut dyn Read) -> io::Result<()>,
) -> Result<(), RevisionError> {
    let asked: String = entries.iter().map(|entry| format!("{}\n", entry.id)).collect();
    repository.stream(&["cat-file", "--batch"], asked.as_bytes(), |printed| {
        let mut printed = BufReader::new(printed);
        for entry in entries {
            let bytes = blob_bytes(&mut printed)?;
            let mut content = (&mut printed).take(bytes);
            take(entry, &mut content)?;
            io::copy(&mut content, &mut io::sink())?;
            printed.read_exact(&mut [0])?;
        }
        Ok(())
    })?;
    Ok(())
}

/// Names of submodules by path, from the commit's own `.gitmodules`.
fn names_of_submodules(repository: &Repository, commit: &str) -> BTreeMap<PathBuf, String> {
    let blob = format!("{commit}:.gitmodules");
    let words =
        ["config", "--no-includes", "--null", "--blob", &blob, "--get-regexp", r"^submodule\..*\.path$"];
    let text = repository.read(&words, &[]).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let pairs = text.split('\0').filter_map(|pair| pair.split_once('\n'));
    let named = pairs.filter_map(|(key, path)| {
        let name = key.strip_prefix("submodule.")?.strip_suffix(".path")?;
        Some((PathBuf::from(path), name.to_owned()))
    });
    named.collect()
}

/// Parses the line `ID blob BYTES` before a content.
fn blob_bytes(printed: &mut impl BufRead) -> io::Result<u64> {
    let mut line = String::new();
    printed.read_line(&mut line)?;
    let mut words = line.split_whitespace().skip(1);
    match (words.next(), words.next().and_then(|bytes| bytes.parse().ok())) {
        (Some("blob"), Some(bytes)) => Ok(bytes),
        _ => Err(io::Error::other(format!("an object is missing: {}", line.trim_end()))),
    }
}

fn make_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

/// An existing file is an error: a tree has each name once.
fn write_file(path: &Path, kind: EntryKind, content: &mut dyn Read) -> io::Result<()> {
    make_parent(path)?;
    let mode = if kind == EntryKind::Program { 0o755 } else { 0o644 };
    let file = fs::File::options().write(true).create_new(true).mode(mode).open(path)?;
    let mut file = BufWriter::new(file);
    io::copy(content, &mut file)?;
    file.flush()
}

fn kind_of(path: &Path) -> Option<EntryKind> {
    let metadata = fs::symlink_metadata(path).ok()?;
    match (metadata.is_file(), metadata.is_symlink()) {
        (true, _) if metadata.permissions().mode() & 0o100 != 0 => Some(EntryKind::Program),
        (true, _) => Some(EntryKind::File),
        (_, true) => Some(EntryKind::Link),
        _ => None,
    }
}

/// The first unexpected path below `root`. git tracks no empty folders, so an empty one is unexpected.
fn beside(root: &Path, within: &Path, expected: &BTreeSet<PathBuf>) -> io::Result<Option<PathBuf>> {
    for found in fs::read_dir(root.join(within))? {
        let found = found?;
        let path = within.join(found.file_name());
        let is_folder = found.file_type()?.is_dir();
        // Paths are sorted by components, so a folder's files follow it directly.
        let leads_on =
            is_folder && expected.range(path.clone()..).next().is_some_and(|next| next.starts_with(&path));
        let inner = if leads_on {
            beside(root, &path, expected)?
        } else {
            (!expected.contains(&path)).then_some(path)
        };
        if inner.is_some() {
            return Ok(inner);
        }
    }
    Ok(None)
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
