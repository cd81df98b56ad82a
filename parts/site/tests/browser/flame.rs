//! The flame graph of a comparison that was explained: by mouse, by keyboard, and with hostile names.

use serde_json::json;
use thirtyfour::Key;

use crate::{
    browser::{Browser, OpenBrowser},
    pages,
};

/// The names of the boxes that are drawn and told in full, in their order, and what is said of the current one.
const BOXES: &str = "
    const boxes = [...document.querySelectorAll('#calls .flame g.box')];
    return [boxes.length, boxes.find(box => box.classList.contains('at'))?.dataset.row, document.querySelector('#calls .about-box').textContent,
        boxes.filter(box => box.classList.contains('above')).length]";

fn opened() -> Option<OpenBrowser> {
    let browser = Browser::open()?;
    browser.visit(&pages::named("why").file);
    browser.run(
        "document.querySelector('#calls .flame').scrollIntoView({ block: 'center', behavior: 'instant' })",
        &[],
    );
    browser.until("return document.querySelector('#calls .flame svg') !== null", &[]);
    Some(browser)
}

#[test]
fn a_box_is_as_wide_as_its_time_and_coloured_by_its_difference() {
    let Some(browser) = opened() else { return };
    let of = "const find = row => document.querySelector(`#calls .flame g[data-row='${row}'] rect`);
        const whole = find(0).getBoundingClientRect().width;
        return [...document.querySelectorAll('#calls .flame g.box')].map(box => [Number(box.dataset.row),
            Math.round(1000 * box.querySelector('rect').getBoundingClientRect().width / whole),
            box.querySelector('rect').getAttribute('class').trim(), box.querySelector('.hatch') !== null])";
    let drawn = browser.run(of, &[]);
    let page = pages::named("why");
    let section = page.document.sections.iter().find(|section| section.id == "calls").unwrap();
    let table = section.table.as_ref().unwrap();
    let row = |name: &str| table.values("function").position(|value| value.text() == Some(name)).unwrap();
    let told = |row: usize| drawn.as_array().unwrap().iter().find(|one| one[0] == json!(row)).cloned();
    let planted = told(row("\"><img src=x onerror=\"window.hacked=1\">")).unwrap();
    let width = planted[1].as_f64().unwrap();
    assert!((width - 1000.0 * 1_700.0 / 4_600.0).abs() < 3.0, "{planted}");
    assert_eq!((planted[2].as_str(), planted[3].as_bool()), (Some("up3"), Some(false)), "{planted}");
    let same = told(row("'};window.hacked=1;//")).unwrap();
    assert_eq!(same[3], json!(true), "its interval contains 0: {same}");
    let gone = row("<!--<script>");
    assert_eq!(told(gone), None, "it takes the candidate no time");
    assert!(
        section.notes.iter().any(|note| note.starts_with("1 call with less than 0.1%")),
        "{:?}",
        section.notes
    );

    // The other widths show it.
    browser.click("[...document.querySelectorAll('#calls .legend button')].find(one => one.textContent === 'Widths: candidate')");
    let drawn = browser.run(of, &[]);
    let gone = drawn.as_array().unwrap().iter().find(|one| one[0] == json!(gone)).unwrap();
    assert_eq!(gone[2].as_str(), Some("down3"), "{gone}");
}

#[test]
fn a_click_shows_a_box_alone_and_the_keyboard_goes_everywhere() {
    let Some(browser) = opened() else { return };
    let all = browser.run(BOXES, &[]);
    assert_eq!((&all[1], &all[3]), (&json!("0"), &json!(0)), "{all}");
    assert!(
        all[2].as_str().unwrap().starts_with("a request candidate 4.60 µs (100.0% of a request)"),
        "{all}"
    );
    browser.run("document.querySelector('#calls .flame g[data-row=\"2\"]').dispatchEvent(new MouseEvent('click', { bubbles: true }))", &[]);
    let alone = browser.run(BOXES, &[]);
    assert_eq!((&alone[1], &alone[3]), (&json!("2"), &json!(2)), "its callers are above it: {alone}");
    browser.click(
        "[...document.querySelectorAll('#calls .legend button')].find(one => one.textContent === 'Reset')",
    );
    assert_eq!(browser.run(BOXES, &[]), all);

    browser.run("document.querySelector('#calls .flame').focus()", &[]);
    for (key, row, above) in [
        (Key::Down, "1", 0),
        (Key::Down, "2", 0),
        (Key::Enter, "2", 2),
        (Key::Escape, "1", 1),
        (Key::Escape, "0", 0),
    ] {
        browser.press(key);
        let found = browser.run(BOXES, &[]);
        assert_eq!((&found[1], &found[3]), (&json!(row), &json!(above)), "{found}");
    }
    let search = "const field = document.querySelector('#calls input[type=search]');
        field.value = args[0];
        field.dispatchEvent(new Event('input'));
        return [document.querySelectorAll('#calls .flame g.found').length, document.querySelector('#calls .legend .tell').textContent]";
    assert_eq!(browser.run(search, &[json!("IMG SRC")]), json!([1, "1 found, 37.0% of a request"]));
    assert_eq!(browser.run(search, &[json!("")]), json!([0, ""]));
}

#[test]
fn hostile_functions_are_text_and_nothing_runs() {
    let Some(browser) = opened() else { return };
    let state = "return [typeof window.hacked, document.querySelectorAll('main script, main img').length,
        [...document.querySelectorAll('#calls .flame text')].map(text => text.textContent)]";
    let found = browser.run(state, &[]);
    assert_eq!((&found[0], &found[1]), (&json!("undefined"), &json!(0)));
    let names = found[2].as_array().unwrap();
    assert!(
        names.iter().any(|name| name.as_str().unwrap().starts_with("\"><img src=x onerror=")),
        "{names:?}"
    );
    // What changes the direction of writing is shown by its number.
    assert!(!names.iter().any(|name| name.as_str().unwrap().contains('\u{202e}')), "{names:?}");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn only_a_page_with_a_flame_graph_has_its_script() {
    let script = "globalThis.tareFlame = flame";
    for (name, has) in [("why", true), ("comparison", false), ("few", false)] {
        assert_eq!(pages::named(name).html.contains(script), has, "{name}");
    }
}
