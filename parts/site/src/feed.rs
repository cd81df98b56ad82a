//! The newest runs, for feed readers (Atom, RFC 4287) and search engines.

use askama::Template;

use super::{RunEntry, SiteError, SiteSettings, address::Address, catalogue::Catalogue};
use tare_report::write::File;

/// The most runs in a feed.
const RUNS_MAX: usize = 50;

#[derive(Template)]
#[template(path = "site/feed.xml", escape = "xml")]
struct Feed<'a> {
    title: &'a str,
    /// The address of the site; without it the links of a feed are relative.
    url: &'a str,
    updated: &'a str,
    runs: Vec<(&'a RunEntry, String)>,
}

#[derive(Template)]
#[template(path = "site/sitemap.xml", escape = "xml")]
struct Map {
    pages: Vec<String>,
}

pub(super) fn feed(site: &Catalogue<'_>, settings: &SiteSettings) -> Result<File, SiteError> {
    let url = settings.url.as_deref().unwrap_or_default();
    let updated = site.runs.first().map_or("1970-01-01T00:00:00Z", |run| run.began.as_str());
    let link = |run: &RunEntry| format!("{url}{}", Address::Run(&run.id).path());
    let runs = site.runs.iter().take(RUNS_MAX).map(|run| (*run, link(run))).collect();
    let text = Feed { title: &settings.title, url, updated, runs }.render()?;
    Ok(File { name: "feed.xml".to_owned(), bytes: text.into_bytes() })
}

/// The site map, if the address of the site is known.
pub(super) fn map(site: &Catalogue<'_>, settings: &SiteSettings) -> Option<File> {
    let url = settings.url.as_ref()?;
    let fixed = [Address::Index, Address::Claims, Address::Versus, Address::Method, Address::Data];
    let runs = site.runs.iter().map(|run| Address::Run(&run.id));
    let experiments = site.experiments.keys().map(|name| Address::Experiment(name));
    let services = site.services.keys().map(|name| Address::Service(name));
    let pairs = site.pairs.keys().map(|names| Address::Pair(*names));
    let all = fixed.into_iter().chain(experiments).chain(services).chain(runs).chain(pairs);
    let pages = all.map(|address| format!("{url}{}", address.path())).collect();
    let text = Map { pages }.render().unwrap_or_default();
    Some(File { name: "sitemap.xml".to_owned(), bytes: text.into_bytes() })
}
