//! What the environment variables say. Database, products and upstream bring routes: there are none of them without their
//! variable.

use std::env;
use std::fmt::Display;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use ntex::http::Uri;
use rustls::ServerConfig;

use crate::products::{self, Products};
use crate::tls;

pub struct Settings {
    pub port: u16,
    pub serve_on: Ipv4Addr,
    pub threads: usize,
    pub delay: Duration,
    pub protocol: Protocol,
    pub database: Option<tokio_postgres::Config>,
    pub database_connections: usize,
    pub products: Option<Products>,
    pub upstream: Option<String>,
}

/// What the port speaks.
pub enum Protocol {
    Http1,
    /// HTTP/1.1 or HTTP/2 over TLS, whichever ALPN chooses.
    Tls(ServerConfig),
}

impl Settings {
    pub fn from_env() -> Result<Self, String> {
        Ok(Self {
            port: integer("PORT", 1..=65535, None)?,
            serve_on: serve_on()?,
            threads: integer("THREADS", 1..=1024, Some(1))?,
            delay: Duration::from_millis(integer("DELAY_MS", 0..=60000, Some(0))?),
            protocol: protocol()?,
            database: optional("DATABASE_URL", database)?,
            database_connections: integer("DATABASE_MAX_CONN", 1..=10000, Some(8))?,
            products: optional("DATA_PRODUCTS", products::read)?,
            upstream: optional("UPSTREAM_URL", upstream)?,
        })
    }
}

fn integer<T>(name: &str, range: RangeInclusive<T>, default: Option<T>) -> Result<T, String>
where
    T: Display + FromStr + PartialOrd,
{
    let value = match env::var_os(name) {
        None => default,
        Some(text) => text.to_str().and_then(|text| text.parse().ok()).filter(|value| range.contains(value)),
    };
    value.ok_or_else(|| format!("{name} must be an integer from {} to {}", range.start(), range.end()))
}

/// Where it listens: on 127.0.0.1, unless `SERVE_ON` names another address.
fn serve_on() -> Result<Ipv4Addr, String> {
    let Some(text) = env::var_os("SERVE_ON").filter(|text| !text.is_empty()) else {
        return Ok(Ipv4Addr::LOCALHOST);
    };
    let address = text.to_str().and_then(|text| text.parse().ok());
    address.ok_or_else(|| format!("SERVE_ON must be an IPv4 address, such as 0.0.0.0, not {text:?}"))
}

fn optional<T, E>(name: &str, parse: impl FnOnce(&str) -> Result<T, E>) -> Result<Option<T>, String>
where
    E: Display,
{
    let Some(text) = env::var_os(name) else {
        return Ok(None);
    };
    let text = text.to_str().ok_or_else(|| format!("{name} is not UTF-8"))?;
    parse(text).map(Some).map_err(|error| format!("{name} cannot be used: {error}"))
}

fn database(url: &str) -> Result<tokio_postgres::Config, String> {
    if !url.starts_with("postgres://") {
        return Err("it is no postgres:// URL".to_owned());
    }
    url.parse().map_err(|error: tokio_postgres::Error| error.to_string())
}

/// Without a slash at the end.
fn upstream(url: &str) -> Result<String, String> {
    let parsed: Uri = url.parse().map_err(|_| "it is no URL")?;
    if parsed.scheme_str() != Some("http") || parsed.host().is_none() {
        return Err("it is no http:// URL".to_owned());
    }
    Ok(url.trim_end_matches('/').to_owned())
}

fn protocol() -> Result<Protocol, String> {
    let files = match (env::var_os("TLS_CERT"), env::var_os("TLS_KEY")) {
        (None, None) => None,
        (Some(certificate), Some(key)) => Some((certificate, key)),
        _ => return Err("TLS_CERT and TLS_KEY must be set together".to_owned()),
    };
    let word = env::var_os("PROTOCOL").unwrap_or("http/1.1".into());
    match (word.to_str(), files) {
        (Some("http/1.1"), None) => Ok(Protocol::Http1),
        (Some("http/1.1" | "h2"), Some(files)) => tls::config(files).map(Protocol::Tls),
        (Some("h2"), None) => Err("PROTOCOL h2 needs TLS_CERT and TLS_KEY".to_owned()),
        _ => Err("PROTOCOL must be http/1.1 or h2: ntex serves HTTP/2 over TLS only".to_owned()),
    }
}
