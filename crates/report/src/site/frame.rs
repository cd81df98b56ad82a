//! What every page of a site has around its own text: head, links to the other pages, foot.

use askama::Template;

use super::{
    Settings, SiteError,
    address::Address,
    assets::{ASSETS, Assets},
    words::first_sentence,
};
use crate::{
    document::Section,
    write::{
        File,
        html::{Around, SectionView},
    },
};

/// The head of a page, and the way from it to the others.
pub(crate) struct PageFrame<'a> {
    pub(crate) root: String,
    pub(crate) title: String,
    /// What it says, for who sees a link to it.
    pub(crate) description: String,
    pub(crate) site: &'a str,
    pub(crate) assets: &'static Assets,
    address: Address<'a>,
    /// Where it will be found.
    pub(crate) url: Option<String>,
    /// Where the picture of a link to it will be found.
    pub(crate) image: Option<String>,
}

/// Pages that every page has a link to.
const LINKS: [(Address<'static>, &str); 5] = [
    (Address::Index, "Results"),
    (Address::Versus, "X against Y"),
    (Address::Claims, "Published claims"),
    (Address::Method, "Method"),
    (Address::Data, "Data"),
];

impl<'a> PageFrame<'a> {
    pub(crate) fn new(
        address: Address<'a>,
        title: &str,
        description: &str,
        settings: &'a Settings,
    ) -> PageFrame<'a> {
        let at = |path: &str| settings.url.as_ref().map(|url| format!("{url}{path}"));
        PageFrame {
            root: address.root(),
            title: title.to_owned(),
            description: first_sentence(description).to_owned(),
            site: &settings.title,
            assets: &ASSETS,
            address,
            url: at(&address.path()),
            image: None,
        }
    }

    /// With a picture beside the page.
    pub(crate) fn image(self, path: &str, settings: &Settings) -> PageFrame<'a> {
        PageFrame { image: settings.url.as_ref().map(|url| format!("{url}{path}")), ..self }
    }

    pub(crate) fn links(&self) -> Vec<(String, &'static str, bool)> {
        let link = |(address, text): (Address<'static>, &'static str)| {
            (self.to(address), text, address == self.address)
        };
        LINKS.into_iter().map(link).collect()
    }

    /// The link to another page.
    pub(crate) fn to(&self, address: Address<'_>) -> String {
        format!("{}{}", self.root, address.path())
    }
}

#[derive(Template)]
#[template(path = "site/meta.html")]
struct Meta<'a> {
    frame: &'a PageFrame<'a>,
}

#[derive(Template)]
#[template(path = "site/bar.html")]
struct LinkBar<'a> {
    frame: &'a PageFrame<'a>,
}

#[derive(Template)]
#[template(path = "site/frame.html")]
struct Whole<'a> {
    frame: &'a PageFrame<'a>,
    main: &'a str,
}

/// A page of sections, each with a table.
#[derive(Template)]
#[template(path = "site/sections.html")]
pub(crate) struct Sections<'a> {
    /// What kind of page it is.
    pub(crate) kind: &'a str,
    pub(crate) title: &'a str,
    pub(crate) lead: &'a str,
    /// The large sentence below the title; empty for none.
    pub(crate) answer: &'a str,
    /// What makes that sentence doubtful.
    pub(crate) cautions: &'a [String],
    /// HTML that its writer has escaped, before the sections.
    pub(crate) before: &'a str,
    pub(crate) sections: Vec<SectionView<'a>>,
}

/// The same around the page of a run.
pub(super) fn around(frame: &PageFrame<'_>, links: String) -> Result<Around, SiteError> {
    let Assets { charts, page, site, .. } = frame.assets;
    let script = |path: &String| format!("<script src=\"{}{path}\" defer></script>\n", frame.root);
    Ok(Around {
        head: Meta { frame }.render()?,
        bar: LinkBar { frame }.render()?,
        links,
        scripts: [charts, page, site].map(script).concat(),
    })
}

/// The page of this address around what its writer escaped.
pub(super) fn file(frame: &PageFrame<'_>, main: &str) -> Result<File, SiteError> {
    let text = Whole { frame, main }.render()?;
    Ok(File { name: frame.address.path(), bytes: text.into_bytes() })
}

/// Sections with links from the names in their tables, where there is a page of that name.
pub(super) fn linked<'a>(
    sections: &'a [Section],
    link: impl Fn(&str, &str) -> Option<String>,
) -> Vec<SectionView<'a>> {
    let view = |(place, section)| SectionView::whole(section, place == 0).linked(&link);
    sections.iter().enumerate().map(view).collect()
}
