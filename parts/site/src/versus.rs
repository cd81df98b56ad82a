//! The choice of two services, which leads to the page of their pair: the neighbours of each by rank, and any two.

use askama::Template;
use serde::Serialize;

use super::{
    SiteError, SiteSettings,
    address::{Address, slug},
    catalogue::Catalogue,
    frame::{self, PageFrame},
};
use tare_report::write::{File, html};

#[derive(Template)]
#[template(path = "site/versus.html")]
struct Versus<'a> {
    /// The number of pages of pairs.
    count: String,
    services: Vec<Chosen<'a>>,
    /// [`Known`] as JSON.
    known: String,
}

/// A service with its neighbours: names and links.
struct Chosen<'a> {
    name: &'a str,
    link: String,
    neighbours: Vec<(&'a str, String)>,
}

/// What the script needs: the services in the order of ranks, and for each those that follow it in the address of a pair.
#[derive(Serialize)]
struct Known<'a> {
    services: Vec<(String, &'a str)>,
    pairs: Vec<Vec<usize>>,
}

/// The most neighbours of a service.
const NEIGHBOURS_MAX: usize = 4;

pub(super) fn page(site: &Catalogue<'_>, settings: &SiteSettings) -> Result<File, SiteError> {
    let title = "X against Y";
    let lead = "Any two services that were measured in one run, each pair on its own page.";
    let frame = PageFrame::new(Address::Versus, title, lead, settings).image_of(site.featured(), settings);
    let order = &site.paired;
    let place = |name: &str| order.iter().position(|one| *one == name);
    let mut pairs = vec![Vec::new(); order.len()];
    for [one, other] in site.pairs.keys() {
        if let (Some(one), Some(other)) = (place(one), place(other)) {
            pairs[one].push(other);
        }
    }
    let known = Known { services: order.iter().map(|name| (slug(name), *name)).collect(), pairs };
    let page = Versus {
        count: match site.pairs.len() {
            count @ 0..1000 => count.to_string(),
            count => format!("{},{:03}", count / 1000, count % 1000),
        },
        services: order.iter().map(|name| chosen(name, site, &frame)).collect(),
        known: html::embeddable(&known),
    };
    frame::file(&frame, &page.render()?)
}

fn chosen<'a>(name: &'a str, site: &Catalogue<'a>, frame: &PageFrame<'_>) -> Chosen<'a> {
    let neighbours = site.neighbours(name).into_iter().take(NEIGHBOURS_MAX);
    Chosen {
        name,
        link: frame.to(Address::Service(name)),
        neighbours: neighbours.map(|other| (other, frame.to(Address::pair(name, other)))).collect(),
    }
}
