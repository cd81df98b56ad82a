//! The languages whose packages can be installed, and the command words that identify them.

use std::path::Path;

use super::{InFolder, node, others, python};
use crate::catalogue::Requirement;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Node,
    Python,
    Go,
    Java,
    Rust,
    Ruby,
    Php,
}

impl Language {
    pub(super) const ALL: [Language; 7] = [
        Language::Node,
        Language::Python,
        Language::Go,
        Language::Java,
        Language::Rust,
        Language::Ruby,
        Language::Php,
    ];

    /// The languages that the words of a command indicate, without duplicates.
    pub(super) fn of_words(words: &[&str]) -> Vec<Language> {
        let mut found = Vec::new();
        for language in words.iter().filter_map(|word| Language::of_word(word)) {
            if !found.contains(&language) {
                found.push(language);
            }
        }
        found
    }

    /// Recognises a language by a program's name without version (`python3.11`), or its build folder.
    fn of_word(word: &str) -> Option<Language> {
        let name = word.rsplit('/').next()?.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        let is_below = |folder: &str| word.trim_start_matches("./").starts_with(folder);
        Some(match name {
            "node" | "nodejs" | "npm" | "npx" | "pnpm" | "yarn" | "bun" | "bunx" | "tsx" | "ts-node"
            | "next" | "nest" | "nodemon" => Language::Node,
            "python" | "pypy" | "uvicorn" | "gunicorn" | "hypercorn" | "daphne" | "granian" | "flask"
            | "fastapi" | "waitress-serve" | "uv" | "poetry" | "pipenv" => Language::Python,
            "go" => Language::Go,
            "java" | "mvn" | "mvnw" | "gradle" | "gradlew" => Language::Java,
            "cargo" => Language::Rust,
            "ruby" | "bundle" | "puma" | "rackup" | "rails" | "unicorn" | "falcon" => Language::Ruby,
            "php" | "composer" | "frankenphp" => Language::Php,
            _ if is_below("target/debug/") || is_below("target/release/") => Language::Rust,
            _ if is_below("node_modules/") => Language::Node,
            _ if python::environment(word).is_some() => Language::Python,
            _ => return None,
        })
    }

    /// The steps to install a folder's packages from its lock file; absent without a lock file or packages.
    pub(super) fn install(self, folder: &Path, words: &[&str]) -> Option<InFolder> {
        match self {
            Language::Node => node::locked(folder),
            Language::Python => {
                python::install(folder, words.iter().find_map(|word| python::environment(word)))
            }
            Language::Go => others::of_go(folder),
            Language::Java => others::of_java(folder),
            Language::Rust => {
                let is_release = words.iter().any(|word| word.contains("release"));
                others::of_rust(folder, is_release).filter(|found| found.lock == others::CARGO_LOCK)
            }
            Language::Ruby => others::of_ruby(folder).filter(|found| found.lock == others::GEMFILE_LOCK),
            Language::Php => others::of_php(folder),
        }
    }

    /// Whether the tree itself contains the packages.
    pub(super) fn is_vendored(self, folder: &Path) -> bool {
        self == Language::Node && folder.join("node_modules").is_dir()
    }

    /// A file that names packages without exact versions, and a command that installs them.
    pub(super) fn unlocked(self, folder: &Path) -> Option<(&'static str, &'static str)> {
        match self {
            Language::Node => node::names_packages(folder).then_some((node::FILE, "npm install")),
            Language::Python => python::unlocked(folder),
            Language::Rust => others::unlocked_rust(folder),
            Language::Ruby => others::unlocked_ruby(folder),
            Language::Php => others::unlocked_php(folder),
            Language::Go | Language::Java => None,
        }
    }

    /// Whether a lock file in the folder may also belong to packages below it.
    pub(super) fn has_members(self, folder: &Path) -> bool {
        self != Language::Node || node::has_workspaces(folder)
    }

    /// The tools that install from `lock`; their versions can change the result.
    pub(super) fn tools(self, lock: &str) -> Vec<Requirement> {
        let programs: &[&str] = match (self, lock) {
            (Language::Node, "pnpm-lock.yaml") => &["node", "pnpm"],
            (Language::Node, "yarn.lock") => &["node", "yarn"],
            (Language::Node, "bun.lock" | "bun.lockb") => &["bun"],
            (Language::Node, _) => &["node", "npm"],
            (Language::Python, "uv.lock") => &["uv"],
            (Language::Python, "poetry.lock") => &["python3", "poetry"],
            (Language::Python, "Pipfile.lock") => &["python3", "pipenv"],
            (Language::Python, _) => &["python3"],
            (Language::Go, _) => return vec![requirement("go", "version")],
            (Language::Java, _) => &["java"],
            (Language::Rust, _) => &["cargo", "rustc"],
            (Language::Ruby, _) => &["ruby", "bundle"],
            (Language::Php, _) => &["php", "composer"],
        };
        programs.iter().map(|program| requirement(program, "--version")).collect()
    }
}

fn requirement(program: &str, asked: &str) -> Requirement {
    let hint = Some(format!("`{program}` installs the packages of the service; another way is --build"));
    let command = vec![program.to_owned(), asked.to_owned()];
    Requirement { command, debian: Vec::new(), at_least: None, hint }
}
