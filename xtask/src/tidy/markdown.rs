//! Rule for Markdown: a relative link leads to a file in git, and an anchor to a heading of that page.
//!
//! It finds `[text](target)` and `[label]: target` outside of code. Limits: targets in `<>` and with escaped
//! characters are not decoded, links over two lines are not seen, and anchors are checked in Markdown only.

use std::collections::{BTreeMap, BTreeSet};

use super::{File, Finding};

/// The anchors of every page, by its path.
pub(super) type Anchors = BTreeMap<String, BTreeSet<String>>;

/// The anchors of all pages among `files`.
pub(super) fn anchors(files: &[File]) -> Anchors {
    let pages = files.iter().filter(|file| file.extension() == "md");
    pages.map(|page| (page.path.clone(), headings(&page.text).collect())).collect()
}

/// Checks the links of one page against `paths`, all files of the repository, and `anchors`.
pub(super) fn check(file: &File, paths: &BTreeSet<String>, anchors: &Anchors) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, target) in links(&file.text) {
        if path_of(&file.path, &target).is_none_or(|path| !exists(&path, paths)) {
            let what = format!("the link '{target}' leads nowhere");
            findings.push(Finding::new(&file.path, line, what, "mend the path, or add the file"));
        } else if !has_anchor(&file.path, &target, anchors) {
            let what = format!("the link '{target}' names a heading that is not there");
            findings.push(Finding::new(&file.path, line, what, "mend the part after '#'"));
        }
    }
    findings
}

/// Every relative link of a page, with its line.
pub(super) fn links(text: &str) -> impl Iterator<Item = (usize, String)> {
    outside_of_code(text).flat_map(|(line, text)| {
        let found: Vec<_> =
            targets(&text).into_iter().filter(|target| is_relative(target)).map(str::to_owned).collect();
        found.into_iter().map(move |target| (line, target))
    })
}

/// The path of the file that `target` names, relative to page `from`; `None` outside of the repository.
pub(super) fn path_of(from: &str, target: &str) -> Option<String> {
    let target = target.split('#').next().unwrap_or_default();
    if target.is_empty() {
        return Some(from.to_owned());
    }
    let mut parts: Vec<&str> = if target.starts_with('/') { Vec::new() } else { from.split('/').collect() };
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Whether it is a file, or a folder with files.
fn exists(path: &str, paths: &BTreeSet<String>) -> bool {
    let folder = format!("{path}/");
    path.is_empty()
        || paths.contains(path)
        || paths.range(folder.clone()..).next().is_some_and(|other| other.starts_with(&folder))
}

/// Whether the heading of `target` exists. True without an anchor, and for files other than Markdown.
fn has_anchor(from: &str, target: &str, anchors: &Anchors) -> bool {
    let Some((_, anchor)) = target.split_once('#') else { return true };
    let page = path_of(from, target).and_then(|path| anchors.get(&path));
    page.is_none_or(|headings| headings.contains(anchor))
}

/// The anchor of each heading, as in GitHub and mdBook. A repeated heading gets no further anchor.
fn headings(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter(|line| line.starts_with('#')).map(|line| {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    })
}

/// Each line with its number, without code in backticks or fences.
fn outside_of_code(text: &str) -> impl Iterator<Item = (usize, String)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        (!fenced && !is_fence).then(|| (index + 1, without_code(line)))
    })
}

/// The line without code in backticks.
fn without_code(line: &str) -> String {
    // The text after an unpaired last backtick is not code.
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
    !target.contains("://") && !target.starts_with("mailto:")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let paths = ["README.md", "docs/guide.md", "docs/run.md", "services/README.md"].map(str::to_owned);
        let file = File { path: "docs/guide.md".to_owned(), text: text.to_owned() };
        let other = File { path: "README.md".to_owned(), text: "# The `top`, of all\n".to_owned() };
        let files = [file, other];
        check(&files[0], &paths.into_iter().collect(), &anchors(&files))
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn links_to_files_folders_and_elsewhere_are_fine() {
        let text = "[a](run.md) [b](../README.md#the-top-of-all) [c](../services/) [d](../services) [e](#here-it-is) [f](/docs/run.md)\n\
                    [g](https://a.org/x) [h](mailto:a@b.org) ![i](./run.md \"title\") [j](..)\n\n[label]: run.md\n## Here it is\n";
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
    fn anchors_that_no_heading_has_are_named() {
        for target in ["#here", "../README.md#the-top", "guide.md#"] {
            let found = found(&format!("## Here it is\n[it]({target})\n"));
            assert_eq!(found.len(), 1, "{target}");
            assert!(found[0].contains("names a heading that is not there"), "{found:?}");
        }
        assert_eq!(found("[a](../services/README.md#any)\n"), [] as [&str; 0], "a page that was not read");
    }

    #[test]
    fn code_has_no_links() {
        assert_eq!(found("`[a](gone)`\n```\n[b](gone)\n```\n"), [] as [&str; 0]);
    }
}
