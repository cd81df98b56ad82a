//! Separates a service at a revision from the user's work tree and from other revisions. Variables and words
//! that lead there are removed or refused. After its first answer the files that it uses are checked.
//!
//! Node and Python close their sources after reading, so only a tracer could show them. `ptrace` stops a
//! process at each system call, which changes the figures; fanotify needs root and sees the whole machine. So
//! all ways to foreign files are closed: no lookup upwards from a tree meets packages, and no variable, word,
//! link or package path leads out.

mod files;
mod variables;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use tare_host::process::InUse;

use files::ForeignOwner;
use variables::Variables;

/// Common names of a Python virtual environment, the usual one first.
pub(crate) const ENVIRONMENTS: [&str; 4] = [".venv", "venv", "env", ".env"];
/// Tare's own folder in a repository.
const OWN: &str = ".tare";

/// The folders that a service at a revision must not use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Apart {
    /// The top of the user's work tree.
    work_tree: PathBuf,
    /// The folder of all builds; each revision has its own build.
    builds: PathBuf,
    /// The folder of all checked-out trees, if this revision is one of them.
    trees: Option<PathBuf>,
    variables: Variables,
}

#[derive(Debug, thiserror::Error)]
pub enum ApartError {
    #[error(
        "\"{word}\" leads into your work tree, and each revision would run the same files there: name it relative to the folder of the \
         service{}, and each has its own", relative.as_ref().map(|path| format!(", as {path}")).unwrap_or_default()
    )]
    Word { word: String, relative: Option<String> },
    #[error("\"{word}\" leads out of the repository: a revision has nothing there")]
    Out { word: String },
    #[error(
        "{} lies above the folder of the revision, where packages are looked for too, and each revision would have the same: move it \
         away, or set TARE_HOME to a folder that has none above it", .0.display()
    )]
    Above(PathBuf),
    #[error(
        "it works with {}, which {whose}: each revision must have files of its own. Install its packages in its tree, such as by --build \
         'npm ci', and name no path that leads there", file.display()
    )]
    Foreign { file: PathBuf, whose: ForeignOwner },
    #[error(
        "it runs with {variable}, which leads into your work tree: each revision must have files of its own"
    )]
    Variable { variable: String },
    #[error(
        "{} leads to {}, which {whose}: each revision must have files of its own. Take a published version of the package, or move it \
         into the repository", link.display(), to.display()
    )]
    Link { link: PathBuf, to: PathBuf, whose: ForeignOwner },
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl Apart {
    /// Protects the work tree around `folder`. The process has these variables, and builds are in `builds`.
    pub fn new(folder: &Path, builds: &Path, variables: impl IntoIterator<Item = (String, String)>) -> Apart {
        let folder = files::resolved(folder);
        let top = folder.ancestors().find(|above| above.join(".git").exists()).unwrap_or(&folder);
        let (builds, variables) = (files::resolved(builds), Variables::new(top, variables));
        Apart { work_tree: top.to_owned(), builds, trees: None, variables }
    }

    pub fn work_tree(&self) -> &Path {
        &self.work_tree
    }

    /// Registers the folder in which the trees of all revisions lie.
    pub fn among(&mut self, folder: &Path) {
        self.trees = Some(files::resolved(folder));
    }

    /// An example of a build's folder.
    pub fn place_of_a_build(&self) -> PathBuf {
        self.builds.join("build")
    }

    /// Variables and list entries that are removed, for messages.
    pub fn left_out(&self) -> &[String] {
        &self.variables.left_out
    }

    /// The path of `folder` within the work tree.
    pub fn within(&self, folder: &Path) -> PathBuf {
        files::resolved(folder).strip_prefix(&self.work_tree).unwrap_or(Path::new("")).to_owned()
    }

    /// Checks the words of a command for a service in the folder `within` of its tree.
    ///
    /// # Errors
    /// A word leads into the work tree, or out of the tree.
    pub fn check_words(&self, words: &[String], within: &Path) -> Result<(), ApartError> {
        for word in words {
            if let Some((found, inner)) = variables::leading_into(word, &self.work_tree) {
                let folder = self.work_tree.join(within);
                let relative = inner.strip_prefix(&folder).ok().map(|path| path.display().to_string());
                return Err(ApartError::Word { word: found.to_owned(), relative });
            }
            if climbs_above(word, within.components().count()) {
                return Err(ApartError::Out { word: word.clone() });
            }
        }
        Ok(())
    }

    /// Checks that a lookup upwards from `tree`, such as Node's for packages, finds nothing.
    ///
    /// # Errors
    /// It finds a folder of packages, or the file of a workspace.
    pub fn check_above(&self, tree: &Path) -> Result<(), ApartError> {
        const MET: [&str; 5] = ["node_modules", ".pnp.cjs", "pnpm-workspace.yaml", "go.work", "Gemfile"];
        let above = tree.ancestors().skip(1);
        let met = above.flat_map(|folder| MET.map(|name| folder.join(name))).find(|path| path.exists());
        met.map_or(Ok(()), |path| Err(ApartError::Above(path)))
    }

    /// Variables to set and variables to remove for a process of the service in `place`. The virtual
    /// environment of its own tree comes first in `PATH`.
    pub(crate) fn environment(&self, place: &Path, tree: &Path) -> (Vec<(String, String)>, Vec<String>) {
        let Variables { set, unset, path, .. } = &self.variables;
        let mut set = set.clone();
        let folders = place.ancestors().take_while(|folder| folder.starts_with(tree));
        let mut environments = folders.flat_map(|folder| ENVIRONMENTS.map(|name| folder.join(name)));
        let own = environments.find(|folder| folder.join("bin").join("python").exists());
        let first = own.iter().map(|own| own.join("bin").display().to_string());
        let path = first.chain([path.clone()]).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(":");
        set.extend(own.map(|own| ("VIRTUAL_ENV".to_owned(), own.display().to_string())));
        set.extend((!path.is_empty()).then(|| ("PATH".to_owned(), path)));
        set.push(("PWD".to_owned(), place.display().to_string()));
        (set, unset.clone())
    }

    /// Checks that the service's processes use only files in `own`. `given` are the variables that Tare set.
    ///
    /// # Errors
    /// A file, a word or a variable leads elsewhere.
    pub fn prove(
        &self,
        in_use: &InUse,
        own: &[PathBuf],
        given: &[(String, String)],
    ) -> Result<(), ApartError> {
        let own: Vec<PathBuf> = own.iter().map(|path| files::resolved(path)).collect();
        let homes = files::homes(&in_use.files);
        for file in &in_use.files {
            if let Some(whose) = self.whose(file, &own, &homes) {
                return Err(ApartError::Foreign { file: file.clone(), whose });
            }
        }
        for word in &in_use.words {
            let leads = variables::leading_into(word, &self.work_tree).map(|(_, path)| path);
            if let Some(file) = leads.filter(|path| self.whose(path, &own, &homes).is_some()) {
                return Err(ApartError::Foreign { file, whose: ForeignOwner::WorkTree });
            }
        }
        let is_own = |name: &str, value: &str| given.iter().any(|(given, own)| given == name && own == value);
        let foreign = in_use.variables.iter().find(|variable| {
            let (name, value) = variable.split_once('=').unwrap_or((variable, ""));
            !is_own(name, value)
                && !variables::is_kept(name)
                && variables::leading_into(value, &self.work_tree)
                    .is_some_and(|(_, path)| self.whose(&path, &own, &homes).is_some())
        });
        foreign.map_or(Ok(()), |variable| Err(ApartError::Variable { variable: variable.clone() }))
    }

    /// Checks that links in a built tree, and paths that its virtual environments add, stay in it.
    ///
    /// # Errors
    /// A path leads to the work tree, another revision or other packages; or the tree is unreadable.
    pub fn check_links(&self, tree: &Path) -> Result<(), ApartError> {
        let unreadable = |source: ignore::Error| ApartError::Io {
            path: tree.to_owned(),
            source: io::Error::other(source),
        };
        for entry in ignore::WalkBuilder::new(tree).standard_filters(false).build() {
            let entry = entry.map_err(unreadable)?;
            let path = entry.path();
            let targets = match entry.file_type() {
                Some(kind) if kind.is_symlink() => vec![files::resolved(path)],
                Some(kind) if kind.is_file() && is_list_of_paths(path) => listed_paths(path),
                _ => Vec::new(),
            };
            for to in targets {
                let whose =
                    self.whose(&to, &[tree.to_owned()], &[]).or_else(|| files::of_packages(path, &to, tree));
                if let Some(whose) = whose {
                    return Err(ApartError::Link { link: path.to_owned(), to, whose });
                }
            }
        }
        Ok(())
    }

    /// The owner of a file, if it is neither the service nor the system.
    fn whose(&self, file: &Path, own: &[PathBuf], homes: &[PathBuf]) -> Option<ForeignOwner> {
        if own.iter().any(|own| file.starts_with(own)) {
            return None;
        }
        if [Some(&self.builds), self.trees.as_ref()].into_iter().flatten().any(|all| file.starts_with(all)) {
            return Some(ForeignOwner::OtherRevision);
        }
        match file.starts_with(&self.work_tree) {
            true => (!file.starts_with(self.work_tree.join(OWN))).then_some(ForeignOwner::WorkTree),
            false => files::packages_elsewhere(file, homes).then_some(ForeignOwner::Elsewhere),
        }
    }
}

/// Whether a relative path leaves the tree from a folder `levels` below its top.
fn climbs_above(word: &str, levels: usize) -> bool {
    let mut depth = i64::try_from(levels).unwrap_or(i64::MAX);
    word.starts_with("../")
        && word.split('/').any(|part| {
            depth += match part {
                ".." => -1,
                "" | "." => 0,
                _ => 1,
            };
            depth < 0
        })
}

/// Whether the file makes Python search packages elsewhere.
fn is_list_of_paths(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "pth" || extension == "egg-link")
}

fn listed_paths(path: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let paths = text.lines().map(|line| line.trim()).filter(|line| line.starts_with('/'));
    paths.map(|line| files::resolved(Path::new(line))).collect()
}

#[cfg(test)]
mod tests;
