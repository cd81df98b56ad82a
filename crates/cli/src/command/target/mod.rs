//! Finds the server of a load. Other machines need a permission: a load generator can be a weapon.

pub(crate) mod socket;
pub(crate) mod spoken;
#[cfg(test)]
mod tests;
pub(crate) mod unanswered;
pub(crate) mod url;

use std::{
    io::ErrorKind,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket},
    path::Path,
    time::Duration,
};

use anyhow::{Context, anyhow, bail, ensure};
use tare_base::Endpoint;
use tare_service::client::{AskError, Channel, ClientConnection, Deadline};

use unanswered::Asker;
use url::Url;

/// Every endpoint that a URL may mean, in the order of the resolver: the first one that accepts is used.
///
/// The name is resolved once, so that the checked server is the loaded one.
pub(crate) fn endpoints(
    url: &Url,
    unix: Option<&Path>,
    may_load: Option<&str>,
) -> anyhow::Result<Vec<Endpoint>> {
    if let Some(path) = unix {
        return Ok(vec![socket::endpoint(path)?]);
    }
    if let Some(named) = may_load {
        ensure!(
            named.eq_ignore_ascii_case(&url.host),
            "--i-may-load names \"{named}\", but the URL's host is \"{}\": both must be the same",
            url.host
        );
    }
    let addresses = resolve(url)?;
    if may_load.is_none()
        && let Some(foreign) = addresses.iter().find(|address| !is_here(address.ip()))
    {
        let means =
            if foreign.ip().to_string() == url.host { String::new() } else { format!(" ({})", foreign.ip()) };
        bail!(
            "{}{means} is not this machine: load only what is yours; if you may, use --i-may-load {0}",
            url.host
        );
    }
    Ok(addresses.into_iter().map(Endpoint::Tcp).collect())
}

fn resolve(url: &Url) -> anyhow::Result<Vec<SocketAddr>> {
    if let Ok(address) = url.host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, url.port)]);
    }
    let found = (url.host.as_str(), url.port).to_socket_addrs();
    let addresses: Vec<SocketAddr> =
        found.with_context(|| format!("the host \"{}\" cannot be resolved", url.host))?.collect();
    ensure!(!addresses.is_empty(), "the host \"{}\" has no address", url.host);
    Ok(addresses)
}

/// Fails unless the address belongs to this machine: services listen nowhere else.
pub(crate) fn ensure_served_here(serve_on: Ipv4Addr) -> anyhow::Result<()> {
    let is_one = !serve_on.is_unspecified() && is_here(IpAddr::V4(serve_on));
    ensure!(is_one, "--serve-on {serve_on} is not an address of this machine");
    Ok(())
}

/// Whether an address is one of this machine.
///
/// A connection to an own address has the same address at both ends. So the source address of a connected
/// datagram socket decides, and connecting it sends nothing. `bind` is no test: the kernel may be set to
/// allow any address.
pub(crate) fn is_here(address: IpAddr) -> bool {
    let address = address.to_canonical();
    if address.is_loopback() || address.is_unspecified() {
        return true;
    }
    let any: IpAddr = match address {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let local = || {
        let socket = UdpSocket::bind((any, 0))?;
        socket.connect((address, 9))?;
        socket.local_addr()
    };
    local().is_ok_and(|local| local.ip() == address)
}

/// Checks that connections can use these source addresses.
pub(crate) fn check_sources(sources: &[IpAddr], endpoints: &[Endpoint]) -> anyhow::Result<()> {
    for source in sources {
        ensure!(is_here(*source), "the source {source} is not an address of this machine");
        for endpoint in endpoints {
            if let Endpoint::Tcp(target) = endpoint {
                ensure!(
                    source.is_ipv4() == target.is_ipv4(),
                    "the source {source} and the target {target} are of different kinds: give both as IPv4 or as IPv6"
                );
            }
        }
    }
    Ok(())
}

/// Checks that a TLS handshake succeeds, if the protocol uses TLS. Later errors would be less precise.
pub(crate) fn ensure_secured(
    url: &str,
    endpoint: &Endpoint,
    channel: &Channel,
    timeout: Duration,
) -> anyhow::Result<()> {
    if !channel.protocol.is_tls() {
        return Ok(());
    }
    let opened = ClientConnection::open_in(endpoint, channel, Deadline::after(timeout));
    opened.map(drop).map_err(|error| anyhow!(Asker::Other.reason(url, endpoint, channel, &error)))
}

/// The first endpoint that accepts a connection.
pub(crate) fn reachable(endpoints: &[Endpoint], timeout: Duration) -> anyhow::Result<Endpoint> {
    let mut first = None;
    for endpoint in endpoints {
        match ClientConnection::open(endpoint, Deadline::after(timeout)) {
            Ok(_) => return Ok(endpoint.clone()),
            Err(error) => {
                first.get_or_insert((endpoint, error));
            }
        }
    }
    let (endpoint, error) = first.context("no endpoint")?;
    if let (Endpoint::Unix(path), AskError::Io(error)) = (endpoint, &error)
        && let Some(reason) = socket::refusal(path, error)
    {
        bail!("no connection to {endpoint}: {reason}");
    }
    match error {
        AskError::Io(refused)
            if matches!(refused.kind(), ErrorKind::ConnectionRefused | ErrorKind::NotFound) =>
        {
            bail!("nothing listens on {endpoint}: start the server first")
        }
        AskError::TooLate { .. } => {
            bail!("{endpoint} accepts no connection within {timeout:?}: is it the right address?")
        }
        error => bail!("no connection to {endpoint}: {error}"),
    }
}
