//! Accessibility by axe-core: no violations, in light and dark, and a test that axe-core finds one.

use std::{fs, path::Path};

use serde_json::{Value, json};

use tare_host::fixture::skip;

use crate::{browser::Browser, pages};

/// `None` if it is not installed: the test is skipped by name.
pub fn axe() -> Option<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/node_modules/axe-core/axe.min.js");
    let found = fs::read_to_string(&file).ok();
    if found.is_none() {
        skip("accessibility", "axe-core is not in web/node_modules: make setup installs it");
    }
    found
}

/// Violations of any impact: the rule, and the elements.
pub fn violations(browser: &Browser, axe: &str) -> Vec<String> {
    found(browser, axe, &json!({}))
}

fn found(browser: &Browser, axe: &str, options: &Value) -> Vec<String> {
    let script = format!(
        "if (!window.axe) {{ {axe} }}
         const found = await window.axe.run(document, {{ resultTypes: ['violations'], ...args[0] }});
         return found.violations.map(one =>
             [one.id, one.help, one.nodes.length, one.nodes.slice(0, 3).map(node =>
                 node.target.join(' ') + ' ' + node.html.slice(0, 160) + ' ' + (node.failureSummary || '').slice(0, 200))])"
    );
    let found = browser.run(&script, std::slice::from_ref(options));
    found.as_array().unwrap().iter().map(Value::to_string).collect()
}

/// Violations in the light and then the dark scheme, as the system may switch in the evening. A scheme
/// changes only colours, so the other rules are checked once.
pub fn violations_in_both_schemes(browser: &Browser, axe: &str, page: &Path) -> Vec<String> {
    let prefer = |scheme| {
        browser.prefer("screen", &[("prefers-color-scheme", scheme), ("prefers-reduced-motion", "reduce")]);
    };
    let paper = || browser.run("return getComputedStyle(document.body).backgroundColor", &[]);
    prefer("light");
    browser.visit(page);
    let (light, found_in_light) = (paper(), violations(browser, axe));
    prefer("dark");
    browser.until("return getComputedStyle(document.body).backgroundColor !== args[0]", &[light]);
    // A tag also enables rules that axe disables by default.
    let colours = json!({
        "runOnly": { "type": "tag", "values": ["cat.color"] },
        "rules": { "color-contrast-enhanced": { "enabled": false } },
    });
    let found_in_dark = found(browser, axe, &colours);
    let of = |scheme: &'static str, found: Vec<String>| {
        found.into_iter().map(move |violation| format!("{scheme}: {violation}"))
    };
    of("light", found_in_light).chain(of("dark", found_in_dark)).collect()
}

#[test]
fn nobody_is_kept_out_in_light_or_dark() {
    let Some(axe) = axe() else { return };
    let Some(browser) = Browser::open() else { return };
    let mut wrong = Vec::new();
    for page in pages::all() {
        let found = violations_in_both_schemes(&browser, &axe, &page.file);
        wrong.extend(found.into_iter().map(|violation| format!("{}, {violation}", page.name)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// With a comparison of two services, and with a service panel open over the page.
#[test]
fn nobody_is_kept_out_of_what_is_asked_for() {
    let Some(axe) = axe() else { return };
    let Some(browser) = Browser::open() else { return };
    for name in ["few", "hostile"] {
        browser.visit(&pages::named(name).file);
        browser.run(
            "for (const [at, field] of document.querySelectorAll('.compare select').entries()) {
                 field.selectedIndex = at + 1;
                 field.dispatchEvent(new Event('change'));
             }",
            &[],
        );
        assert_eq!(browser.run("return document.querySelector('.compared').checkVisibility()", &[]), true);
        assert_eq!(violations(&browser, &axe), Vec::<String>::new(), "{name}, compared");
        browser.click("document.querySelector('#ranks tbody a.name')");
        browser.until("return document.querySelector('dialog.panel[open]')", &[]);
        assert_eq!(violations(&browser, &axe), Vec::<String>::new(), "{name}, a panel");
    }
}

#[test]
fn a_page_that_keeps_people_out_is_found() {
    let Some(axe) = axe() else { return };
    let Some(browser) = Browser::open() else { return };
    browser.visit(&pages::named("few").file);
    browser.run(
        "document.documentElement.removeAttribute('lang');
         document.querySelector('h1').style.color = 'rgb(200, 200, 200)';
         document.querySelector('h1').style.background = 'white';
         document.querySelector('main').append(document.createElement('button'));",
        &[],
    );
    let found = violations(&browser, &axe).join("\n");
    for rule in ["html-has-lang", "color-contrast", "button-name"] {
        assert!(found.contains(&json!(rule).to_string()), "{rule} is not in {found}");
    }
}
