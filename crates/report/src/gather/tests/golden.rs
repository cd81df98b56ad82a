//! Documents as short text, for reviews of changes.

use crate::document::{Chart, Document, Section, Table};

/// The number of rows that are written per table.
const ROWS: usize = 4;

/// The document with the first rows of each table.
pub(crate) fn text(document: &Document) -> String {
    let mut out = format!("{}\n? {}\n! {}\n", document.title, document.question, document.whole_answer());
    out += &format!("{:?}, {:?}, began {}\n", document.kind, document.status, document.began);
    document.damage.iter().for_each(|damage| out += &format!("damage: {damage}\n"));
    document.notes.iter().for_each(|note| out += &format!("note: {note}\n"));
    document.facts.iter().for_each(|fact| out += &format!("{}: {}\n", fact.label, fact.text));
    document.sections.iter().for_each(|part| out += &section(part));
    out
}

fn section(of: &Section) -> String {
    let mut out = format!("\n# {} ({})\n{}\n", of.title, of.id, of.lead);
    of.notes.iter().for_each(|note| out += &format!("note: {note}\n"));
    of.charts.iter().for_each(|of| out += &chart(of));
    of.table.iter().for_each(|of| out += &table(of));
    out
}

fn chart(of: &Chart) -> String {
    let Chart { shape, title, x, y, x_scale, y_scale, bound, .. } = of;
    let series = of.series.as_ref().map_or(String::new(), |series| format!(" by {series}"));
    let bound = bound.as_ref().map_or(String::new(), |bound| format!(", bound {bound}"));
    format!(
        "chart \"{title}\": {shape:?} of {y} ({y_scale:?}) over {x} ({x_scale:?}){series}{bound}: {}\n",
        of.alt
    )
}

fn table(of: &Table) -> String {
    let shown: Vec<usize> = (0..of.columns.len()).filter(|place| !of.columns[*place].hidden).collect();
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut out = line(shown.iter().map(|place| of.columns[*place].title.clone()).collect());
    for row in of.rows.iter().take(ROWS) {
        out += &line(shown.iter().map(|place| row[*place].show(of.columns[*place].unit)).collect());
    }
    let hidden: Vec<&str> =
        of.columns.iter().filter(|column| column.hidden).map(|column| column.key.as_str()).collect();
    let hidden = if hidden.is_empty() { "nothing".to_owned() } else { hidden.join(", ") };
    out + &format!("{} rows; in the data only: {hidden}\n", of.rows.len())
}
