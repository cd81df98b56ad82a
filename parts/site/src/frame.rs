//! The frame of every page of a site: head, links to the other pages, foot.

use askama::Template;

use super::{
    RunEntry, SiteError, SiteSettings,
    address::{Address, slug},
    assets::{ASSETS, Assets},
    preview::{Card, Picture},
    words::description,
};
use tare_report::{
    document::Section,
    write::{
        File,
        html::{Around, SectionView},
    },
};

/// The head of a page, and its links to the others.
pub(crate) struct PageFrame<'a> {
    pub(crate) root: String,
    pub(crate) title: String,
    /// The description in previews of links.
    pub(crate) description: String,
    pub(crate) site: &'a str,
    /// The repository with the code of the services.
    pub(crate) source: Option<&'a str>,
    /// The command that measures what the page shows.
    pub(crate) command: String,
    pub(crate) assets: &'static Assets,
    address: Address<'a>,
    /// The address at which it will be published.
    pub(crate) url: Option<String>,
    /// The address of its preview picture.
    pub(crate) image: Option<String>,
}

/// The pages that every page links to.
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
        settings: &'a SiteSettings,
    ) -> PageFrame<'a> {
        let at = |path: &str| settings.url.as_ref().map(|url| format!("{url}{path}"));
        PageFrame {
            root: address.root(),
            title: title.to_owned(),
            description: self::description(description).to_owned(),
            site: &settings.title,
            source: settings.source_url.as_deref(),
            command: "tare run quick".to_owned(),
            assets: &ASSETS,
            address,
            url: at(&address.path()),
            image: None,
        }
    }

    /// Names the command that measures what the page shows.
    pub(crate) fn command(self, command: String) -> PageFrame<'a> {
        PageFrame { command, ..self }
    }

    /// Adds a preview picture at this path from the root of the site.
    pub(crate) fn image(self, path: &str, settings: &SiteSettings) -> PageFrame<'a> {
        PageFrame { image: settings.url.as_ref().map(|url| format!("{url}{path}")), ..self }
    }

    /// Adds the preview of a run, if there is one.
    pub(crate) fn image_of(self, run: Option<&RunEntry>, settings: &SiteSettings) -> PageFrame<'a> {
        let path = run.map(|run| format!("run/{}/preview.png", slug(&run.id)));
        match path {
            Some(path) => self.image(&path, settings),
            None => self,
        }
    }

    /// Adds a picture of its own, if the address of the site is known.
    pub(crate) fn picture(
        self,
        card: &Card<'_>,
        settings: &SiteSettings,
        pictures: &mut Vec<Picture>,
    ) -> PageFrame<'a> {
        if settings.url.is_none() {
            return self;
        }
        let path = self.address.path();
        let picture = Picture::of(path.trim_end_matches("index.html"), card);
        let frame = self.image(&picture.name, settings);
        pictures.push(picture);
        frame
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
    pub(crate) kind: &'a str,
    pub(crate) title: &'a str,
    pub(crate) lead: &'a str,
    /// The large sentence below the title; empty for none.
    pub(crate) answer: &'a str,
    /// Reasons to distrust that sentence.
    pub(crate) cautions: &'a [String],
    /// Escaped HTML before the sections.
    pub(crate) before: &'a str,
    pub(crate) sections: Vec<SectionView<'a>>,
    /// Escaped HTML after them.
    pub(crate) after: &'a str,
}

pub(super) fn around(frame: &PageFrame<'_>, links: String) -> Result<Around, SiteError> {
    let Assets { page, site, .. } = frame.assets;
    Ok(Around {
        head: Meta { frame }.render()?,
        bar: LinkBar { frame }.render()?,
        links,
        scripts: [page, site].map(|path| script(frame, path)).concat(),
    })
}

/// The element that loads a script.
pub(super) fn script(frame: &PageFrame<'_>, path: &str) -> String {
    format!("<script src=\"{}{path}\" defer></script>\n", frame.root)
}

/// The page of this address around escaped HTML.
pub(super) fn file(frame: &PageFrame<'_>, main: &str) -> Result<File, SiteError> {
    let text = Whole { frame, main }.render()?;
    Ok(File { name: frame.address.path(), bytes: text.into_bytes() })
}

/// Sections in which names link to their pages, if there are any.
pub(super) fn linked<'a>(
    sections: &'a [Section],
    link: impl Fn(&str, &str) -> Option<String>,
) -> Vec<SectionView<'a>> {
    let view = |(place, section)| SectionView::whole(section, place == 0).linked(&link);
    sections.iter().enumerate().map(view).collect()
}
