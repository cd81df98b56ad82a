//! Measures how fast a page appears and responds: `cargo run --release --example paint`. It opens the page of
//! 60 services x 40 blocks x 8 slices from disk in a browser a few times. It prints the browser's own
//! measurements: the first paint of text, and the time from a click to the next paint. It is no test, because
//! it depends on the machine and on other programs.

#[path = "../tests/browser/browser.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod browser;
#[path = "../tests/browser/fixtures/mod.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod fixtures;

use std::fs;

use browser::Browser;

const VISITS: usize = 7;

/// A reader's actions: a name, and the element that is clicked.
const CLICKS: [(&str, &str); 8] = [
    ("sort by a number", "document.querySelectorAll('main section thead th.number button')[1]"),
    ("sort by the name", "document.querySelector('main section thead button')"),
    ("open a facet", "document.querySelector('details.facet summary')"),
    ("filter by its first value", "document.querySelector('details.facet[open] input')"),
    ("filter no more", "document.querySelector('details.facet[open] input')"),
    ("dark", "document.getElementById('theme')"),
    ("open the longest table", "document.querySelector('#slices details.fold > summary')"),
    // The first column is sorted already, so a click there would paint nothing.
    ("sort it", "document.querySelectorAll('#slices thead th.number button')[2]"),
];

/// The longest interaction since the last call, in milliseconds: from a press or click to the next paint,
/// with a resolution of 8 ms. This is "interaction to next paint" (W3C Event Timing, `interactionId`). Moving
/// the pointer is no interaction, and the driver determines how long its events take. The browser reports
/// none below 16 ms, which is 0 here.
const LONGEST: &str = "
    const end = performance.now() + args[0];
    const isTold = () => window.events.some(event => event.name === 'click');
    while (!isTold() && performance.now() < end) await new Promise(requestAnimationFrame);
    const interactions = window.events.splice(0).filter(event => event.interactionId > 0);
    return Math.max(0, ...interactions.map(event => event.duration))";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let many = fixtures::ALL.iter().find(|fixture| fixture.name == "many").ok_or("no such fixture")?;
    let document = tare_report::gather::gather(&many.write(folder.path()))?;
    let html = tare_report::write::html::html(&document)?;
    let page = folder.path().join("many.html");
    fs::write(&page, &html)?;
    println!("page: {:.2} MB, {} sections", html.len() as f64 / 1e6, document.sections.len());
    let Some(browser) = Browser::open() else { return Ok(()) };
    let (mut paints, mut loads) = (Vec::new(), Vec::new());
    let mut clicks = vec![Vec::new(); CLICKS.len()];
    for _ in 0..VISITS {
        browser.visit(&page);
        let paint =
            browser.until("return performance.getEntriesByName('first-contentful-paint')[0]?.startTime", &[]);
        paints.extend(paint.as_f64());
        loads.extend(
            browser.run("return performance.getEntriesByType('navigation')[0].loadEventEnd", &[]).as_f64(),
        );
        browser.run(
            "window.events = [];
             new PerformanceObserver(list => window.events.push(...list.getEntries())).observe({ type: 'event', durationThreshold: 16 })",
            &[],
        );
        for ((_, element), times) in CLICKS.iter().zip(&mut clicks) {
            // Loading the page and moving the pointer are not measured.
            browser.run(
                &format!(
                    "{element}.scrollIntoView({{ block: 'center', inline: 'center', behavior: 'instant' }})"
                ),
                &[],
            );
            browser.run(LONGEST, &[1_500.into()]);
            browser.click(element);
            times.extend(browser.run(LONGEST, &[3_000.into()]).as_f64());
        }
    }
    tell("first contentful paint", &mut paints);
    tell("loaded, script and all", &mut loads);
    for ((name, _), times) in CLICKS.iter().zip(&mut clicks) {
        tell(name, times);
    }
    Ok(())
}

fn tell(what: &str, times: &mut [f64]) {
    times.sort_by(f64::total_cmp);
    if let [least, .., most] = *times {
        println!("{what:28} median {:4.0} ms, {least:.0} to {most:.0}", times[times.len() / 2]);
    }
}
