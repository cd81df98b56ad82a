//! The target and the source of connections. The module opens nothing.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::io::Errno;
use rustix::net::{SocketAddrAny, SocketAddrUnix};

/// The address that a server listens on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// An address and a TCP port.
    Tcp(SocketAddr),
    /// The path of a Unix stream socket, or `@` and the name of an abstract one. A file whose name begins
    /// with `@` is `./@name`.
    Unix(PathBuf),
}

impl Endpoint {
    /// The address for connecting a socket.
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

/// A target, and the local addresses that its connections use in turn.
#[derive(Debug, Clone)]
pub struct Route {
    /// The target.
    pub target: Endpoint,
    /// The source addresses; if empty, the kernel chooses. An address has about 28,000 ports for one target;
    /// more concurrent connections need more addresses.
    pub sources: Vec<IpAddr>,
    /// The network namespace of the target; `None` is the namespace of the calling thread. The generator's
    /// threads enter it before they open a socket.
    pub namespace: Option<Arc<OwnedFd>>,
}

impl Route {
    pub fn source(&self, slot: usize) -> Option<IpAddr> {
        let count = self.sources.len();
        (count > 0).then(|| self.sources[slot % count])
    }
}

impl<T: Into<Endpoint>> From<T> for Route {
    fn from(target: T) -> Self {
        Route { target: target.into(), sources: Vec::new(), namespace: None }
    }
}
