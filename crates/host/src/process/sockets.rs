//! The kernel's tables of listening sockets (`/proc/PID/net`), parsed from text. An inode links a socket to
//! its process. It knows nothing of services.

use std::{
    fmt, fs, io,
    net::{IpAddr, SocketAddr},
};

use super::procfs;

/// Where a socket accepts connections or datagrams.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SocketPlace {
    Tcp(SocketAddr),
    Udp(SocketAddr),
    /// A path, or an abstract name after an `@`.
    Unix(String),
}

impl fmt::Display for SocketPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SocketPlace::Tcp(address) => write!(f, "{address}"),
            SocketPlace::Udp(address) => write!(f, "{address} by UDP"),
            SocketPlace::Unix(path) => write!(f, "the Unix socket {path}"),
        }
    }
}

/// A listening socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listening {
    pub place: SocketPlace,
    pub inode: String,
    /// Connections that wait to be accepted; unknown for a Unix socket.
    pub queued: u32,
}

/// The kind of table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SocketTable {
    Tcp,
    Udp,
    Unix,
}

/// The tables of one network namespace, by file name.
const TABLES: [(&str, SocketTable); 5] = [
    ("tcp", SocketTable::Tcp),
    ("tcp6", SocketTable::Tcp),
    ("udp", SocketTable::Udp),
    ("udp6", SocketTable::Udp),
    ("unix", SocketTable::Unix),
];

/// The processes that hold one of these sockets open.
pub(super) fn holders(inodes: &[String]) -> Vec<u32> {
    let holds = |pid: &u32| held(*pid).is_ok_and(|held| held.iter().any(|found| inodes.contains(found)));
    if inodes.is_empty() { Vec::new() } else { procfs::all_pids().into_iter().filter(holds).collect() }
}

/// Inodes of the sockets that a process holds open.
pub(super) fn held(pid: u32) -> io::Result<Vec<String>> {
    let inode = |file: fs::DirEntry| {
        let link = fs::read_link(file.path()).ok()?;
        Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
    };
    Ok(fs::read_dir(format!("/proc/{pid}/fd"))?.flatten().filter_map(inode).collect())
}

/// All listening sockets in the network namespace of a process, which is named as in `/proc`.
pub(super) fn in_network_of(process: &str) -> Vec<Listening> {
    let of = |(name, table): (&str, SocketTable)| {
        let text = fs::read(format!("/proc/{process}/net/{name}")).unwrap_or_default();
        table.listening(&String::from_utf8_lossy(&text))
    };
    TABLES.into_iter().flat_map(of).collect()
}

impl SocketTable {
    /// The listening sockets in the text of a table. A malformed row is left out.
    #[must_use]
    pub fn listening(self, text: &str) -> Vec<Listening> {
        /// TCP_LISTEN of the kernel.
        const LISTENS: &str = "0A";
        /// TCP_CLOSE: the state of a UDP socket that accepts datagrams from any sender.
        const TAKES_ALL: &str = "07";
        let of_row = |line: &str| match self {
            SocketTable::Tcp => of_internet(line, LISTENS, SocketPlace::Tcp),
            SocketTable::Udp => of_internet(line, TAKES_ALL, SocketPlace::Udp),
            SocketTable::Unix => of_unix(line),
        };
        // The first row has the column names.
        text.lines().skip(1).filter_map(of_row).collect()
    }
}

fn of_internet(line: &str, state: &str, place: fn(SocketAddr) -> SocketPlace) -> Option<Listening> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let (address, queues, inode) = (fields.get(1)?, fields.get(4)?, fields.get(9)?);
    if *fields.get(3)? != state {
        return None;
    }
    let (_, queued) = queues.split_once(':')?;
    let queued = u32::from_str_radix(queued, 16).ok()?;
    Some(Listening { place: place(address_of(address)?), inode: (*inode).to_owned(), queued })
}

/// An address in the kernel's notation: 32-bit words in the byte order of this machine, and the port.
fn address_of(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let word = |at: usize| Some(u32::from_str_radix(ip.get(at..at + 8)?, 16).ok()?.to_ne_bytes());
    let ip: IpAddr = match ip.len() {
        8 => word(0)?.into(),
        32 => {
            let mut octets = [0; 16];
            for (place, octets) in octets.chunks_exact_mut(4).enumerate() {
                octets.copy_from_slice(&word(place * 8)?);
            }
            octets.into()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

fn of_unix(line: &str) -> Option<Listening> {
    /// __SO_ACCEPTCON of the kernel.
    const ACCEPTS: u32 = 1 << 16;
    let (mut fields, mut path) = ([""; 7], line);
    for field in &mut fields {
        let rest = path.trim_start();
        (*field, path) = rest.split_once(' ').unwrap_or((rest, ""));
    }
    let [.., flags, _, _, inode] = fields;
    let accepts = u32::from_str_radix(flags, 16).ok()? & ACCEPTS != 0;
    let place = SocketPlace::Unix(path.to_owned());
    (accepts && !path.is_empty()).then(|| Listening { place, inode: inode.to_owned(), queued: 0 })
}

/// Whether a connection to `asked` reaches a socket at `own`, judging by the addresses. A socket on all IPv6
/// addresses usually accepts IPv4 too, but may be for IPv6 only.
pub(super) fn reaches(own: SocketAddr, asked: SocketAddr) -> bool {
    let (ip, to) = (own.ip().to_canonical(), asked.ip().to_canonical());
    let has_all = ip.is_unspecified() && (ip.is_ipv6() || to.is_ipv4());
    own.port() == asked.port() && (ip == to || has_all)
}

#[cfg(test)]
mod tests {
    use std::{
        net::{TcpListener, UdpSocket},
        os::unix::net::UnixListener,
    };

    use proptest::prelude::*;

    use super::*;

    fn places(table: SocketTable, text: &str) -> Vec<String> {
        table.listening(text).iter().map(|listening| listening.place.to_string()).collect()
    }

    #[test]
    fn rows_as_the_kernel_writes_them_are_read() {
        let tcp = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
            0: 0100007F:63B2 00000000:0000 0A 00000000:00000003 00:00000000 00000000     0        0 11941994 1 0 100 0 0 10 0\n\
            1: 0100007F:63B2 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 11941995 1 0 20 4 0 10 -1\n\
            2: 00000000000000000000000001000000:46B4 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 \
            00000000     0        0 77 1 0 100 0 0 10 0\n";
        if cfg!(target_endian = "little") {
            assert_eq!(places(SocketTable::Tcp, tcp), ["127.0.0.1:25522", "[::1]:18100"]);
        }
        let first = &SocketTable::Tcp.listening(tcp)[0];
        assert_eq!((first.queued, first.inode.as_str()), (3, "11941994"));
        let unix = "Num       RefCount Protocol Flags    Type St Inode Path\n\
            0000000026978da3: 00000003 00000000 00000000 0001 03  1571\n\
            0000000026978da4: 00000002 00000000 00010000 0001 01 12345 /run/my shop.sock\n\
            0000000026978da5: 00000002 00000000 00010000 0001 01    46 @shop\n\
            0000000026978da6: 00000003 00000000 00000000 0001 03    47 /run/connected.sock\n";
        assert_eq!(
            places(SocketTable::Unix, unix),
            ["the Unix socket /run/my shop.sock", "the Unix socket @shop"]
        );
        assert_eq!(SocketTable::Unix.listening(unix)[1].inode, "46");
    }

    #[test]
    fn what_this_process_listens_on_is_in_the_tables_of_its_network() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("own.sock");
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let _unix = UnixListener::bind(&path).unwrap();
        let expected = [
            SocketPlace::Tcp(tcp.local_addr().unwrap()),
            SocketPlace::Udp(udp.local_addr().unwrap()),
            SocketPlace::Unix(path.display().to_string()),
        ];
        let found = in_network_of("thread-self");
        for place in expected {
            assert!(found.iter().any(|listening| listening.place == place), "{place}");
        }
        let here = SocketPlace::Tcp(tcp.local_addr().unwrap());
        let _waits = std::net::TcpStream::connect(tcp.local_addr().unwrap()).unwrap();
        let queued = in_network_of("thread-self").into_iter().find(|listening| listening.place == here);
        assert_eq!(queued.unwrap().queued, 1, "it is not accepted");
    }

    #[test]
    fn a_connection_comes_to_the_same_address_or_to_all() {
        let reaches = |own: &str, asked: &str| {
            let address = |ip: &str| SocketAddr::new(ip.parse().unwrap(), 80);
            reaches(address(own), address(asked))
        };
        for own in ["127.0.0.1", "0.0.0.0", "::", "::ffff:127.0.0.1"] {
            assert!(reaches(own, "127.0.0.1"), "{own}");
        }
        for own in ["127.0.0.2", "::1", "10.0.0.2", "::ffff:10.0.0.2"] {
            assert!(!reaches(own, "127.0.0.1"), "{own}");
        }
        assert!(reaches("::", "::1") && reaches("::1", "::1") && !reaches("0.0.0.0", "::1"));
        let port = |port| SocketAddr::from(([127, 0, 0, 1], port));
        assert!(!super::reaches(port(80), port(81)));
    }

    proptest! {
        #[test]
        fn an_address_is_read_as_it_was(ip in any::<std::net::IpAddr>(), port in any::<u16>()) {
            let word = |bytes: &[u8]| format!("{:08X}", u32::from_ne_bytes(bytes.try_into().unwrap()));
            let hex: String = match ip {
                IpAddr::V4(ip) => word(&ip.octets()),
                IpAddr::V6(ip) => ip.octets().chunks_exact(4).map(word).collect(),
            };
            prop_assert_eq!(address_of(&format!("{hex}:{port:04X}")), Some(SocketAddr::new(ip, port)));
        }

        #[test]
        fn a_path_is_read_whatever_is_in_it(path in "[@/][ -~]{0,40}", inode in 1_u32..) {
            let text = format!("Num\n0000: 00000002 00000000 00010000 0001 01 {inode:5} {path}\n");
            let expected = Listening { place: SocketPlace::Unix(path), inode: inode.to_string(), queued: 0 };
            prop_assert_eq!(SocketTable::Unix.listening(&text), [expected]);
        }

        #[test]
        fn no_table_is_too_much(text in "(sl|[0-9A-Fé]{0,9}|[0-9A-F]{32}|00010000|:| |0A|07|\n|/a){0,60}") {
            for table in [SocketTable::Tcp, SocketTable::Udp, SocketTable::Unix] {
                let found = table.listening(&text);
                prop_assert!(found.len() <= text.lines().count());
            }
        }
    }
}
