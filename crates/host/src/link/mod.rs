//! A slow link without a second machine: two network namespaces, one for the service and one for the
//! generator, and a link with delay, jitter, loss, rate and queue. Both sides use the kernel's TCP, so
//! handshakes, slow start, Nagle and delayed acknowledgements are real. It knows nothing of HTTP or services.
//!
//! The service keeps the address 127.0.0.1, on which every service listens. In the client's namespace
//! loopback is down and 127.0.0.1 is routed over the link, which `route_localnet` allows on both sides. The
//! client has the address [`CLIENT`].
//!
//! Packets are those of an Ethernet: at most [`MTU`] bytes including the IP header, without segmentation offload. The rate
//! counts these bytes and no Ethernet header.

mod line;
pub mod rights;

mod error;
mod interface;
mod namespace;
mod netem;
mod netlink;
mod pump;
mod spec;

use std::{fmt, net::Ipv4Addr, os::fd::AsFd};

pub use error::LinkError;
use interface::{Interface, NAME};
pub use namespace::Namespace;
use pump::Pump;
pub use pump::WayCounters;
pub(crate) use spec::MTU;
pub use spec::{LinkDirection, LinkSpec, LinkSpecError, Queue};

/// Address of the server's end of the link.
pub const SERVER: Ipv4Addr = Ipv4Addr::new(10, 31, 0, 1);
/// Address of the client's end: services see it as the source of their connections.
pub const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 31, 0, 2);

/// A network of four addresses: both ends, the network itself and its broadcast address.
const MASK: Ipv4Addr = Ipv4Addr::new(255, 255, 255, 252);
/// Packets that a device buffers while the link's thread is busy: enough that only the queue drops any.
const DEVICE_PACKETS: u32 = 10_000;
/// Ethernet addresses of the ends (locally administered).
const HARDWARE: [[u8; 6]; 2] = [[2, 0, 0, 31, 0, 2], [2, 0, 0, 31, 0, 1]];

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkKind {
    /// The kernel's netem. Its timers run on the CPU that sent the packet, so a service pays for some of them.
    Netem,
    /// A thread of this process.
    UserSpace {
        /// Why netem is not used.
        reason: String,
        /// Why the thread has no real-time priority, if so; a busy generator then delays its packets.
        no_priority: Option<String>,
    },
}

impl fmt::Display for LinkKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkKind::Netem => f.write_str("netem of the kernel"),
            LinkKind::UserSpace { reason, no_priority } => {
                write!(f, "a thread between two TUN devices ({reason})")?;
                match no_priority {
                    Some(reason) => write!(f, ", without real-time priority ({reason})"),
                    None => Ok(()),
                }
            }
        }
    }
}

/// The kind of link that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Netem if the kernel has it, else a thread.
    Auto,
    Netem,
    /// A thread, even if the kernel has netem.
    UserSpace,
}

/// Two namespaces and the link between them, which dropping it ends. A namespace ends with its last user.
#[derive(Debug)]
pub struct Link {
    spec: LinkSpec,
    /// Declared before the namespaces, so that the thread ends first.
    means: Means,
    server: Namespace,
    client: Namespace,
}

#[derive(Debug)]
enum Means {
    Netem,
    UserSpace { pump: Pump, reason: String },
}

/// What a link has counted so far.
#[derive(Debug, Clone)]
pub struct Counters {
    /// CPU time of the link's thread. It includes receiving: the kernel delivers a packet in the context of
    /// the sending task. Absent for netem, whose work the kernel charges to other tasks.
    pub cpu_ns: Option<u64>,
    /// From the client to the server.
    pub up: WayCounters,
    /// From the server to the client.
    pub down: WayCounters,
    /// Packets that the link's thread was too slow to read. If there are any, the figures are unreliable.
    pub unread: u64,
}

impl Link {
    /// Makes a link of the kind that [`Choice::Auto`] selects.
    ///
    /// # Errors
    /// As [`Link::create_of`].
    pub fn create(spec: &LinkSpec, cpus: &[usize], seed: u64) -> Result<Link, LinkError> {
        Link::create_of(Choice::Auto, spec, cpus, seed)
    }

    /// Makes a link. Its thread runs on `cpus` (empty: any), which should not be the server's. The seed
    /// determines losses and jitter; netem uses its own.
    ///
    /// # Errors
    /// This process may not make namespaces or TUN devices, netem was chosen and is missing, or the thread cannot be
    /// started on these CPUs.
    pub fn create_of(choice: Choice, spec: &LinkSpec, cpus: &[usize], seed: u64) -> Result<Link, LinkError> {
        let reason = match choice {
            Choice::UserSpace => "as asked for".to_owned(),
            Choice::Auto | Choice::Netem => match by_netem(spec)? {
                Ok(link) => return Ok(link),
                Err(reason) if choice == Choice::Netem => return Err(LinkError::NoNetem(reason)),
                Err(reason) => reason,
            },
        };
        let [client, server] = [Namespace::new()?, Namespace::new()?];
        let devices = [client.within(|| interface::tun(NAME))??, server.within(|| interface::tun(NAME))??];
        set_up(&client, &server, false)?;
        let pump = Pump::start(spec, devices, cpus, seed)?;
        Ok(Link { spec: *spec, means: Means::UserSpace { pump, reason }, server, client })
    }

    pub fn spec(&self) -> &LinkSpec {
        &self.spec
    }

    pub fn server(&self) -> &Namespace {
        &self.server
    }

    /// The namespace of the generator, and of every other client of the service.
    pub fn client(&self) -> &Namespace {
        &self.client
    }

    /// The implementation of the link, and the reason for it.
    pub fn kind(&self) -> LinkKind {
        match &self.means {
            Means::Netem => LinkKind::Netem,
            Means::UserSpace { pump, reason } => LinkKind::UserSpace {
                reason: reason.clone(),
                no_priority: pump.no_priority().map(ToString::to_string),
            },
        }
    }

    /// The counters of the link so far.
    ///
    /// # Errors
    /// A namespace cannot be entered, or its counters cannot be read.
    pub fn counters(&self) -> Result<Counters, LinkError> {
        match &self.means {
            Means::UserSpace { pump, .. } => {
                let unread = |namespace: &Namespace| namespace.within(|| interface::unsent(NAME));
                let unread = unread(&self.client)?? + unread(&self.server)??;
                let [up, down] = pump.counters();
                Ok(Counters { cpu_ns: pump.cpu_ns().ok(), up, down, unread })
            }
            Means::Netem => {
                let way = |namespace: &Namespace| -> Result<WayCounters, LinkError> {
                    // Netem adds up losses and queue overflows, and does not report when packets came out.
                    let [packets, bytes, lost] = namespace.within(netem::counted)??;
                    Ok(WayCounters { packets, bytes, lost, ..WayCounters::default() })
                };
                Ok(Counters { cpu_ns: None, up: way(&self.client)?, down: way(&self.server)?, unread: 0 })
            }
        }
    }
}

/// A link by netem, or the reason why the kernel does not allow it.
fn by_netem(spec: &LinkSpec) -> Result<Result<Link, String>, LinkError> {
    let [client, server] = [Namespace::new()?, Namespace::new()?];
    if let Err(error) = join_by_ethernet(&client, &server) {
        return Ok(Err(error.to_string()));
    }
    Ok(netem::arm(spec, &client, &server).map(|()| Link { spec: *spec, means: Means::Netem, server, client }))
}

fn join_by_ethernet(client: &Namespace, server: &Namespace) -> Result<(), LinkError> {
    let [here, there] = HARDWARE.map(|hardware| netlink::End { name: NAME, hardware });
    let beyond = server.fd();
    client.within(|| netlink::pair(here, there, beyond.as_fd()))??;
    set_up(client, server, true)
}

/// Sets addresses, routes and settings on both sides, for both kinds of interface.
fn set_up(client: &Namespace, server: &Namespace, ethernet: bool) -> Result<(), LinkError> {
    let [client_hardware, server_hardware] = HARDWARE;
    server.within(|| {
        Interface::of("lo")?.up()?;
        let link = switch_on(SERVER)?;
        if ethernet {
            link.neighbour(CLIENT, client_hardware)?;
        }
        Ok(())
    })??;
    client.within(|| {
        let link = switch_on(CLIENT)?;
        if ethernet {
            link.neighbour(SERVER, server_hardware)?;
        }
        link.route(Ipv4Addr::LOCALHOST, SERVER)
    })?
}

fn switch_on(address: Ipv4Addr) -> Result<Interface, LinkError> {
    let link = Interface::of(NAME)?;
    link.mtu(MTU)?;
    netlink::queue(NAME, DEVICE_PACKETS)?;
    // Allows packets from and to 127.0.0.1 on this interface.
    interface::set(&format!("ipv4/conf/{NAME}/route_localnet"), "1")?;
    for scope in ["all", NAME] {
        interface::set(&format!("ipv4/conf/{scope}/rp_filter"), "0")?;
    }
    // All services share one address: TCP metrics learnt from one service would favour the next.
    interface::set("ipv4/tcp_no_metrics_save", "1")?;
    // IPv6 would send router and neighbour discovery over the link. A kernel without IPv6 does not have this setting.
    let _without = interface::set(&format!("ipv6/conf/{NAME}/disable_ipv6"), "1");
    link.address(address, MASK)?;
    link.up()?;
    Ok(link)
}

#[cfg(test)]
mod tests;
