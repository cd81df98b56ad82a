//! Sockets ready to connect, and what their errors mean. Both drivers start and fail in the same way.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{SocketAddrAny, SocketFlags, SocketType, bind, socket_with, sockopt};

use crate::tally::Failure;
use tare_base::{Endpoint, Route};

/// A socket for the connection in a slot, with the address to connect it to.
pub(super) fn open(
    route: &Route,
    slot: usize,
    flags: SocketFlags,
) -> Result<(OwnedFd, SocketAddrAny), Errno> {
    let address = route.target.address()?;
    let (family, flags) = (address.address_family(), flags | SocketFlags::CLOEXEC);
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    if matches!(route.target, Endpoint::Tcp(_)) {
        sockopt::set_tcp_nodelay(&socket, true)?;
        if let Some(source) = route.source(slot) {
            bind_to(&socket, source)?;
        }
    }
    Ok((socket, address))
}

/// The kernel chooses the port at connect time, when it knows the target. If it chose the port here, an
/// address could use each port only once for all targets.
fn bind_to(socket: &OwnedFd, source: IpAddr) -> Result<(), Errno> {
    let on: libc::c_int = 1;
    // SAFETY: the descriptor is open, and the option is an int with the given address and size.
    #[allow(unsafe_code)]
    let result = unsafe {
        let (level, option) = (libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT);
        libc::setsockopt(socket.as_raw_fd(), level, option, (&raw const on).cast(), size_of_val(&on) as u32)
    };
    if result != 0 {
        return Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL));
    }
    bind(socket, &SocketAddr::new(source, 0))
}

pub(super) fn connect_failure(errno: Errno) -> Failure {
    match errno {
        Errno::TIMEDOUT => Failure::ConnectTimeout,
        Errno::ADDRNOTAVAIL | Errno::ADDRINUSE | Errno::AGAIN => Failure::NoPorts,
        // The path of a Unix socket does not exist.
        Errno::NOENT => Failure::Refused,
        _ => common_failure(errno),
    }
}

pub(super) fn broken_failure(errno: Errno) -> Failure {
    match errno {
        Errno::TIMEDOUT => Failure::ResponseTimeout,
        // A write to a peer that had closed in good order.
        Errno::PIPE => Failure::ClosedBeforeResponse,
        _ => common_failure(errno),
    }
}

fn common_failure(errno: Errno) -> Failure {
    match errno {
        Errno::CONNREFUSED => Failure::Refused,
        Errno::CONNRESET | Errno::CONNABORTED | Errno::PIPE => Failure::Reset,
        Errno::MFILE | Errno::NFILE => Failure::NoDescriptors,
        _ => Failure::Other,
    }
}
