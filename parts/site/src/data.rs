//! The figures of a site for programs, at stable addresses.

use askama::Template;
use serde::Serialize;

use super::{
    FORMAT, RunEntry, SiteError, SiteSettings,
    address::{Address, slug},
    catalogue::Catalogue,
    frame::{self, PageFrame},
};
use tare_report::write::{File, json};

/// The schema of `data/site.json`.
const SCHEMA: &str = include_str!("../schema/site.schema.json");

#[derive(Serialize)]
struct Site {
    format: &'static str,
    runs: Vec<RunEntry>,
}

#[derive(Template)]
#[template(path = "site/data.html")]
struct Data<'a> {
    root: &'a str,
    runs: Vec<Run<'a>>,
}

struct Run<'a> {
    entry: &'a RunEntry,
    page: String,
    json: String,
    /// `None` for a run without a table.
    csv: Option<String>,
}

/// The path of the data of a run.
pub(super) fn path(id: &str, end: &str) -> String {
    format!("data/run/{}.{end}", slug(id))
}

/// Pairs of services are only in the data of each run: a thousand runs have a million of them.
pub(super) fn site(entries: &[RunEntry]) -> File {
    let runs = entries.iter().map(|entry| RunEntry { pairs: Vec::new(), ..entry.clone() }).collect();
    // It contains only strings and finite numbers, which JSON can represent.
    let text = serde_json::to_string(&Site { format: FORMAT, runs }).unwrap_or_default();
    File { name: "data/site.json".to_owned(), bytes: (text + "\n").into_bytes() }
}

pub(super) fn schemas() -> [File; 2] {
    [("data/site.schema.json", SCHEMA), ("data/document.schema.json", json::SCHEMA)]
        .map(|(name, text)| File { name: name.to_owned(), bytes: text.into() })
}

pub(super) fn page(site: &Catalogue<'_>, settings: &SiteSettings) -> Result<File, SiteError> {
    let lead = "All figures as JSON and CSV, with their schema.";
    let frame = PageFrame::new(Address::Data, "Data", lead, settings).image_of(site.featured(), settings);
    let runs = site.runs.iter().map(|entry| run(entry, &frame)).collect();
    frame::file(&frame, &Data { root: &frame.root, runs }.render()?)
}

fn run<'a>(entry: &'a RunEntry, frame: &PageFrame<'_>) -> Run<'a> {
    let at = |end: &str| format!("{}{}", frame.root, path(&entry.id, end));
    Run {
        entry,
        page: frame.to(Address::Run(&entry.id)),
        json: at("json"),
        csv: (!entry.rows.is_empty()).then(|| at("csv")),
    }
}
