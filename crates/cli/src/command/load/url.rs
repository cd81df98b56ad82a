//! URLs as wrk, hey and curl take them, as far as HTTP/1.1 without TLS needs them. It resolves nothing.

use std::fmt;

use anyhow::{Context, bail, ensure};

const PORT_DEFAULT: u16 = 80;

/// Where a request goes, and what it asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// The name or address, without brackets.
    pub host: String,
    /// The TCP port.
    pub port: u16,
    /// Host and port as the user wrote them: the value of `Host`.
    pub authority: String,
    /// Path and query.
    pub path: String,
}

impl Url {
    /// Whether both are on one server.
    pub fn is_beside(&self, other: &Url) -> bool {
        self.host.eq_ignore_ascii_case(&other.host) && self.port == other.port
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}{}", self.authority, self.path)
    }
}

/// Reads `http://HOST[:PORT][/PATH][?QUERY]`; like curl without the scheme too.
pub fn parse(text: &str) -> anyhow::Result<Url> {
    let rest = match text.split_once("://") {
        Some((scheme, rest)) => {
            check_scheme(scheme)?;
            rest
        }
        None => text,
    };
    let rest = rest.split('#').next().unwrap_or_default();
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    ensure!(
        !authority.contains('@'),
        "user and password do not go into the URL here: send them by -H \"Authorization: Basic ...\""
    );
    let (host, port) = split_port(authority)?;
    ensure!(!host.is_empty(), "\"{text}\" names no host: give a URL such as http://127.0.0.1:8080/");
    let is_host_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte);
    ensure!(
        host.bytes().all(is_host_byte),
        "\"{host}\" is not the name of a host: give a URL such as http://127.0.0.1:8080/"
    );
    let path = match path {
        path if path.starts_with('/') => path.to_owned(),
        query => format!("/{query}"),
    };
    if let Some(wrong) = path.chars().find(|character| !character.is_ascii_graphic()) {
        bail!("the path has the character {wrong:?}: write it percent-encoded, such as %20 for a space");
    }
    Ok(Url { host: host.to_owned(), port, authority: authority.to_owned(), path })
}

fn check_scheme(scheme: &str) -> anyhow::Result<()> {
    if scheme.eq_ignore_ascii_case("https") {
        bail!("https is not spoken here: name the server's port for plain http");
    }
    ensure!(scheme.eq_ignore_ascii_case("http"), "the scheme \"{scheme}\" is not http");
    Ok(())
}

fn split_port(authority: &str) -> anyhow::Result<(&str, u16)> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']').context("the address after \"[\" has no \"]\"")?;
            ensure!(
                host.parse::<std::net::Ipv6Addr>().is_ok(),
                "\"{host}\" is not an IPv6 address: in brackets stands one such as [::1]"
            );
            (host, port)
        }
        None => {
            let (host, port) = authority.split_at(authority.find(':').unwrap_or(authority.len()));
            ensure!(
                !port[port.len().min(1)..].contains(':'),
                "\"{authority}\" has several colons: put an IPv6 address in brackets, such as http://[::1]:8080/"
            );
            (host, port)
        }
    };
    let port = match port {
        "" => PORT_DEFAULT,
        port => {
            let number = port.strip_prefix(':').and_then(|port| port.parse().ok()).filter(|port| *port > 0);
            number.with_context(|| format!("\"{port}\" is not a port: give one from 1 to 65535"))?
        }
    };
    Ok((host, port))
}
