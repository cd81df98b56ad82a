//! Rule for Markdown: a relative link leads to something that git has.
//!
//! Finds `[text](target)` and `[label]: target` outside of code. Limits: anchors within a page are not checked, targets
//! in `<>` and with escaped characters are not decoded, and a link whose parts are on two lines is not seen.

use std::collections::BTreeSet;

use super::{File, Finding};

/// Checks the links of one page against `paths`, all files of the repository.
pub fn check(file: &File, paths: &BTreeSet<String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut fenced = false;
    for (index, line) in file.text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        let line = without_code(line);
        for target in targets(&line).into_iter().filter(|target| is_relative(target)) {
            if !resolves(&file.path, target, paths) {
                let what = format!("the link '{target}' leads nowhere");
                findings.push(Finding::new(&file.path, index + 1, what, "mend the path, or add the file"));
            }
        }
    }
    findings
}

/// The line with `code` in backticks taken out.
fn without_code(line: &str) -> String {
    // Where the last backtick has no partner, what follows it is text.
    let parts: Vec<&str> = line.split('`').collect();
    let code = |index: usize| index % 2 == 1 && index + 1 < parts.len();
    parts.iter().enumerate().filter(|(index, _)| !code(*index)).map(|(_, part)| *part).collect()
}

fn targets(line: &str) -> Vec<&str> {
    let mut found: Vec<&str> =
        line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(to, _)| to).collect();
    if let Some((_, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once("]:")) {
        found.push(rest.trim());
    }
    // A title may follow the target.
    found.into_iter().filter_map(|target| target.split_whitespace().next()).collect()
}

fn is_relative(target: &str) -> bool {
    !target.contains("://") && !target.starts_with('#') && !target.starts_with("mailto:")
}

/// Whether `target`, seen from the page `from`, is a file or a folder of the repository.
fn resolves(from: &str, target: &str, paths: &BTreeSet<String>) -> bool {
    let target = target.split('#').next().unwrap_or_default();
    let mut parts: Vec<&str> = if target.starts_with('/') { Vec::new() } else { from.split('/').collect() };
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_none() => return false,
            ".." => {}
            part => parts.push(part),
        }
    }
    let path = parts.join("/");
    let folder = format!("{path}/");
    path.is_empty()
        || paths.contains(&path)
        || paths.range(folder.clone()..).next().is_some_and(|p| p.starts_with(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let paths = ["README.md", "docs/guide.md", "docs/run.md", "services/README.md"].map(str::to_owned);
        let file = File { path: "docs/guide.md".to_owned(), text: text.to_owned() };
        check(&file, &paths.into_iter().collect()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn links_to_files_folders_and_elsewhere_are_fine() {
        let text = "[a](run.md) [b](../README.md#top) [c](../services/) [d](../services) [e](#here) [f](/docs/run.md)\n\
                    [g](https://a.org/x) [h](mailto:a@b.org) ![i](./run.md \"title\") [j](..)\n\n[label]: run.md\n";
        assert_eq!(found(text), [] as [&str; 0]);
    }

    #[test]
    fn links_that_lead_nowhere_are_named() {
        for target in ["gone.md", "../docs/gone.md", "../../outside.md", "../ser", "/gone"] {
            let found = found(&format!("text\nsee [it]({target}).\n"));
            assert_eq!(found.len(), 1, "{target}");
            assert!(found[0].starts_with(&format!("docs/guide.md:2: the link '{target}'")), "{found:?}");
        }
        assert_eq!(found("[label]: gone.md\n").len(), 1);
        assert_eq!(found("a ` [x](gone.md)\n").len(), 1, "a backtick without partner begins no code");
    }

    #[test]
    fn code_has_no_links() {
        assert_eq!(found("`[a](gone)`\n```\n[b](gone)\n```\n"), [] as [&str; 0]);
    }
}
