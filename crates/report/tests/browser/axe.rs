//! What axe-core finds that keeps people out: nothing serious, in light and dark. And it must be able to find something.

use std::{fs, path::Path};

use serde_json::{Value, json};

use tare_host::fixture::skip;

use crate::{browser::Browser, pages};

/// Absent if it is not installed: skipped by name.
fn axe() -> Option<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/node_modules/axe-core/axe.min.js");
    let found = fs::read_to_string(&file).ok();
    if found.is_none() {
        skip("accessibility", "axe-core is not in web/node_modules: make setup installs it");
    }
    found
}

/// Serious and critical violations: the rule, and where.
fn violations(browser: &Browser, axe: &str) -> Vec<String> {
    let script = format!(
        "if (!window.axe) {{ {axe} }}
         const found = await window.axe.run(document, {{ resultTypes: ['violations'] }});
         return found.violations.filter(one => /serious|critical/.test(one.impact)).map(one =>
             [one.id, one.help, one.nodes.length, one.nodes.slice(0, 3).map(node =>
                 node.target.join(' ') + ' ' + node.html.slice(0, 160) + ' ' + (node.failureSummary || '').slice(0, 200))])"
    );
    let found = browser.run(&script, &[]);
    found.as_array().unwrap().iter().map(Value::to_string).collect()
}

#[test]
fn nobody_is_kept_out_in_light_or_dark() {
    let Some(axe) = axe() else { return };
    let Some(browser) = Browser::open() else { return };
    let mut wrong = Vec::new();
    for scheme in ["light", "dark"] {
        browser.prefer("screen", &[("prefers-color-scheme", scheme), ("prefers-reduced-motion", "reduce")]);
        for page in pages::all() {
            browser.visit(&page.file);
            let found = violations(&browser, &axe);
            wrong.extend(found.into_iter().map(|violation| format!("{}, {scheme}: {violation}", page.name)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// With two services compared, and with a service's panel open over the page.
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
