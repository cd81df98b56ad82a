//! Answers of tools to the question for their version: dozens of services ask the same ones, some of which take a second.
//!
//! A tool may answer by the folder in which it is asked: `rustup`, `go`, `volta` and managers of versions look for files there and
//! above. So an answer holds for folders with the same of these files, and only a plain question for a version is shared.

use std::{
    collections::HashMap,
    env, fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use crate::catalogue::Service;

/// Files by which tools choose their version, in the folder or above it.
const CHOOSERS: [&str; 19] = [
    ".cargo/config.toml",
    ".config/mise.toml",
    ".go-version",
    ".java-version",
    ".mise.toml",
    ".mvn/jvm.config",
    ".mvn/maven.config",
    ".node-version",
    ".nvmrc",
    ".python-version",
    ".ruby-version",
    ".sdkmanrc",
    ".swift-version",
    ".tool-versions",
    "global.json",
    "go.work",
    "mise.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
];
/// Keys of `package.json` by which volta and corepack choose.
const KEYS: [&str; 3] = ["volta", "packageManager", "devEngines"];

type Answer = Arc<Mutex<Option<String>>>;

#[derive(Debug, Default)]
pub(super) struct Answers(Mutex<HashMap<String, Answer>>);

impl Answers {
    /// The answer to `command` for `service`: an earlier one, or that of `ask`. Only good ones are kept.
    pub(super) fn of<E>(
        &self,
        service: &Service,
        command: &[String],
        ask: impl FnOnce() -> Result<String, E>,
    ) -> Result<String, E> {
        let Some(key) = key(service, command) else { return ask() };
        let answer =
            Arc::clone(self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default());
        // Others that ask the same meanwhile wait for it.
        let mut answer = answer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = answer.as_ref() {
            return Ok(text.clone());
        }
        let text = ask()?;
        *answer = Some(text.clone());
        Ok(text)
    }
}

/// What the answer depends on; absent if it could depend on anything.
fn key(service: &Service, command: &[String]) -> Option<String> {
    let asks_for_a_version = command.last().is_some_and(|word| word == "--version" || word == "version");
    let is_of_rustup = command.first().is_some_and(|program| program == "cargo" || program == "rustc");
    if !asks_for_a_version || command.iter().any(|word| word.contains('/')) || is_of_rustup && has_overrides()
    {
        return None;
    }
    let mut key = format!("{command:?}\n{:?}\n", service.step_environment());
    for folder in service.folder.ancestors() {
        for name in CHOOSERS {
            if let Ok(text) = fs::read(folder.join(name)) {
                key += &format!("{name} {}\n", blake3::hash(&text));
            }
        }
        key += &of_go(folder);
        key += &of_node(folder);
    }
    Some(key)
}

/// Whether rustup has a toolchain for some folder.
fn has_overrides() -> bool {
    let home = env::var_os("RUSTUP_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(Path::new(&env::var_os("HOME")?).join(".rustup")));
    let settings = home.and_then(|home| fs::read_to_string(home.join("settings.toml")).ok());
    let overrides =
        settings.and_then(|text| text.parse::<toml::Table>().ok()?.get("overrides")?.as_table().cloned());
    overrides.is_some_and(|overrides| !overrides.is_empty())
}

fn of_go(folder: &Path) -> String {
    let text = fs::read_to_string(folder.join("go.mod")).unwrap_or_default();
    let chooses = |line: &&str| line.starts_with("go ") || line.starts_with("toolchain ");
    text.lines().filter(chooses).map(|line| format!("go.mod {line}\n")).collect()
}

fn of_node(folder: &Path) -> String {
    let text = fs::read_to_string(folder.join("package.json")).unwrap_or_default();
    let package: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let keys = KEYS.iter().filter_map(|key| Some(format!("package.json {key} {}\n", package.get(*key)?)));
    keys.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_version_is_asked_for_once_for_folders_that_choose_alike() {
        let root = tempfile::tempdir().unwrap();
        let service = |name: &str| {
            let folder = root.path().join(name);
            fs::create_dir_all(&folder).unwrap();
            Service { folder, ..Service::default() }
        };
        let (answers, [one, two]) = (Answers::default(), ["one", "two"].map(service));
        let ask = |service: &Service, command: &str, text: &str| {
            answers.of(service, &words(command), || Ok::<_, ()>(text.to_owned())).unwrap()
        };
        assert_eq!(ask(&one, "go version", "1"), "1");
        assert_eq!(
            (ask(&two, "go version", "2"), ask(&two, "node --version", "3")),
            ("1".into(), "3".into())
        );
        let write = |name: &str, text: &str| fs::write(two.folder.join(name), text).unwrap();
        write("go.mod", "module two\n\ngo 1.24\n");
        assert_eq!(ask(&two, "go version", "4"), "4", "another toolchain may be asked for");
        write("package.json", r#"{ "name": "two" }"#);
        assert_eq!(ask(&two, "go version", "5"), "4");
        write("package.json", r#"{ "volta": { "node": "20" } }"#);
        assert_eq!(ask(&two, "node --version", "6"), "6");
        write(".tool-versions", "nodejs 22\n");
        assert_eq!(ask(&two, "node --version", "7"), "7");
        assert_eq!(ask(&one, "node --version", "8"), "3", "the first folder never chose");
    }

    #[test]
    fn what_is_no_plain_question_and_what_failed_is_asked_again() {
        let root = tempfile::tempdir().unwrap();
        let service = Service { folder: root.path().to_owned(), ..Service::default() };
        let answers = Answers::default();
        let ask = |command: &str, text: Result<&str, ()>| {
            answers.of(&service, &words(command), || text.map(str::to_owned))
        };
        for command in ["./jdk java --version", "pkg-config --modversion libpq", "c++ -include x /dev/null"] {
            assert_eq!(
                [ask(command, Ok("1")), ask(command, Ok("2"))],
                [Ok("1".to_owned()), Ok("2".to_owned())]
            );
        }
        assert_eq!(ask("node --version", Err(())), Err(()));
        assert_eq!(ask("node --version", Ok("1")), Ok("1".to_owned()));
    }
}
