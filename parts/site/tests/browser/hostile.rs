//! Names that try to inject code.

use tare_host::foreign;

use crate::{browser::Browser, fixtures::HOSTILE, pages};

#[test]
fn hostile_names_are_text_and_nothing_runs() {
    let Some(browser) = Browser::open() else { return };
    let page = pages::named("hostile");
    browser.visit(&page.file);
    let state = browser.run(
        "for (const fold of document.querySelectorAll('details')) fold.open = true;
         return [typeof window.hacked, document.scripts.length, document.querySelectorAll('main script, main img, main iframe').length,
             document.querySelectorAll('[onerror], [onload], [onclick]').length]",
        &[],
    );
    let scripts = page.html.matches("<script").count() - embedded_mentions(&page.html);
    assert_eq!(state, serde_json::json!(["undefined", scripts, 0, 0]));
    let text = browser.run("return document.body.textContent", &[]);
    // Characters that change the writing direction are shown by their numbers, and all others unchanged.
    for name in HOSTILE.map(foreign::visible) {
        assert!(text.as_str().unwrap().contains(&*name), "{name:?} is not shown");
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// Script elements of the page itself: those before its end, without mentions in its text.
fn embedded_mentions(html: &str) -> usize {
    let pieces = html.split("<script").skip(1);
    pieces.filter(|piece| !piece.starts_with('>') && !piece.starts_with(" type=\"application/json\"")).count()
}

/// Whatever a displayed name contains, its page runs only the scripts and styles it was written with.
#[test]
fn what_a_page_was_not_written_with_does_nothing() {
    let Some(browser) = Browser::open() else { return };
    browser.visit(&pages::named("few").file);
    let added = "const styled = document.createElement('p');
        styled.setAttribute('style', 'display: none');
        const [style, script] = ['style', 'script'].map(name => document.createElement(name));
        style.textContent = 'h1 { display: none }';
        script.textContent = 'globalThis.ran = true';
        document.body.append(styled, style, script);
        const shown = [styled, document.querySelector('h1')].map(element => getComputedStyle(element).display);
        return [...shown, globalThis.ran ?? null]";
    assert_eq!(browser.run(added, &[]), serde_json::json!(["block", "block", null]));
}

/// A name of right-to-left letters does not reverse its neighbours or its line.
#[test]
fn right_to_left_names_are_kept_apart() {
    let Some(browser) = Browser::open() else { return };
    let page = pages::named("hostile");
    browser.visit(&page.file);
    let loose = browser.run(
        "return [...document.querySelectorAll('main td, main th')].filter(cell =>
             /[\\u0590-\\u06ff\\u202e]/.test(cell.textContent) && !cell.querySelector('bdi, [dir]') && !cell.dir)
             .map(cell => cell.outerHTML.slice(0, 200))",
        &[],
    );
    assert_eq!(loose, serde_json::json!([]));
}
