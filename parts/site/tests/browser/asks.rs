//! Interactions with the main table: two services in a sentence, one service in a panel, groups that are not
//! separated, and printing.

use std::{fs, path::Path};

use serde_json::json;
use tare_report::{
    document::{Table, Unit, Value},
    write::html,
};
use thirtyfour::Key;

use crate::{
    browser::Browser,
    pages::{self, Page},
};

fn table<'a>(page: &'a Page, section: &str) -> &'a Table {
    let found = page.document.sections.iter().find(|one| one.id == section);
    found.and_then(|section| section.table.as_ref()).expect("the page has this table")
}

/// The names of the services in the main table, references first, as in the page.
const NAMES: &str = "return [...document.querySelectorAll('#ranks tbody tr[data-row] th a.name')].map(name => name.textContent)";

fn names(browser: &Browser) -> Vec<String> {
    serde_json::from_value(browser.run(NAMES, &[])).unwrap()
}

/// Chooses a value of a field as a reader does.
const CHOOSE: &str = "
    const field = document.querySelectorAll('.compare select')[args[0]];
    field.value = args[1];
    field.dispatchEvent(new Event('change', { bubbles: true }));
    const said = document.querySelector('.compared');
    return said.checkVisibility() ? said.querySelector('p').textContent : null";

fn text(table: &Table, row: &[Value], key: &str) -> String {
    row[table.place(key).unwrap()].text().unwrap().to_owned()
}

#[test]
fn two_services_are_one_sentence_and_a_link() {
    let Some(browser) = Browser::open() else { return };
    let page = pages::named("few");
    let pairs = table(page, "pairs");
    let place = |key: &str| pairs.place(key).unwrap();
    browser.visit(&page.file);
    for row in pairs.rows.iter().take(12) {
        let [first, second] = ["first", "second"].map(|key| text(pairs, row, key));
        browser.run(CHOOSE, &[json!(0), json!(first)]);
        let said = browser.run(CHOOSE, &[json!(1), json!(second)]);
        let said = said.as_str().unwrap();
        for (key, verb, what) in
            [("cpu_ratio", "needs", "CPU time per request"), ("throughput_ratio", "has", "throughput")]
        {
            // The larger figure over the smaller.
            let ratio = row[place(key)].number().unwrap();
            let [one, other] = if ratio < 1.0 { [&second, &first] } else { [&first, &second] };
            let number = Unit::Times.show(ratio.max(ratio.recip()));
            let told = format!("{one} {verb} {number} {other}'s {what} (");
            assert!(said.contains(&told), "{told} is not in: {said}");
        }
        let is_separated = row[place("separated")] == Value::Flag(true);
        assert_eq!(said.starts_with("The data do not separate"), !is_separated, "{said}");
        assert_eq!(said.contains(" is excluded (95% "), !is_separated, "{said}");
    }
}

#[test]
fn what_is_pinned_stays_first_whatever_is_chosen_and_the_address_says_so() {
    let Some(browser) = Browser::open() else { return };
    let page = pages::named("few");
    browser.visit(&page.file);
    let before = names(&browser);
    let (last, references) =
        (before.last().unwrap().clone(), before.iter().take_while(|name| is_reference(page, name)).count());
    browser.run("location.hash = `#ranks?service=${encodeURIComponent(args[0])}`", &[json!(last)]);
    let pin = "[...document.querySelectorAll('dialog[open] button')].find(one => one.textContent === 'Pin')";
    browser.until(&format!("return Boolean({pin})"), &[]);
    browser.click(pin);
    browser.press(Key::Escape);
    assert_eq!(names(&browser)[references], last);
    browser.click("document.querySelector('#ranks thead button')");
    assert_eq!(names(&browser)[references], last, "sorted by name");
    let shown = "const field = document.querySelector('#ranks input[type=search]');
        field.value = args[0];
        field.dispatchEvent(new Event('input', { bubbles: true }));
        return [...document.querySelectorAll('#ranks tbody tr[data-row]')].length";
    assert_eq!(browser.run(shown, &[json!("no such service")]), 1);
    assert_eq!(names(&browser).join("\n"), last);
    let address = browser.run("return location.hash", &[]);
    let address = address.as_str().unwrap();
    assert!(address.contains("pin=") && address.contains("sort="), "{address}");

    // A reader who opens the link sees the same.
    browser.visit(Path::new(&format!("{}{address}", page.file.display())));
    browser.until("return document.querySelectorAll('#ranks tbody tr[data-row]').length === 1", &[]);
    assert_eq!(names(&browser), [last]);
}

fn is_reference(page: &Page, name: &str) -> bool {
    let ranks = table(page, "ranks");
    ranks.rows.iter().any(|row| {
        text(ranks, row, "label") == name && row[ranks.place("is_reference").unwrap()] == Value::Flag(true)
    })
}

#[test]
fn the_sentence_follows_the_values_and_the_address() {
    let Some(browser) = Browser::open() else { return };
    let page = pages::named("few");
    let of = |file: &Path| {
        browser.visit(file);
        browser.run("location.hash = '#ranks?compare=vertx,hyper'", &[]);
        let said = "const said = document.querySelector('.compared p').textContent; return said.includes(' needs ') && said";
        browser.until(said, &[]).as_str().unwrap().to_owned()
    };
    let mut changed = page.document.clone();
    let pairs = changed.sections.iter_mut().find(|section| section.id == "pairs").unwrap();
    let pairs = pairs.table.as_mut().unwrap();
    let places = ["cpu_ratio", "cpu_ratio_low", "cpu_ratio_high"].map(|key| pairs.place(key).unwrap());
    for row in &mut pairs.rows {
        for place in places {
            row[place] = Value::Number(row[place].number().unwrap() * 2.0);
        }
    }
    let file = pages::folder().join("changed.html");
    fs::write(&file, html::html(&changed).unwrap()).unwrap();
    // What hyper needs of vertx, whichever of both is named first.
    let ratio = |said: &str| {
        let (before, after) = said.split_once(" needs ").unwrap();
        let number: f64 = after.split_once('x').unwrap().0.parse().unwrap();
        if before.ends_with("vertx") { number.recip() } else { number }
    };
    let [before, after] = [page.file.as_path(), &file].map(of);
    // Vertx is second in the pair.
    let times = ratio(&after) / ratio(&before);
    assert!((times - 2.0).abs() < 0.05, "{before} became {after}");
}

#[test]
fn a_service_has_a_panel_that_the_keyboard_opens_and_closes() {
    let Some(browser) = Browser::open() else { return };
    let page = pages::named("few");
    let ranks = table(page, "ranks");
    browser.visit(&page.file);
    browser.run("document.querySelector('#ranks tbody tr:not(.reference) a.name').focus()", &[]);
    browser.press(Key::Enter);
    let open = "const panel = document.querySelector('dialog.panel[open]');
        return panel && [panel.querySelector('h2').textContent, panel.textContent,
            [...panel.querySelectorAll('h3 a')].map(link => link.getAttribute('href')), location.hash]";
    let shown = browser.until(open, &[]);
    let name = shown[0].as_str().unwrap();
    assert_eq!(shown[3], json!(format!("#ranks?service={name}")));
    let row = ranks.rows.iter().find(|row| text(ranks, row, "label") == name).unwrap();
    for column in ranks.columns.iter().filter(|column| !column.hidden && column.key != "label") {
        let value = column.show(&row[ranks.place(&column.key).unwrap()]);
        assert!(value == "-" || shown[1].as_str().unwrap().contains(&value), "{}: {value}", column.key);
    }
    let known = |id: &str| page.document.sections.iter().any(|section| format!("#{}", section.id) == id);
    let links: Vec<String> = serde_json::from_value(shown[2].clone()).unwrap();
    assert!(links.len() > 5 && links.iter().all(|link| known(link)), "{links:?}");
    browser.press(Key::Escape);
    browser.until("return !document.querySelector('dialog.panel[open]')", &[]);
    assert_eq!(browser.run("return location.hash", &[]), json!("#ranks"));
    let focus = browser.run("return document.activeElement.textContent", &[]);
    assert_eq!(focus, json!(name), "the focus is where it was");
}

#[test]
fn references_stay_first_without_a_rank_however_the_others_are_sorted() {
    let Some(browser) = Browser::open() else { return };
    let page = pages::named("few");
    browser.visit(&page.file);
    let before = names(&browser);
    assert_eq!(before[0], "raw-socket");
    let state = "const row = document.querySelector('#ranks tbody tr');
        return [row.className, row.querySelectorAll('.chip').length, document.querySelectorAll('#ranks .reference').length]";
    assert_eq!(browser.run(state, &[]), json!(["reference", 0, 1]));
    for _ in 0..2 {
        browser.click("document.querySelector('#ranks thead button')");
        let sorted = names(&browser);
        assert_ne!(sorted, before);
        assert_eq!(sorted[0], "raw-socket", "{sorted:?}");
    }
}

/// The name of each ranked service with the bar of its ranks, and what a screen reader says of it.
const RANK_BARS: &str = "
    const bar = (rank) => rank.querySelector('rect:not(.all)');
    return [...document.querySelectorAll('#ranks .rank')].map((rank) => [
        rank.closest('tr').querySelector('a.name').textContent,
        bar(rank).getAttribute('x'), bar(rank).getAttribute('width'), rank.ariaLabel])";

#[test]
fn the_bar_of_a_service_spans_the_ranks_that_it_may_have() {
    let Some(browser) = Browser::open() else { return };
    let page = pages::named("few");
    let ranks = table(page, "ranks");
    let at = |row: &[Value], key: &str| ranks.place(key).and_then(|place| row[place].number());
    let all = ranks.rows.iter().filter_map(|row| at(row, "rank_worst")).fold(0.0, f64::max);
    let bar = |row: &Vec<Value>| {
        let (best, worst) = (at(row, "rank_best")?, at(row, "rank_worst")?);
        let percent = |ranks: f64| format!("{:.2}%", ranks / all * 100.0);
        let ranks = if best == worst { best.to_string() } else { format!("{best}-{worst}") };
        let said = format!("rank {ranks} of {all}");
        Some(json!([
            text(table(page, "ranks"), row, "label"),
            percent(best - 1.0),
            percent(worst - best + 1.0),
            said
        ]))
    };
    let wanted: Vec<serde_json::Value> = ranks.rows.iter().filter_map(bar).collect();
    assert!(wanted.len() > 3, "{wanted:?}");
    browser.visit(&page.file);
    assert_eq!(browser.run(RANK_BARS, &[]), json!(wanted));
}

#[test]
fn the_track_is_wide_on_a_desk() {
    let Some(browser) = Browser::open() else { return };
    let width = "return document.querySelector('#ranks .track').getBoundingClientRect().width";
    browser.visit(&pages::named("few").file);
    for (size, least) in [((1400, 900), 400.0), ((1920, 1080), 700.0)] {
        browser.resize(size);
        let width = browser.run(width, &[]).as_f64().unwrap();
        assert!(width >= least, "{width} of {size:?}");
    }
}

#[test]
fn two_pages_of_paper_are_enough_unless_all_is_asked_for() {
    let Some(browser) = Browser::open() else { return };
    browser.visit(&pages::named("few").file);
    let pages = || {
        let made = browser.devtools("Page.printToPDF", &json!({ "paperWidth": 8.27, "paperHeight": 11.69 }));
        let text = decoded(made["data"].as_str().unwrap());
        text.windows(12).filter(|part| part.starts_with(b"/Type /Page") && part[11] != b's').count()
    };
    let brief = pages();
    assert!((1..=2).contains(&brief), "{brief} pages");
    browser.run("window.print = () => {}", &[]);
    browser.click(
        "[...document.querySelectorAll('.foot button')].find(one => one.textContent === 'Print everything')",
    );
    let all = pages();
    assert!(all > 4, "{all} pages");
}

fn decoded(text: &str) -> Vec<u8> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let letters: Vec<u8> = text.bytes().filter(|letter| *letter != b'=').collect();
    let bytes = letters.chunks(4).flat_map(|four| {
        let all = four.iter().fold(0_u32, |sum, letter| sum << 6 | u32::from(value(*letter)));
        let all = all << (6 * (4 - four.len()));
        all.to_be_bytes()[1..four.len()].to_vec()
    });
    bytes.collect()
}

#[test]
fn the_button_of_colours_says_what_is_and_comes_back_to_the_system() {
    let Some(browser) = Browser::open() else { return };
    browser.prefer("screen", &[("prefers-color-scheme", "dark")]);
    browser.visit(&pages::named("few").file);
    browser.run("try { localStorage.clear() } catch {}", &[]);
    browser.visit(&pages::named("few").file);
    let mut seen = Vec::new();
    for _ in 0..4 {
        let said = browser.run("return document.getElementById('theme').textContent", &[]);
        seen.push(said.as_str().unwrap().to_owned());
        browser.click("document.getElementById('theme')");
    }
    assert_eq!(seen, ["Colours: system", "Colours: light", "Colours: dark", "Colours: system"]);
    browser.run("try { localStorage.clear() } catch {}", &[]);
}

#[test]
fn a_filter_of_services_does_not_look_into_warnings() {
    let Some(browser) = Browser::open() else { return };
    let page = pages::named("many");
    let ranks = table(page, "ranks");
    let warned =
        ranks.values("warnings").any(|value| value.text().is_some_and(|text| text.contains("SIGTERM")));
    assert!(warned, "the page has the word");
    browser.visit(&page.file);
    let find = "const field = document.querySelector('#ranks input[type=search]');
        field.value = args[0];
        field.dispatchEvent(new Event('input'));";
    browser.run(find, &[json!("sigterm")]);
    assert_eq!(names(&browser), Vec::<String>::new());
    // An empty chart says that it is empty.
    browser.until(
        "const figure = document.querySelector('#ranks figure.chart');
         figure.scrollIntoView();
         return figure.querySelector('.empty').checkVisibility() && !figure.querySelector('.plot').checkVisibility()",
        &[],
    );
    browser.run(find, &[json!("hyper")]);
    assert_eq!(names(&browser), ["hyper"]);
    browser.until("return document.querySelector('#ranks figure.chart .plot svg')?.checkVisibility()", &[]);
}

#[test]
fn files_carry_the_name_of_the_run_and_tabs_its_day() {
    let Some(browser) = Browser::open() else { return };
    browser.visit(&pages::named("few").file);
    let name = browser.run(
        "let name = null;
         HTMLAnchorElement.prototype.click = function () { name = this.download };
         [...document.querySelectorAll('#ranks .below button')].find(one => one.textContent === 'Download CSV').click();
         return [name, document.title]",
        &[],
    );
    let day = "2026-03-04";
    assert_eq!(name[0], json!(format!("what-an-http-framework-costs-{day}-ranks.csv")));
    assert_eq!(name[1], json!(format!("What an HTTP framework costs, {day}")));
    let helped = browser.run(
        "return document.querySelector('#ranks thead th.core + th, #ranks thead th[title]')?.closest('tr')
             .querySelectorAll('th[title]').length",
        &[],
    );
    assert!(helped.as_u64().unwrap() > 4, "heads say what their columns mean: {helped}");
}
