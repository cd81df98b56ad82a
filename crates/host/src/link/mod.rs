//! A slow link without a second machine: two network namespaces, one for the service and one for the generator, and
//! between them a way that has delay, jitter, loss, a rate and a queue. TCP on both sides is the kernel's own, so
//! handshakes, slow start, Nagle and delayed acknowledgements are what they are on a wire. It knows nothing of HTTP, of
//! services or of loads.
//!
//! The address stays. A service listens on 127.0.0.1 and can be told no other, so 127.0.0.1 is where the client finds it:
//! loopback of the client's namespace stays down, and 127.0.0.1 is routed over the link, which
//! `route_localnet` allows on both sides. The client is [`CLIENT`].
//!
//! Packets are those of an Ethernet: at most [`MTU`] bytes with their IP header, none joined for the kernel's comfort.
//! The rate counts these bytes and no Ethernet header around them.

pub mod line;
pub mod rights;

mod interface;
mod namespace;
mod netem;
mod netlink;
mod pump;
mod spec;

use std::{fmt, io, net::Ipv4Addr, os::fd::AsFd};

use interface::Interface;
pub use namespace::Namespace;
use pump::Pump;
pub use pump::WayBooks;
pub use spec::{LinkSpec, LinkSpecError, Queue, Way};

/// The largest IP packet on the link.
pub const MTU: usize = 1500;
/// Where the server's side of the link ends.
pub const SERVER: Ipv4Addr = Ipv4Addr::new(10, 31, 0, 1);
/// Where the client's side ends: what a service sees as the address of its client.
pub const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 31, 0, 2);

/// Of four addresses: both ends, the network and its broadcast.
const MASK: Ipv4Addr = Ipv4Addr::new(255, 255, 255, 252);
/// The interface in each namespace.
const NAME: &str = "link0";
/// Packets that a device keeps while the link's thread is busy: only the queue of the link shall drop any.
const DEVICE_PACKETS: u32 = 10_000;
/// Ethernet addresses of the ends, of those that anybody may give away.
const HARDWARE: [[u8; 6]; 2] = [[2, 0, 0, 31, 0, 2], [2, 0, 0, 31, 0, 1]];

/// Why there is no link.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// No namespace.
    #[error("no network namespace can be made: {0}")]
    NewNamespace(#[source] io::Error),
    /// It is there, and cannot be entered.
    #[error("a network namespace cannot be entered: {0}")]
    Enter(#[source] io::Error),
    /// No thread.
    #[error("a thread of the link cannot be started: {0}")]
    Thread(#[source] io::Error),
    /// The thread cannot be where it should.
    #[error("the link cannot be pinned to the cpus {cpus:?}: {source}")]
    Pin {
        /// Those.
        cpus: Vec<usize>,
        /// What the kernel said.
        source: io::Error,
    },
    /// No TUN device.
    #[error("no interface can be made of {} ({_0}): {}", interface::TUN_DEVICE, tun_advice(_0))]
    Tun(#[source] io::Error),
    /// A step on the way to an interface.
    #[error("the interface \"{name}\" cannot be {step}: {source}")]
    Interface {
        /// Which.
        name: &'static str,
        /// What was tried.
        step: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// A setting of a namespace.
    #[error("\"{path}\" cannot be set ({source}): it takes a /proc/sys that can be written")]
    Setting {
        /// Which.
        path: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// The kernel has none, and no other was to be had.
    #[error("there is no netem: {0}")]
    NoNetem(String),
}

fn tun_advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "load the module, `modprobe tun`, or give the container the device",
        io::ErrorKind::PermissionDenied => {
            "let every user open it, `chmod 0666 /dev/net/tun`, or run as root"
        }
        _ => "see whether the kernel has CONFIG_TUN",
    }
}

/// What makes the link slow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// The kernel. Its delays are timers on the CPU that sent, so that a service pays for some of them.
    Netem,
    /// A thread of this process.
    UserSpace {
        /// Why it is not the kernel.
        reason: String,
        /// Why the thread waits for its turn like any other, where it does; then a busy generator makes it late.
        no_priority: Option<String>,
    },
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Netem => f.write_str("netem, the kernel's"),
            Kind::UserSpace { reason, no_priority } => {
                write!(f, "a thread between two TUN devices ({reason})")?;
                match no_priority {
                    Some(reason) => write!(f, ", without priority ({reason})"),
                    None => Ok(()),
                }
            }
        }
    }
}

/// Which kind is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The kernel's where there is one.
    Auto,
    /// The kernel's.
    Netem,
    /// A thread.
    UserSpace,
}

/// Two namespaces and the link between them. Dropping it ends the link; the namespaces go with the last that holds them.
#[derive(Debug)]
pub struct Link {
    spec: LinkSpec,
    /// Before the namespaces, so that the thread ends first.
    means: Means,
    server: Namespace,
    client: Namespace,
}

#[derive(Debug)]
enum Means {
    Netem,
    UserSpace { pump: Pump, reason: String },
}

/// What a link did so far.
#[derive(Debug, Clone)]
pub struct Books {
    /// CPU time of the link's own thread; none where the kernel does the work in everybody's time. Receiving is in it:
    /// the kernel takes a packet as far as the socket in the time of whoever brings it.
    pub cpu_ns: Option<u64>,
    /// From the client to the server.
    pub up: WayBooks,
    /// From the server to the client.
    pub down: WayBooks,
    /// Packets that the link's thread was too slow to read: more than none makes figures doubtful.
    pub unread: u64,
}

impl Link {
    /// Makes a link of the kind that this machine has, as [`Choice::Auto`] does.
    pub fn create(spec: &LinkSpec, cpus: &[usize], seed: u64) -> Result<Link, LinkError> {
        Link::create_of(Choice::Auto, spec, cpus, seed)
    }

    /// Makes a link. Its thread runs on these CPUs, which are never the server's; none are any. The seed draws losses and
    /// jitter (netem draws by itself).
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

    /// What was asked for.
    pub fn spec(&self) -> &LinkSpec {
        &self.spec
    }

    /// Where the service belongs.
    pub fn server(&self) -> &Namespace {
        &self.server
    }

    /// Where the generator belongs, and whoever asks the service anything.
    pub fn client(&self) -> &Namespace {
        &self.client
    }

    /// What makes it slow, and why that.
    pub fn kind(&self) -> Kind {
        match &self.means {
            Means::Netem => Kind::Netem,
            Means::UserSpace { pump, reason } => Kind::UserSpace {
                reason: reason.clone(),
                no_priority: pump.no_priority().map(ToString::to_string),
            },
        }
    }

    /// What it did so far.
    pub fn books(&self) -> Result<Books, LinkError> {
        match &self.means {
            Means::UserSpace { pump, .. } => {
                let unread = |namespace: &Namespace| namespace.within(|| interface::unsent(NAME));
                let unread = unread(&self.client)?? + unread(&self.server)??;
                let [up, down] = pump.books();
                Ok(Books { cpu_ns: pump.cpu_ns().ok(), up, down, unread })
            }
            Means::Netem => {
                let way = |namespace: &Namespace| -> Result<WayBooks, LinkError> {
                    // It does not tell what was lost from what found a full queue, nor when anything came out.
                    let [packets, bytes, lost] = namespace.within(netem::counted)??;
                    Ok(WayBooks { packets, bytes, lost, ..WayBooks::default() })
                };
                Ok(Books { cpu_ns: None, up: way(&self.client)?, down: way(&self.server)?, unread: 0 })
            }
        }
    }
}

/// A link of the kernel's, or why there is none.
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

/// Addresses, routes and settings of both sides, whatever the interfaces are.
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
    // 127.0.0.1 may come in from outside, and go out.
    interface::set(&format!("ipv4/conf/{NAME}/route_localnet"), "1")?;
    for scope in ["all", NAME] {
        interface::set(&format!("ipv4/conf/{scope}/rp_filter"), "0")?;
    }
    // All services have one address, and what the kernel learnt of the way while it carried one would favour the next.
    interface::set("ipv4/tcp_no_metrics_save", "1")?;
    // A kernel with IPv6 would look for routers and neighbours over the link. One without has no such setting.
    let _without = interface::set(&format!("ipv6/conf/{NAME}/disable_ipv6"), "1");
    link.address(address, MASK)?;
    link.up()?;
    Ok(link)
}

#[cfg(test)]
mod tests;
