//! What the environment variables `PORT`, `SERVE_ON`, `THREADS` and `DELAY_MS` say.

use std::env;
use std::fmt::Display;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

pub struct Settings {
    pub port: u16,
    pub serve_on: Ipv4Addr,
    pub threads: usize,
    pub delay: Duration,
}

impl Settings {
    pub fn from_env() -> Result<Self, String> {
        Ok(Self {
            port: integer("PORT", 1..=65535, None)?,
            serve_on: serve_on()?,
            threads: integer("THREADS", 1..=1024, Some(1))?,
            delay: Duration::from_millis(integer("DELAY_MS", 0..=60000, Some(0))?),
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
