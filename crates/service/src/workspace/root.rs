//! The folder that a command works in: the nearest parent with a `tare.toml`, or the current folder.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use ignore::WalkBuilder;

use super::{
    WorkspaceError,
    bundle::PackedCatalogue,
    project::{FILE, Project},
};

/// The folder in the root for everything that Tare writes into a repository.
const OWN: &str = ".tare";
/// A folder inside it, if the user has no cache folder.
pub(super) const HOME: &str = "home";
/// A folder inside it with one folder for each run.
const RUNS: &str = "runs";

#[derive(Debug)]
pub struct Root {
    pub folder: PathBuf,
    /// Absent without a `tare.toml`: only built-in contracts and services named by the user are available.
    pub(super) project: Option<Project>,
    /// Another repository whose services and contracts are available too.
    pub(super) catalogue: Option<Project>,
    /// The catalogue of this program. What the others lack is looked up there.
    pub(super) bundle: Option<PackedCatalogue>,
    /// Why it is not the catalogue, where it would be.
    pub(super) not_unpacked: Option<String>,
}

impl Root {
    /// # Errors
    /// The folder `given` has no `tare.toml`, or the file is invalid.
    pub fn find(given: Option<&Path>) -> Result<Root, WorkspaceError> {
        if let Some(given) = given {
            let folder = canonical(given)?;
            let project = Project::load(&folder)?;
            return match project {
                Some(_) => Ok(Root { folder, project, catalogue: None, bundle: None, not_unpacked: None }),
                None => Err(WorkspaceError::NoRoot(given.to_owned())),
            };
        }
        let here = env::current_dir().map_err(|error| unreadable(Path::new("."), error))?;
        let marked = here.ancestors().find(|folder| folder.join(FILE).is_file());
        let folder = marked.unwrap_or(&here).to_owned();
        Ok(Root {
            project: Project::load(&folder)?,
            folder,
            catalogue: None,
            bundle: None,
            not_unpacked: None,
        })
    }

    /// The root `folder`, as if its `tare.toml` had this text.
    ///
    /// # Errors
    /// The text is invalid.
    pub fn of_text(folder: &Path, text: &str) -> Result<Root, WorkspaceError> {
        let project = Some(Project::parse(folder, text)?);
        Ok(Root { folder: folder.to_owned(), project, catalogue: None, bundle: None, not_unpacked: None })
    }

    /// Adds the services and contracts of another repository, or of a folder of services with manifests.
    ///
    /// # Errors
    /// The folder does not exist, or its `tare.toml` is invalid.
    pub fn with_catalogue(mut self, folder: &Path) -> Result<Root, WorkspaceError> {
        self.catalogue = Some(Project::of_catalogue(&canonical(folder)?)?);
        Ok(self)
    }

    /// The folder of the unpacked bundle, if that is the catalogue.
    pub(super) fn unpacked(&self) -> Option<&Path> {
        let catalogue = self.catalogue.as_ref().filter(|_| self.bundle.is_some());
        catalogue.map(Project::folder)
    }

    /// Adds the catalogue that is packed into this program. Without a `tare.toml` it is the catalogue; otherwise it
    /// offers what is asked for by name, and "all" means the repository's own services.
    ///
    /// # Errors
    /// Its own `tare.toml` is invalid.
    pub fn with_bundle(mut self, bundle: PackedCatalogue) -> Result<Root, WorkspaceError> {
        if self.project.is_none() {
            // A full disk does not keep a command from services that the user names by their commands.
            match bundle.project() {
                Err(WorkspaceError::Unpack(error)) => self.not_unpacked = Some(error.to_string()),
                project => self.catalogue = Some(project?),
            }
        }
        self.bundle = Some(bundle);
        Ok(self)
    }

    /// All projects; the repository's own comes last, as its contracts take precedence.
    pub(super) fn projects(&self) -> impl Iterator<Item = &Project> {
        self.catalogue.iter().chain(&self.project)
    }

    /// The path and text of `tare.toml`, for readers of its other parts; absent if there is none.
    pub fn document(&self) -> Option<(PathBuf, &str)> {
        self.project.as_ref().map(Project::document)
    }

    /// The experiment files of the repository, of the other catalogue, and of this program.
    ///
    /// # Errors
    /// There are no others, and those of this program cannot be unpacked.
    pub fn experiments(&self) -> Result<Vec<PathBuf>, WorkspaceError> {
        let own = self.project.iter().chain(&self.catalogue).flat_map(Project::experiments);
        let mut files: Vec<PathBuf> = own.collect();
        match self.bundle.as_ref().map(PackedCatalogue::project) {
            Some(Ok(project)) => files.extend(project.experiments()),
            Some(Err(error)) if files.is_empty() => return Err(error),
            Some(Err(_)) | None => {}
        }
        Ok(files)
    }

    /// Where runs are stored.
    pub fn runs(&self) -> PathBuf {
        self.folder.join(OWN).join(RUNS)
    }

    /// The folders with runs of a repository: the user's, and those published with it.
    pub fn run_folders(&self) -> Vec<PathBuf> {
        vec![self.runs(), self.folder.join("record")]
    }
}

fn canonical(folder: &Path) -> Result<PathBuf, WorkspaceError> {
    folder.canonicalize().map_err(|error| unreadable(folder, error))
}

fn unreadable(folder: &Path, source: io::Error) -> WorkspaceError {
    match source.kind() {
        io::ErrorKind::NotFound => WorkspaceError::NoFolder(folder.to_owned()),
        _ => WorkspaceError::Folder { path: folder.to_owned(), source },
    }
}

/// The folder for what Tare writes about a repository: inside it, or below `home` if it is read-only.
pub(super) fn own_folder(root: &Path, home: &Path) -> PathBuf {
    let own = root.join(OWN);
    let nearest = if own.is_dir() { &own } else { root };
    match rustix::fs::access(nearest, rustix::fs::Access::WRITE_OK) {
        Ok(()) => own,
        Err(_) => {
            let hash = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
            home.join("repositories").join(&hash[..16])
        }
    }
}

/// A link on the path from `root` to `path` (inclusive), through which a write would go elsewhere.
pub fn link_on_the_way(root: &Path, path: &Path) -> Option<PathBuf> {
    let rest = path.strip_prefix(root).ok()?;
    let steps = rest.components().scan(root.to_owned(), |at, part| {
        at.push(part);
        Some(at.clone())
    });
    steps.into_iter().find(|path| path.is_symlink())
}

/// A link among Tare's files in `own`, if that is inside the repository, since a clone may contain one.
/// Folders of services and installers are skipped: Tare writes nothing through them. Runs are skipped too:
/// there may be thousands, and each command comes here.
pub(super) fn link_below(root: &Path, own: &Path) -> Option<PathBuf> {
    /// Enough for `verify/SERVICE/FILE`.
    const DEPTH: usize = 3;
    if !own.starts_with(root) {
        return None;
    }
    let (home, runs) = (own.join(HOME), own.join(RUNS));
    let of_others = [home, own.join("revisions"), own.join("tools")];
    let mut walk = WalkBuilder::new(own);
    walk.standard_filters(false).max_depth(Some(DEPTH));
    walk.filter_entry(move |entry| {
        let is_looked_into =
            entry.path().parent() != Some(&*runs) && !of_others.iter().any(|other| other == entry.path());
        entry.path_is_symlink() || is_looked_into
    });
    let found = walk.build().filter_map(Result::ok).find(|entry| entry.path_is_symlink());
    link_on_the_way(root, own).or(found.map(ignore::DirEntry::into_path))
}

/// Creates the folder `own` with a `.gitignore`. If that fails, the next write to it reports the error.
pub(super) fn make_own(own: &Path) {
    let ignore = own.join(".gitignore");
    if !ignore.exists() {
        let _who_writes_says_it = fs::create_dir_all(own).and_then(|()| fs::write(&ignore, "*\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_named_has_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let error = Root::find(Some(folder.path())).unwrap_err().to_string();
        assert!(error.ends_with("has no tare.toml"), "{error}");
        fs::write(folder.path().join(FILE), "format = \"1.0\"\n").unwrap();
        let root = Root::find(Some(folder.path())).unwrap();
        assert_eq!(root.folder, folder.path().canonicalize().unwrap());
        assert_eq!(root.run_folders()[0], root.folder.join(".tare/runs"));
    }

    #[test]
    fn git_ignores_what_is_written_into_a_repository() {
        let folder = tempfile::tempdir().unwrap();
        let own = own_folder(folder.path(), Path::new("/cache"));
        assert_eq!(own, folder.path().join(".tare"));
        assert!(!own.exists(), "before something is written");
        make_own(&own);
        assert_eq!(fs::read_to_string(own.join(".gitignore")).unwrap(), "*\n");
    }

    #[test]
    fn a_link_in_what_tare_writes_is_found() {
        use std::os::unix::fs::symlink;
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = folder.path();
        let own = root.join(OWN);
        for way in [
            ".tare",
            ".tare/runs",
            ".tare/builds/shop.log",
            ".tare/runs/r",
            ".tare/verify/a/b",
            ".tare/.gitignore",
        ] {
            let link = root.join(way);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(elsewhere.path(), &link).unwrap();
            assert_eq!(link_below(root, &own), Some(link), "{way}");
            fs::remove_file(root.join(way)).unwrap();
        }
        fs::create_dir_all(own.join("runs/s")).unwrap();
        symlink(elsewhere.path(), own.join("runs/s/journal.ndjson")).unwrap();
        assert_eq!(link_below(root, &own), None, "who continues a run looks through it");
        fs::create_dir_all(own.join("tools/bin")).unwrap();
        symlink("x", own.join("tools/bin/y")).unwrap();
        assert_eq!(link_below(root, &own), None, "what is installed there is not Tare's");
        symlink(elsewhere.path(), root.join("tare")).unwrap();
        assert_eq!(link_on_the_way(root, &root.join("tare/shop.toml")), Some(root.join("tare")));
        assert_eq!(link_on_the_way(root, &root.join("tare.toml")), None);
    }

    #[test]
    fn what_cannot_be_written_to_has_a_folder_elsewhere() {
        // Even root cannot write to a missing folder.
        let own = own_folder(Path::new("/no/such/folder"), Path::new("/cache"));
        assert!(own.starts_with("/cache/repositories"), "{}", own.display());
    }
}
