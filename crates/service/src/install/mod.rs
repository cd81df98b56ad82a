//! Plans how a service's packages are installed: lock file and steps. It reads files and runs nothing.
//!
//! `tare init` writes these steps into its file. A service at a revision without a build of its own uses
//! them: each revision with its own lock file in its own tree.

mod language;
mod locked;
mod node;
mod others;
mod outside;
mod python;

use std::path::{Path, PathBuf};

use crate::catalogue::{Requirement, Step};

use language::Language;
pub use locked::{PackageChange, changes};
pub(crate) use node::install as of_node;
pub(crate) use others::{of_go, of_gradle, of_maven, of_ruby, of_rust};
pub use outside::check as check_paths;
pub(crate) use python::install as of_python;

/// The installation of one language's packages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Install {
    /// The lock file, relative to the top of the tree.
    pub lock: PathBuf,
    /// Steps to run in the service's folder.
    pub steps: Vec<Step>,
    /// Tools whose versions are part of the build.
    pub tools: Vec<Requirement>,
    /// Packages that the file names without exact versions.
    pub unpinned: Vec<String>,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum InstallError {
    #[error(
        "{} names packages, and no lock file beside it says which versions: commit one, or say how they are installed, such as by \
         --build '{remedy}'", manifest.display()
    )]
    NoLock { manifest: PathBuf, remedy: &'static str },
    #[error(
        "{} is the lock file of another package, and {} is no workspace of it: commit a lock file beside it, or say how its packages \
         are installed, such as by --build '{remedy}'", lock.display(), manifest.display()
    )]
    OtherLock { lock: PathBuf, manifest: PathBuf, remedy: &'static str },
    #[error(
        "{} takes \"{path}\", which lies outside of the repository: every revision would have the same files there. Move it into the \
         repository, or take a published version of it", file.display()
    )]
    Outside { file: PathBuf, path: String },
    #[error(
        "the revision has no \"{program}\", which its command starts: git has not got it, and no install step makes it. Say how it is \
         built, such as by --build '{remedy}'"
    )]
    NoProgram { program: String, remedy: String },
}

/// The installations needed before `command` can run in the folder `within` of a tree.
///
/// # Errors
/// As [`find`]; or the program does not exist and no step creates it.
pub fn plan(tree: &Path, within: &Path, command: &[String]) -> Result<Vec<Install>, InstallError> {
    let installs = find(tree, within, command)?;
    check_program(tree, within, command, &installs)?;
    Ok(installs)
}

/// The installations that `command` may need. For each language in the command the nearest lock file upwards
/// counts. If it indicates no language, such as `sh serve.sh`, all lock files of the nearest folder count.
///
/// # Errors
/// Packages are named without a lock file.
pub fn find(tree: &Path, within: &Path, command: &[String]) -> Result<Vec<Install>, InstallError> {
    let words = words(command);
    let named = Language::of_words(&words);
    match named.as_slice() {
        [] => Ok(of_nearest(tree, within, &words)),
        named => {
            let each = named.iter().map(|language| of_language(*language, tree, within, &words));
            each.filter_map(Result::transpose).collect()
        }
    }
}

/// The words of a command, including those of a shell script.
fn words(command: &[String]) -> Vec<&str> {
    let apart = |word: &'_ str| word.contains(char::is_whitespace);
    let words = command.iter().flat_map(|word| match apart(word) {
        true => word.split(|c: char| c.is_whitespace() || ";&|()'\"".contains(c)).collect(),
        false => vec![word.as_str()],
    });
    words.filter(|word| !word.is_empty()).collect()
}

fn of_nearest(tree: &Path, within: &Path, words: &[&str]) -> Vec<Install> {
    let in_folder = |folder: &Path| -> Vec<Install> {
        let of = |language: Language| language.install(&tree.join(folder), words);
        let found = Language::ALL.into_iter().filter_map(|language| Some((language, of(language)?)));
        found.map(|(language, found)| install(language, found, folder, within)).collect()
    };
    within.ancestors().map(in_folder).find(|found| !found.is_empty()).unwrap_or_default()
}

fn of_language(
    language: Language,
    tree: &Path,
    within: &Path,
    words: &[&str],
) -> Result<Option<Install>, InstallError> {
    let mut unlocked = None;
    for folder in within.ancestors() {
        let place = tree.join(folder);
        if language.is_vendored(&place) {
            return Ok(None);
        }
        if let Some(found) = language.install(&place, words) {
            let install = install(language, found, folder, within);
            return match unlocked {
                Some((manifest, remedy)) if !language.has_members(&place) => {
                    Err(InstallError::OtherLock { lock: install.lock, manifest, remedy })
                }
                _ => Ok(Some(install)),
            };
        }
        let named = language.unlocked(&place).map(|(name, remedy)| (folder.join(name), remedy));
        unlocked = unlocked.or(named);
    }
    match unlocked {
        Some((manifest, remedy)) => Err(InstallError::NoLock { manifest, remedy }),
        None => Ok(None),
    }
}

/// The installation found in `folder`, adapted to a service in `within`.
fn install(language: Language, found: InFolder, folder: &Path, within: &Path) -> Install {
    let levels = within.components().count() - folder.components().count();
    let steps = found.steps.into_iter().map(|step| above(step, levels)).collect();
    Install {
        lock: folder.join(found.lock),
        steps,
        tools: language.tools(found.lock),
        unpinned: found.unpinned,
    }
}

/// The step, run `levels` folders above the service's.
fn above(step: Step, levels: usize) -> Step {
    if levels == 0 {
        return step;
    }
    let line = step.command.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    let folder = vec![".."; levels].join("/");
    let command = ["sh", "-c", &format!("cd {folder} && {line}")].map(str::to_owned).to_vec();
    Step { command, ..step }
}

fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), |word| word.into_owned())
}

/// The installation found in one folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct InFolder {
    pub lock: &'static str,
    pub steps: Vec<Step>,
    pub unpinned: Vec<String>,
}

impl InFolder {
    fn new(lock: &'static str, steps: Vec<Step>) -> InFolder {
        InFolder { lock, steps, unpinned: Vec::new() }
    }
}

/// Checks that a program with a path in the tree exists, or that an install step may create it.
fn check_program(
    tree: &Path,
    within: &Path,
    command: &[String],
    installs: &[Install],
) -> Result<(), InstallError> {
    let Some(program) = command.first().filter(|word| word.contains('/') && !word.starts_with('/')) else {
        return Ok(());
    };
    // Folders in which steps create files.
    let is_made = [".venv/", "venv/", "env/", "node_modules/", "target/", "vendor/", "build/", "dist/"]
        .iter()
        .any(|folder| program.trim_start_matches("./").contains(folder) && !installs.is_empty());
    if is_made || tree.join(within).join(program).exists() {
        return Ok(());
    }
    let name = program.trim_start_matches("./");
    let remedy = match () {
        () if tree.join(within).join("go.mod").is_file() => format!("go build -o {name} ."),
        () if tree.join(within).join("Cargo.toml").is_file() => "cargo build --release --locked".to_owned(),
        () if name.contains("bin/") => "python3 -m venv .venv && .venv/bin/pip install .".to_owned(),
        () => "make".to_owned(),
    };
    Err(InstallError::NoProgram { program: program.clone(), remedy })
}

/// A step without network.
pub(crate) fn offline(words: &str) -> Step {
    Step { command: words.split(' ').map(str::to_owned).collect(), ..Step::default() }
}

/// A step that downloads packages from a registry.
pub(crate) fn online(words: &str) -> Step {
    Step { network: true, ..offline(words) }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    pub(super) fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let tree = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = tree.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        tree
    }

    /// `LOCK: STEP && STEP`, or the error.
    fn planned(files: &[(&str, &str)], within: &str, command: &str) -> Result<Vec<String>, String> {
        let tree = tree(files);
        let command = crate::catalogue::command::words(command);
        let line = |install: &Install| {
            let steps = install.steps.iter().map(|step| step.command.join(" ")).collect::<Vec<_>>();
            format!("{}: {}", install.lock.display(), steps.join(" && "))
        };
        let installs = plan(tree.path(), Path::new(within), &command).map_err(|error| error.to_string())?;
        Ok(installs.iter().map(line).collect())
    }

    const NODE: (&str, &str) = ("package.json", r#"{"dependencies": {"express": "^5.0.0"}}"#);

    #[test]
    fn each_tool_installs_from_its_own_lock_file() {
        let venv =
            "requirements.txt: python3 -m venv .venv && .venv/bin/pip install --quiet -r requirements.txt";
        for (file, text, command, wanted) in [
            ("package-lock.json", "{}", "node a.js", "package-lock.json: npm ci"),
            ("npm-shrinkwrap.json", "{}", "npm start", "npm-shrinkwrap.json: npm ci"),
            ("pnpm-lock.yaml", "", "node a.js", "pnpm-lock.yaml: pnpm install --frozen-lockfile"),
            ("yarn.lock", "# v1", "node a.js", "yarn.lock: yarn install --frozen-lockfile"),
            ("yarn.lock", "__metadata:\n", "node a.js", "yarn.lock: yarn install --immutable"),
            ("bun.lock", "{}", "bun a.ts", "bun.lock: bun install --frozen-lockfile"),
            ("uv.lock", "", "uvicorn a:app", "uv.lock: uv sync --frozen"),
            (
                "uv.lock",
                "",
                "venv/bin/uvicorn a:app",
                "uv.lock: env UV_PROJECT_ENVIRONMENT=venv uv sync --frozen",
            ),
            (
                "poetry.lock",
                "",
                "python3.11 a.py",
                "poetry.lock: env POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction",
            ),
            ("Pipfile.lock", "{}", "python a.py", "Pipfile.lock: env PIPENV_VENV_IN_PROJECT=1 pipenv sync"),
            ("requirements.txt", "a==1", "python3 a.py", venv),
            ("requirements.txt", "a==1", "WEB=1 gunicorn a:app", venv),
            (
                "requirements.txt",
                "a==1",
                "venv/bin/gunicorn a:app",
                "requirements.txt: python3 -m venv venv && venv/bin/pip install --quiet -r requirements.txt",
            ),
            ("go.mod", "module a\nrequire b v1.0.0\n", "go run .", "go.mod: go mod download"),
            ("Cargo.lock", "", "cargo run --release", "Cargo.lock: cargo build --release --locked"),
            ("Cargo.lock", "", "target/debug/shop", "Cargo.lock: cargo build --locked"),
            (
                "pom.xml",
                "<project/>",
                "java -jar target/a.jar",
                "pom.xml: mvn --batch-mode --quiet -DskipTests package",
            ),
            ("build.gradle.kts", "", "java -jar build/libs/a.jar", "build.gradle.kts: gradle --quiet build"),
            (
                "Gemfile.lock",
                "",
                "bundle exec puma",
                "Gemfile.lock: bundle config set --local path vendor/bundle && bundle config set --local frozen true && bundle \
                 install --quiet",
            ),
            (
                "composer.lock",
                "{}",
                "php -S a",
                "composer.lock: composer install --no-interaction --no-progress",
            ),
        ] {
            let beside = [(file, text), ("Cargo.toml", ""), NODE];
            assert_eq!(planned(&beside, "", command), Ok(vec![wanted.to_owned()]), "{file}: {command}");
        }
    }

    #[test]
    fn the_nearest_lock_file_upwards_counts() {
        let root = r#"{"workspaces": ["services/*"]}"#;
        let files = [
            ("package.json", root),
            ("package-lock.json", "{}"),
            ("services/shop/package.json", NODE.1),
            ("services/api/requirements.txt", "a==1"),
        ];
        let above = ["package-lock.json: sh -c cd ../.. && npm ci".to_owned()];
        assert_eq!(planned(&files, "services/shop", "node a.js"), Ok(above.to_vec()));
        let own = [files.to_vec(), vec![("services/shop/package-lock.json", "{}")]].concat();
        assert_eq!(
            planned(&own, "services/shop", "node a.js"),
            Ok(vec!["services/shop/package-lock.json: npm ci".to_owned()])
        );
        // For a command without a language, the nearest folder counts.
        let nearest = planned(&files, "services/api", "sh serve.sh").unwrap();
        assert_eq!(nearest.len(), 1, "{nearest:?}");
        assert!(nearest[0].starts_with("services/api/requirements.txt: "), "{nearest:?}");
        assert_eq!(planned(&files, "", "go run ."), Ok(Vec::new()), "of another language");
    }

    #[test]
    fn what_needs_no_packages_installs_nothing() {
        for (files, command) in [
            (&[("a.js", "")][..], "node a.js"),
            (&[("package.json", "{}"), ("package-lock.json", "{}")], "node a.js"),
            (&[NODE, ("node_modules/express/index.js", "")], "node a.js"),
            (&[("go.mod", "module a\ngo 1.26\n")], "go run ."),
            (&[("go.mod", "module a\nrequire b v1\n"), ("vendor/modules.txt", "")], "go run ."),
            (&[("a.py", "")], "python3 a.py"),
            (&[("pyproject.toml", "[tool.black]\n")], "python3 a.py"),
        ] {
            assert_eq!(planned(files, "", command), Ok(Vec::new()), "{files:?}");
        }
    }

    #[test]
    fn packages_that_no_lock_file_fixes_are_refused_with_the_remedy() {
        let project = "[project]\nname = \"a\"\ndependencies = [\"flask\"]\n";
        for (file, text, command, remedy) in [
            (NODE.0, NODE.1, "node a.js", "npm install"),
            ("pyproject.toml", project, "python a.py", "python3 -m venv .venv && .venv/bin/pip install ."),
            ("Cargo.toml", "[dependencies]\na = \"1\"\n", "cargo run", "cargo build --release"),
            (
                "composer.json",
                r#"{"require": {"php": "8", "slim/slim": "4"}}"#,
                "php a.php",
                "composer install",
            ),
        ] {
            let refused = planned(&[(file, text)], "", command).unwrap_err();
            assert!(refused.starts_with(&format!("{file} names packages, and no lock file")), "{refused}");
            assert!(refused.ends_with(&format!("--build '{remedy}'")), "{refused}");
            assert_eq!(planned(&[(file, text)], "", "sh serve.sh"), Ok(Vec::new()), "who knows what it runs");
        }
        let files = [("package-lock.json", "{}"), NODE, ("shop/package.json", NODE.1)];
        let other = planned(&files, "shop", "node a.js").unwrap_err();
        assert!(other.starts_with("package-lock.json is the lock file of another package"), "{other}");
    }

    #[test]
    fn a_program_that_no_commit_has_and_no_step_makes_is_refused() {
        let refused = |files: &[(&str, &str)], command: &str| planned(files, "", command).unwrap_err();
        let of_go = refused(&[("go.mod", "module a\n")], "./shop --port {port}");
        assert!(of_go.starts_with("the revision has no \"./shop\""), "{of_go}");
        assert!(of_go.ends_with("--build 'go build -o shop .'"), "{of_go}");
        let of_python = refused(&[("app.py", "")], ".venv/bin/uvicorn app:app");
        assert!(of_python.contains("the revision has no \".venv/bin/uvicorn\""), "{of_python}");
        assert_eq!(planned(&[("serve.sh", "")], "", "./serve.sh"), Ok(Vec::new()));
    }

    #[test]
    fn requirements_without_a_version_are_named() {
        let text = "# all\nflask>=2 ; python_version > '3'\nuvicorn[standard]==0.30.1\n-r other.txt\ngunicorn\n\
                    x @ https://example.org/x.whl\nclick==8.1.7 \\\n    --hash=sha256:00\n";
        let tree = tree(&[("requirements.txt", text)]);
        let words = ["python3", "a.py"].map(str::to_owned);
        let installs = plan(tree.path(), Path::new(""), &words).unwrap();
        assert_eq!(installs[0].unpinned, ["flask", "gunicorn"]);
        assert_eq!(installs[0].tools[0].command, ["python3", "--version"]);
    }
}
