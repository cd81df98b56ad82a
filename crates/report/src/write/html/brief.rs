//! A shortened document for a page: of its longest tables, the page has only the rows of some services, so
//! that it loads quickly. The page says what is left out; formats for programs have everything.

use std::{borrow::Cow, collections::HashSet};

use crate::document::{Document, Section, Table, Value};

/// The most rows of a table that a page has in full.
const ROWS_WHOLE_MAX: usize = 4_000;
/// The number of rows of a longer table that are kept, or those of one service if they are more.
const ROWS_KEPT: usize = 2_000;

/// The document, or a copy whose longest tables have fewer rows.
pub fn brief(document: &Document) -> Cow<'_, Document> {
    let is_long =
        |section: &Section| section.table.as_ref().is_some_and(|table| table.rows.len() > ROWS_WHOLE_MAX);
    if !document.sections.iter().any(is_long) {
        return Cow::Borrowed(document);
    }
    let mut document = document.clone();
    document.sections.iter_mut().filter(|section| is_long(section)).for_each(shorten);
    Cow::Owned(document)
}

fn shorten(section: &mut Section) {
    let Some(table) = &mut section.table else { return };
    let all = table.rows.len();
    let note = match table.place("label") {
        Some(label) => {
            let (kept, known) = of_first_services(table, label);
            format!("those of {kept} of {known} services")
        }
        None => {
            table.rows.truncate(ROWS_KEPT);
            "the first".to_owned()
        }
    };
    let (rows, id) = (table.rows.len(), &section.id);
    section.notes.push(format!(
        "a page has {rows} of its {all} rows, {note}: `tare report RUN --format csv --section {id}` writes all"
    ));
}

/// Keeps all rows of the first services, and returns their number and that of all services.
fn of_first_services(table: &mut Table, label: usize) -> (usize, usize) {
    let mut services: Vec<(&str, usize)> = Vec::new();
    for row in &table.rows {
        let name = row.get(label).and_then(Value::text).unwrap_or_default();
        match services.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => services.push((name, 1)),
        }
    }
    let mut rows = 0;
    let fits = |(place, (_, count)): &(usize, &(&str, usize))| {
        rows += count;
        *place == 0 || rows <= ROWS_KEPT
    };
    let kept = services.iter().enumerate().take_while(fits).map(|(_, (name, _))| (*name).to_owned());
    let (kept, known): (HashSet<String>, usize) = (kept.collect(), services.len());
    table.rows.retain(|row| row.get(label).and_then(Value::text).is_some_and(|name| kept.contains(name)));
    (kept.len(), known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{document::Unit, write::fixture::interleaved};

    /// A document with this many rows, ten per service.
    fn with_rows(rows: usize) -> Document {
        let columns = [("label", Unit::Text, 9), ("value", Unit::Number, 9)];
        let row = |place: usize| [Value::from(format!("service {}", place / 10)), Value::from(place)];
        let table = Table::plain(columns, (0..rows).map(row).collect());
        let section = Section { id: "slices".to_owned(), table: Some(table), ..Section::default() };
        Document { sections: vec![section], ..interleaved() }
    }

    #[test]
    fn a_table_that_fits_is_whole_and_a_longer_one_has_whole_services() {
        let whole = with_rows(ROWS_WHOLE_MAX);
        assert!(matches!(brief(&whole), Cow::Borrowed(_)));
        let long = with_rows(ROWS_WHOLE_MAX + 10);
        let short = brief(&long);
        let section = &short.sections[0];
        assert_eq!(
            section.table.as_ref().unwrap().rows[..],
            long.sections[0].table.as_ref().unwrap().rows[..ROWS_KEPT]
        );
        assert_eq!(
            section.notes,
            [
                "a page has 2000 of its 4010 rows, those of 200 of 401 services: `tare report RUN --format csv --section slices` writes all"
            ]
        );
    }

    #[test]
    fn of_one_service_all_rows_are_kept_and_without_services_the_first_rows() {
        let mut alone = with_rows(ROWS_WHOLE_MAX + 10);
        let rows = &mut alone.sections[0].table.as_mut().unwrap().rows;
        rows.iter_mut().for_each(|row| row[0] = Value::from("one"));
        assert_eq!(brief(&alone).sections[0].table.as_ref().unwrap().rows.len(), ROWS_WHOLE_MAX + 10);
        let mut nameless = with_rows(ROWS_WHOLE_MAX + 10);
        nameless.sections[0].table.as_mut().unwrap().columns[0].key = "what".to_owned();
        assert_eq!(brief(&nameless).sections[0].table.as_ref().unwrap().rows.len(), ROWS_KEPT);
    }
}
