//! An untrusted repository, in which `tare init` looks for the way to start a service.

use tare_service::discover::guesses;

use crate::{parts, scratch};

/// Files that it reads, and some that it does not.
const FILES: [&str; 12] = [
    "Procfile",
    "Dockerfile",
    "package.json",
    "requirements.txt",
    "pyproject.toml",
    "app.py",
    "go.mod",
    "main.go",
    "Cargo.toml",
    "pom.xml",
    "build.gradle",
    "config.ru",
];

/// The name of a file and its content: every guess is a one-line command.
pub(crate) fn repository(input: &[u8]) {
    let [name, content] = parts(input);
    let Some(name) = FILES.iter().find(|file| file.as_bytes() == name) else { return };
    let path = scratch::file(&format!("repository-{name}/{name}"), content);
    for guess in guesses(scratch::above(&path, 1)) {
        assert!(!guess.command.contains('\n') && !guess.command.is_empty(), "{:?}", guess.command);
    }
}
