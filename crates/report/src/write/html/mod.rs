//! A document as a page: one file that opens from disk, makes no requests, and is complete without its
//! script.
//!
//! This module writes the page's text: the head, the notes, and every table of up to [`TABLE_ROWS_MAX`] rows.
//! It also contains the document as JSON, from which the script (`web/`) draws charts and longer tables.

mod brief;
mod packed;
mod policy;
mod table;
#[cfg(test)]
mod tests;

use askama::Template;

use tare_analysis::verdict::{Question, Tone};

pub use brief::brief;
pub use policy::SERVED;

use crate::document::{Check, Document, Fact, Section, SectionLevel, Shape};
use table::TableView;

/// The most rows of the main table in the HTML. The script makes longer tables when they are opened: few readers
/// read them whole, and a browser lays out everything it gets.
pub const MAIN_ROWS_MAX: usize = 300;

/// The most rows of any other table in the HTML.
pub const TABLE_ROWS_MAX: usize = 100;

/// The number of rows from which a table is folded at first, even without a chart: it is for reference.
const FOLDED_ROWS_MIN: usize = 40;

/// For pages that have a flame graph, and for no others.
pub const FLAME: &str = include_str!("../../../dist/flame.js");
pub const SCRIPT: &str = include_str!("../../../dist/page.js");
pub const STYLE: &str = include_str!("../../../dist/page.css");

/// Additions to a page from a server, compared with one from disk. All are paths on the same server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Served {
    /// The path of the list of runs, to which the head links.
    pub list: String,
    /// The path of the events. At each `document` event the page requests itself again and shows the changes.
    pub events: Option<String>,
}

/// The parts of a site's page around its document, as escaped HTML.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Around {
    pub head: String,
    pub bar: String,
    /// Links beside the kind of the run.
    pub links: String,
    pub scripts: String,
}

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    document: &'a Document,
    served: Option<&'a Served>,
    around: Option<&'a Around>,
    /// What came out. The other levels are folded.
    sections: Vec<SectionView<'a>>,
    folds: Vec<Fold<'a>>,
    /// Sections with only a reason for their absence: one list at the end, instead of a heading for each.
    silent: Vec<&'a Section>,
    json: String,
}

#[derive(Template)]
#[template(path = "frame.html")]
struct Frame<'a> {
    title: &'a str,
    main: &'a str,
}

/// A level of a page that is folded at first.
struct Fold<'a> {
    id: &'static str,
    title: &'static str,
    level: SectionLevel,
    sections: Vec<SectionView<'a>>,
}

impl Fold<'_> {
    fn is_provenance(&self) -> bool {
        self.level == SectionLevel::Provenance
    }

    /// The titles of its sections.
    fn contents(&self) -> String {
        let titles: Vec<&str> = self.sections.iter().map(|view| view.section.title.as_str()).collect();
        titles.join(", ")
    }
}

/// A section in the template's form.
#[derive(Debug)]
pub struct SectionView<'a> {
    pub section: &'a Section,
    /// Whether it is the first section, with the main table: it is never folded, and precedes the charts.
    pub main: bool,
    pub table: Option<TableView<'a>>,
}

/// A standalone page that contains everything.
///
/// # Errors
/// None that a document can cause: the template writes into memory.
pub fn html(document: &Document) -> Result<String, askama::Error> {
    page(document, None, None)
}

/// The same page for a server: it links to the list, and can receive events to update itself.
///
/// # Errors
/// As [`html`].
pub fn served(document: &Document, served: &Served) -> Result<String, askama::Error> {
    page(document, Some(served), None)
}

/// The same page for a site: all pages share the files with style and scripts.
///
/// # Errors
/// As [`html`].
pub fn of_site(document: &Document, around: &Around) -> Result<String, askama::Error> {
    page(document, None, Some(around))
}

/// A page of the same style around the caller's content, such as a list of runs. `main` is HTML that the
/// caller has escaped.
///
/// # Errors
/// As [`html`].
pub fn frame(title: &str, main: &str) -> Result<String, askama::Error> {
    Frame { title, main }.render()
}

fn page(
    document: &Document,
    served: Option<&Served>,
    around: Option<&Around>,
) -> Result<String, askama::Error> {
    let document = &*brief(document);
    let all = document.sections.iter().enumerate();
    let (shown, silent): (Vec<_>, Vec<_>) =
        all.partition(|(place, section)| *place == 0 || section.table.is_some());
    let mut sections: Vec<SectionView> = shown
        .into_iter()
        .map(|(place, section)| SectionView::new(section, is_main(place, section)))
        .collect();
    let silent = silent.into_iter().map(|(_, section)| section).collect();
    let mut fold = |id, title, level| {
        let sections: Vec<_> =
            sections.extract_if(.., |view| !view.main && view.section.level() == level).collect();
        Fold { id, title, level, sections }
    };
    let folds = [
        fold("diagnostics", "Diagnostics", SectionLevel::Diagnostics),
        fold("provenance", "Provenance", SectionLevel::Provenance),
    ];
    let has_own = |fold: &Fold| match fold.level {
        SectionLevel::Provenance => document.facts.iter().any(|fact| !fact.brief),
        _ => !document.notes.is_empty(),
    };
    let folds = folds.into_iter().filter(|fold| !fold.sections.is_empty() || has_own(fold)).collect();
    Page { document, served, around, sections, folds, silent, json: embeddable(&packed::document(document)) }
        .render()
}

/// Whether a section has the main table: a run that failed has none.
fn is_main(place: usize, section: &Section) -> bool {
    place == 0 && section.level() == SectionLevel::Result
}

/// An instant for HTML, to the millisecond. A text that is no time is unchanged.
pub fn datetime(instant: &str) -> String {
    let parsed = instant.parse::<jiff::Timestamp>();
    parsed.map_or_else(|_| instant.to_owned(), |time| time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string())
}

/// JSON that cannot end its surrounding element, whatever the name of a service.
pub fn embeddable(value: &impl serde::Serialize) -> String {
    // It contains only strings and finite numbers, which JSON can represent.
    let json = serde_json::to_string(value).unwrap_or_default();
    let mut safe = String::with_capacity(json.len() + json.len() / 64);
    for letter in json.chars() {
        match letter {
            '<' => safe.push_str("\\u003c"),
            '\u{2028}' => safe.push_str("\\u2028"),
            '\u{2029}' => safe.push_str("\\u2029"),
            letter => safe.push(letter),
        }
    }
    safe
}

impl<'a> SectionView<'a> {
    pub fn new(section: &'a Section, main: bool) -> SectionView<'a> {
        let rows = section.table.as_ref().map_or(0, |table| table.rows.len());
        let folded = !main && (!section.charts.is_empty() || rows >= FOLDED_ROWS_MIN);
        SectionView {
            section,
            main,
            table: section.table.as_ref().map(|table| TableView::new(table, folded, main)),
        }
    }

    /// The same with all rows of its table.
    pub fn whole(section: &'a Section, main: bool) -> SectionView<'a> {
        let table = section.table.as_ref().map(|table| TableView::whole(table, main));
        SectionView { section, main, table }
    }

    /// Adds links to the cells of its table: `link` returns the target for the text of a column.
    pub fn linked(mut self, link: &impl Fn(&str, &str) -> Option<String>) -> SectionView<'a> {
        if let Some(table) = &mut self.table {
            table.link(link);
        }
        self
    }
}

/// Whether a page needs [`FLAME`].
pub fn has_flame(document: &Document) -> bool {
    document.sections.iter().flat_map(|section| &section.charts).any(|chart| chart.shape == Shape::Flame)
}

impl Page<'_> {
    fn policy(&self) -> &'static str {
        if self.served.is_some() { &policy::SERVED } else { &policy::ALONE }
    }

    fn kind(&self) -> &'static str {
        self.document.kind.text()
    }

    /// The start of the run, to the second, for people. A text that is no time is unchanged.
    fn began(&self) -> String {
        let began = self.document.began.parse::<jiff::Timestamp>();
        began.map_or_else(
            |_| self.document.began.clone(),
            |time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        )
    }

    fn datetime(&self) -> String {
        datetime(&self.document.began)
    }

    /// The date of its start, if that is a time: it distinguishes the tabs of two runs of one experiment.
    fn day(&self) -> Option<String> {
        let began = self.document.began.parse::<jiff::Timestamp>().ok()?;
        Some(began.strftime("%Y-%m-%d").to_string())
    }

    fn checks(&self) -> String {
        super::checks(self.document)
    }

    fn brief_facts(&self) -> Vec<&Fact> {
        self.document.facts.iter().filter(|fact| fact.brief && !fact.code).collect()
    }

    fn further_facts(&self) -> Vec<&Fact> {
        self.document.facts.iter().filter(|fact| !fact.brief || fact.code).collect()
    }

    /// Whether a gate was not passed, which its answer says in red.
    fn is_bad(&self) -> bool {
        super::question(self.document.kind) == Question::Gate && self.document.verdict().tone() == Tone::Bad
    }

    fn has_failed(&self) -> bool {
        self.document.checks.iter().any(|check| check.verdict.tone() == Tone::Bad)
    }

    /// The reasons to distrust all figures, which precede them.
    fn cautions(&self) -> Vec<&str> {
        let cautions = self.document.cautions.iter().map(String::as_str);
        super::status(self.document.status).into_iter().chain(cautions).collect()
    }

    /// A name for the style, and the displayed word.
    fn verdict(&self, check: &Check) -> (&'static str, &'static str) {
        (check.verdict.tone().name(), check.verdict.word(super::question(self.document.kind)))
    }

    /// A name for the style, and the displayed word: the verdict of a gate that was not passed, else how far the run went.
    fn status(&self) -> (&'static str, &'static str) {
        if self.is_bad() {
            return ("failed", self.document.verdict().word(Question::Gate));
        }
        (self.document.status.name(), self.document.status.text())
    }
}
