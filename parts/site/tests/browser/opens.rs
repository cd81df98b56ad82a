//! A page opens from disk, and requests nothing. The facts about a freshly opened page are read once, for
//! tests of other modules too.

use serde_json::Value;

use crate::{
    browser::Browser,
    fixtures::{self, OfEach},
    pages::{self, Page},
};

/// A page as it was opened, before any action.
pub struct Opened {
    complaints: Vec<String>,
    requests: Vec<String>,
    /// The data in it, as the page saves them: read and written by the browser, which would expose numbers beyond a double.
    pub data: Value,
    /// For each chart: its section, its index there, its text, whether there is a table, and whether its
    /// links have targets.
    pub figures: Value,
}

const FIGURES: &str = "
    return [...document.querySelectorAll('figure.chart')].map(figure => [
        figure.closest('section').id, Number(figure.dataset.chart),
        figure.querySelector('.plot').getAttribute('aria-label'),
        Boolean(figure.closest('section').querySelector('table caption')),
        [...figure.querySelectorAll('a[href^=\"#\"]')].every(a => document.getElementById(a.hash.slice(1)))])";

const SAVED: &str = "
    const [make, saved] = [URL.createObjectURL, []];
    URL.createObjectURL = blob => { saved.push(blob); return make(blob) };
    HTMLAnchorElement.prototype.click = () => {};
    [...document.querySelectorAll('button')].find(button => button.textContent === 'Download JSON').click();
    return saved[0].text()";

/// All pages; `None` without a browser. They are opened in sequence, because each would start a browser.
pub fn all() -> Option<Vec<(&'static Page, &'static Opened)>> {
    static OPENED: OfEach<Option<Opened>> = OfEach::new(|fixture| opened(pages::named(fixture.name)));
    // Make the pages first, on all CPUs.
    pages::all();
    let of = |name| Some((pages::named(name), OPENED.named(name).as_ref()?));
    fixtures::ALL.iter().map(|fixture| of(fixture.name)).collect()
}

fn opened(page: &Page) -> Option<Opened> {
    let browser = Browser::open()?;
    browser.visit(&page.file);
    let data = browser.run(SAVED, &[]);
    Some(Opened {
        data: serde_json::from_str(data.as_str().unwrap()).unwrap(),
        figures: browser.run(FIGURES, &[]),
        complaints: browser.complaints(),
        requests: browser.requests(),
    })
}

#[test]
fn a_page_opens_from_a_disk_without_a_complaint_or_a_request() {
    for (page, opened) in all().into_iter().flatten() {
        let none: [String; 0] = [];
        assert_eq!(opened.complaints, none, "{}", page.name);
        assert_eq!(opened.requests, [format!("file://{}", page.file.display())], "{}", page.name);
    }
}
