//! Interfaces of the calling thread's network namespace, made and configured by ioctl. It knows nothing of their traffic.

use std::{
    fs, io,
    net::Ipv4Addr,
    os::fd::{AsRawFd, OwnedFd},
};

use libc::{c_char, c_int, c_short, c_ulong};
use rustix::{
    fs::{Mode, OFlags},
    net::{AddressFamily, SocketFlags, SocketType, socket_with},
};

use super::error::{LinkError, TUN_DEVICE};

/// The interface in each namespace.
pub(super) const NAME: &str = "link0";
/// Flags of a permanent entry in the neighbour table (`ATF_PERM | ATF_COM`).
const KNOWN: c_int = 0x04 | 0x02;

#[derive(Debug)]
pub(super) struct Interface {
    name: &'static str,
    socket: OwnedFd,
}

/// Makes a TUN interface. Its file yields the packets that leave, and packets written to it arrive. They are
/// bare IP packets, without segmentation offload. Closing the file removes the interface.
pub(super) fn tun(name: &'static str) -> Result<OwnedFd, LinkError> {
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let tun =
        rustix::fs::open(TUN_DEVICE, flags, Mode::empty()).map_err(|error| LinkError::Tun(error.into()))?;
    let mut request = request_for(name);
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as c_short;
    ioctl(&tun, libc::TUNSETIFF as c_ulong, &mut request).map_err(LinkError::Tun)?;
    Ok(tun)
}

impl Interface {
    /// The interface with this name. The first call reports whether it exists.
    pub(super) fn of(name: &'static str) -> Result<Interface, LinkError> {
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, flags, None);
        let socket =
            socket.map_err(|error| LinkError::Interface { name, step: "found", source: error.into() })?;
        Ok(Interface { name, socket })
    }

    pub(super) fn up(&self) -> Result<(), LinkError> {
        let mut request = request_for(self.name);
        self.ask("read", libc::SIOCGIFFLAGS, &mut request)?;
        // SAFETY: the kernel has just filled in this member of the union.
        let flags = unsafe { request.ifr_ifru.ifru_flags };
        request.ifr_ifru.ifru_flags = flags | (libc::IFF_UP | libc::IFF_RUNNING) as c_short;
        self.ask("switched on", libc::SIOCSIFFLAGS, &mut request)
    }

    /// Sets the address and the network mask.
    pub(super) fn address(&self, address: Ipv4Addr, mask: Ipv4Addr) -> Result<(), LinkError> {
        for (what, value) in [(libc::SIOCSIFADDR, address), (libc::SIOCSIFNETMASK, mask)] {
            let mut request = request_for(self.name);
            request.ifr_ifru.ifru_addr = socket_address(value);
            self.ask("given an address", what, &mut request)?;
        }
        Ok(())
    }

    /// Sets the maximum packet size.
    pub(super) fn mtu(&self, bytes: usize) -> Result<(), LinkError> {
        let mut request = request_for(self.name);
        request.ifr_ifru.ifru_mtu = bytes as c_int;
        self.ask("given its MTU", libc::SIOCSIFMTU, &mut request)
    }

    /// Routes packets for `host` over `gateway`.
    pub(super) fn route(&self, host: Ipv4Addr, gateway: Ipv4Addr) -> Result<(), LinkError> {
        // SAFETY: a plain structure of integers and pointers, for which zeros are valid.
        let mut route: libc::rtentry = unsafe { std::mem::zeroed() };
        route.rt_dst = socket_address(host);
        route.rt_genmask = socket_address(Ipv4Addr::BROADCAST);
        route.rt_gateway = socket_address(gateway);
        route.rt_flags = libc::RTF_UP | libc::RTF_HOST | libc::RTF_GATEWAY;
        ioctl(&self.socket, libc::SIOCADDRT, &mut route).map_err(|source| self.error("routed to", source))
    }

    /// Sets the Ethernet address of a neighbour, so that no ARP request is needed.
    pub(super) fn neighbour(&self, address: Ipv4Addr, hardware: [u8; 6]) -> Result<(), LinkError> {
        // SAFETY: as above.
        let mut entry: libc::arpreq = unsafe { std::mem::zeroed() };
        entry.arp_pa = socket_address(address);
        entry.arp_ha.sa_family = libc::ARPHRD_ETHER;
        for (to, from) in entry.arp_ha.sa_data.iter_mut().zip(hardware) {
            *to = from as c_char;
        }
        entry.arp_flags = KNOWN;
        copy_name(&mut entry.arp_dev, self.name);
        ioctl(&self.socket, libc::SIOCSARP, &mut entry)
            .map_err(|source| self.error("given its neighbour", source))
    }

    fn ask(&self, step: &'static str, what: c_ulong, request: &mut libc::ifreq) -> Result<(), LinkError> {
        ioctl(&self.socket, what, request).map_err(|source| self.error(step, source))
    }

    fn error(&self, step: &'static str, source: io::Error) -> LinkError {
        LinkError::Interface { name: self.name, step, source }
    }
}

/// Writes a setting of the calling thread's network namespace, such as `ipv4/tcp_no_metrics_save`.
pub(super) fn set(setting: &str, value: &str) -> Result<(), LinkError> {
    let path = format!("/proc/sys/net/{setting}");
    fs::write(&path, value).map_err(|source| LinkError::Setting { path, source })
}

/// Number of outgoing packets that this interface dropped because the reader of its file was too slow.
pub(super) fn unsent(name: &'static str) -> Result<u64, LinkError> {
    let failed = |source| LinkError::Interface { name, step: "read", source };
    // Not /proc/self, which shows the namespace of the main thread.
    let table = fs::read_to_string("/proc/thread-self/net/dev").map_err(failed)?;
    unsent_in(&table, name).ok_or_else(|| failed(io::ErrorKind::InvalidData.into()))
}

fn unsent_in(table: &str, name: &str) -> Option<u64> {
    let columns = table.lines().find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix(':'))?;
    // Eight columns for receiving, then bytes, packets, errors and drops of sending.
    columns.split_ascii_whitespace().nth(11)?.parse().ok()
}

fn request_for(name: &str) -> libc::ifreq {
    // SAFETY: integers, bytes and a pointer that these requests do not use, for which zeros are valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    copy_name(&mut request.ifr_name, name);
    request
}

/// Copies a name; the last byte stays 0.
fn copy_name(to: &mut [c_char; libc::IFNAMSIZ], name: &str) {
    for (to, from) in to[..libc::IFNAMSIZ - 1].iter_mut().zip(name.bytes()) {
        *to = from as c_char;
    }
}

fn socket_address(address: Ipv4Addr) -> libc::sockaddr {
    let mut data = [0; 14];
    for (to, from) in data[2..6].iter_mut().zip(address.octets()) {
        *to = from as c_char;
    }
    libc::sockaddr { sa_family: libc::AF_INET as u16, sa_data: data }
}

/// `argument` must have the type that the request `what` takes. Every request used here reads or fills one
/// structure and keeps no pointer to it.
fn ioctl<T>(file: &OwnedFd, what: c_ulong, argument: &mut T) -> io::Result<()> {
    // SAFETY: the descriptor is open, and the pointer is valid for reads and writes of the structure of this request.
    match unsafe { libc::ioctl(file.as_raw_fd(), what as libc::Ioctl, std::ptr::from_mut(argument)) } {
        0.. => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn packets_that_were_not_read_in_time_are_counted() {
        let table = "Inter-| Receive | Transmit\n face |bytes ...\n    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n\
            link0:  1    2 3 4 5 6 7 8 9 10 11 77 13 14 15 16\n";
        assert_eq!(unsent_in(table, "link0"), Some(77));
        assert_eq!(unsent_in(table, "link"), None);
        assert_eq!(unsent_in("", "lo"), None);
    }

    proptest! {
        #[test]
        fn the_drops_of_an_interface_are_its_own(
            name in "[a-z]{1,6}[0-9]{0,2}", counters in proptest::collection::vec(any::<u32>(), 16), gap in " {0,5}",
        ) {
            let columns: Vec<String> = counters.iter().map(ToString::to_string).collect();
            let other = format!("  x{name}: {}\n", "7 ".repeat(16));
            let table = format!("Inter-|\n face |bytes\n{other}{gap}{name}:{gap}{}\n", columns.join(" "));
            prop_assert_eq!(unsent_in(&table, &name), Some(u64::from(counters[11])));
        }

        #[test]
        fn no_table_is_too_much(table in "(lo:| |[0-9]{1,21}|é|\n){0,40}") {
            let _any = unsent_in(&table, "lo");
        }
    }

    #[test]
    fn a_long_name_is_cut_and_still_ends() {
        let request = request_for(&"x".repeat(40));
        assert_eq!(request.ifr_name[libc::IFNAMSIZ - 1], 0);
        assert!(request.ifr_name[..libc::IFNAMSIZ - 1].iter().all(|byte| *byte == b'x' as c_char));
    }

    #[test]
    fn an_address_is_in_network_order_behind_its_port() {
        let address = socket_address(Ipv4Addr::new(10, 1, 2, 3));
        assert_eq!(i32::from(address.sa_family), libc::AF_INET);
        assert_eq!(address.sa_data[..7], [0, 0, 10, 1, 2, 3, 0]);
    }

    #[test]
    fn a_setting_that_does_not_exist_is_named() {
        let error = set("ipv4/no_such_setting", "1").unwrap_err().to_string();
        assert!(error.starts_with("\"/proc/sys/net/ipv4/no_such_setting\" cannot be set ("), "{error}");
    }
}
