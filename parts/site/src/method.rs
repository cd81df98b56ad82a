//! The method of measurement, in five minutes.

use askama::Template;

use super::{
    SiteError, SiteSettings,
    address::Address,
    catalogue::Catalogue,
    frame::{self, PageFrame},
};
use tare_report::write::File;

#[derive(Template)]
#[template(path = "site/method.html")]
struct Method<'a> {
    source: Option<&'a str>,
}

pub(super) fn page(site: &Catalogue<'_>, settings: &SiteSettings) -> Result<File, SiteError> {
    let lead = "How Tare measures what a framework costs, and what its figures do not say.";
    let frame = PageFrame::new(Address::Method, "Method", lead, settings);
    let frame = frame.image_of(site.featured(), settings);
    frame::file(&frame, &Method { source: frame.source }.render()?)
}
