//! The runs of all fixtures, and their pages; each is made once.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use tare_report::{Document, gather, write::html};

use crate::fixtures::{Fixture, OfEach, own_folder};

/// The page of a run folder.
pub struct Page {
    pub name: &'static str,
    pub document: Document,
    pub html: String,
    pub file: PathBuf,
}

/// Run folders, which no test changes.
pub static RUNS: OfEach<PathBuf> = OfEach::new(|fixture| fixture.write(folder()));

static PAGES: OfEach<Page> = OfEach::new(page);

pub fn all() -> Vec<&'static Page> {
    PAGES.all()
}

pub fn named(name: &str) -> &'static Page {
    PAGES.named(name)
}

/// `target/tmp/browser`, where the pages remain for inspection.
pub fn folder() -> &'static Path {
    static FOLDER: LazyLock<PathBuf> =
        LazyLock::new(|| own_folder(Path::new(env!("CARGO_TARGET_TMPDIR")), "browser"));
    &FOLDER
}

fn page(fixture: &Fixture) -> Page {
    let run = RUNS.named(fixture.name);
    let document = gather::gather(run).unwrap_or_else(|error| panic!("{}: {error}", fixture.name));
    // The pages are compared with the shortened document; other tests check the shortening.
    let document = html::brief(&document).into_owned();
    let html = html::html(&document).unwrap();
    let file = folder().join(format!("{}.html", fixture.name));
    fs::write(&file, &html).unwrap();
    Page { name: fixture.name, document, html, file }
}
