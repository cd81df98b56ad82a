//! Rule for shipped code: git is started in one place, safe from a repository's configuration.
//!
//! It searches for the literal `"git"` in Rust, outside of comments and tests.

use super::{File, Finding};

/// Files that start git, or generate it as a word of a user's Dockerfile.
const MAY_NAME_IT: [&str; 2] = ["crates/service/src/git/", "parts/import/src/adopt/command.rs"];

pub(super) fn check(file: &File) -> Vec<Finding> {
    let is_in = |folder: &str| file.path.starts_with(folder);
    let is_shipped =
        (is_in("crates/") || is_in("parts/")) && file.path.contains("/src/") && file.extension() == "rs";
    let is_test = file.name().ends_with("tests.rs") || file.path.contains("/tests/");
    if !is_shipped || is_test || MAY_NAME_IT.iter().any(|path| file.path.starts_with(path)) {
        return Vec::new();
    }
    let code = file.text.split("#[cfg(test)]").next().unwrap_or_default();
    let names_it = |(_, line): &(usize, &str)| line.contains("\"git\"");
    let lines = code.lines().enumerate().filter(names_it);
    let fix = "ask by service::git, which obeys no configuration of a repository";
    lines.map(|(index, _)| Finding::new(&file.path, index + 1, "starts git", fix)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_is_started_in_one_place() {
        let text = "fn a() {\n    Command::new(\"git\");\n}\n#[cfg(test)]\nmod tests {\n    Command::new(\"git\");\n}\n";
        let lines = |path: &str| {
            let file = File { path: path.to_owned(), text: text.to_owned() };
            check(&file).iter().map(|finding| finding.line).collect::<Vec<_>>()
        };
        assert_eq!(lines("crates/cli/src/command/init/mod.rs"), [2]);
        for path in [
            "crates/service/src/git/mod.rs",
            "crates/cli/tests/e2e/trust.rs",
            "xtask/src/tidy/mod.rs",
            "a.md",
        ] {
            assert_eq!(lines(path), [0; 0], "{path}");
        }
    }
}
