//! What is new, for readers of feeds (Atom, RFC 4287) and for search engines.

use askama::Template;

use super::{RunEntry, Settings, SiteError, address::Address, catalogue::Catalogue};
use crate::write::File;

/// Runs that a feed has.
const RUNS_MAX: usize = 50;

#[derive(Template)]
#[template(path = "site/feed.xml", escape = "xml")]
struct Feed<'a> {
    title: &'a str,
    /// Where the site is; a feed without it has links that are relative.
    url: &'a str,
    updated: &'a str,
    runs: Vec<(&'a RunEntry, String)>,
}

#[derive(Template)]
#[template(path = "site/sitemap.xml", escape = "xml")]
struct Map {
    pages: Vec<String>,
}

pub(super) fn feed(site: &Catalogue<'_>, settings: &Settings) -> Result<File, SiteError> {
    let url = settings.url.as_deref().unwrap_or_default();
    let updated = site.runs.first().map_or("1970-01-01T00:00:00Z", |run| run.began.as_str());
    let link = |run: &RunEntry| format!("{url}{}", Address::Run(&run.id).path());
    let runs = site.runs.iter().take(RUNS_MAX).map(|run| (*run, link(run))).collect();
    let text = Feed { title: &settings.title, url, updated, runs }.render()?;
    Ok(File { name: "feed.xml".to_owned(), bytes: text.into_bytes() })
}

/// Of a site whose place is known.
pub(super) fn map(site: &Catalogue<'_>, settings: &Settings) -> Option<File> {
    let url = settings.url.as_ref()?;
    let fixed = [Address::Index, Address::Claims, Address::Versus, Address::Method, Address::Data];
    let runs = site.runs.iter().map(|run| Address::Run(&run.id));
    let experiments = site.experiments.keys().map(|name| Address::Experiment(name));
    let services = site.services.keys().map(|name| Address::Service(name));
    let all = fixed.into_iter().chain(experiments).chain(services).chain(runs);
    let pages = all.map(|address| format!("{url}{}", address.path())).collect();
    let text = Map { pages }.render().unwrap_or_default();
    Some(File { name: "sitemap.xml".to_owned(), bytes: text.into_bytes() })
}
