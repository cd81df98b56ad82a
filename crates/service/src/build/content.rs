//! The input of a build: files as git would track them, and the hash that identifies the build.

use std::{
    collections::HashSet,
    env, fs, io,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use ignore::{WalkBuilder, gitignore::Gitignore};

use crate::{
    catalogue::{GitSource, Step},
    survey::bytes,
};

/// Variables that make compilers and package managers produce other output from the same files.
const VARIABLES: [&str; 14] = [
    "CC",
    "CXX",
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "CPATH",
    "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH",
    "CMAKE_PREFIX_PATH",
    "GOFLAGS",
    "MAVEN_OPTS",
    "NODE_OPTIONS",
    "RUSTFLAGS",
];

#[derive(Debug)]
pub(super) struct Sources {
    root: PathBuf,
    files: Vec<PathBuf>,
}

impl Sources {
    /// Every file and link in `root` that git does not ignore, without `.git`.
    pub(super) fn list(root: &Path) -> io::Result<Sources> {
        let mut walk = WalkBuilder::new(root);
        // A checkout inside a folder that git ignores is not ignored itself.
        Sources::of_walk(root, walk.hidden(false).require_git(false).parents(!is_ignored(root)))
    }

    fn of_walk(root: &Path, walk: &mut WalkBuilder) -> io::Result<Sources> {
        walk.filter_entry(|entry| entry.file_name() != ".git");
        let mut files = Vec::new();
        for entry in walk.build() {
            let entry = entry.map_err(io::Error::other)?;
            if entry.file_type().is_some_and(|kind| !kind.is_dir()) {
                files.push(entry.path().strip_prefix(root).unwrap_or(entry.path()).to_owned());
            }
        }
        files.sort();
        Ok(Sources { root: root.to_owned(), files })
    }

    /// Every file and link in a checkout at `root`: tracked files count even if git's rules ignore them.
    pub(super) fn list_all(root: &Path) -> io::Result<Sources> {
        Sources::of_walk(root, WalkBuilder::new(root).standard_filters(false))
    }

    /// Adds names, contents, links and executable bits. Names are relative, so a marker that begins with a
    /// slash cannot be a name.
    pub(super) fn hash(&self, content: &mut Content) -> io::Result<()> {
        for name in &self.files {
            let path = self.root.join(name);
            let metadata = path.symlink_metadata()?;
            content.put(name.as_os_str().as_encoded_bytes());
            if metadata.is_symlink() {
                content.put(b"/link").put(fs::read_link(&path)?.as_os_str().as_encoded_bytes());
            } else {
                content.put(&fs::read(&path)?);
            }
            if metadata.is_file() && metadata.permissions().mode() & 0o111 != 0 {
                content.put(b"/executable");
            }
        }
        Ok(())
    }

    /// Copies the files to `folder`, and lists the copies.
    pub(super) fn copy(&self, folder: &Path) -> io::Result<Sources> {
        for name in &self.files {
            let (from, to) = (self.root.join(name), folder.join(name));
            fs::create_dir_all(to.parent().unwrap_or(folder))?;
            match from.symlink_metadata()?.is_symlink() {
                true => symlink(fs::read_link(&from)?, &to)?,
                false => fs::copy(&from, &to).map(drop)?,
            }
        }
        Ok(Sources { root: folder.to_owned(), files: self.files.clone() })
    }

    /// Bytes on disk of all other files in their folder.
    pub(super) fn bytes_beyond(&self) -> io::Result<u64> {
        let own: HashSet<PathBuf> = self.files.iter().map(|name| self.root.join(name)).collect();
        bytes(&self.root, |path| !own.contains(path))
    }
}

/// Whether a `.gitignore` above a folder ignores it: the nearest one with a matching rule decides.
fn is_ignored(folder: &Path) -> bool {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let says = |above: &Path| {
        let rules = Gitignore::new(above.join(".gitignore")).0;
        let found = rules.matched_path_or_any_parents(&folder, true);
        (!found.is_none()).then(|| found.is_ignore())
    };
    folder.ancestors().skip(1).find_map(says).unwrap_or(false)
}

/// BLAKE3 over parts, each prefixed by its length, so that two lists of parts never hash alike.
#[derive(Debug, Default)]
pub(super) struct Content {
    whole: blake3::Hasher,
    /// The hash without the toolchain, which is known only after its programs ran.
    without_toolchain: blake3::Hasher,
}

impl Content {
    pub(super) fn of_toolchain(text: &str) -> Content {
        let mut content = Content::default();
        put(&mut content.whole, text.as_bytes());
        content
    }

    /// Adds the variables that compilers read, if they are set.
    pub(super) fn put_environment(&mut self) {
        for name in VARIABLES {
            if let Some(value) = env::var_os(name) {
                self.put(b"/variable").put(name.as_bytes()).put(value.as_encoded_bytes());
            }
        }
    }

    /// Adds the steps of a build.
    pub(super) fn put_steps(&mut self, steps: &[Step]) {
        for step in steps {
            self.put(b"/step");
            for word in &step.command {
                self.put(word.as_bytes());
            }
        }
    }

    /// Adds a source that is copied beside the folder's files. Its patches are among those files.
    pub(super) fn put_source(&mut self, source: &GitSource) {
        let GitSource { git: _, commit, tree, into, patch } = source;
        self.put(b"/source").put(commit.as_bytes()).put(tree.as_bytes());
        for path in std::iter::once(into).chain(patch) {
            self.put(path.as_os_str().as_encoded_bytes());
        }
    }

    /// Adds a command, and the contents of files in `folder` that its words name.
    pub(super) fn put_command(&mut self, command: &[String], folder: &Path) {
        for word in command {
            self.put(word.as_bytes());
            if let Ok(bytes) = fs::read(folder.join(word)) {
                self.put(b"/file").put(&bytes);
            }
        }
    }

    pub(super) fn put(&mut self, part: &[u8]) -> &mut Content {
        put(&mut self.whole, part);
        put(&mut self.without_toolchain, part);
        self
    }

    /// The hash, in hexadecimal digits.
    pub(super) fn finish(&self) -> String {
        self.whole.finalize().to_hex().to_string()
    }

    /// The hash of all but the toolchain.
    pub(super) fn finish_without_toolchain(&self) -> String {
        self.without_toolchain.finalize().to_hex().to_string()
    }
}

fn put(hasher: &mut blake3::Hasher, part: &[u8]) {
    hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, name: &str, length: usize) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, vec![b'x'; length]).unwrap();
    }

    fn hash(folder: &Path) -> String {
        let mut content = Content::default();
        Sources::list(folder).unwrap().hash(&mut content).unwrap();
        content.finish()
    }

    #[test]
    fn what_git_ignores_is_no_source_and_a_copy_is_equal() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write(from.path(), "src/main.c", 10);
        write(from.path(), ".git/HEAD", 10);
        write(from.path(), "build/service", 10);
        fs::write(from.path().join(".gitignore"), "build\n").unwrap();
        symlink("src/main.c", from.path().join("link")).unwrap();
        let copied = Sources::list(from.path()).unwrap().copy(to.path()).unwrap();
        let names = [".gitignore", "link", "src/main.c"].map(PathBuf::from);
        assert_eq!(copied.files, names);
        assert_eq!(hash(from.path()), hash(to.path()));
        assert!(!to.path().join("build").exists() && !to.path().join(".git").exists());
        assert_eq!(fs::read_link(to.path().join("link")).unwrap(), Path::new("src/main.c"));
    }

    #[test]
    fn a_tree_of_git_has_what_git_ignores_and_has_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "dist/server.js", 1);
        write(folder.path(), ".git", 1);
        fs::write(folder.path().join(".gitignore"), "dist\n").unwrap();
        let files = |sources: io::Result<Sources>| sources.unwrap().files;
        assert_eq!(files(Sources::list(folder.path())), [".gitignore"].map(PathBuf::from));
        assert_eq!(
            files(Sources::list_all(folder.path())),
            [".gitignore", "dist/server.js"].map(PathBuf::from)
        );
    }

    #[test]
    fn content_names_links_and_permissions_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let mut seen = HashSet::new();
        let mut is_new = || seen.insert(hash(folder.path()));
        write(folder.path(), "a", 1);
        assert!(is_new());
        write(folder.path(), "a", 2);
        assert!(is_new());
        fs::set_permissions(path("a"), fs::Permissions::from_mode(0o755)).unwrap();
        assert!(is_new());
        fs::rename(path("a"), path("b")).unwrap();
        assert!(is_new());
        symlink("b", path("c")).unwrap();
        assert!(is_new());
        fs::remove_file(path("c")).unwrap();
        symlink("elsewhere", path("c")).unwrap();
        assert!(is_new());
    }

    #[test]
    fn a_folder_in_one_that_git_ignores_has_its_files() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), ".tare/revisions/1a2b/server.js", 1);
        fs::write(root.path().join(".tare/.gitignore"), "*\n").unwrap();
        let sources = Sources::list(&root.path().join(".tare/revisions/1a2b")).unwrap();
        assert_eq!(sources.files, [PathBuf::from("server.js")]);
    }

    #[test]
    fn only_what_is_no_source_takes_disk() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "source", 100_000);
        let sources = Sources::list(folder.path()).unwrap();
        assert_eq!(sources.bytes_beyond().unwrap(), 0);
        write(folder.path(), "made/artefact", 100_000);
        fs::hard_link(folder.path().join("made/artefact"), folder.path().join("made/again")).unwrap();
        let bytes = sources.bytes_beyond().unwrap();
        assert!((100_000..200_000).contains(&bytes), "{bytes}");
    }
}
