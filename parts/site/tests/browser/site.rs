//! The site of the stored runs, opened from disk: it logs no errors, has no accessibility violations, needs
//! no sideways scrolling, and finds pairs of services and names.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use tare_report::gather::merged::MergedReader;
use tare_site::{self as site, RunEntry, SiteSettings};

use crate::{
    axe,
    browser::{Browser, Size},
    fixtures::own_folder,
    geometry, pages,
};

const PAGES: [&str; 10] = [
    "index.html",
    "run/quick/index.html",
    "experiment/quick/index.html",
    "service/hyper/index.html",
    "language/rust/index.html",
    "claims/index.html",
    "vs/index.html",
    "vs/axum/hyper/index.html",
    "method/index.html",
    "data/index.html",
];

const SIZES: [Size; 4] = [(1920, 1000), (1400, 900), (768, 1000), (360, 780)];

/// A site in `target/tmp/site`, made once: a series of three runs of `quick`, and a published one.
fn root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let root = own_folder(Path::new(env!("CARGO_TARGET_TMPDIR")), "site");
        let record = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../record");
        let settings = SiteSettings { title: "Tare".to_owned(), url: None, source_url: None };
        let mut entries = Vec::new();
        let reader = MergedReader { document: |_| Err("none is merged".into()), header: |_| None };
        for (run, id, day) in [
            ("quick", "quick", 24),
            ("quick", "second", 25),
            ("quick", "third", 26),
            ("restinio-2017", "published", 22),
        ] {
            let (entry, document) = RunEntry::read(&record.join(run), id, reader).unwrap();
            let entry = RunEntry { began: format!("2026-11-{day}T08:00:00Z"), ..entry };
            site::of_run(&entry, &document, &settings).unwrap().iter().for_each(|file| write(&root, file));
            entries.push(entry);
        }
        site::of_all(&entries, &settings).unwrap().files.iter().for_each(|file| write(&root, file));
        root
    })
}

fn write(root: &Path, file: &tare_report::write::File) {
    let path = root.join(&file.name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, &file.bytes).unwrap();
}

#[test]
fn a_site_opens_from_a_disk_without_a_complaint_and_asks_for_its_own_files_only() {
    let Some(browser) = Browser::open() else { return };
    for page in PAGES {
        browser.visit(&root().join(page));
        let none: [String; 0] = [];
        assert_eq!(browser.complaints(), none, "{page}");
        let own = format!("file://{}", root().display());
        let foreign: Vec<String> = browser
            .requests()
            .into_iter()
            .filter(|url| !url.starts_with(&own) && !url.starts_with("data:"))
            .collect();
        assert_eq!(foreign, none, "{page}");
    }
}

#[test]
fn a_site_keeps_no_reader_out_in_light_or_dark() {
    let Some(axe) = axe::axe() else { return };
    let Some(browser) = Browser::open() else { return };
    let mut wrong = Vec::new();
    for page in PAGES {
        let found = axe::violations_in_both_schemes(&browser, &axe, &root().join(page));
        wrong.extend(found.into_iter().map(|violation| format!("{page}, {violation}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The outermost elements that extend beyond the window and do not scroll by themselves.
const OUTSIDE: &str = "
    const scrolls = one => one.closest('.scroll, .contents ol, details:not([open])');
    return [...document.querySelectorAll('body *')]
        .filter(one => one.getBoundingClientRect().right > innerWidth + 1 && !scrolls(one))
        .slice(0, 3).map(one => one.outerHTML.slice(0, 120))";

#[test]
fn no_page_of_a_site_is_wider_than_its_window() {
    let Some(browser) = Browser::open() else { return };
    let mut wide = Vec::new();
    for page in PAGES {
        browser.visit(&root().join(page));
        for size in SIZES {
            browser.resize(size);
            let width = browser.run("return document.documentElement.scrollWidth", &[]).as_u64().unwrap();
            if width > u64::from(size.0) {
                let outside = browser.run(OUTSIDE, &[]);
                wide.push(format!("{page} is {width} wide at {}: {outside}", size.0));
            }
            if geometry::wants_pictures() {
                let name = format!("{}-{}.png", page.replace('/', "-"), size.0);
                browser.picture(&pages::folder().join("site").join(name));
            }
        }
    }
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}

#[test]
fn nothing_of_a_site_overlaps_on_a_screen_or_on_paper() {
    let Some(browser) = Browser::open() else { return };
    let mut problems = Vec::new();
    for page in PAGES.iter().filter(|page| !page.starts_with("run/")) {
        browser.visit(&root().join(page));
        // A4 without its margins.
        let screens = geometry::SIZES.map(|size| ("screen", size));
        for (media, size) in screens.into_iter().chain([("print", (703, 1032))]) {
            browser.prefer(media, &[]);
            browser.resize(size);
            browser.run("for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame)", &[]);
            let found = browser.run(geometry::PROBLEMS, &[]);
            let found = found.as_array().unwrap().iter();
            problems.extend(found.map(|problem| format!("{page}, {media}, {} wide: {problem}", size.0)));
        }
        browser.prefer("screen", &[]);
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn the_first_page_is_by_any_figure_and_of_chosen_languages() {
    let Some(browser) = Browser::open() else { return };
    browser.visit(&root().join("index.html"));
    let press = |text: &str| {
        let press = "[...document.querySelectorAll('#choose button')].find(one => one.textContent === args[0]).click();
                     return [...document.querySelectorAll('#services tbody tr[data-row]')].filter(one => one.checkVisibility())
                         .map(one => one.querySelector('a').textContent)";
        serde_json::from_value::<Vec<String>>(browser.run(press, &[text.into()])).unwrap()
    };
    let by_memory = press("Memory");
    assert_eq!(&by_memory[..3], ["asio", "raw-socket", "beast"], "references stay first");
    let shown = "return [...document.querySelectorAll('.strip')].filter(one => one.checkVisibility()).map(one => one.dataset.metric)";
    assert_eq!(browser.run(shown, &[]), serde_json::json!(["rss_bytes_peak"]));
    assert_eq!(press("Throughput")[2], "hyper", "of throughput more is better");
    assert_eq!(press("Go"), ["raw-socket", "asio", "net-http", "gorilla-mux"]);
    assert_eq!(press("Go").len(), by_memory.len());
}

#[test]
fn two_services_are_asked_for_by_choice_and_lead_to_the_page_of_the_pair() {
    let Some(browser) = Browser::open() else { return };
    let page = root().join("vs/index.html");
    browser.visit(&page);
    let link = "return document.querySelector('#ask a')?.textContent";
    assert_eq!(browser.until(link, &[]), "hyper against axum", "it begins with neighbours in rank");
    let choose = "const [first] = document.querySelectorAll('#ask select');
                  first.selectedIndex = [...first.options].findIndex(one => one.textContent === 'flask');
                  first.dispatchEvent(new Event('change'));
                  return document.querySelector('#ask a').textContent";
    assert_eq!(browser.run(choose, &[]), "flask against express");
    browser.click("document.querySelector('#ask a')");
    let there = "return location.pathname.endsWith('/vs/express/flask/index.html')";
    assert_eq!(browser.until(there, &[]), true);
    // The addresses of an older site.
    for asked in ["axum,hyper", "hyper,axum"] {
        browser.visit(Path::new(&format!("{}#{asked}", page.display())));
        let there = "return location.pathname.endsWith('/vs/axum/hyper/index.html')";
        assert_eq!(browser.until(there, &[]), true, "{asked}");
    }
    let answer = browser.run("return document.querySelector('.answer').textContent", &[]);
    assert!(
        answer.as_str().unwrap().starts_with("axum needs 1.12x hyper's CPU time per request ("),
        "{answer}"
    );
}

#[test]
fn a_load_is_so_many_cpus_as_the_data_say() {
    let Some(browser) = Browser::open() else { return };
    let data = fs::read_to_string(root().join("data/site.json")).unwrap();
    let data: serde_json::Value = serde_json::from_str(&data).unwrap();
    let runs = data["runs"].as_array().unwrap();
    let newest = runs.iter().find(|run| run["id"] == "third").unwrap();
    let rows = newest["rows"].as_array().unwrap();
    let time = |service: &str| {
        let row = rows.iter().find(|row| row["service"] == service).unwrap();
        row["cpu_ns_per_request"]["value"].as_f64().unwrap()
    };
    let ask = "const [rate] = document.querySelectorAll('#cpus input');
               rate.value = args[0];
               rate.dispatchEvent(new Event('input'));
               const service = document.querySelector('#cpus select');
               if (service) {
                   service.selectedIndex = [...service.options].findIndex(one => one.textContent === args[1]);
                   service.dispatchEvent(new Event('change'));
               }
               return document.getElementById('cpus-told').textContent";
    for (page, rate, service) in
        [("index.html", 250_000.0, "flask"), ("service/axum/index.html", 1_000.0, "axum")]
    {
        browser.visit(&root().join(page));
        let told = browser.run(ask, &[rate.into(), service.into()]);
        let number = tare_report::document::Unit::Number.show(time(service) * rate / 1e9);
        let expected = format!("requests a second of {service} need at least {number} CPUs (");
        assert!(told.as_str().unwrap().contains(&expected), "{expected}: {told}");
    }
}

#[test]
fn a_name_is_found_from_any_page() {
    let Some(browser) = Browser::open() else { return };
    browser.visit(&root().join("service/hyper/index.html"));
    browser.click("document.querySelector('.search input')");
    browser.press("gorilla");
    let found = "return [...document.querySelectorAll('.found a')].map(one => one.textContent)";
    assert_eq!(
        browser.until(&format!("const all = (() => {{ {found} }})(); return all.length > 0"), &[]),
        true
    );
    assert_eq!(browser.run(found, &[]), serde_json::json!(["gorilla-mux service"]));
    browser.press(thirtyfour::Key::Enter);
    let there = "return location.pathname.endsWith('/service/gorilla-mux/index.html')";
    assert_eq!(browser.until(there, &[]), true);
}

#[test]
fn the_panel_of_a_service_leads_to_its_page() {
    let Some(browser) = Browser::open() else { return };
    browser
        .visit(Path::new(&format!("{}#ranks?service=hyper", root().join("run/quick/index.html").display())));
    let link = "return document.querySelector('dialog[open] a.button')?.getAttribute('href')";
    assert_eq!(browser.until(link, &[]), "../../service/hyper/index.html");
}
