//! What the environment variables say. Products and folder bring routes: there are none of them without their variable.

use std::env;
use std::fmt::Display;
use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use rustls::ServerConfig;

use crate::products::{self, Products};
use crate::tls;

pub struct Settings {
    pub port: u16,
    pub serve_on: Ipv4Addr,
    pub threads: usize,
    pub delay: Duration,
    pub protocol: Protocol,
    pub products: Option<Products>,
    pub folder_static: Option<PathBuf>,
}

/// What the port speaks.
pub enum Protocol {
    Http1,
    H2c,
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
            products: optional("DATA_PRODUCTS", products::read)?,
            folder_static: optional("FOLDER_STATIC", folder)?,
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

fn folder(name: &str) -> io::Result<PathBuf> {
    fs::read_dir(name).map(|_| name.into())
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
        (Some("h2c"), None) => Ok(Protocol::H2c),
        (Some("h2c"), Some(_)) => Err("PROTOCOL h2c is without TLS_CERT and TLS_KEY".to_owned()),
        _ => Err("PROTOCOL must be http/1.1, h2 or h2c".to_owned()),
    }
}
