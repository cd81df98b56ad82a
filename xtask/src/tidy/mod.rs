//! `cargo xtask tidy`: style as a test, after TigerBeetle's tidy. A finding is `file:line: what (fix)`.
//!
//! It works on text and the layout of the repository, without parsing languages. The module of each rule
//! states how it recognises paths and links, and its limits. The compiler, rustfmt and clippy check the rest.

mod actions;
mod arrows;
mod book;
mod circles;
mod dependencies;
mod doors;
mod layout;
mod markdown;
mod text;
mod types;
mod words;

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};

/// Files written by tools, with hashes that may contain any word.
const LOCK_FILES: [&str; 4] = ["Cargo.lock", "go.sum", "package-lock.json", "requirements.txt"];

/// Folder of stored runs, as Tare wrote them.
const STORED_RUNS: &str = "record/";

/// One line to be corrected.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    line: usize,
    what: String,
    fix: &'static str,
}

impl Finding {
    fn new(path: &str, line: usize, what: impl Into<String>, fix: &'static str) -> Self {
        Finding { path: path.to_owned(), line, what: what.into(), fix }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {} ({})", self.path, self.line, self.what, self.fix)
    }
}

/// A text file: its path from the top of the repository, with slashes, and its content.
#[derive(Debug)]
pub(crate) struct File {
    path: String,
    text: String,
}

impl File {
    /// Files with these paths and texts.
    #[cfg(test)]
    fn all(files: &[(&str, &str)]) -> Vec<File> {
        files.iter().map(|(path, text)| File { path: (*path).into(), text: (*text).into() }).collect()
    }

    fn extension(&self) -> &str {
        Path::new(&self.path).extension().and_then(|extension| extension.to_str()).unwrap_or_default()
    }

    fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// Whether a person wrote the file.
    fn is_written(&self) -> bool {
        let of_a_run = self.path.strip_prefix(STORED_RUNS).is_some_and(|rest| rest.contains('/'));
        !of_a_run && !LOCK_FILES.contains(&self.name())
    }
}

/// Prints every finding; the exit status is 1 if there are any.
pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    let paths = listed(root)?;
    let files: Vec<File> = paths.iter().filter_map(|path| read_text(root, path)).collect();
    let findings = check(&paths, &files);
    for finding in &findings {
        println!("{finding}");
    }
    if findings.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("tidy: {} findings in {} files", findings.len(), files.len());
    Ok(ExitCode::FAILURE)
}

/// All rules over all files, in the order of paths and lines.
fn check(paths: &BTreeSet<String>, files: &[File]) -> Vec<Finding> {
    let mut findings = layout::check(paths, files);
    findings.extend(book::check(files));
    findings.extend(circles::check(files));
    findings.extend(dependencies::check(files));
    findings.extend(types::check(files));
    findings.extend(words::check(files));
    let anchors = markdown::anchors(files);
    for file in files.iter().filter(|file| file.is_written()) {
        findings.extend(text::check(file));
        findings.extend(actions::check(file));
        findings.extend(arrows::check(file));
        findings.extend(doors::check(file));
        if file.extension() == "md" {
            findings.extend(markdown::check(file, paths, &anchors));
        }
    }
    findings.sort();
    findings
}

/// Existing paths that git tracks or would add.
fn listed(root: &Path) -> Result<BTreeSet<String>> {
    let arguments = ["ls-files", "-co", "--exclude-standard", "-z"];
    let output =
        Command::new("git").arg("-C").arg(root).args(arguments).output().context("cannot run git")?;
    ensure!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr).trim_end());
    let names = output.stdout.split(|byte| *byte == 0).map(|name| String::from_utf8_lossy(name).into_owned());
    Ok(names.filter(|name| !name.is_empty() && root.join(name).exists()).collect())
}

/// `None` for binary files: not UTF-8, or with a NUL byte. A symbolic link is checked at its target.
fn read_text(root: &Path, path: &str) -> Option<File> {
    let full = root.join(path);
    if full.is_symlink() {
        return None;
    }
    let text = String::from_utf8(std::fs::read(full).ok()?).ok()?;
    (!text.contains('\0')).then(|| File { path: path.to_owned(), text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_one_line_with_its_fix() {
        let finding = Finding::new("a/b.rs", 3, "a tab", "use spaces");
        assert_eq!(finding.to_string(), "a/b.rs:3: a tab (use spaces)");
    }

    #[test]
    fn lock_files_and_stored_runs_are_left_alone_and_findings_are_in_order() {
        let bad = "x \n".to_owned();
        let files = [("b.sh", &bad), ("a/Cargo.lock", &bad), ("record/a/b.sh", &bad), ("a.sh", &bad)];
        let files = files.map(|(path, text)| File { path: path.to_owned(), text: text.clone() });
        let found = check(&BTreeSet::new(), &files);
        assert_eq!(found.iter().map(|finding| finding.path.as_str()).collect::<Vec<_>>(), ["a.sh", "b.sh"]);
    }
}
