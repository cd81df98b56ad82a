//! Where a form goes: stdout, a file that is there whole or not at all, a folder of files.

use std::path::Path;

use anyhow::{bail, ensure};
use tare_report::write::File;

use crate::output;

/// What a form consists of.
pub(super) enum Content {
    File(Vec<u8>),
    Files(Vec<File>),
}

impl Content {
    /// Writes it to a file or into a folder, and says where it is; without a path, or to `-`, it is printed.
    pub(super) fn deliver(self, to: Option<&Path>) -> anyhow::Result<()> {
        match (self, to.filter(|path| *path != Path::new("-"))) {
            (Content::File(bytes), None) => output::print_bytes(&bytes),
            (Content::File(bytes), Some(path)) => {
                ensure!(!path.is_dir(), "{}: is a folder; --out names a file here", path.display());
                output::write_file(path, &bytes)?;
                tare_host::tell!("written to {}", path.display());
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
    tare_host::tell!("written to {}: {}", folder.display(), names.join(", "));
    Ok(())
}
