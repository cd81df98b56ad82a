//! Why a service cannot be started.

use std::{io, path::PathBuf};

use crate::apart::ApartError;

use super::{missing::Missing, source_error::SourceError};

#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error("{0}")]
    Missing(Missing),
    #[error("build step \"{step}\" failed ({status}): {last_line}; all of it: {}", log.display())]
    Step { step: String, status: String, last_line: String, log: PathBuf },
    #[error("source: {0}")]
    Source(#[from] SourceError),
    #[error("it was built, and {0}")]
    Apart(#[from] ApartError),
    #[error("version command \"{command}\" {reason}")]
    Version { command: String, reason: String },
    #[error("{}: {source}", path.display())]
    Record { path: PathBuf, source: io::Error },
    #[error("builds cannot be cached in \"{}\": {source}; {}", path.display(), remedy(source))]
    Store { path: PathBuf, source: io::Error },
    #[error("\"{}\" changed while it was copied; build it again", folder.display())]
    Changed { folder: PathBuf },
    #[error("interrupted")]
    Interrupted,
}

impl BuildError {
    /// Whether this machine lacks something, and the service is not at fault.
    pub fn is_of_this_machine(&self) -> bool {
        match self {
            BuildError::Missing(_) => true,
            BuildError::Source(error) => error.is_of_this_machine(),
            _ => false,
        }
    }
}

fn remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space there, for example by `tare cache --prune`, or set TARE_HOME to another folder"
        }
        _ => "set TARE_HOME to a folder that can be written to",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_that_cannot_be_used_comes_with_its_remedy() {
        let text = |kind: io::ErrorKind| {
            BuildError::Store { path: "/cache/builds".into(), source: kind.into() }.to_string()
        };
        assert_eq!(
            text(io::ErrorKind::StorageFull),
            "builds cannot be cached in \"/cache/builds\": no storage space; free some space there, for example by \
             `tare cache --prune`, or set TARE_HOME to another folder"
        );
        assert_eq!(
            text(io::ErrorKind::ReadOnlyFilesystem),
            "builds cannot be cached in \"/cache/builds\": read-only filesystem or storage medium; set TARE_HOME to a \
             folder that can be written to"
        );
    }
}
