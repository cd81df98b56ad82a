//! A static site of many runs: any web server can serve it, and it opens from disk. This crate makes its
//! pages in memory; the caller writes them to a folder, and knows which of them are new.
//!
//! A site is made in two steps. Each run gives its own files and a [`RunEntry`], which contains all that the
//! other pages need. So the cost of a new run is its own files and the shared pages.

#![warn(clippy::disallowed_macros, clippy::missing_errors_doc, unreachable_pub)]

mod address;
mod against;
mod assets;
mod badge;
mod calculator;
mod catalogue;
mod chart;
mod claim;
mod claims;
mod data;
mod entry;
mod experiment;
mod feed;
mod figure;
mod frame;
mod index;
mod language;
mod method;
mod pair;
pub mod parquet;
mod preview;
mod row;
mod run;
mod search;
mod service;
mod slope;
mod source;
mod strip;
mod versus;
mod words;

pub use claim::{ClaimCheck, Held, SiteClaim};
pub use entry::RunEntry;
pub use figure::{RunFigure, Word};
pub use pair::ServicePair;
pub use preview::Picture;
pub use row::SiteRow;

use catalogue::Catalogue;
use tare_report::{
    Document,
    document::Table,
    write::{File, WriteError},
};

/// The version of `data/site.json`: `major.minor`. Its schema is in `schema/site.schema.json`.
pub const FORMAT: &str = "1.1";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteSettings {
    pub title: String,
    /// The address of the site, with a slash at its end: previews, the feed and the site map need it.
    pub url: Option<String>,
    /// The repository that has the code of the services: pages link to what was measured, at its commit.
    pub source_url: Option<String>,
}

/// Why a page cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    #[error("cannot write a page: {0}")]
    Page(#[from] askama::Error),
    #[error(transparent)]
    Table(#[from] WriteError),
    #[error("cannot draw the preview of {page}: {reason}")]
    Preview { page: String, reason: String },
}

/// The files of one run: its page, its data, its preview picture.
///
/// # Errors
/// If a page cannot be made.
pub fn of_run(
    entry: &RunEntry,
    document: &Document,
    settings: &SiteSettings,
) -> Result<Vec<File>, SiteError> {
    run::files(entry, document, settings)
}

/// What all runs share.
#[derive(Debug)]
pub struct Shared {
    pub files: Vec<File>,
    /// Previews of links; none without an address of the site, since a preview is found by its whole address.
    pub pictures: Vec<Picture>,
}

/// The pages and pictures that all runs share.
///
/// # Errors
/// If a page cannot be made.
pub fn of_all(entries: &[RunEntry], settings: &SiteSettings) -> Result<Shared, SiteError> {
    let site = Catalogue::of(entries);
    let mut pictures = Vec::new();
    let mut files = vec![
        index::page(&site, settings)?,
        claims::page(&site, settings, &mut pictures)?,
        versus::page(&site, settings)?,
        method::page(&site, settings)?,
        data::page(&site, settings)?,
        data::site(entries),
        feed::feed(&site, settings)?,
        search::index(&site),
    ];
    for experiment in site.experiments.values() {
        files.push(experiment::page(experiment, settings)?);
        files.extend(badge::of_experiment(experiment)?);
    }
    for service in site.services.values() {
        files.push(service::page(service, &site, settings, &mut pictures)?);
    }
    for (names, found) in &site.pairs {
        files.extend(against::page(*names, found, &site, settings, &mut pictures)?);
    }
    for (language, services) in site.languages() {
        files.push(language::page(language, &services, &site, settings)?);
    }
    files.extend(site.featured().map(index::strip_pictures).into_iter().flatten());
    files.extend(data::schemas());
    files.extend(assets::files());
    files.extend(feed::map(&site, settings));
    Ok(Shared { files, pictures })
}

/// The main table of a document, for readers who want only figures.
fn main_table(document: &Document) -> Option<&Table> {
    document.sections.first()?.table.as_ref()
}
