//! Rules for every text file: short lines, no trailing spaces, no personal notes, no absolute path of one
//! machine. For Rust also short files without tabs.

use super::{File, Finding};

/// Two files side by side on a screen. rustfmt keeps code at 110; prose may be slightly longer.
const LINE_CHARS_MAX: usize = 140;

/// A longer file has more than one subject.
const FILE_LINES_MAX: usize = 600;

/// Split, so that this file does not match.
const NOTES: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
const MACHINE_PATHS: [&str; 3] = [concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/wo", "rk/")];

/// All rules for one text file.
pub(super) fn check(file: &File) -> Vec<Finding> {
    let short_lines = ["rs", "toml", "md"].contains(&file.extension()) && !quotes(&file.path);
    let table = |line: &str| file.extension() == "md" && line.trim_start().starts_with('|');
    let mut findings: Vec<Finding> = rust(file);
    for (index, line) in file.text.lines().enumerate() {
        let mut add = |what: String, fix| findings.push(Finding::new(&file.path, index + 1, what, fix));
        let chars = line.chars().count();
        if short_lines && chars > LINE_CHARS_MAX && !table(line) && !line.contains("://") {
            add(format!("a line of {chars} characters, more than {LINE_CHARS_MAX}"), "break it");
        }
        if line.ends_with(char::is_whitespace) {
            add("trailing white space".to_owned(), "remove it");
        }
        for note in NOTES.iter().filter(|note| has_word(line, note)) {
            add(format!("`{note}`"), "do it, or open an issue");
        }
        for path in MACHINE_PATHS.iter().filter(|path| has_absolute(line, path)) {
            add(format!("a path of one machine, `{path}`"), "make it relative, or an argument");
        }
    }
    findings
}

fn rust(file: &File) -> Vec<Finding> {
    if file.extension() != "rs" {
        return Vec::new();
    }
    let lines = file.text.lines().enumerate();
    let tabs = lines.filter(|(_, line)| line.contains('\t'));
    let tabs = tabs.map(|(index, _)| Finding::new(&file.path, index + 1, "a tab", "use spaces: cargo fmt"));
    let count = file.text.lines().count();
    let long = (count > FILE_LINES_MAX).then(|| {
        let what = format!("{count} lines in a file, more than {FILE_LINES_MAX}");
        Finding::new(&file.path, FILE_LINES_MAX + 1, what, "split it by what its parts know")
    });
    tabs.chain(long).collect()
}

/// Published figures and golden messages may have any length.
fn quotes(path: &str) -> bool {
    path.starts_with("figures/") || path.ends_with("/tests.rs") || path.contains("/tests/")
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

pub(super) fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(is_word) && !line[at + word.len()..].starts_with(is_word))
}

/// Whether `path` begins there, and not in the middle of another path or a URL.
fn has_absolute(line: &str, path: &str) -> bool {
    let inner = |c: char| is_word(c) || ".-~})*".contains(c);
    line.match_indices(path).any(|(at, _)| !line[..at].ends_with(inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        check(&File { path: path.to_owned(), text: text.to_owned() })
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn lines_have_at_most_140_characters() {
        let (fits, long) = ("ä".repeat(140), "ä".repeat(141));
        assert_eq!(found("a.md", &fits), [] as [&str; 0]);
        for path in ["a.md", "a.rs", "a.toml"] {
            assert!(
                found(path, &format!("\n{long}\n"))[0].contains(":2: a line of 141 characters"),
                "{path}"
            );
        }
        for path in ["a.cpp", "figures/a.toml", "src/tests.rs", "crates/a/tests/b.rs"] {
            assert_eq!(found(path, &long), [] as [&str; 0]);
        }
    }

    #[test]
    fn tables_and_urls_may_be_longer() {
        let long = "x".repeat(150);
        assert_eq!(found("a.md", &format!("| {long} |\nhttps://{long}\n")), [] as [&str; 0]);
        assert_eq!(found("a.toml", &format!("| {long}\n")).len(), 1, "no table in TOML");
    }

    #[test]
    fn rust_has_short_files_without_tabs() {
        assert_eq!(found("a.rs", &"//\n".repeat(600)), [] as [&str; 0]);
        assert!(found("a.rs", &"//\n".repeat(601))[0].starts_with("a.rs:601: 601 lines in a file"));
        assert!(found("a.rs", "x\n\ty\n")[0].starts_with("a.rs:2: a tab"));
        assert_eq!(found("Makefile", &"x:\n\ty\n".repeat(700)), [] as [&str; 0]);
    }

    #[test]
    fn trailing_white_space_is_found_in_every_file() {
        for text in ["a \n", "a\t", "a\r\nb \n"] {
            assert!(found("Makefile", text)[0].contains("trailing white space"), "{text:?}");
        }
    }

    #[test]
    fn notes_are_found_as_words() {
        for note in NOTES {
            assert!(found("a.go", &format!("// {note}: later"))[0].contains(note));
            assert_eq!(found("a.go", &format!("mktemp a.{note}{note} my_{note}")), [] as [&str; 0]);
        }
    }

    #[test]
    fn machine_paths_are_found_where_they_begin() {
        for path in MACHINE_PATHS {
            assert!(found("a.sh", &format!("cd \"{path}x\""))[0].contains(path));
            assert_eq!(
                found("a.sh", &format!("a{path}b ${{HOME}}{path} https://a.org{path}")),
                [] as [&str; 0]
            );
        }
    }
}
