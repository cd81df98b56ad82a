//! The pages of all run folders, made once.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use tare_report::{Document, gather, write::html};

use crate::fixtures::{self, Fixture};

/// What a run folder is shown as.
pub struct Page {
    pub name: &'static str,
    pub document: Document,
    pub html: String,
    pub file: PathBuf,
}

/// In `target/tmp/browser`, where they can be looked at afterwards.
pub fn all() -> &'static [Page] {
    static PAGES: OnceLock<Vec<Page>> = OnceLock::new();
    PAGES.get_or_init(|| {
        let _there_may_be_none = fs::remove_dir_all(folder());
        fixtures::each(page)
    })
}

pub fn named(name: &str) -> &'static Page {
    all().iter().find(|page| page.name == name).expect("there is such a fixture")
}

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("browser")
}

fn page(fixture: &Fixture) -> Page {
    let run = fixture.write(&folder());
    let document = gather::gather(&run).unwrap_or_else(|error| panic!("{}: {error}", fixture.name));
    // The pages are compared with what they are meant to have; what that is of a document, tests of its own say.
    let document = html::brief(&document).into_owned();
    let html = html::html(&document).unwrap();
    let file = folder().join(format!("{}.html", fixture.name));
    fs::write(&file, &html).unwrap();
    Page { name: fixture.name, document, html, file }
}
