//! Guesses how a repository's service is built and started, from its files, likely ones first. It starts
//! nothing: the caller tries the guesses until one answers.

mod go;
mod java;
mod node;
mod python;
mod ruby;
mod rust;
mod written;

use std::{
    fs,
    path::{Path, PathBuf},
};

use tare_host::foreign;

use crate::catalogue::Step;
use tare_base::document;

/// One way to start the service.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Guess {
    /// The framework, for messages: `FastAPI`.
    pub what: String,
    /// The file with the evidence, relative to the repository.
    pub file: PathBuf,
    pub build: Vec<Step>,
    /// The command as a user would write it, with `{port}` unless the program reads `PORT`.
    pub command: String,
}

/// All guesses for this folder, without duplicates and multi-line or unprintable commands. A Procfile comes
/// first, a Dockerfile last.
pub fn guesses(folder: &Path) -> Vec<Guess> {
    let readers: [fn(&Path) -> Vec<Guess>; 7] = [
        written::procfile,
        node::guesses,
        python::guesses,
        go::guesses,
        java::guesses,
        rust::guesses,
        ruby::guesses,
    ];
    let mut found: Vec<Guess> = Vec::new();
    for guess in readers.iter().flat_map(|reader| reader(folder)).chain(written::dockerfile(folder)) {
        let is_line = !guess.command.contains(foreign::is_hidden) && !guess.command.contains('\n');
        if is_line && !found.iter().any(|other| other.command == guess.command) {
            found.push(guess);
        }
    }
    found
}

/// Larger files are not hand-written sources.
const SOURCE_BYTES_MAX: u64 = 1 << 20;
/// Most sources that are searched.
const SOURCES_MAX: usize = 400;
/// Folders with external sources or build products.
const FOREIGN: [&str; 8] =
    ["node_modules", "vendor", "target", "build", "dist", "venv", "__pycache__", "testdata"];

fn text(folder: &Path, name: &str) -> Option<String> {
    let path = folder.join(name);
    let size = path.metadata().ok()?.len();
    (size <= SOURCE_BYTES_MAX).then(|| document::read(&path).ok()).flatten()
}

/// The files below `folder` with this ending, as relative paths, nearest first.
fn sources(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(inner) = (!folders.is_empty()).then(|| folders.remove(0)) {
        let entries = fs::read_dir(folder.join(&inner)).into_iter().flatten().flatten();
        let mut entries: Vec<_> = entries.collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            // Links are not followed, as they may form a cycle.
            let kind = entry.file_type();
            let path = inner.join(&name);
            if kind.as_ref().is_ok_and(fs::FileType::is_dir)
                && !name.starts_with('.')
                && !FOREIGN.contains(&name.as_str())
            {
                folders.push(path);
            } else if name.ends_with(ending) && kind.is_ok_and(|kind| kind.is_file()) {
                found.push(path);
            }
            if found.len() == SOURCES_MAX {
                return found;
            }
        }
    }
    found
}

/// Variants of the command with a port: by the variable if sources name it, and by flags that they name.
fn with_port(folder: &Path, ending: &str, command: &str) -> Vec<String> {
    let texts: Vec<String> =
        sources(folder, ending).iter().filter_map(|path| text(folder, path.to_str()?)).collect();
    let is_said = |word: &str| texts.iter().any(|text| text.contains(&format!("\"{word}\"")));
    let flags = [
        ("port", "--port {port}"),
        ("addr", "--addr 127.0.0.1:{port}"),
        ("listen", "--listen 127.0.0.1:{port}"),
        ("bind", "--bind 127.0.0.1:{port}"),
    ];
    let by_flag = flags.iter().filter(|(word, _)| is_said(word)).map(|(_, flag)| format!("{command} {flag}"));
    let plain = [command.to_owned()];
    match is_said("PORT") {
        true => plain.into_iter().chain(by_flag).collect(),
        false => by_flag.chain(plain).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The guesses for a repository with these files: `WHAT (FILE): BUILD && BUILD && COMMAND`.
    pub(super) fn guessed(files: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let line = |guess: Guess| {
            let steps = guess.build.iter().map(|step| step.command.join(" ")).chain([guess.command]);
            format!("{} ({}): {}", guess.what, guess.file.display(), steps.collect::<Vec<_>>().join(" && "))
        };
        guesses(folder.path()).into_iter().map(line).collect()
    }

    #[test]
    fn a_command_of_two_lines_is_no_guess() {
        let image = |word: &str| format!("FROM x\nCMD [\"node\", \"{word}\"]\n");
        assert_eq!(guessed(&[("Dockerfile", &image("a.js"))]).len(), 1);
        for word in ["a\\nb.js", "a\\u001bb.js"] {
            assert_eq!(guessed(&[("Dockerfile", &image(word))]), Vec::<String>::new(), "{word}");
        }
    }

    #[test]
    fn nothing_is_guessed_of_an_empty_folder() {
        assert_eq!(guessed(&[("README.md", "a service")]), Vec::<String>::new());
    }

    #[test]
    fn what_its_authors_wrote_down_comes_first_and_once() {
        let files = [
            ("Procfile", "release: ./migrate\nweb: node server.js\n"),
            ("package.json", "{\"scripts\": {\"start\": \"node server.js\"}}"),
        ];
        assert_eq!(guessed(&files), ["the process \"web\" (Procfile): node server.js"]);
    }

    #[test]
    fn sources_of_others_are_not_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["z.go", "a/b.go", "vendor/x.go", ".git/y.go"] {
            fs::create_dir_all(folder.path().join(name).parent().unwrap()).unwrap();
            fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(sources(folder.path(), ".go"), [Path::new("z.go"), Path::new("a/b.go")]);
    }
}
