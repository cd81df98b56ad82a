//! Unix sockets instead of the host and port of a URL. All commands that take a URL have this option.

use std::{
    fs,
    io::{Error, ErrorKind},
    os::unix::fs::FileTypeExt,
    path::{Path, PathBuf},
};

use anyhow::{bail, ensure};
use tare_base::{Endpoint, units::several};

use super::spoken::HEADING;

/// The longest path in a socket address of the kernel.
const PATH_BYTES_MAX: usize = 108;

#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct SocketOptions {
    /// Connect to this Unix socket, which is abstract if its name begins with `@`; the URL gives Host and path. Several URLs have it
    /// in common, or each has one, in their order
    #[arg(long, value_name = "PATH", help_heading = HEADING)]
    unix: Vec<PathBuf>,
}

impl SocketOptions {
    pub(crate) fn is_given(&self) -> bool {
        !self.unix.is_empty()
    }

    /// Whether each URL has a socket of its own, so that equal URLs are different servers.
    pub(crate) fn is_of_each(&self) -> bool {
        self.unix.len() > 1
    }

    /// The socket of each URL, in their order; `urls` is their number.
    pub(crate) fn of(&self, urls: usize) -> anyhow::Result<Vec<Option<&Path>>> {
        match self.unix.as_slice() {
            [] => Ok(vec![None; urls]),
            [one] => Ok(vec![Some(one); urls]),
            each if each.len() == urls => Ok(each.iter().map(|path| Some(path.as_path())).collect()),
            each => bail!(
                "--unix: {} given for {}: give one for all, or one for each, in their order",
                each.len(),
                several(urls, "URL")
            ),
        }
    }

    /// The socket of a single server.
    pub(crate) fn of_one(&self) -> anyhow::Result<Option<&Path>> {
        Ok(self.of(1)?.into_iter().next().flatten())
    }
}

pub(super) fn endpoint(path: &Path) -> anyhow::Result<Endpoint> {
    let bytes = path.as_os_str().len();
    let endpoint = Endpoint::Unix(path.to_owned());
    ensure!(
        endpoint.address().is_ok(),
        "--unix: the path of a Unix socket has {PATH_BYTES_MAX} bytes at most, and {} has {bytes}: name it from its folder, or by a \
         link",
        path.display()
    );
    Ok(endpoint)
}

/// Why a connection at this path fails, if the reason is known.
pub(super) fn refusal(path: &Path, error: &Error) -> Option<&'static str> {
    match error.kind() {
        ErrorKind::ConnectionRefused if is_other_file(path) => Some("it is no socket"),
        ErrorKind::PermissionDenied => {
            Some("this user lacks the permission to write to it, or to enter its folder")
        }
        _ => None,
    }
}

fn is_other_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| !file.file_type().is_socket())
}
