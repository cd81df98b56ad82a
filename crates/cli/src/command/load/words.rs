//! Composite option values: think times, lists of CPUs and of addresses.

use std::{fmt::Display, net::IpAddr, time::Duration};

use anyhow::{Context, bail, ensure};
use tare_base::units;
use tare_load::{
    Waiting,
    schedule::{RateProfile, Think},
};

pub(super) use super::super::words::duration;

/// More sources than any kernel has ports for.
const SOURCES_MAX: usize = 65_536;
/// The highest CPU number of the kernel.
const CPU_MAX: usize = 4_095;

/// Parses how the generator waits: `always` polls, `60us` polls that long before a due instant, `0` never
/// polls.
pub(super) fn waiting(text: &str) -> anyhow::Result<Waiting> {
    Ok(match text {
        "always" => Waiting::Poll,
        "0" => Waiting::Sleep,
        _ => Waiting::PollBefore(duration(text)?),
    })
}

/// A count above zero: `64`, `10k`.
pub(super) fn count(text: &str) -> anyhow::Result<u64> {
    let count = units::parse_count(text)?;
    ensure!(count > 0, "0 is too few: give 1 or more");
    Ok(count)
}

/// Parses a number of streams. In hey, `-m` is the method.
pub(super) fn streams(text: &str) -> anyhow::Result<u64> {
    ensure!(
        !text.starts_with(|first: char| first.is_ascii_uppercase()),
        "-m is the number of streams of HTTP/2 here, as in h2load; the method is -X {text}"
    );
    count(text)
}

/// The rate of an open loop, and the duration in its text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rate {
    pub profile: RateProfile,
    /// The duration of the ramp or of all steps; `None` if the last step has none.
    pub lasts: Option<Duration>,
}

/// Parses `20k`, `1k..20k/30s` or `1k:10s,5k:10s`.
pub(super) fn rate(text: &str) -> anyhow::Result<Rate> {
    let profile = text.parse::<RateProfile>()?;
    // The profile has no end; its text was already parsed without an error.
    let duration = |text: &str| units::parse_duration(text).ok();
    let lasts = match text.split_once("..") {
        Some((_, ramp)) => ramp.rsplit_once('/').and_then(|(_, over)| duration(over)),
        None => text.split(',').map(|step| duration(step.split_once(':')?.1)).sum(),
    };
    Ok(Rate { profile, lasts })
}

/// Parses `100ms`, or `50ms..150ms` for a uniform range.
pub(super) fn think(text: &str) -> anyhow::Result<Think> {
    let ns = |text: &str| -> anyhow::Result<u64> {
        Ok(u64::try_from(units::parse_duration(text)?.as_nanos()).unwrap_or(u64::MAX))
    };
    match text.split_once("..") {
        None => match ns(text)? {
            0 => Ok(Think::None),
            fixed_ns => Ok(Think::Fixed(fixed_ns)),
        },
        Some((min, max)) => {
            let (min_ns, max_ns) = (ns(min)?, ns(max)?);
            ensure!(min_ns <= max_ns, "{min} is longer than {max}: put the shorter time first");
            Ok(Think::Uniform { min_ns, max_ns })
        }
    }
}

/// Parses CPU numbers: `0,2-3`.
pub(super) fn cpus(text: &str) -> anyhow::Result<Vec<usize>> {
    let number = |text: &str| {
        let number = text.trim().parse::<usize>().ok().filter(|cpu| *cpu <= CPU_MAX);
        number.with_context(|| format!("\"{text}\" is not the number of a CPU: give a list such as 0,2-3"))
    };
    list(text, |part| {
        let (first, last) = ends(part, number)?;
        ensure!(first <= last, "the range {part} goes down: put the smaller number first");
        Ok((first..=last).collect())
    })
}

/// Parses addresses: `127.0.0.2-127.0.0.9,127.0.1.1`.
pub(super) fn sources(text: &str) -> anyhow::Result<Vec<IpAddr>> {
    let address = |text: &str| {
        text.trim().parse::<IpAddr>().ok().with_context(|| {
            format!(
                "\"{text}\" is not an IP address: give one, a list or a range such as 127.0.0.2-127.0.0.9"
            )
        })
    };
    list(text, |part| {
        let (first, last): (u128, u128) = match ends(part, address)? {
            (IpAddr::V4(first), IpAddr::V4(last)) => (first.to_bits().into(), last.to_bits().into()),
            (IpAddr::V6(first), IpAddr::V6(last)) => (first.to_bits(), last.to_bits()),
            _ => bail!("the range {part} mixes IPv4 and IPv6: both ends must be of one kind"),
        };
        ensure!(first <= last, "the range {part} goes down: put the smaller address first");
        ensure!(
            last - first < SOURCES_MAX as u128,
            "the range {part} has more than {SOURCES_MAX} addresses: give a shorter one"
        );
        let is_v4 = !part.contains(':');
        let address =
            |bits: u128| if is_v4 { IpAddr::V4((bits as u32).into()) } else { IpAddr::V6(bits.into()) };
        Ok((first..=last).map(address).collect())
    })
}

/// Splits at commas; each part may be a range, and all items are distinct.
fn list<T: PartialEq + Display>(
    text: &str,
    range: impl Fn(&str) -> anyhow::Result<Vec<T>>,
) -> anyhow::Result<Vec<T>> {
    let mut items = Vec::new();
    for part in text.split(',') {
        for item in range(part)? {
            ensure!(!items.contains(&item), "{item} is given twice: give each once");
            items.push(item);
        }
    }
    Ok(items)
}

fn ends<T>(part: &str, read: impl Fn(&str) -> anyhow::Result<T>) -> anyhow::Result<(T, T)> {
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    Ok((read(first)?, read(last)?))
}
