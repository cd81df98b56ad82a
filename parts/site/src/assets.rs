//! Style and scripts, which all pages of a site share. Their names contain a part of their hash, so that no
//! browser uses an old style for a new page.

use std::sync::LazyLock;

use tare_report::write::{File, html};

/// Paths from the root of the site.
pub(crate) struct Assets {
    pub(crate) style: String,
    pub(crate) site_style: String,
    pub(crate) flame: String,
    pub(crate) page: String,
    pub(crate) site: String,
}

const SITE_STYLE: &str = include_str!("../dist/site.css");
const SITE_SCRIPT: &str = include_str!("../dist/site.js");

pub(crate) static ASSETS: LazyLock<Assets> = LazyLock::new(|| Assets {
    style: name("page", "css", html::STYLE),
    site_style: name("site", "css", SITE_STYLE),
    flame: name("flame", "js", html::FLAME),
    page: name("page", "js", html::SCRIPT),
    site: name("site", "js", SITE_SCRIPT),
});

fn name(stem: &str, end: &str, text: &str) -> String {
    format!("assets/{stem}-{}.{end}", &blake3::hash(text.as_bytes()).to_hex()[..10])
}

pub(super) fn files() -> Vec<File> {
    let all = [
        (&ASSETS.style, html::STYLE),
        (&ASSETS.site_style, SITE_STYLE),
        (&ASSETS.flame, html::FLAME),
        (&ASSETS.page, html::SCRIPT),
        (&ASSETS.site, SITE_SCRIPT),
    ];
    all.into_iter().map(|(name, text)| File { name: name.clone(), bytes: text.into() }).collect()
}
