//! The page of a run, which lies in its folder from its end on.

use std::{
    panic::catch_unwind,
    path::{Path, PathBuf},
};

use anyhow::anyhow;
use tare_report::{gather::gather, write::html};

use crate::output;

/// Its name in the run folder.
pub const NAME: &str = "report.html";

/// Writes the page of a run into its folder.
pub fn write(run: &Path) -> anyhow::Result<PathBuf> {
    let path = run.join(NAME);
    output::write_file(&path, html::html(&gather(run)?)?.as_bytes())?;
    Ok(path)
}

/// The same at the end of a run, which is kept already: that there is no page must not look as if there were no run.
pub fn keep(run: &Path, say: impl FnOnce(&str)) {
    let written = catch_unwind(|| write(run)).unwrap_or_else(|_| Err(anyhow!("a mistake in the program")));
    if let Err(error) = written {
        let (words, run) = (output::paint("33", "no page:"), run.display());
        say(&format!("{words} {error:#}; the run is kept, and `tare report {run}` tries again"));
    }
}

/// Where a run is kept, and how to see it again.
pub fn tell_kept(run: &Path) {
    let page = run.join(NAME);
    if page.exists() {
        eprintln!("the page is {}", page.display());
    }
    eprintln!("stored in {}; `tare show {0}` prints it again", run.display());
}
