//! The report that is stored at the end of a run: the document as a page, as Markdown and as JSON.

use std::{fs, io::ErrorKind, path::Path};

use anyhow::Context;
use tare_report::{
    Document,
    gather::gather,
    kept,
    write::{html, json, markdown},
};

use crate::output;

/// The name of the page in the run folder.
pub(crate) const NAME: &str = "report.html";
/// The short form, for a README or a pull request.
pub(crate) const MARKDOWN: &str = "report.md";

/// Writes the document of a complete run into its folder. The run is already stored: a failure to write the
/// page must not look like the loss of the run.
pub(crate) fn keep(run: &Path, say: impl FnOnce(&str)) -> anyhow::Result<Document> {
    // A report that was stored before the run was resumed is out of date.
    match fs::remove_file(run.join(kept::NAME)) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(error).with_context(|| run.join(kept::NAME).display().to_string());
        }
        _ => {}
    }
    let document = gather(run)?;
    output::write_in(run, MARKDOWN, markdown::brief(&document).as_bytes())?;
    output::write_in(run, kept::NAME, json::json(&document).as_bytes())?;
    let page = html::html(&document).map_err(anyhow::Error::from);
    if let Err(error) = page.and_then(|page| output::write_in(run, NAME, page.as_bytes())) {
        let (words, run) = (output::paint("33", "no page:"), run.display());
        say(&format!("{words} {error:#}; the run is kept, and `tare report {run}` tries again"));
    }
    Ok(document)
}

/// Prints where the page is, if there is one; on a terminal as a link.
pub(crate) fn tell_page(run: &Path) {
    let page = run.join(NAME);
    if page.exists() {
        output::tell_link("the page is ", &page);
    }
}

/// Prints where a run is stored, and how to show it again.
pub(crate) fn tell_kept(run: &Path) {
    tell_page(run);
    tare_host::message!("stored in {}; `tare show {0}` prints it again", run.display());
}
