//! Lines of code of a service: what a user of the framework writes and maintains.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use tare_service::footprint::Code;
use tokei::{Config, LanguageType};

/// Data and package or build descriptions, which every service has and which say little about the framework.
/// YAML counts as code: some frameworks define routes in it.
const NOT_CODE: [LanguageType; 10] = [
    LanguageType::Toml,
    LanguageType::Json,
    LanguageType::Markdown,
    LanguageType::Text,
    LanguageType::Xml,
    LanguageType::CMake,
    LanguageType::Makefile,
    LanguageType::Autoconf,
    LanguageType::MsBuild,
    LanguageType::Cabal,
];

/// Counts the code below a folder.
pub(super) fn counted(folder: &Path) -> Code {
    let config = Config { treat_doc_strings_as_comments: Some(true), ..Config::default() };
    let mut code = Code::default();
    for (path, language) in sources(folder) {
        // An unreadable file is left out.
        let Ok(report) = language.parse(path, &config) else { continue };
        let lines = report.stats.summarise().code;
        code.lines += lines;
        *code.languages.entry(language.name().to_owned()).or_default() += lines;
    }
    code
}

/// The code files below a folder, with their languages.
pub(super) fn sources(folder: &Path) -> Vec<(PathBuf, LanguageType)> {
    let walk = WalkBuilder::new(folder).hidden(false).require_git(false).build().flatten();
    let files = walk.filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    let known = files.filter_map(|entry| {
        let language = LanguageType::from_path(entry.path(), &Config::default())?;
        Some((entry.into_path(), language))
    });
    known.filter(|(_, language)| !NOT_CODE.contains(language)).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_code_counts_and_only_what_git_would_track() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(".gitignore", "target\n");
        write("target/made.rs", "fn main() {}\n");
        write("src/main.rs", "//! Words.\n\nfn main() {\n    // why\n    let _ = 1;\n}\n");
        write("app.py", "\"\"\"Words.\n\nMore.\n\"\"\"\nx = 1  # one\n");
        for data in
            ["Cargo.toml", "Cargo.lock", "package-lock.json", "README.md", "pom.xml", "go.sum", "go.mod"]
        {
            write(data, "<a>1</a>\n");
        }
        let languages = [("Python".to_owned(), 1), ("Rust".to_owned(), 3)].into();
        assert_eq!(counted(folder.path()), Code { lines: 4, languages });
    }
}
