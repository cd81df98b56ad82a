//! Selects the variables that a service at a revision inherits.

use std::path::{Path, PathBuf};

use super::{OWN, files::resolved};

/// Lists of package folders. Absolute entries would be shared by all revisions, whatever versions they lock.
const OF_PACKAGES: [&str; 5] = ["PYTHONPATH", "NODE_PATH", "CLASSPATH", "RUBYLIB", "PERL5LIB"];
/// Variables that name the folder of one project's packages or products.
const OF_PLACES: [&str; 19] = [
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYTHONHOME",
    "UV_PROJECT",
    "UV_PROJECT_ENVIRONMENT",
    "POETRY_VIRTUALENVS_PATH",
    "POETRY_VIRTUALENVS_CREATE",
    "POETRY_VIRTUALENVS_IN_PROJECT",
    "PIPENV_PIPFILE",
    "PIPENV_VENV_IN_PROJECT",
    "PIP_TARGET",
    "PIP_PREFIX",
    "BUNDLE_PATH",
    "BUNDLE_GEMFILE",
    "BUNDLE_APP_CONFIG",
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_TARGET_DIR",
    "GOWORK",
    "COMPOSER_VENDOR_DIR",
];
/// Variables of caches, which a CI runner may keep below the work tree, and Tare's own.
const KEPT: [&str; 15] = [
    "HOME",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "GOCACHE",
    "GOMODCACHE",
    "GRADLE_USER_HOME",
    "MAVEN_OPTS",
    "PIP_CACHE_DIR",
    "UV_CACHE_DIR",
    "YARN_CACHE_FOLDER",
    "npm_config_cache",
    "COMPOSER_HOME",
];

/// Variables to set and variables to remove.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Variables {
    pub set: Vec<(String, String)>,
    pub unset: Vec<String>,
    /// The inherited part of `PATH`; each service adds its own.
    pub path: String,
    /// Removed variables and list entries, for messages.
    pub left_out: Vec<String>,
}

impl Variables {
    /// Removes values that lead into the work tree or to packages shared by all revisions.
    pub(super) fn new(work_tree: &Path, all: impl IntoIterator<Item = (String, String)>) -> Variables {
        let all: Vec<(String, String)> = all.into_iter().collect();
        let environment =
            all.iter().find(|(name, _)| name == "VIRTUAL_ENV").map(|(_, value)| PathBuf::from(value));
        let is_foreign = |entry: &str| {
            leading_into(entry, work_tree).is_some()
                || environment.as_ref().is_some_and(|environment| Path::new(entry).starts_with(environment))
        };
        let mut found = Variables::default();
        for (name, value) in &all {
            let name = name.as_str();
            if name == "PATH" {
                found.path = found.list(name, value, is_foreign);
            } else if OF_PACKAGES.contains(&name) {
                match found.list(name, value, |entry| entry.starts_with('/')) {
                    kept if kept.is_empty() => found.unset.push(name.to_owned()),
                    kept => found.set.push((name.to_owned(), kept)),
                }
            } else if ["PWD", "OLDPWD", "INIT_CWD"].contains(&name) {
                found.unset.push(name.to_owned());
            } else if OF_PLACES.contains(&name)
                || (!is_kept(name) && leading_into(value, work_tree).is_some())
            {
                found.unset.push(name.to_owned());
                found.left_out.push(name.to_owned());
            }
        }
        found
    }

    /// The entries of a list that are not foreign.
    fn list(&mut self, name: &str, value: &str, is_foreign: impl Fn(&str) -> bool) -> String {
        let (foreign, kept): (Vec<&str>, Vec<&str>) = value.split(':').partition(|entry| is_foreign(entry));
        self.left_out.extend(foreign.iter().map(|entry| format!("{entry} of {name}")));
        kept.join(":")
    }
}

pub(super) fn is_kept(name: &str) -> bool {
    KEPT.contains(&name) || name.starts_with("TARE_")
}

/// The first path in a text that leads into the work tree (without Tare's folder), as written and as
/// resolved. A link in the work tree counts, wherever it leads, such as a virtual environment's `python`.
pub(super) fn leading_into<'t>(text: &'t str, work_tree: &Path) -> Option<(&'t str, PathBuf)> {
    let separates = |c: char| c.is_whitespace() || ":=,;\"'()|&<>`".contains(c);
    let is_inner = |path: &PathBuf| path.starts_with(work_tree) && !path.starts_with(work_tree.join(OWN));
    text.split(separates).filter(|word| word.starts_with('/')).find_map(|word| {
        let path = Path::new(word);
        let link = path.parent().zip(path.file_name()).map(|(folder, name)| resolved(folder).join(name));
        let found = link.into_iter().chain([resolved(path)]).find(is_inner)?;
        Some((word, found))
    })
}
