//! TCP ports of this machine: finds a free one, and the process that listens on one. It knows nothing of services.

use super::procfs::Process;
use super::sockets::{self, SocketPlace, SocketTable, held, holders};
use super::unix;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fmt;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr as InternetAddress, TcpListener};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Mutex, PoisonError};
use tare_base::Endpoint;

/// The process that listens on a port.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PortOwner {
    /// Absent if the process belongs to another user.
    pub process: Option<Process>,
}

impl fmt::Display for PortOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.process {
            Some(process) => write!(f, "{process}"),
            None => f.write_str("a process of another user"),
        }
    }
}

/// A port on which no process listens and that this process has not returned before, until all are used.
///
/// If possible it is below the range of ephemeral ports. Otherwise a connection of the generator could occupy
/// it before the service binds.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    const LOWEST: u16 = 10_000;
    let outgoing = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let below =
        outgoing.split_ascii_whitespace().next().and_then(|low| low.parse().ok()).unwrap_or(32_768_u16);
    let room = below.saturating_sub(LOWEST).max(1);
    // A hash of the PID makes two Tares with adjacent PIDs start far apart.
    let start = ((std::process::id().wrapping_mul(0x9E37_79B9) >> 16) % u32::from(room)) as u16;
    for _ in 0..room {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = LOWEST + start.wrapping_add(step) % room;
        if can_listen(port) && is_reserved(port) {
            return port;
        }
    }
    let any = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    any.map_or(0, |address| address.port())
}

/// Reserves a port among all processes of Tare: until a service listens, another Tare would find the port
/// free. False if another has it. The kernel frees the name, of an abstract socket, when its process ends.
fn is_reserved(port: u16) -> bool {
    /// Newer reservations replace the oldest: by then that service listens, or has been given up.
    const KEPT: usize = 16;
    static RESERVED: Mutex<VecDeque<UnixDatagram>> = Mutex::new(VecDeque::new());
    let bound = SocketAddr::from_abstract_name(format!("tare-port-{port}"))
        .and_then(|name| UnixDatagram::bind_addr(&name));
    match bound {
        Ok(name) => {
            let mut reserved = RESERVED.lock().unwrap_or_else(PoisonError::into_inner);
            reserved.truncate(KEPT - 1);
            reserved.push_front(name);
            true
        }
        // If a name cannot be had, such as for lack of descriptors, the port is used without a reservation.
        Err(error) => error.kind() != io::ErrorKind::AddrInUse,
    }
}

/// The process that listens on this port of 127.0.0.1, if any.
///
/// A bind is tried first, as it is fast: if it succeeds, the port is free. Otherwise a closed connection may
/// hold it, so the kernel's table decides; reading it takes 50 ms with much memory.
pub fn port_in_use(port: u16) -> Option<PortOwner> {
    if can_listen(port) {
        return None;
    }
    let Some(inodes) = sockets_on(port, true) else { return Some(PortOwner { process: None }) };
    let process = || holders(&inodes).into_iter().find_map(Process::of);
    (!inodes.is_empty()).then(|| PortOwner { process: process() })
}

/// The visible processes that listen on this port of any address, or at this path.
#[must_use]
pub fn listeners(endpoint: &Endpoint) -> Vec<u32> {
    holders(&match endpoint {
        Endpoint::Tcp(address) => sockets_on(address.port(), false).unwrap_or_default(),
        Endpoint::Unix(path) => unix::sockets_at(path),
    })
}

/// Inodes of the sockets that listen on the port, on an address that a connection to 127.0.0.1 reaches or on
/// any address. Absent if the kernel does not show them.
pub(super) fn sockets_on(port: u16, is_of_loopback: bool) -> Option<Vec<String>> {
    let of_table = |table: &String| match is_of_loopback {
        true => listener_inodes(table, port),
        false => inodes_on(table, port, |_| true),
    };
    Some(tables()?.iter().flat_map(of_table).collect())
}

/// The process that listens on this port, if it is not in `own`. `None` inside if it is invisible, such as
/// another user's. Absent if `own` holds the socket or hides its files.
pub(super) fn other_listener(port: u16, own: &[u32]) -> Option<PortOwner> {
    let inodes = sockets_on(port, true)?;
    for pid in own {
        let held = held(*pid).ok()?;
        if inodes.iter().any(|inode| held.contains(inode)) {
            return None;
        }
    }
    Some(PortOwner { process: holders(&inodes).into_iter().find_map(Process::of) })
}

/// Reads this thread's tables: /proc/self shows the main thread's network namespace, which may differ.
fn tables() -> Option<Vec<String>> {
    let table = |name| fs::read_to_string(format!("/proc/thread-self/net/{name}"));
    Some([table("tcp").ok()?].into_iter().chain(table("tcp6")).collect())
}

fn can_listen(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// Inodes of the sockets that listen on the port and that a connection to 127.0.0.1 reaches.
fn listener_inodes(table: &str, port: u16) -> Vec<String> {
    let asked = InternetAddress::from((Ipv4Addr::LOCALHOST, port));
    inodes_on(table, port, |own| sockets::reaches(own, asked))
}

/// Inodes of the sockets that listen on the port of the accepted addresses.
fn inodes_on(table: &str, port: u16, is_reached: impl Fn(InternetAddress) -> bool) -> Vec<String> {
    let is_here = |place: &SocketPlace| match place {
        SocketPlace::Tcp(address) => address.port() == port && is_reached(*address),
        SocketPlace::Udp(_) | SocketPlace::Unix(_) => false,
    };
    let here = SocketTable::Tcp.listening(table).into_iter().filter(|listening| is_here(&listening.place));
    here.map(|listening| listening.inode).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_free_port_is_free_and_not_handed_out_twice() {
        let (one, two) = (free_port(), free_port());
        assert_ne!(one, two);
        assert_eq!(port_in_use(one), None);
    }

    #[test]
    fn a_port_that_another_process_has_reserved_is_not_handed_out() {
        let port = free_port();
        assert!(!is_reserved(port), "its name is taken");
        assert!((0..40).all(|_| free_port() != port));
        assert!(is_reserved(port), "in the meantime others were handed out");
    }

    #[test]
    fn a_listener_is_found_with_its_process_on_every_address_that_reaches_it() {
        for address in ["127.0.0.1", "0.0.0.0"] {
            let listener = TcpListener::bind((address, 0)).unwrap();
            let owner = port_in_use(listener.local_addr().unwrap().port()).unwrap();
            assert_eq!(owner.process.unwrap().pid, std::process::id());
            assert!(listeners(&listener.local_addr().unwrap().into()).contains(&std::process::id()));
        }
    }

    /// The listener is like that of a container engine beside the started command.
    #[test]
    fn a_listener_of_another_process_is_told_from_ones_own() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut command = std::process::Command::new("sleep");
        let mut child = command.arg("60").spawn().unwrap();
        let own = std::process::id();
        assert_eq!(other_listener(port, &[child.id(), own]), None, "one of them is enough");
        let found = other_listener(port, &[child.id()]).unwrap();
        assert_eq!(found.process.map(|process| process.pid), Some(own));
        drop(listener);
        // Some services have no listening process, such as behind the kernel's address translation.
        assert_eq!(other_listener(port, &[child.id()]), Some(PortOwner { process: None }));
        child.kill().unwrap();
        assert_eq!(
            other_listener(port, &[child.wait().map(|_| child.id()).unwrap()]),
            None,
            "not to be known"
        );
    }

    #[test]
    fn a_port_that_was_used_and_closed_is_free_at_once() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let client = std::net::TcpStream::connect(address).unwrap();
        drop(listener.accept().unwrap());
        drop(listener);
        assert_eq!(port_in_use(address.port()), None);
        drop(client);
    }

    #[test]
    fn a_listener_on_another_address_does_not_count() {
        let table = "  sl  local_address rem_address   st\n\
            0: 0200000A:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 111 1\n\
            1: 0100007F:1F91 00000000:0000 01 00000000:00000000 00:00000000 00000000 0 0 222 1\n\
            2: 0100007F:1F92 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 333 1\n";
        assert_eq!(listener_inodes(table, 8080), [] as [&str; 0]);
        assert_eq!(listener_inodes(table, 8081), [] as [&str; 0]);
        assert_eq!(listener_inodes(table, 8082), ["333"]);
    }

    /// One row of `/proc/net/tcp` or `tcp6`.
    fn row(address: &str, port: u16, state: &str, inode: u32) -> String {
        format!("   0: {address}:{port:04X} 00:0000 {state} 0:0 0:0 0 0 0 {inode} 1\n")
    }

    #[test]
    fn every_address_that_reaches_the_loopback_counts() {
        for address in ["0100007F", "00000000", &"0".repeat(32), "0000000000000000FFFF00000100007F"] {
            let table = format!("  sl\n{}{}", row("0200000A", 80, "0A", 1), row(address, 80, "0A", 2));
            assert_eq!(listener_inodes(&table, 80), ["2"], "{address}");
        }
        // A connection to 127.0.0.1 does not reach ::1.
        let other = format!("  sl\n{}", row("00000000000000000000000001000000", 80, "0A", 2));
        assert_eq!(listener_inodes(&other, 80), [] as [&str; 0]);
    }

    #[test]
    fn an_owner_that_is_not_visible_is_described() {
        let process = Some(Process { pid: 7, command: "a \"b\"".to_owned() });
        assert_eq!(PortOwner { process }.to_string(), "process 7 (\"a \\\"b\\\"\")");
        assert_eq!(PortOwner { process: None }.to_string(), "a process of another user");
    }

    proptest! {
        #[test]
        fn a_listener_is_found_among_others(port in 1_u16.., others in proptest::collection::vec(1_u16.., 0..9)) {
            let others: Vec<u16> = others.into_iter().filter(|other| *other != port).collect();
            let rows: String = others.iter().map(|other| row("00000000", *other, "0A", 1)).collect();
            let connected = row("0100007F", port, "01", 2);
            let without = format!("  sl\n{rows}{connected}");
            prop_assert!(listener_inodes(&without, port).is_empty());
            let table = format!("  sl\n{connected}{rows}{}", row("0100007F", port, "0A", 3));
            prop_assert_eq!(listener_inodes(&table, port), ["3"]);
        }

        #[test]
        fn no_table_is_too_much(table in "(sl|[0-9A-F]{4,8}|:| |0A|\n){0,60}") {
            let _any = listener_inodes(&table, 80);
        }
    }
}
