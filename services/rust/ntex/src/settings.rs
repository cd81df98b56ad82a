//! What the environment variables `PORT`, `THREADS` and `DELAY_MS` say.

use std::env;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

pub struct Settings {
    pub port: u16,
    pub threads: usize,
    pub delay: Duration,
}

impl Settings {
    pub fn from_env() -> Result<Self, String> {
        Ok(Self {
            port: integer("PORT", 1..=65535, None)?,
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
