//! The output of every command that ends with a run: its document, and the exit status of its verdict.

use std::path::Path;

use anyhow::Context;
use tare_report::{
    Document, kept,
    write::{json, markdown, text},
};

use crate::{
    exit::Outcome,
    output::{self, Format, print},
};

/// How much of a document is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The answer, the main tables, and what is needed to interpret them.
    Brief,
    Whole,
}

/// Prints a document to stdout. JSON is always complete.
pub(crate) fn document(document: &Document, format: Format, extent: Extent) -> anyhow::Result<Outcome> {
    let look = output::look();
    print(&match (format, extent) {
        (Format::Text, Extent::Brief) => text::brief(document, look) + &text::closing(document, look),
        (Format::Text, Extent::Whole) => text::whole(document, look) + &text::closing(document, look),
        (Format::Markdown, Extent::Brief) => markdown::brief(document),
        (Format::Markdown, Extent::Whole) => markdown::markdown(document),
        (Format::Json, _) => json::json(document),
    })?;
    Ok(document.verdict().into())
}

/// Reports whether the recomputed document has the figures of the one that was stored at the end of the run.
pub(crate) fn compared_with_kept(run: &Path, document: &Document) -> anyhow::Result<Outcome> {
    let path = run.join(kept::NAME);
    let difference = kept::difference(run, document).with_context(|| run.display().to_string())?;
    let Some(what) = difference else {
        tare_host::message!("recomputed: the same as {}, to the last digit", path.display());
        return Ok(Outcome::Fine);
    };
    tare_host::message!("recomputed: not the same as {}: {what}", path.display());
    Ok(Outcome::MeasurementInvalid)
}
