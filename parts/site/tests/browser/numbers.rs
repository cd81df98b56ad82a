//! A page shows the numbers of the document, digit by digit.

use serde_json::{Value as Json, json};
use tare_report::document::{Column, Table, Value};

use crate::{browser::Browser, opens, pages};

/// With its data, style and script.
const BYTES_MAX: usize = 900_000;
/// For a dozen services.
const BYTES_MAX_FEW: usize = 500_000;

#[test]
fn a_page_is_small_enough_to_be_sent() {
    for page in pages::all() {
        let most = if page.name == "few" { BYTES_MAX_FEW } else { BYTES_MAX };
        assert!(page.html.len() < most, "{}: {} bytes", page.name, page.html.len());
    }
}

#[test]
fn the_json_in_a_page_is_the_document() {
    for (page, opened) in opens::all().into_iter().flatten() {
        assert!(same(&opened.data, &serde_json::to_value(&page.document).unwrap()), "{}", page.name);
    }
}

/// Equality of JSON values: a browser writes `1` for `1.0`.
fn same(left: &Json, right: &Json) -> bool {
    match (left, right) {
        (Json::Number(left), Json::Number(right)) => left.as_f64() == right.as_f64(),
        (Json::Array(left), Json::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Json::Object(left), Json::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, value)| right.get(key).is_some_and(|other| same(value, other)))
        }
        (left, right) => left == right,
    }
}

/// All cells in the page: section, row and column by their indices in the document, the raw value, the text,
/// and the interval beside it. Tables made by the script are opened first.
pub const CELLS: &str = "
    for (const fold of document.querySelectorAll('main details')) fold.open = true;
    const isEmpty = () => [...document.querySelectorAll('main details[open] table[data-long] tbody')].some(body => !body.rows.length);
    do { await new Promise(requestAnimationFrame); } while (isEmpty());
    return [...document.querySelectorAll('main section')].flatMap(section =>
        [...section.querySelectorAll('tbody tr[data-row]')].flatMap(row => {
            const places = [...row.closest('table').querySelectorAll('thead th')].map(head => Number(head.dataset.place));
            return [...row.cells].filter(cell => 'value' in cell.dataset).map(cell => {
                const clone = cell.cloneNode(true);
                const interval = cell.localName === 'td' ? clone.querySelector('small') : null;
                for (const beside of clone.querySelectorAll('small, .marks')) beside.remove();
                return [section.id, Number(row.dataset.row), places[cell.cellIndex], cell.dataset.value,
                    clone.textContent.trim(), interval ? interval.textContent : cell.localName === 'td' && cell.title ? cell.title : null];
            });
        }));";

#[test]
fn every_number_of_a_page_is_that_of_the_document() {
    let Some(browser) = Browser::open() else { return };
    let mut compared = 0;
    for page in pages::all() {
        browser.visit(&page.file);
        let cells = browser.run(CELLS, &[]);
        for cell in cells.as_array().unwrap() {
            let table = table(page, cell[0].as_str().unwrap());
            if let Err(difference) = compare(table, cell) {
                panic!("{}: {difference} in {cell}", page.name);
            }
            compared += 1;
        }
        for section in &page.document.sections {
            let has_rows = section.table.as_ref().is_some_and(|table| !table.rows.is_empty());
            let is_shown = cells.as_array().unwrap().iter().any(|cell| cell[0] == json!(section.id));
            assert_eq!(is_shown, has_rows, "{}: {}", page.name, section.id);
        }
    }
    assert!(compared > 1_000, "{compared} cells are too few to have looked at the pages");
}

fn table<'a>(page: &'a pages::Page, section: &str) -> &'a Table {
    let section = page.document.sections.iter().find(|known| known.id == section);
    section
        .and_then(|section| section.table.as_ref())
        .expect("the page has no table that the document has not")
}

fn compare(table: &Table, cell: &Json) -> Result<(), String> {
    let place = cell[2].as_u64().ok_or("no place")? as usize;
    let row = table.rows.get(cell[1].as_u64().ok_or("no row")? as usize).ok_or("no such row")?;
    let (column, value) = (&table.columns[place], &row[place]);
    let raw = cell[3].as_str().ok_or("no raw value")?;
    let is_same = match value {
        Value::Number(number) | Value::Bounded(number, _) | Value::Ranked(number, _) => {
            raw.parse() == Ok(*number)
        }
        Value::Text(text) => raw == text,
        Value::Sentences(sentences) => raw == sentences.text(),
        Value::Word(word, _) => raw == *word,
        Value::Flag(flag) => raw == flag.to_string(),
        Value::None | Value::Never => raw.is_empty(),
    };
    if !is_same {
        return Err(format!("raw value {raw:?} instead of {value:?}"));
    }
    let (shown, text) = (cell[4].as_str().unwrap_or_default(), column.show(value));
    if words(shown) != words(&text) {
        return Err(format!("{shown:?} instead of {text:?}"));
    }
    match (interval(table, column, row), cell[5].as_str()) {
        (Some([low, high]), Some(shown)) if says(shown, &low, &high) => Ok(()),
        (None, None) => Ok(()),
        (ends, shown) => Err(format!("interval {shown:?} instead of {ends:?}")),
    }
}

/// Both bounds; a common unit appears only after the second.
pub fn says(shown: &str, low: &str, high: &str) -> bool {
    let Some((first, second)) = shown.split_once(" .. ") else { return false };
    let first = first.trim_start_matches("95% interval: ");
    let unit =
        |text: &str| text.trim_start_matches(|letter: char| "+-0123456789.".contains(letter)).to_owned();
    second == high && (first == low || format!("{first}{}", unit(high)) == low)
}

/// The words: HTML collapses white space.
fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// Both bounds as text, if there is a value.
fn interval(table: &Table, column: &Column, row: &[Value]) -> Option<[String; 2]> {
    let [low, high] = column.interval.as_ref()?;
    let end = |key: &String| row[table.place(key)?].number().map(|number| column.unit.show(number));
    let own = table.place(&column.key)?;
    row[own].number()?;
    Some([end(low)?, end(high)?])
}
