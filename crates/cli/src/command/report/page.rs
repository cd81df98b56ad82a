//! What a run folder keeps of its report from the end of the run on: the document as a page, as Markdown and as JSON.

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

/// The document of a run that has ended, written into its folder. The run itself is there already: that there is no page must
/// not look as if there were no run.
pub(crate) fn keep(run: &Path, say: impl FnOnce(&str)) -> anyhow::Result<Document> {
    // What was kept before the rest of a run was measured is of another run.
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

/// Where its page is, if it has one: on a terminal as a link that opens it.
pub(crate) fn tell_page(run: &Path) {
    let page = run.join(NAME);
    if page.exists() {
        output::tell_link("the page is ", &page);
    }
}

/// Where a run is kept, and how to see it again.
pub(crate) fn tell_kept(run: &Path) {
    tell_page(run);
    tare_host::tell!("stored in {}; `tare show {0}` prints it again", run.display());
}
