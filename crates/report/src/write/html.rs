//! A document as a page: one file that opens from disk, asks nothing of a network, and is complete without its script.
//!
//! What stands in it as text is written here: the head, the notes, and every table of up to [`TABLE_ROWS_MAX`] rows. The
//! document itself lies in the page as JSON; of that the script (`web/`) draws charts and longer tables.

mod brief;
mod policy;
mod table;
#[cfg(test)]
mod tests;

use askama::Template;

use tare_analysis::verdict::Tone;

pub use brief::brief;
pub use policy::SERVED;

use crate::document::{Check, Document, Section};
use table::TableView;

/// Rows of the longest table that is written into the page. Longer ones are made by the script when they are opened: few
/// reads them from top to bottom, and a browser lays out what it is given.
pub const TABLE_ROWS_MAX: usize = 300;

/// Rows from which on a table is closed at first, though no chart says more: it is looked up, and not read.
const FOLDED_ROWS_MIN: usize = 40;

pub(crate) const CHARTS: &str = include_str!("../../dist/charts.js");
pub(crate) const SCRIPT: &str = include_str!("../../dist/page.js");
pub(crate) const STYLE: &str = include_str!("../../dist/page.css");

/// What a page that comes from a server has more than one from disk. All are paths of the same server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Served {
    /// Where the list of runs is: a link of the head leads there.
    pub list: String,
    /// Where events come from. At each `document`, the page asks for itself again and shows what is new.
    pub events: Option<String>,
}

/// What a page of a site has around its document: HTML that its writer has escaped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Around {
    pub(crate) head: String,
    pub(crate) bar: String,
    /// Links beside the kind of the run.
    pub(crate) links: String,
    pub(crate) scripts: String,
}

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    document: &'a Document,
    served: Option<&'a Served>,
    around: Option<&'a Around>,
    sections: Vec<SectionView<'a>>,
    /// Those that have nothing to show but why: in one list at the end, where each would be a heading over a line.
    silent: Vec<&'a Section>,
    json: String,
}

#[derive(Template)]
#[template(path = "frame.html")]
struct Frame<'a> {
    title: &'a str,
    main: &'a str,
}

/// A section as the template wants it.
pub(crate) struct SectionView<'a> {
    pub(crate) section: &'a Section,
    /// The first section has the main table: it is never folded, and stands before the charts.
    pub(crate) main: bool,
    pub(crate) table: Option<TableView<'a>>,
}

/// A page of its own, with everything in it.
///
/// # Errors
/// None that a document can cause: the template writes into memory.
pub fn html(document: &Document) -> Result<String, askama::Error> {
    page(document, None, None)
}

/// The same page, as a server shows it: it knows the way back to the list, and may be reported to look again.
///
/// # Errors
/// As [`html`].
pub fn served(document: &Document, served: &Served) -> Result<String, askama::Error> {
    page(document, Some(served), None)
}

/// The same page as one of a site: style and scripts are files that all pages share.
///
/// # Errors
/// As [`html`].
pub(crate) fn of_site(document: &Document, around: &Around) -> Result<String, askama::Error> {
    page(document, None, Some(around))
}

/// A page of the same looks around what the caller wrote, such as a list of runs. `main` is HTML: the caller escapes.
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
    let sections = shown.into_iter().map(|(place, section)| SectionView::new(section, place == 0)).collect();
    let silent = silent.into_iter().map(|(_, section)| section).collect();
    Page { document, served, around, sections, silent, json: embeddable(document) }.render()
}

/// An instant as HTML has it: to the millisecond. What is no time stays as it is.
pub(crate) fn datetime(instant: &str) -> String {
    let parsed = instant.parse::<jiff::Timestamp>();
    parsed.map_or_else(|_| instant.to_owned(), |time| time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string())
}

/// JSON that cannot end the element that it stands in, whatever a service is called.
pub(crate) fn embeddable(value: &impl serde::Serialize) -> String {
    // Strings and finite numbers only: there is nothing that JSON could not say.
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
    pub(crate) fn new(section: &'a Section, main: bool) -> SectionView<'a> {
        let rows = section.table.as_ref().map_or(0, |table| table.rows.len());
        let folded = !main && (!section.charts.is_empty() || rows >= FOLDED_ROWS_MIN);
        SectionView {
            section,
            main,
            table: section.table.as_ref().map(|table| TableView::new(table, folded, main)),
        }
    }

    /// The same with all rows of its table.
    pub(crate) fn whole(section: &'a Section, main: bool) -> SectionView<'a> {
        let table = section.table.as_ref().map(|table| TableView::whole(table, main));
        SectionView { section, main, table }
    }

    /// With links from the cells of its table: `link` knows where the text of a column leads.
    pub(crate) fn linked(mut self, link: &impl Fn(&str, &str) -> Option<String>) -> SectionView<'a> {
        if let Some(table) = &mut self.table {
            table.link(link);
        }
        self
    }
}

impl Page<'_> {
    fn policy(&self) -> &'static str {
        if self.served.is_some() { &policy::SERVED } else { &policy::ALONE }
    }

    fn kind(&self) -> &'static str {
        self.document.kind.text()
    }

    /// When the run began, to the second, as people write it. What is no time stays as it is.
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

    /// The day on which it began, if that is a time: two runs of one experiment are two tabs.
    fn day(&self) -> Option<String> {
        let began = self.document.began.parse::<jiff::Timestamp>().ok()?;
        Some(began.strftime("%Y-%m-%d").to_string())
    }

    fn checks(&self) -> String {
        super::checks(self.document)
    }

    fn has_failed(&self) -> bool {
        self.document.checks.iter().any(|check| check.verdict.tone() == Tone::Bad)
    }

    /// What stands before any figure, since it makes all of them doubtful.
    fn cautions(&self) -> Vec<&str> {
        let cautions = self.document.cautions.iter().map(String::as_str);
        super::status(self.document.status).into_iter().chain(cautions).collect()
    }

    /// A name for the style, and the word that is shown.
    fn verdict(&self, check: &Check) -> (&'static str, &'static str) {
        (check.verdict.tone().name(), check.verdict.word(super::question(self.document.kind)))
    }

    /// A name for the style, and the word that is shown.
    fn status(&self) -> (&'static str, &'static str) {
        (self.document.status.name(), self.document.status.text())
    }
}
