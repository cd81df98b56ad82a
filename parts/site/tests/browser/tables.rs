//! Sorting, filtering and paging of tables, by mouse and by keyboard.

use serde_json::{Value as Json, json};
use tare_report::document::{Column, Table, Unit, Value};
use thirtyfour::Key;

use crate::{
    browser::Browser,
    pages::{self, Page},
};

/// The raw values of a column for the visible rows without references; `args` are a section and an index.
const COLUMN: &str = "
    const table = document.querySelector(`#${CSS.escape(args[0])} table`);
    const at = [...table.querySelectorAll('thead th')].findIndex(head => Number(head.dataset.place) === args[1]);
    return [...table.querySelectorAll('tbody tr[data-row]:not(.reference)')].filter(row => row.checkVisibility())
        .map(row => row.cells[at].dataset.value)";

fn column(browser: &Browser, section: &str, place: usize) -> Vec<String> {
    let found = browser.run(COLUMN, &[section.into(), place.into()]);
    found.as_array().unwrap().iter().map(|value| value.as_str().unwrap().to_owned()).collect()
}

/// A JavaScript expression for the button in the header of a column.
fn head(section: &str, place: usize) -> String {
    format!("document.querySelector('#{section} thead th[data-place=\"{place}\"] button')")
}

/// The displayed sort direction of the column.
fn direction(browser: &Browser, section: &str, place: usize) -> String {
    let script = format!("return {}.closest('th').getAttribute('aria-sort') || 'none'", head(section, place));
    browser.run(&script, &[]).as_str().unwrap().to_owned()
}

/// The main table of a page, with the id of its section.
fn main_table(page: &Page) -> Option<(&str, &Table)> {
    let section = page.document.sections.first()?;
    Some((&section.id, section.table.as_ref()?))
}

/// Indices of the columns with a header. Filter columns may be below the name instead.
fn shown(browser: &Browser, section: &str) -> Vec<usize> {
    let script = "return [...document.querySelectorAll(`#${CSS.escape(args[0])} thead th`)].map(head => Number(head.dataset.place))";
    serde_json::from_value(browser.run(script, &[section.into()])).unwrap()
}

/// Whether raw values are in this order; unknown ones come last in either direction.
fn is_sorted(values: &[String], unit: Unit, descending: bool) -> bool {
    let known = values.iter().take_while(|value| !value.is_empty()).count();
    if values[known..].iter().any(|value| !value.is_empty()) {
        return false;
    }
    let number =
        |value: &String| value.parse::<f64>().unwrap_or_else(|_| f64::from(u8::from(value == "true")));
    let numbers: Vec<f64> = values[..known].iter().map(number).collect();
    unit == Unit::Text
        || numbers.windows(2).all(|pair| if descending { pair[0] >= pair[1] } else { pair[0] <= pair[1] })
}

/// Shows the columns that are visible only on request, if a table is its own chart.
fn ask_for_all_columns(browser: &Browser, section: &str) {
    let more = format!("document.querySelector('#{section}-table .more input')");
    if browser.run(&format!("return {more} !== null"), &[]) == Json::Bool(true) {
        browser.click(&more);
    }
}

/// A page for each declaration of a main table, one with a row of every kind, and one with hostile names. A
/// click takes a quarter of a second, and the other pages have the same columns.
const KINDS_OF_TABLES: [&str; 6] = ["many", "failures", "hostile", "comparison", "capacity", "sequential"];

#[test]
fn a_click_on_a_head_sorts_by_the_raw_value() {
    let Some(browser) = Browser::open() else { return };
    for page in KINDS_OF_TABLES.map(pages::named) {
        let (section, table) = main_table(page).unwrap();
        browser.visit(&page.file);
        browser.open_levels();
        ask_for_all_columns(&browser, section);
        let places = shown(&browser, section);
        let before = column(&browser, section, places[0]);
        for place in places {
            let unit = table.columns[place].unit;
            let mut seen = Vec::new();
            for _ in 0..2 {
                browser.click(&head(section, place));
                let direction = direction(&browser, section, place);
                let values = column(&browser, section, place);
                assert!(
                    is_sorted(&values, unit, direction == "descending"),
                    "{}: {} {direction}: {values:?}",
                    page.name,
                    table.columns[place].key
                );
                assert_eq!(values.len(), before.len(), "{}: no row is lost", page.name);
                seen.push(direction);
            }
            seen.sort();
            assert_eq!(seen, ["ascending", "descending"], "{}: {}", page.name, table.columns[place].key);
        }
    }
}

/// For each row of the main table the sentences about it: those of its marks, and those of the line below it.
const SAID: &str = "
    return [...document.querySelectorAll('main .part.main tr[data-row]')].flatMap(row => {
        const marks = [...row.querySelectorAll('.marks a')].map(mark => document.getElementById(mark.hash.slice(1)));
        const line = row.nextElementSibling?.classList.contains('said') ? [...row.nextElementSibling.querySelectorAll('p')] : [];
        const texts = [...marks, ...line].flatMap(one => [...one.querySelectorAll('bdi')].at(-1).textContent.split('; '));
        return texts.map(text => [Number(row.dataset.row), text]);
    })";

#[test]
fn what_is_said_of_a_row_goes_where_the_row_goes() {
    let Some(browser) = Browser::open() else { return };
    let page = pages::named("bound");
    let (section, table) = main_table(page).unwrap();
    let texts = |row: &[Value]| -> Vec<String> {
        let columns = ["reason", "warnings"].into_iter().filter_map(|key| table.place(key));
        let said = columns.filter_map(|place| row[place].text());
        said.flat_map(|text| text.split("; ")).map(str::to_owned).collect()
    };
    let rows = table.rows.iter().enumerate();
    let mut wanted: Vec<(usize, String)> =
        rows.flat_map(|(place, row)| texts(row).into_iter().map(move |text| (place, text))).collect();
    wanted.sort();
    assert!(!wanted.is_empty() && table.rows.iter().any(|row| texts(row).is_empty()));
    browser.visit(&page.file);
    browser.open_levels();
    ask_for_all_columns(&browser, section);
    for place in shown(&browser, section) {
        browser.click(&head(section, place));
        let mut said: Vec<(usize, String)> = serde_json::from_value(browser.run(SAID, &[])).unwrap();
        said.sort();
        assert_eq!(said, wanted, "sorted by {}", table.columns[place].key);
    }
}

#[test]
fn a_mark_opens_the_remark_that_it_names() {
    let Some(browser) = Browser::open() else { return };
    browser.visit(&pages::named("bound").file);
    browser.open_levels();
    let is_open = "return document.querySelector('.remarks').open";
    assert_eq!(browser.run(is_open, &[]), false);
    browser.click("document.querySelector('.marks a')");
    assert_eq!(browser.run(is_open, &[]), true);
}

/// Names are sorted as people do it, by the browser: digits in them count as numbers.
#[test]
fn names_are_sorted_as_people_do_it() {
    let Some(browser) = Browser::open() else { return };
    let page = pages::named("many");
    let (section, table) = main_table(page).unwrap();
    browser.visit(&page.file);
    browser.open_levels();
    let place = names(table);
    browser.click(&head(section, place));
    let sorted = browser.run(
        "const order = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });
         return args[0].every((name, at) => at === 0 || order.compare(args[0][at - 1], name) <= 0)",
        &[json!(column(&browser, section, place))],
    );
    assert_eq!(sorted, true);
}

/// The check boxes of a facet, and the box of a value.
fn facet(section: &str, title: &str) -> String {
    format!(
        "[...document.querySelectorAll('#{section} details.facet')]
             .find(facet => facet.querySelector('[role=group]').ariaLabel === {})",
        json!(title)
    )
}

fn mark(section: &str, title: &str, value: &str) -> String {
    let find = format!(
        ".querySelectorAll('label')].find(label => label.querySelector('bdi').textContent === {})",
        json!(value)
    );
    format!("[...({}){find}", facet(section, title))
}

/// The column that names rows: the first visible text column.
fn names(table: &Table) -> usize {
    let is_name = |column: &Column| column.unit == Unit::Text && !column.hidden;
    table.columns.iter().position(is_name).expect("rows have names")
}

/// Names of the rows with this value of a facet, in the order of the table.
fn having(table: &Table, key: &str, value: &str) -> Vec<String> {
    let (at, names) = (table.place(key).unwrap(), names(table));
    let reference = table.place("is_reference");
    let is_reference = |row: &[Value]| reference.is_some_and(|place| row[place] == Value::Flag(true));
    let rows = table.rows.iter().filter(|row| row[at].text() == Some(value) && !is_reference(row));
    rows.map(|row| row[names].text().unwrap().to_owned()).collect()
}

#[test]
fn a_language_leaves_its_rows_alone_and_in_the_charts_too() {
    let Some(browser) = Browser::open() else { return };
    let page = pages::named("many");
    let (section, table) = main_table(page).unwrap();
    let title = &table.columns[table.place("language").unwrap()].title;
    browser.visit(&page.file);
    browser.open_levels();
    let all = column(&browser, section, names(table));
    browser.click(&format!("({}).querySelector('summary')", facet(section, title)));
    browser.click(&mark(section, title, "Go"));
    let left = column(&browser, section, names(table));
    assert_eq!(left, having(table, "language", "go"));
    assert!(left.len() > 1 && left.len() < all.len(), "{left:?}");
    only_these_are_drawn(&browser, &left, &all);
    browser.click(&mark(section, title, "Go"));
    assert_eq!(column(&browser, section, names(table)), all);
}

/// Waits until charts show only the names `left` out of `all`: in legends, at axes, beside points. Charts are
/// redrawn one after another when visible, so that the page stays responsive.
fn only_these_are_drawn(browser: &Browser, left: &[String], all: &[String]) {
    let script = "
        const texts = new Set();
        for (const figure of document.querySelectorAll('figure.chart')) {
            figure.scrollIntoView({ behavior: 'instant' });
            await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
            for (const one of figure.querySelectorAll('svg text, .legend bdi')) texts.add(one.textContent);
        }
        const [left, all] = args;
        const drawn = all.filter(name => texts.has(name));
        return drawn.length > 0 && drawn.every(name => left.includes(name))";
    browser.until(script, &[json!(left), json!(all)]);
}

#[test]
fn a_table_of_thousands_of_rows_opens_and_is_turned_over() {
    let Some(browser) = Browser::open() else { return };
    let page = pages::named("many");
    browser.visit(&page.file);
    browser.open_levels();
    let long = page
        .document
        .sections
        .iter()
        .skip(1)
        .filter_map(|section| Some((&section.id, section.table.as_ref()?)));
    let long: Vec<(&String, &Table)> = long.filter(|(_, table)| table.rows.len() > 1_000).collect();
    assert!(!long.is_empty(), "60 services x 40 blocks x 8 slices make a long table");
    for (section, table) in long {
        assert_eq!(rows(&browser, section), Vec::<u64>::new(), "{section}: it is made when it is opened");
        browser.click(&format!("document.querySelector('#{section} details.fold > summary')"));
        browser.until(&format!("return document.querySelector('#{section} tbody tr')"), &[]);
        let first = rows(&browser, section);
        assert!((1..=100).contains(&first.len()), "{section}: {} rows at once", first.len());
        browser.click(&format!(
            "[...document.querySelectorAll('#{section} button')].find(button => button.textContent === 'Next')"
        ));
        let second = rows(&browser, section);
        assert_eq!(second.first(), first.last().map(|last| last + 1).as_ref(), "{section}");
        sorts_long(&browser, section, table);
    }
}

/// The first row is the largest of all rows, not of the hundred that are shown.
fn sorts_long(browser: &Browser, section: &str, table: &Table) {
    let is_number = |place: &usize| !matches!(table.columns[*place].unit, Unit::Text | Unit::Flag);
    let place = shown(browser, section).into_iter().rfind(is_number).unwrap();
    let largest = table.rows.iter().filter_map(|row| row[place].number()).fold(f64::MIN, f64::max);
    browser.click(&head(section, place));
    if direction(browser, section, place) == "ascending" {
        browser.click(&head(section, place));
    }
    assert_eq!(direction(browser, section, place), "descending");
    assert_eq!(
        column(browser, section, place)[0].parse(),
        Ok(largest),
        "{section}: {}",
        table.columns[place].key
    );
}

fn rows(browser: &Browser, section: &str) -> Vec<u64> {
    let script = "return [...document.querySelectorAll(`#${CSS.escape(args[0])} tbody tr[data-row]`)].map(row => Number(row.dataset.row))";
    serde_json::from_value(browser.run(script, &[section.into()])).unwrap()
}

/// Presses Tab until the element of an expression has the focus. Every focused element on the way is visible,
/// has a label, and shows its focus.
fn tab_to(browser: &Browser, element: &str) {
    for _ in 0..200 {
        browser.press(Key::Tab);
        let state = browser.run(
            &format!(
                "const focus = document.activeElement, style = getComputedStyle(focus);
                 const name = focus.ariaLabel || focus.textContent || focus.labels?.[0]?.textContent || focus.value;
                 const shows = style.outlineStyle !== 'none' || style.boxShadow !== 'none';
                 return [focus === ({element}), focus.checkVisibility(), Boolean(name && name.trim()), shows,
                     focus.outerHTML.slice(0, 200)]"
            ),
            &[],
        );
        assert_eq!(
            [&state[1], &state[2], &state[3]],
            [true, true, true],
            "visible, named, shows the focus: {}",
            state[4]
        );
        if state[0] == true {
            return;
        }
    }
    panic!("{element} is not reached by the tabulator");
}

#[test]
fn the_keyboard_alone_sorts_and_filters() {
    let Some(browser) = Browser::open() else { return };
    let page = pages::named("many");
    let (section, table) = main_table(page).unwrap();
    let label = names(table);
    let title = &table.columns[table.place("language").unwrap()].title;
    browser.visit(&page.file);
    browser.open_levels();
    tab_to(&browser, &format!("({}).querySelector('summary')", facet(section, title)));
    browser.press(Key::Enter);
    tab_to(&browser, &format!("({}).querySelector('input')", mark(section, title, "Go")));
    browser.press(" ");
    assert_eq!(column(&browser, section, label), having(table, "language", "go"));
    browser.press(Key::Escape);
    let place = table.place("throughput_ratio").unwrap();
    tab_to(&browser, &head(section, place));
    browser.press(Key::Enter);
    assert_eq!(direction(&browser, section, place), "descending");
    let sorted = column(&browser, section, place);
    assert!(is_sorted(&sorted, Unit::Share, true), "{sorted:?}");
}

#[test]
fn a_link_shows_what_its_sender_saw() {
    let Some(browser) = Browser::open() else { return };
    let page = pages::named("many");
    let (section, table) = main_table(page).unwrap();
    let title = &table.columns[table.place("language").unwrap()].title;
    browser.visit(&page.file);
    browser.open_levels();
    browser.click(&format!("({}).querySelector('summary')", facet(section, title)));
    browser.click(&mark(section, title, "Go"));
    let place = table.place("throughput_ratio").unwrap();
    browser.click(&head(section, place));
    browser.click(&head(section, place));
    let seen = column(&browser, section, names(table));
    let link = browser.run("return location.hash", &[]);
    assert_eq!(link, format!("#{section}?sort=throughput_ratio&only.language=go"));

    browser.visit(&page.file);
    browser.open_levels();
    assert_ne!(column(&browser, section, names(table)), seen);
    browser.run("location.hash = args[0]", &[link]);
    browser.until("return document.querySelector('thead [aria-sort]')", &[]);
    assert_eq!(column(&browser, section, names(table)), seen);
    browser.run("location.reload()", &[]);
    browser.until("return document.querySelector('thead [aria-sort]')", &[]);
    assert_eq!(column(&browser, section, names(table)), seen);
    assert_eq!(direction(&browser, section, place), "ascending");
    assert!(browser.complaints().is_empty());
}

/// The text for an unknown value is not sorted among numbers.
#[test]
fn what_is_not_known_has_no_raw_value() {
    let Some(browser) = Browser::open() else { return };
    let page = pages::named("failures");
    let (section, table) = main_table(page).unwrap();
    browser.visit(&page.file);
    browser.open_levels();
    for place in shown(&browser, section) {
        let unknown = table.rows.iter().filter(|row| row[place] == Value::None).count();
        let empty = column(&browser, section, place).iter().filter(|value| value.is_empty()).count();
        let texts = table.rows.iter().filter(|row| row[place].text() == Some("")).count();
        assert_eq!(empty, unknown + texts, "{}", table.columns[place].key);
    }
    let none: Json = browser.run("return document.body.innerText.match(/NaN|undefined|null|Infinity/)", &[]);
    assert_eq!(none, Json::Null);
}
