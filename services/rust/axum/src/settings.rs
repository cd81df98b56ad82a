//! What the environment variables say. Database, products, folder and upstream bring routes: there are none of them without
//! their variable.

use std::env;
use std::ffi::OsString;
use std::fmt::Display;
use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use reqwest::Url;
use sqlx::postgres::PgConnectOptions;

use crate::products::{self, Products};

pub struct Settings {
    pub port: u16,
    pub serve_on: Ipv4Addr,
    pub threads: usize,
    pub delay: Duration,
    pub protocol: Protocol,
    pub database: Option<PgConnectOptions>,
    pub database_connections: u32,
    pub products: Option<Products>,
    pub folder_static: Option<PathBuf>,
    pub upstream: Option<Url>,
}

/// What the port is asked in. axum speaks HTTP/1.1 and HTTP/2 on each of them, whichever the client chooses.
pub enum Protocol {
    Http1,
    H2c,
    Tls(Pem),
}

/// The contents of the files that `TLS_CERT` and `TLS_KEY` name.
pub struct Pem {
    pub certificate: Vec<u8>,
    pub key: Vec<u8>,
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
            folder_static: optional("FOLDER_STATIC", folder)?,
            upstream: optional("UPSTREAM_URL", http_url)?,
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

fn database(url: &str) -> Result<PgConnectOptions, String> {
    if !url.starts_with("postgres://") {
        return Err("it is no postgres:// URL".to_owned());
    }
    url.parse().map_err(|error: sqlx::Error| error.to_string())
}

fn folder(name: &str) -> io::Result<PathBuf> {
    fs::read_dir(name).map(|_| name.into())
}

fn http_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    if url.scheme() == "http" { Ok(url) } else { Err("it is no http:// URL".to_owned()) }
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
        (Some("h2c"), None) => Ok(Protocol::H2c),
        (Some("http/1.1" | "h2"), Some((certificate, key))) => {
            Ok(Protocol::Tls(Pem { certificate: read("TLS_CERT", certificate)?, key: read("TLS_KEY", key)? }))
        }
        (Some("h2"), None) => Err("PROTOCOL h2 needs TLS_CERT and TLS_KEY".to_owned()),
        (Some("h2c"), Some(_)) => Err("PROTOCOL h2c is without TLS_CERT and TLS_KEY".to_owned()),
        _ => Err("PROTOCOL must be http/1.1, h2 or h2c".to_owned()),
    }
}

fn read(name: &str, file: OsString) -> Result<Vec<u8>, String> {
    fs::read(file).map_err(|error| format!("{name} cannot be read: {error}"))
}
