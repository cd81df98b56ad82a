//! Every chart has its table, and shows the values of a point when the user points at it.

use serde_json::{Value as Json, json};
use tare_report::document::{Chart, Column, Table, Unit, Value};

use crate::{browser::Browser, opens, pages};

#[test]
fn every_chart_has_its_table_and_a_text_for_who_cannot_see_it() {
    for (page, opened) in opens::all().into_iter().flatten() {
        let mut figures = opened.figures.as_array().unwrap().iter();
        for section in &page.document.sections {
            for (place, chart) in section.charts.iter().enumerate() {
                let expected = serde_json::json!([section.id, place, chart.alt, true, true]);
                assert_eq!(figures.next(), Some(&expected), "{}", page.name);
                assert!(!chart.alt.is_empty(), "{}: {}", page.name, section.id);
            }
        }
        assert_eq!(figures.next(), None, "{}: a chart that the document has not", page.name);
    }
}

/// Possible points: where symbols are, which a path moves to, and lines without symbols.
const CANDIDATES: &str = "
    const plot = document.querySelectorAll('figure.chart')[args[0]].querySelector('.plot');
    plot.scrollIntoView({ block: 'center', behavior: 'instant' });
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    const box = plot.getBoundingClientRect();
    const paths = [...plot.querySelectorAll('svg path.symbols')].map(path => path.getAttribute('d'));
    const symbols = paths.flatMap(d => [...d.matchAll(/M([-.0-9]+),([-.0-9]+)/g)].map(at => [box.left + +at[1], box.top + +at[2]]));
    const grid = [.2, .35, .5, .65, .8].flatMap(x => [.2, .4, .6, .8].map(y => [box.left + x * box.width, box.top + y * box.height]));
    const inSight = ([x, y]) => x > 0 && y > 0 && x < innerWidth && y < innerHeight;
    return [...symbols.slice(0, 3), ...symbols.slice(-3), ...grid].filter(inSight)";

/// The tooltip of a point: its name, and for each title a text and a detail.
const TOLD: &str = "
    const tip = document.querySelectorAll('figure.chart')[args[0]].querySelector('.tip');
    if (!tip || !tip.checkVisibility()) return null;
    const told = [...tip.querySelectorAll('dt')].map(title => {
        const clone = title.nextElementSibling.cloneNode(true);
        const small = clone.querySelector('small');
        if (small) small.remove();
        return [title.textContent, clone.textContent.trim(), small ? small.textContent : null];
    });
    return [tip.querySelector('strong').textContent, told]";

#[test]
fn who_points_at_a_chart_is_told_the_value_its_interval_and_n() {
    let Some(browser) = Browser::open() else { return };
    for name in ["few", "database", "many", "sequential", "capacity"] {
        let page = pages::named(name);
        browser.visit(&page.file);
        browser.open_levels();
        let charts = page
            .document
            .sections
            .iter()
            .flat_map(|section| section.charts.iter().map(move |chart| (section, chart)));
        for (place, (section, chart)) in charts.enumerate() {
            let table = section.table.as_ref().expect("a chart is a view of a table");
            let candidates = browser.run(CANDIDATES, &[place.into()]);
            let told = candidates.as_array().unwrap().iter().find_map(|at| {
                browser.point_at(at[0].as_f64()?, at[1].as_f64()?);
                Some(browser.run(TOLD, &[place.into()])).filter(|told| !told.is_null())
            });
            let has_points = table
                .values(&chart.y)
                .zip(table.values(&chart.x))
                .any(|(y, x)| *y != Value::None && *x != Value::None);
            match told {
                Some(told) => is_true(table, chart, &told)
                    .unwrap_or_else(|wrong| panic!("{name}: {}: {wrong}: {told}", section.id)),
                None => assert!(!has_points, "{name}: {}: nothing is said of any point", section.id),
            }
        }
    }
}

/// Checks that a row of the table has all values shown.
fn is_true(table: &Table, chart: &Chart, told: &Json) -> Result<(), String> {
    let entries = told[1].as_array().ok_or("nothing is shown")?;
    let says = |row: &[Value], entry: &Json| {
        table.columns.iter().enumerate().any(|(place, column)| {
            let interval = interval(table, column, row);
            json!(column.title) == entry[0]
                && json!(column.show(&row[place])) == entry[1]
                && match (interval, entry[2].as_str()) {
                    (Some([low, high]), Some(shown)) => crate::numbers::says(shown, &low, &high),
                    (interval, shown) => interval.is_none() && shown.is_none(),
                }
        })
    };
    let names = table.columns.iter().position(|column| column.unit == Unit::Text && !column.hidden);
    let name = told[0].as_str().ok_or("it has no name")?;
    let is_named =
        |row: &[Value]| names.and_then(|at| row[at].text()).is_none_or(|text| name.starts_with(text));
    let mut rows = table.rows.iter().filter(|row| is_named(row));
    let row = rows.find(|row| entries.iter().all(|entry| says(row, entry)));
    let row = row.ok_or("no row of the table says this")?;
    for key in [Some(&chart.x), Some(&chart.y), chart.n.as_ref()].into_iter().flatten() {
        let place = table.place(key).ok_or("a column that is not there")?;
        let text = table.columns[place].show(&row[place]);
        let said = name.contains(&text) || entries.iter().any(|entry| entry[1] == json!(text));
        if !said && row[place] != Value::None {
            return Err(format!("{key} is not shown"));
        }
    }
    Ok(())
}

/// Both bounds, as text.
fn interval(table: &Table, column: &Column, row: &[Value]) -> Option<[String; 2]> {
    let [low, high] = column.interval.as_ref()?;
    let end = |key: &String| row[table.place(key)?].number().map(|number| column.unit.show(number));
    Some([end(low)?, end(high)?])
}

#[test]
fn dark_is_dark_and_light_is_light_in_charts_too() {
    let Some(browser) = Browser::open() else { return };
    let page = pages::named("few");
    for system in ["light", "dark"] {
        browser.prefer("screen", &[("prefers-color-scheme", system)]);
        browser.visit(&page.file);
        browser.open_levels();
        browser.run("try { localStorage.clear() } catch {}", &[]);
        browser.visit(&page.file);
        browser.open_levels();
        let first = shades(&browser);
        browser.click("document.getElementById('theme')");
        let second = shades(&browser);
        let [dark, light] = if system == "dark" { [first, second] } else { [second, first] };
        assert!(dark.0 < 0.2 && dark.1 > 0.5, "dark paper, light letters: {dark:?}");
        assert!(light.0 > 0.8 && light.1 < 0.5, "light paper, dark letters: {light:?}");
    }
}

/// The lightness of the paper and of the letters of the first chart, from 0 to 1.
fn shades(browser: &Browser) -> (f64, f64) {
    let found = browser.run(
        "document.querySelector('figure.chart').scrollIntoView({ behavior: 'instant' });
         for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
         const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
         const shade = color => {
             canvas.fillStyle = color;
             canvas.fillRect(0, 0, 1, 1);
             const [r, g, b] = canvas.getImageData(0, 0, 1, 1).data;
             return (r * .2126 + g * .7152 + b * .0722) / 255;
         };
         return [shade(getComputedStyle(document.body).backgroundColor),
             shade(getComputedStyle(document.querySelector('figure.chart svg text')).fill)]",
        &[],
    );
    (found[0].as_f64().unwrap(), found[1].as_f64().unwrap())
}

/// The saved file of each chart, and whether it contains everything drawn.
const SAVED: &str = "
    const saved = [];
    const make = URL.createObjectURL;
    URL.createObjectURL = blob => { saved.push(blob); return make(blob) };
    HTMLAnchorElement.prototype.click = () => {};
    const results = [];
    for (const figure of document.querySelectorAll('figure.chart')) {
        figure.scrollIntoView({ behavior: 'instant' });
        while (!figure.querySelector('.plot svg')) await new Promise(requestAnimationFrame);
        const [svg, png] = ['Save SVG', 'Save PNG'].map(text =>
            [...figure.querySelectorAll('button')].find(button => button.textContent === text));
        svg.click();
        png.click();
        while (saved.length < 2) await new Promise(requestAnimationFrame);
        const [drawing, pixels] = saved.splice(0);
        const text = await drawing.text();
        const parsed = new DOMParser().parseFromString(text, 'image/svg+xml');
        const texts = [...parsed.querySelectorAll('text')].map(one => one.textContent);
        const names = [...figure.querySelectorAll('.legend button[aria-pressed=true][title]')].map(button => button.title);
        const { width, height } = await createImageBitmap(pixels);
        results.push({
            isDrawing: parsed.documentElement.tagName === 'svg',
            refers: /var\\(|class=|url\\((?!#|&quot;#|\"#)/.test(text),
            hasTitle: texts.includes(figure.querySelector('figcaption').textContent),
            missing: names.filter(name => !texts.includes(name)),
            isTwice: Math.abs(width - 2 * parsed.documentElement.getAttribute('width')) < 3
                && Math.abs(height - 2 * parsed.documentElement.getAttribute('height')) < 3,
        });
    }
    return results";

#[test]
fn a_chart_is_saved_as_a_file_that_needs_no_page() {
    let Some(browser) = Browser::open() else { return };
    for page in ["few", "sequential", "hostile"].map(pages::named) {
        browser.visit(&page.file);
        browser.open_levels();
        let saved = browser.run(SAVED, &[]);
        let saved = saved.as_array().unwrap();
        assert!(!saved.is_empty(), "{}", page.name);
        let sound =
            json!({ "isDrawing": true, "refers": false, "hasTitle": true, "missing": [], "isTwice": true });
        for (place, chart) in saved.iter().enumerate() {
            assert_eq!(*chart, sound, "{}: chart {place}", page.name);
        }
        assert!(browser.complaints().is_empty(), "{}: {:?}", page.name, browser.complaints());
    }
}

/// For each chart with rows: their names, cut or not, its legend, and the number of hollow symbols.
const ROWS: &str = "
    const told = {};
    for (const figure of document.querySelectorAll('figure.chart')) {
        figure.scrollIntoView({ behavior: 'instant' });
        while (!figure.querySelector('.plot svg')) await new Promise(requestAnimationFrame);
        told[`${figure.closest('section').id} ${figure.dataset.chart}`] = {
            texts: [...figure.querySelectorAll('.plot text')].map(text => text.textContent),
            signs: [...figure.querySelectorAll('.legend .sign')].map(sign => sign.textContent),
            hollow: figure.querySelectorAll('.plot path[fill=\"var(--paper)\"], .plot circle[fill=\"var(--paper)\"]').length,
        };
    }
    return told";

#[test]
fn what_was_published_and_what_is_weak_is_hollow_and_the_legend_says_so() {
    let Some(browser) = Browser::open() else { return };
    let page = pages::named("weak");
    browser.visit(&page.file);
    browser.open_levels();
    let told = browser.run(ROWS, &[]);
    for section in &page.document.sections {
        for (place, chart) in section.charts.iter().enumerate() {
            let table = section.table.as_ref().expect("a chart is a view of a table");
            let of = &told[format!("{} {place}", section.id)];
            let is_cut = |text: &Json| text.as_str().is_some_and(|text| text.ends_with('…'));
            let texts = of["texts"].as_array().unwrap();
            assert!(!texts.iter().any(is_cut), "{}: {texts:?}", section.id);
            let Some(key) = chart.apart.as_ref().filter(|_| chart.only.is_some()) else { continue };
            let weak = table.values(key).zip(table.values(&chart.x));
            let weak = weak.filter(|(weak, x)| **weak == Value::Flag(true) && **x != Value::None).count();
            let signs = if weak == 0 { json!([]) } else { json!(["weak evidence"]) };
            assert_eq!(of["signs"], signs, "{}", section.id);
        }
    }
    let published = &told["published 0"];
    assert_eq!(published["signs"], json!(["published", "here"]));
    assert!(published["hollow"].as_u64().unwrap() > 1, "{published}");
}

/// A claim may have the name of a service, and the first table of such a page has the claims.
#[test]
fn services_of_a_published_page_have_colours_of_their_own() {
    let Some(browser) = Browser::open() else { return };
    browser.visit(&pages::named("weak").file);
    browser.open_levels();
    let colours = browser.run(
        "const figure = document.querySelector('#seconds figure.chart');
         figure.scrollIntoView({ behavior: 'instant' });
         while (!figure.querySelector('.legend svg')) await new Promise(requestAnimationFrame);
         return [...figure.querySelectorAll('.legend button svg path')].map(path => path.getAttribute('fill'))",
        &[],
    );
    let colours: Vec<&str> = colours.as_array().unwrap().iter().filter_map(Json::as_str).collect();
    let services: Vec<String> = (0..colours.len()).map(|place| format!("var(--s{place})")).collect();
    assert!(colours.len() > 2 && colours.len() <= 7, "{colours:?}");
    assert_eq!(colours, services, "the first services of the table, in its order");
}

/// What the legend of the latency curves has, pressed and not, the colours of their lines, and what is said of the last point.
const GREY: &str = "
    const figure = document.querySelector('#latency figure.chart');
    figure.scrollIntoView({ block: 'center', behavior: 'instant' });
    while (!figure.querySelector('.plot svg')) await new Promise(requestAnimationFrame);
    const strokes = () => [...figure.querySelectorAll('path.line')].map(line => line.getAttribute('stroke'));
    const pressed = () => [...figure.querySelectorAll('.legend button[aria-pressed=true] bdi')].map(name => name.textContent);
    const plot = figure.querySelector('.plot');
    plot.focus();
    plot.dispatchEvent(new KeyboardEvent('keydown', { key: 'End' }));
    const told = figure.querySelector('.tip strong').textContent;
    const raised = [...figure.querySelectorAll('.raised path.line')].map(line => line.getAttribute('stroke'));
    const before = [pressed(), strokes()];
    const chip = [...figure.querySelectorAll('.legend button[aria-pressed=false]')][0];
    const picked = chip.textContent;
    const grey = () => strokes().filter(stroke => stroke === 'var(--strong-line)').length;
    const all = grey();
    chip.click();
    while (grey() === all) await new Promise(requestAnimationFrame);
    const ticks = [...plot.querySelectorAll('text')].map(one => one.textContent);
    return { told, raised, before, picked, after: [pressed(), strokes()], ticks }";

#[test]
fn four_lines_of_latency_have_a_colour_and_the_others_are_grey_and_named_when_asked_for() {
    let Some(browser) = Browser::open() else { return };
    let page = pages::named("many");
    browser.visit(&page.file);
    browser.open_levels();
    let seen = browser.run(GREY, &[]);
    let table = page.document.sections.iter().find(|section| section.id == "latency").unwrap();
    let mut names: Vec<&str> = Vec::new();
    for name in table.table.as_ref().unwrap().values("label").filter_map(Value::text) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let (last, coloured) = (names[names.len() - 1], [names[0], names[1], names[2], names[names.len() - 1]]);
    assert!(names.len() > 5, "{names:?}");
    assert_eq!(seen["before"][0], json!(coloured));
    let grey = |strokes: &Json| {
        let strokes = strokes.as_array().unwrap();
        (strokes.len(), strokes.iter().filter(|one| **one == "var(--strong-line)").count())
    };
    assert_eq!(grey(&seen["before"][1]), (names.len(), names.len() - 4));
    assert_eq!(seen["raised"], json!(["var(--strong-line)"]), "{seen}");
    let told = seen["told"].as_str().unwrap();
    assert!(told != last && names.iter().any(|name| told.starts_with(name)), "{told}");
    assert_eq!(seen["picked"], names[3]);
    assert_eq!(seen["after"][0].as_array().unwrap().len(), 5);
    assert_eq!(grey(&seen["after"][1]), (names.len(), names.len() - 5));
    let ticks = seen["ticks"].as_array().unwrap();
    assert!(ticks.contains(&json!("p50")) && !ticks.contains(&json!("p0")), "{ticks:?}");
}
