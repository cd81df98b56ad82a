//! The pages of all run folders, made once.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use tare_report::{
    Document,
    document::{Column, Table, Unit, Value},
    gather,
    write::html,
};

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
        fixtures::ALL.iter().map(page).collect()
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
    let document = marked(document);
    let html = html::html(&document).unwrap();
    let file = folder().join(format!("{}.html", fixture.name));
    fs::write(&file, &html).unwrap();
    Page { name: fixture.name, document, html, file }
}

/// With the flags of the main table, where the run's document does not have them: which rows are references, and which the data do
/// not separate from the next one.
fn marked(mut document: Document) -> Document {
    let tied: Vec<[Value; 2]> = document
        .sections
        .iter()
        .filter(|section| section.id == "not-separated")
        .filter_map(|section| section.table.as_ref())
        .flat_map(|table| table.values("label").cloned().zip(table.values("label_next").cloned()))
        .map(|(one, next)| [one, next])
        .collect();
    for table in document.sections.iter_mut().filter(|section| section.id == "ranks") {
        if let Some(table) = table.table.as_mut().filter(|table| table.place("is_reference").is_none()) {
            mark(table, &tied);
        }
    }
    document
}

fn mark(table: &mut Table, tied: &[[Value; 2]]) {
    let places = ["label", "style", "ranks"].map(|key| table.place(key));
    let [Some(label), Some(style), Some(ranks)] = places else { return };
    for key in ["is_reference", "is_tied_to_next"] {
        let column = Column {
            key: key.to_owned(),
            unit: Unit::Flag,
            hidden: true,
            facet: false,
            ..table.columns[style].clone()
        };
        table.columns.push(column);
    }
    let labels: Vec<Value> = table.values("label").cloned().collect();
    for (place, row) in table.rows.iter_mut().enumerate() {
        let is_reference = row[style].text() == Some("raw-socket");
        let next = labels.get(place + 1);
        let is_tied = tied.iter().any(|[one, other]| *one == row[label] && Some(other) == next);
        row.extend([Value::Flag(is_reference), Value::Flag(is_tied && !is_reference)]);
        if is_reference {
            row[ranks] = Value::None;
        }
    }
}
