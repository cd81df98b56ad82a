//! Repositories for tests, made by the installed git.

use std::{path::Path, process::Command};

/// Runs git and returns its output. Allows submodules from this machine, which git forbids by default.
pub(crate) fn git(folder: &Path, words: &[&str]) -> String {
    let settings =
        ["user.name=a", "user.email=a@example.org", "commit.gpgsign=false", "protocol.file.allow=always"];
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).env("GIT_CONFIG_NOSYSTEM", "1");
    command.args(settings.iter().flat_map(|setting| ["-c", setting])).args(words);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
