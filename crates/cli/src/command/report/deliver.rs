//! The destination of a report: stdout, a file written atomically, or a folder of files.

use std::path::Path;

use anyhow::{bail, ensure};
use tare_report::write::File;

use crate::output;

pub(super) enum Content {
    File(Vec<u8>),
    Files(Vec<File>),
}

impl Content {
    /// Writes the content to a file or folder, and prints its path. Without a path, or for `-`, writes to
    /// stdout.
    pub(super) fn deliver(self, to: Option<&Path>) -> anyhow::Result<()> {
        match (self, to.filter(|path| *path != Path::new("-"))) {
            (Content::File(bytes), None) => output::print_bytes(&bytes),
            (Content::File(bytes), Some(path)) => {
                ensure!(!path.is_dir(), "{}: is a folder; --out names a file here", path.display());
                output::write_file(path, &bytes)?;
                tare_host::message!("written to {}", path.display());
                Ok(())
            }
            (Content::Files(_), None) => {
                bail!("--out -: this form is several files; name a folder, or one table by --section")
            }
            (Content::Files(files), Some(folder)) => write_all(folder, &files),
        }
    }
}

fn write_all(folder: &Path, files: &[File]) -> anyhow::Result<()> {
    ensure!(!files.is_empty(), "nothing to write to {}: the report has no table", folder.display());
    let named: Vec<(&str, &[u8])> = files.iter().map(|file| (file.name.as_str(), &file.bytes[..])).collect();
    output::write_files(folder, &named)?;
    let names: Vec<&str> = named.iter().map(|(name, _)| *name).collect();
    tare_host::message!("written to {}: {}", folder.display(), names.join(", "));
    Ok(())
}
