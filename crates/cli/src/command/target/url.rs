//! URLs in the form of wrk, hey and curl. The module resolves nothing.

use std::{
    fmt,
    net::{IpAddr, Ipv6Addr, SocketAddr},
    path::Path,
};

use anyhow::{Context, bail, ensure};
use http::Uri;
use tare_base::document;

/// The limit exists because each URL is requested twice before the load.
const URLS_MAX: usize = 10_000;

/// Whether the URL uses TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    Http,
    Https,
}

impl Scheme {
    fn name(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }

    fn port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }
}

/// The server and the target of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Url {
    pub scheme: Scheme,
    /// The name or address, without brackets.
    pub host: String,
    pub port: u16,
    /// Host and port as the user wrote them: the value of `Host`.
    pub authority: String,
    pub path: String,
}

impl Url {
    /// The URL without the path.
    pub(crate) fn origin(&self) -> String {
        format!("{}://{}", self.scheme.name(), self.authority)
    }

    /// Replaces the host by this address.
    pub(crate) fn move_to(&mut self, address: IpAddr) {
        self.host = address.to_string();
        self.authority = SocketAddr::new(address, self.port).to_string();
    }

    /// Whether both URLs have the same server.
    pub(crate) fn is_beside(&self, other: &Url) -> bool {
        let is_same = self.scheme == other.scheme && self.port == other.port;
        is_same && self.host.eq_ignore_ascii_case(&other.host)
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin(), self.path)
    }
}

/// Reads a file of URLs, one per line; empty lines and lines that begin with `#` are ignored.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<Url>> {
    let name = path.display();
    let text = document::read(path)?;
    let lines = (1..).zip(text.lines().map(str::trim));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let read = |(number, line): (usize, &str)| parse(line).with_context(|| format!("{name}:{number}"));
    let urls = lines.map(read).collect::<anyhow::Result<Vec<Url>>>()?;
    ensure!(!urls.is_empty(), "{name} has no URL: write one per line");
    ensure!(urls.len() <= URLS_MAX, "{name} has {} URLs: give at most {URLS_MAX}", urls.len());
    Ok(urls)
}

/// Parses `http://HOST[:PORT][/PATH][?QUERY]`, or `https`; like curl also without a scheme.
pub(crate) fn parse(text: &str) -> anyhow::Result<Url> {
    ensure!(
        !["unix:", "http+unix:"].iter().any(|begin| text.starts_with(begin)),
        "a Unix socket is named by --unix PATH, and its URL gives Host and path: --unix PATH http://localhost/"
    );
    let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let is_whole = |uri: &Uri| text.is_ascii() && uri.host().is_some_and(|host| !host.is_empty());
    let uri = whole.parse::<Uri>().ok().filter(is_whole).with_context(|| {
        format!(
            "\"{}\" is not a URL: give one such as http://127.0.0.1:8080/ or http://[::1]:8080/, with what is neither a \
             letter nor a digit percent-encoded",
            text.escape_debug()
        )
    })?;
    let scheme = match uri.scheme_str() {
        Some("http") => Scheme::Http,
        Some("https") => Scheme::Https,
        scheme => bail!("the scheme \"{}\" is neither http nor https", scheme.unwrap_or_default()),
    };
    let authority = uri.authority().context("the URL names no host")?;
    ensure!(
        !authority.as_str().contains('@'),
        "user and password are not taken from the URL: send them by -H \"Authorization: Basic ...\""
    );
    let host = authority.host();
    let port = match authority.as_str()[host.len()..].strip_prefix(':') {
        None => scheme.port(),
        Some(port) => {
            let number = port.parse().ok().filter(|number| *number > 0);
            number.with_context(|| format!("\"{port}\" is not a port: give one from 1 to 65535"))?
        }
    };
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    if let Some(address) = bare {
        ensure!(address.parse::<Ipv6Addr>().is_ok(), "\"{address}\" is not an IPv6 address such as [::1]");
    }
    Ok(Url {
        scheme,
        host: bare.unwrap_or(host).to_owned(),
        port,
        authority: authority.to_string(),
        path: uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string),
    })
}
