//! The commands in documents: the code fences, and the output of `tare examples`.

use std::{fs, path::Path, process::Command};

use crate::support::real_root;

/// Marks a fence whose commands are not run.
const MARK: &str = "<!-- not run: ";
/// Languages of fences for a shell.
const SHELLS: [&str; 4] = ["sh", "bash", "shell", "console"];

#[derive(Debug, PartialEq, Eq)]
pub struct Fence {
    pub file: String,
    pub line: usize,
    pub text: String,
    pub not_run: Option<String>,
}

/// The fences of all documents in git. Stored runs are excluded: Tare wrote them.
pub fn of_repository() -> Vec<Fence> {
    let root = real_root();
    let listed = Command::new("git").arg("-C").arg(&root).args(["ls-files", "*.md"]).output().unwrap();
    let names = String::from_utf8(listed.stdout).unwrap();
    let is_written = |name: &&str| !name.starts_with("record/") || *name == "record/README.md";
    names.lines().filter(is_written).flat_map(|name| of_file(&root, name)).collect()
}

fn of_file(root: &Path, name: &str) -> Vec<Fence> {
    // A file that was removed without a commit is still listed.
    of_text(name, &fs::read_to_string(root.join(name)).unwrap_or_default())
}

fn of_text(file: &str, text: &str) -> Vec<Fence> {
    let lines: Vec<&str> = text.lines().collect();
    let mut fences = Vec::new();
    let mut open: Option<usize> = None;
    for (place, line) in lines.iter().enumerate() {
        let Some(language) = line.trim_start().strip_prefix("```") else { continue };
        let Some(begin) = open.take() else {
            open = Some(place);
            continue;
        };
        assert!(language.is_empty(), "{file}:{}: a fence ends with ``` alone", place + 1);
        let language = lines[begin].trim_start().trim_start_matches('`');
        let above = begin.checked_sub(1).map_or("", |above| lines[above].trim());
        if SHELLS.contains(&language) {
            let not_run = above.strip_prefix(MARK).and_then(|reason| reason.strip_suffix(" -->"));
            fences.push(Fence {
                file: file.to_owned(),
                line: begin + 1,
                text: lines[begin + 1..place].join("\n"),
                not_run: not_run.map(str::to_owned),
            });
        }
    }
    fences
}

/// One fence per question of `tare examples`.
pub fn of_examples() -> Vec<Fence> {
    let printed = Command::new(env!("CARGO_BIN_EXE_tare")).arg("examples").output().unwrap();
    let text = String::from_utf8(printed.stdout).unwrap();
    let commands = |(place, question): (usize, &str)| Fence {
        file: "tare examples".to_owned(),
        line: place + 1,
        text: question.lines().skip(1).map(str::trim).collect::<Vec<_>>().join("\n"),
        not_run: None,
    };
    text.split("\n\n").enumerate().map(commands).collect()
}

#[test]
fn a_fence_is_run_unless_it_says_why_not() {
    let text = "text\n```sh\ntare list\n```\n<!-- not run: it takes hours -->\n```sh\na\nb\n```\n```toml\nx = 1\n```\n";
    let fence = |line, text: &str, not_run: Option<&str>| Fence {
        file: "a.md".to_owned(),
        line,
        text: text.to_owned(),
        not_run: not_run.map(str::to_owned),
    };
    let wanted = [fence(2, "tare list", None), fence(6, "a\nb", Some("it takes hours"))];
    assert_eq!(of_text("a.md", text), wanted);
}
