//! Repositories made by tests.

use std::{path::Path, process::Command};

/// Runs git in a folder, without user settings.
pub fn git(folder: &Path, words: &[&str]) {
    let user = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
    let done = Command::new("git").arg("-C").arg(folder).args(user).args(words).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
