//! No elements overlap, at any width. If `TARE_PICTURES` is set, pictures for inspection are written to
//! `target/tmp/browser/pictures`.

use serde_json::json;

use crate::{
    browser::{Browser, Size},
    pages,
};

pub const PROBLEMS: &str = include_str!("geometry.js");
/// A desktop, a wide one, a tablet, a phone.
pub const SIZES: [Size; 4] = [(1400, 900), (1920, 1080), (768, 1000), (360, 780)];
/// The largest useful height of a picture.
const PICTURE_HEIGHT_MAX: u32 = 12_000;

/// Charts are drawn when they become visible, so each is scrolled into view.
const SEE_ALL: &str = "
    for (const figure of document.querySelectorAll('figure.chart')) {
        figure.scrollIntoView({ block: 'center', behavior: 'instant' });
        await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    }
    scrollTo({ top: 0, behavior: 'instant' });
    for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
    const drawn = plot => !plot.checkVisibility() || plot.querySelector('svg') || plot.textContent.trim();
    return [...document.querySelectorAll('figure.chart .plot')].every(drawn)";

#[test]
fn nothing_overlaps_and_nothing_is_cut_off_at_any_width() {
    let Some(browser) = Browser::open() else { return };
    let mut problems = Vec::new();
    for page in pages::all() {
        browser.visit(&page.file);
        for size in SIZES {
            browser.resize(size);
            // Colours do not change the layout: one scheme is enough.
            draw_all(&browser, "light");
            let found = browser.run(PROBLEMS, &[]);
            let found = found.as_array().unwrap().iter();
            problems.extend(found.map(|problem| format!("{}, {} wide: {problem}", page.name, size.0)));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

fn draw_all(browser: &Browser, scheme: &str) {
    // Without animations, which would be captured halfway.
    browser.prefer("screen", &[("prefers-color-scheme", scheme), ("prefers-reduced-motion", "reduce")]);
    browser.until(SEE_ALL, &[]);
}

/// No test uses the pictures, and making them takes minutes, so they are made on request.
pub fn wants_pictures() -> bool {
    std::env::var_os("TARE_PICTURES").is_some()
}

/// With a comparison of two services, and with a service panel open.
#[test]
fn what_is_asked_for_overlaps_nothing_either() {
    let Some(browser) = Browser::open() else { return };
    let mut problems = Vec::new();
    for (name, asked) in
        [("few", "compare=vertx,ktor"), ("hostile", ""), ("few", "service=hyper"), ("many", "service=axum")]
    {
        browser.visit(&pages::named(name).file);
        browser.run("location.hash = `#ranks?${args[0]}`", &[asked.into()]);
        if asked.is_empty() {
            browser.click("document.querySelectorAll('#ranks tbody a.name')[5]");
        }
        for size in SIZES {
            browser.resize(size);
            browser.run("for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame)", &[]);
            // The page is behind a panel.
            let panel = "const panel = document.querySelector('dialog.panel[open]');
                if (panel) for (const one of document.querySelectorAll('body > :not(dialog)')) one.style.visibility = 'hidden';
                return true";
            browser.run(panel, &[]);
            let found = browser.run(PROBLEMS, &[]);
            let found = found.as_array().unwrap().iter();
            problems.extend(found.map(|problem| format!("{name}?{asked}, {} wide: {problem}", size.0)));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn pictures_of_all_pages_if_they_are_wanted() {
    let Some(browser) = Browser::open().filter(|_| wants_pictures()) else { return };
    for page in pages::all() {
        browser.visit(&page.file);
        for size in SIZES {
            browser.resize(size);
            for scheme in ["light", "dark"] {
                draw_all(&browser, scheme);
                let name = format!("{}-{}-{scheme}.png", page.name, size.0);
                let file = pages::folder().join("pictures").join(name);
                browser.picture_of_all(size, PICTURE_HEIGHT_MAX, &file);
            }
        }
    }
}

/// Tables that are wider than their frame, including folded ones.
const WIDE: &str = "
    for (const fold of document.querySelectorAll('main details')) fold.open = true;
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    return [...document.querySelectorAll('.table')]
        .map(box => [box.id, box.querySelector('table').offsetWidth, box.clientWidth])
        .filter(([, wide, room]) => wide > room)";

/// A reader does not find columns beyond an edge, and a printer cuts them off.
#[test]
fn on_a_desk_and_on_paper_tables_are_as_wide_as_their_frames() {
    let Some(browser) = Browser::open() else { return };
    for page in pages::all() {
        browser.visit(&page.file);
        browser.run("document.documentElement.classList.add('print-all')", &[]);
        // A4 without its margins.
        for (media, size) in [("screen", SIZES[0]), ("print", (703, 1032))] {
            browser.prefer(media, &[]);
            browser.resize(size);
            assert_eq!(browser.run(WIDE, &[]), json!([]), "{}, {media}", page.name);
        }
    }
}

/// The search for overlaps must be able to find one.
#[test]
fn a_page_that_was_broken_on_purpose_is_found_broken() {
    let Some(browser) = Browser::open() else { return };
    let breakages = [
        ("document.querySelector('h1').style.marginBottom = '-2.2rem'", "text over text"),
        (
            "document.querySelector('h1').style.cssText = 'width:60px;overflow:hidden;white-space:nowrap'",
            "cut off at its side",
        ),
        ("document.querySelector('main').style.minWidth = '3000px'", "wide in a window"),
        ("document.querySelector('.track').style.cssText = 'flex:none;width:20px'", "by different scales"),
    ];
    for (script, told) in breakages {
        browser.visit(&pages::named("few").file);
        browser.run(script, &[]);
        let found = browser.run(PROBLEMS, &[]).to_string();
        assert!(found.contains(told), "{script}: {found}");
    }
}

/// On paper there are no buttons, all tables of the page are open, and legends name what is drawn.
#[test]
fn on_paper_everything_is_there() {
    let Some(browser) = Browser::open() else { return };
    for page in pages::all() {
        browser.prefer("print", &[("prefers-color-scheme", "dark")]);
        browser.resize((794, 1123));
        browser.visit(&page.file);
        browser.run(
            "document.documentElement.classList.add('print-all'); dispatchEvent(new Event('beforeprint'));
             for (const more of document.querySelectorAll('.legend [aria-expanded=false]')) more.click()",
            &[],
        );
        let state = browser.run(
            "return [[...document.querySelectorAll('button:not(thead button), input, select')]
                 .filter(one => one.checkVisibility()).map(one => one.outerHTML.slice(0, 80)),
                 getComputedStyle(document.body).backgroundColor,
                 [...document.querySelectorAll('figure.chart')].filter(figure => {
                     const names = all => [...figure.querySelectorAll(all)].map(one => one.textContent).filter(text => text);
                     const isChosen = figure.querySelectorAll('.legend [aria-pressed]').length > 1;
                     const legend = [...(isChosen ? names('.legend [aria-pressed=true]') : []), ...names('.legend .sign')];
                     return JSON.stringify(names('.key li')) !== JSON.stringify(legend) || ![...figure.querySelectorAll('.key li')].every(one => one.checkVisibility());
                 }).map(figure => figure.closest('section').id),
                 [...document.querySelectorAll('main details:not([open], .facet)')].filter(fold => !fold.querySelector('[data-long]'))
                     .map(fold => fold.className)]",
            &[],
        );
        assert_eq!(state[0], json!([]), "{}: controls on paper", page.name);
        assert_eq!(state[2], json!([]), "{}: charts whose legend does not name what is drawn", page.name);
        assert_eq!(state[3], json!([]), "{}: what is folded on paper", page.name);
        let white = ["rgb(255, 255, 255)", "rgba(0, 0, 0, 0)"];
        assert!(
            white.contains(&state[1].as_str().unwrap()),
            "{}: paper is white, and not {}",
            page.name,
            state[1]
        );
        if wants_pictures() {
            let file = pages::folder().join("pictures").join(format!("{}-print.png", page.name));
            browser.picture_of_all((794, 1123), PICTURE_HEIGHT_MAX, &file);
        }
    }
}
