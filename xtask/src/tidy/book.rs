//! Rules for the guide: each page of docs/ is in the table of contents, and links stay within docs/.
//!
//! mdBook turns docs/ into a site. It does not build pages missing from SUMMARY.md, and links to files beside
//! docs/ work in the checkout only. Both are detected here without mdBook.

use std::collections::BTreeSet;

use super::markdown::{self, links};
use super::{File, Finding};

const BOOK: &str = "docs/";
const SUMMARY: &str = "docs/SUMMARY.md";

/// All rules over all files. Without a guide there are no findings.
pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let Some(summary) = files.iter().find(|file| file.path == SUMMARY) else { return Vec::new() };
    let named: BTreeSet<String> =
        links(&summary.text).filter_map(|(_, target)| markdown::path_of(SUMMARY, &target)).collect();
    let pages = || files.iter().filter(|file| file.path.starts_with(BOOK) && file.extension() == "md");
    let unnamed = pages().filter(|page| page.path != SUMMARY && !named.contains(&page.path)).map(|page| {
        Finding::new(
            &page.path,
            1,
            format!("the page is not in {SUMMARY}"),
            "add it to the table of contents",
        )
    });
    unnamed.chain(pages().flat_map(leads_out)).collect()
}

/// Links of one page to repository files outside of the site.
fn leads_out(page: &File) -> Vec<Finding> {
    let out = links(&page.text).filter(|(_, target)| {
        markdown::path_of(&page.path, target).is_some_and(|path| !path.starts_with(BOOK))
    });
    out.map(|(line, target)| {
        let what = format!("the link '{target}' leads out of the guide");
        Finding::new(&page.path, line, what, "name the file in backticks, or link to a page of docs/")
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pages: &[(&str, &str)]) -> Vec<String> {
        check(&File::all(pages)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn pages_of_the_summary_that_link_to_each_other_are_fine() {
        let summary = ("docs/SUMMARY.md", "# Summary\n[Tare](README.md)\n- [A](how-to/a.md)\n");
        let page = ("docs/how-to/a.md", "[b](../README.md#x) [c](https://a.org/) [d](#here) [e](./a.md)\n");
        assert_eq!(found(&[summary, page, ("docs/README.md", "")]), [] as [&str; 0]);
        assert_eq!(found(&[("README.md", "[a](docs/a.md)")]), [] as [&str; 0], "no guide, no rule");
    }

    #[test]
    fn a_page_that_the_summary_does_not_name_is_found() {
        let found = found(&[("docs/SUMMARY.md", "- [A](a.md)\n"), ("docs/a.md", ""), ("docs/b/c.md", "")]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("docs/b/c.md:1: the page is not in docs/SUMMARY.md"), "{found:?}");
    }

    #[test]
    fn a_link_that_leaves_the_guide_is_found() {
        let page = ("docs/a.md", "text\n[b](../README.md)\n");
        let found = found(&[("docs/SUMMARY.md", "- [A](a.md)\n"), page]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].starts_with("docs/a.md:2: the link '../README.md' leads out of the guide"),
            "{found:?}"
        );
    }
}
