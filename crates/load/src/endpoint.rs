//! Where a connection goes, and where it comes from. It opens nothing.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::io::Errno;
use rustix::net::{SocketAddrAny, SocketAddrUnix};

/// What a server listens on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// An address and a TCP port.
    Tcp(SocketAddr),
    /// The path of a Unix stream socket, or `@` and the name of an abstract one: a file whose name begins so is `./@name`.
    Unix(PathBuf),
}

impl Endpoint {
    /// What a socket is connected to.
    ///
    /// # Errors
    /// The path of a Unix socket is longer than the kernel takes.
    pub fn address(&self) -> Result<SocketAddrAny, Errno> {
        let path = match self {
            Endpoint::Tcp(address) => return Ok((*address).into()),
            Endpoint::Unix(path) => path,
        };
        let unix = match path.as_os_str().as_bytes() {
            [b'@', name @ ..] => SocketAddrUnix::new_abstract_name(name),
            _ => SocketAddrUnix::new(path.as_path()),
        };
        Ok(unix?.into())
    }
}

impl From<SocketAddr> for Endpoint {
    fn from(address: SocketAddr) -> Self {
        Endpoint::Tcp(address)
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Endpoint::Tcp(address) => address.fmt(f),
            Endpoint::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// A target, and the local addresses that its connections take turns with.
#[derive(Debug, Clone)]
pub struct Route {
    /// Whereto.
    pub target: Endpoint,
    /// Wherefrom; empty leaves the choice to the kernel. An address has some 28,000 ports for one target, and more
    /// connections than that at a time take more addresses.
    pub sources: Vec<IpAddr>,
    /// The network namespace in which the target is reached; none is that of whoever makes the generator. Its threads enter
    /// it before they make a socket.
    pub namespace: Option<Arc<OwnedFd>>,
}

impl Route {
    /// The source of the connection in a slot.
    pub(crate) fn source(&self, slot: usize) -> Option<IpAddr> {
        let count = self.sources.len();
        (count > 0).then(|| self.sources[slot % count])
    }
}

impl<T: Into<Endpoint>> From<T> for Route {
    fn from(target: T) -> Self {
        Route { target: target.into(), sources: Vec::new(), namespace: None }
    }
}
