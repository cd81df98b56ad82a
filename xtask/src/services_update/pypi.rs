//! Python: `pip index versions`, which skips pre-releases. No command of pip prints a date.
//!
//! Uses the pip in the environment of the built service, because Debian's Python has none.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::{Answer, client};

pub(super) fn ask(folder: &Path, name: &str) -> Result<Answer> {
    let lock = fs::read_to_string(folder.join("requirements.txt")).context("it has no requirements.txt")?;
    let used = used(&lock, name).with_context(|| format!("requirements.txt has no {name}"))?;
    let built = folder.join(".venv/bin/python").exists();
    let python = if built { ".venv/bin/python" } else { "python3" };
    // The Python version that the newest release needs is irrelevant here.
    let question = ["index", "versions", "--ignore-requires-python", name];
    let quick = ["--disable-pip-version-check", "--retries", "1"];
    let words = [&[python, "-m", "pip"], &question[..], &quick].concat();
    let printed = client::run(folder, &words)?;
    let newest = newest(&printed.stdout).context("pip printed another shape of text")?;
    Ok(Answer { used, newest, date: None, lock: None })
}

/// The pinned version, from a line `NAME==VERSION \`, possibly with extras or a marker.
fn used(requirements: &str, name: &str) -> Option<String> {
    requirements.lines().find_map(|line| {
        let (left, right) = line.split_once("==")?;
        let left = left.split('[').next().unwrap_or_default();
        let version = right.split([' ', ';', '\\']).next().unwrap_or_default();
        (normal(left) == normal(name) && !version.is_empty()).then(|| version.to_owned())
    })
}

/// Package names ignore case and separators.
fn normal(name: &str) -> String {
    name.trim().to_lowercase().replace(['_', '.'], "-")
}

/// The first line is `NAME (VERSION)`.
fn newest(printed: &str) -> Option<String> {
    let (_, version) = printed.lines().next()?.split_once(" (")?;
    Some(version.trim_end().strip_suffix(')')?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_is_the_pinned_line_not_a_comment() {
        let text = "# by uv\naiohttp==3.14.5 \\\n    --hash=sha256:00\n    # via aiohttp\n\
            uvloop==0.23.0 ; sys_platform != 'win32' \\\nBlack_Sheep[full]==2.6.4\n";
        assert_eq!(used(text, "aiohttp").as_deref(), Some("3.14.5"));
        assert_eq!(used(text, "uvloop").as_deref(), Some("0.23.0"));
        assert_eq!(used(text, "black-sheep").as_deref(), Some("2.6.4"));
        assert_eq!(used(text, "flask"), None);
    }

    #[test]
    fn the_newest_is_in_brackets() {
        let printed = "aiohttp (3.14.5)\nAvailable versions: 3.14.5, 3.14.4\n  INSTALLED: 3.14.4\n";
        assert_eq!(newest(printed).as_deref(), Some("3.14.5"));
        assert_eq!(newest(""), None);
        assert_eq!(newest("Usage:\n"), None);
    }
}
