//! The method of measurement, in five minutes.

use askama::Template;

use super::{
    SiteError, SiteSettings,
    address::Address,
    frame::{self, PageFrame},
};
use tare_report::write::File;

#[derive(Template)]
#[template(path = "site/method.html")]
struct Method;

pub(super) fn page(settings: &SiteSettings) -> Result<File, SiteError> {
    let lead = "How Tare measures what a framework costs, and what its figures do not say.";
    let frame = PageFrame::new(Address::Method, "Method", lead, settings);
    frame::file(&frame, &Method.render()?)
}
