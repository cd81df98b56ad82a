//! Python packages in a virtual environment in the tree: uv, poetry, pipenv, and pip with `requirements.txt`.

use std::{fs, path::Path};

use super::{InFolder, offline, online};
use crate::apart::ENVIRONMENTS;

const REQUIREMENTS: &str = "requirements.txt";
/// The usual name of a virtual environment.
const ENVIRONMENT: &str = ".venv";

/// The virtual environment of a program, such as `venv` for `venv/bin/uvicorn`.
pub(super) fn environment(word: &str) -> Option<&str> {
    let (folder, _) = word.strip_prefix("./").unwrap_or(word).split_once("/bin/")?;
    ENVIRONMENTS.into_iter().find(|name| *name == folder)
}

/// Installs by the lock file into the environment with this name.
pub(crate) fn install(folder: &Path, environment: Option<&str>) -> Option<InFolder> {
    let has = |name: &str| folder.join(name).is_file();
    let environment = environment.unwrap_or(ENVIRONMENT);
    Some(match () {
        () if has("uv.lock") && environment == ENVIRONMENT => {
            InFolder::new("uv.lock", vec![online("uv sync --frozen")])
        }
        () if has("uv.lock") => {
            let sync = format!("env UV_PROJECT_ENVIRONMENT={environment} uv sync --frozen");
            InFolder::new("uv.lock", vec![online(&sync)])
        }
        () if has("poetry.lock") => {
            let install = "env POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction";
            InFolder::new("poetry.lock", vec![online(install)])
        }
        () if has("Pipfile.lock") => {
            InFolder::new("Pipfile.lock", vec![online("env PIPENV_VENV_IN_PROJECT=1 pipenv sync")])
        }
        () if has(REQUIREMENTS) => InFolder {
            lock: REQUIREMENTS,
            steps: vec![
                offline(&format!("python3 -m venv {environment}")),
                online(&format!("{environment}/bin/pip install --quiet -r {REQUIREMENTS}")),
            ],
            unpinned: unpinned(&fs::read_to_string(folder.join(REQUIREMENTS)).unwrap_or_default()),
        },
        () => return None,
    })
}

/// The packages of a `requirements.txt` without an exact version.
fn unpinned(text: &str) -> Vec<String> {
    let text = text.replace("\\\n", " ");
    let requirement = |line: &str| {
        let line = line.split('#').next().unwrap_or_default().trim().to_owned();
        let is_package = line.starts_with(|c: char| c.is_ascii_alphanumeric()) && !line.contains('/');
        let name = line.split(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c)).next()?;
        (is_package && !line.contains("==")).then(|| name.to_owned())
    };
    text.lines().filter_map(requirement).collect()
}

/// A project file that names packages, and a command that installs them.
pub(super) fn unlocked(folder: &Path) -> Option<(&'static str, &'static str)> {
    const INSTALL: &str = "python3 -m venv .venv && .venv/bin/pip install .";
    let project: toml::Table = fs::read_to_string(folder.join("pyproject.toml")).ok()?.parse().ok()?;
    let of_project = project.get("project").and_then(|project| project.get("dependencies")?.as_array());
    let of_poetry = project
        .get("tool")
        .and_then(|tool| tool.get("poetry")?.get("dependencies")?.as_table())
        .is_some_and(|packages| packages.keys().any(|name| name != "python"));
    (of_poetry || of_project.is_some_and(|packages| !packages.is_empty()))
        .then_some(("pyproject.toml", INSTALL))
}
