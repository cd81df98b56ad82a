//! Where a form goes: stdout, a file that is there whole or not at all, a folder of files.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail, ensure};
use tare_report::write::File;

use crate::output;

/// What stands for stdout on a command line.
pub(super) const STDOUT: &str = "-";

/// What a form consists of.
pub(super) enum Content {
    /// One piece.
    File(Vec<u8>),
    /// A folder of files.
    Files(Vec<File>),
}

/// Where it goes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Destination {
    /// To whoever reads this program's output.
    Stdout,
    /// To a file, or into a folder.
    Path(PathBuf),
}

impl Destination {
    /// What the command line says; else `default` in the run folder, or stdout.
    pub(super) fn of(out: Option<&Path>, run: &Path, default: &str) -> Destination {
        match out {
            Some(path) if path == Path::new(STDOUT) => Destination::Stdout,
            Some(path) => Destination::Path(path.to_owned()),
            None if default == STDOUT => Destination::Stdout,
            None => Destination::Path(run.join(default)),
        }
    }
}

impl Content {
    /// Writes it there, and says where it is.
    pub(super) fn deliver(self, to: &Destination) -> anyhow::Result<()> {
        match (self, to) {
            (Content::File(bytes), Destination::Stdout) => output::print_bytes(&bytes),
            (Content::File(bytes), Destination::Path(path)) => {
                ensure!(!path.is_dir(), "{}: is a folder; --out names a file here", path.display());
                output::write_file(path, &bytes)?;
                eprintln!("written to {}", path.display());
                Ok(())
            }
            (Content::Files(_), Destination::Stdout) => {
                bail!("--out -: this form is several files; name a folder, or one table by --section")
            }
            (Content::Files(files), Destination::Path(folder)) => write_all(folder, &files),
        }
    }
}

fn write_all(folder: &Path, files: &[File]) -> anyhow::Result<()> {
    ensure!(!files.is_empty(), "nothing to write to {}: the report has no table", folder.display());
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    for file in files {
        output::write_file(&folder.join(&file.name), &file.bytes)?;
    }
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    eprintln!("written to {}: {}", folder.display(), names.join(", "));
    Ok(())
}
