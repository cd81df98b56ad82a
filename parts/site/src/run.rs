//! The files of one run.

use std::collections::BTreeMap;

use super::{
    RunEntry, SiteError, SiteRow, SiteSettings,
    address::{Address, slug},
    data,
    frame::{self, PageFrame},
    main_table, preview, source,
};
use tare_report::{
    Document,
    write::{File, csv, html, json},
};

pub(super) fn files(
    entry: &RunEntry,
    document: &Document,
    settings: &SiteSettings,
) -> Result<Vec<File>, SiteError> {
    let address = Address::Run(&entry.id);
    let title = format!("{}, {}", entry.title, entry.day());
    let picture = format!("run/{}/preview.png", slug(&entry.id));
    let frame = PageFrame::new(address, &title, &entry.answer, settings).image(&picture, settings);
    let experiment = frame.to(Address::Experiment(&entry.experiment));
    let links = format!(
        "<a href=\"{experiment}\">over time</a> {} <a href=\"{}#yourself\">measure it yourself</a>",
        source::code_link(entry, source::tree(entry, settings).as_deref()),
        frame.to(Address::Method),
    );
    let mut around = frame::around(&frame, links)?;
    if html::has_flame(document) {
        around.scripts.insert_str(0, &frame::script(&frame, &frame.assets.flame));
    }
    around.scripts.insert_str(0, &services(entry, &frame));
    let page = html::of_site(document, &around)?;
    let mut files = vec![
        File { name: address.path(), bytes: page.into_bytes() },
        File { name: data::path(&entry.id, "json"), bytes: json::json(document).into_bytes() },
        File { name: picture, bytes: preview::draw(entry)? },
    ];
    if let Some(table) = main_table(document).filter(|_| !entry.rows.is_empty()) {
        files.push(File { name: data::path(&entry.id, "csv"), bytes: csv::of_table(table) });
    }
    Ok(files)
}

/// The addresses of its services' pages, for the service panel of the page's script.
fn services(entry: &RunEntry, frame: &PageFrame<'_>) -> String {
    let link = |row: &SiteRow| (row.service.clone(), frame.to(Address::Service(&row.service)));
    let links: BTreeMap<String, String> = entry.rows.iter().map(link).collect();
    let json = html::embeddable(&links);
    format!("<script type=\"application/json\" id=\"site-services\">{json}</script>\n")
}
