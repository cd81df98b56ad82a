//! Words of the command line that are more than a number: think times, shares, lists of CPUs and of addresses.
//! It reads text and looks at nothing else.

use std::{net::IpAddr, time::Duration};

use anyhow::{Context, bail, ensure};
use tare_load::schedule::{Profile, Think, parse};

/// More sources than any kernel has ports for.
const SOURCES_MAX: usize = 65_536;
/// What the kernel can count.
const CPU_MAX: usize = 4_095;

/// A duration above zero: `500ms`, `2s`, `1m`, `10`.
pub fn duration(text: &str) -> anyhow::Result<Duration> {
    let duration = parse::parse_duration(text)?;
    ensure!(!duration.is_zero(), "it lasts no time: give a duration above 0");
    Ok(duration)
}

/// A count above zero: `64`, `10k`.
pub fn count(text: &str) -> anyhow::Result<u64> {
    let count = parse::parse_count(text)?;
    ensure!(count > 0, "0 is too few: give 1 or more");
    Ok(count)
}

/// The rate of an open loop, and how long its text says that it lasts.
#[derive(Debug, Clone, PartialEq)]
pub struct Rate {
    /// The rate over time.
    pub profile: Profile,
    /// The time of the ramp or of all steps; absent if the last one has none.
    pub lasts: Option<Duration>,
}

/// `20k`, `1k..20k/30s` or `1k:10s,5k:10s`.
pub fn rate(text: &str) -> anyhow::Result<Rate> {
    let profile = text.parse::<Profile>()?;
    // The profile itself goes on for ever; the text was read without a mistake.
    let duration = |text: &str| parse::parse_duration(text).ok();
    let lasts = match text.split_once('/') {
        Some((_, over)) => duration(over),
        None => text.split(',').map(|step| duration(step.split_once(':')?.1)).sum(),
    };
    Ok(Rate { profile, lasts })
}

/// `100ms`, or `50ms..150ms` for any time between.
pub fn think(text: &str) -> anyhow::Result<Think> {
    let ns = |text: &str| -> anyhow::Result<u64> {
        Ok(u64::try_from(parse::parse_duration(text)?.as_nanos()).unwrap_or(u64::MAX))
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

/// `0.1%` or `0.001`, as a part of 1.
pub fn share(text: &str) -> anyhow::Result<f64> {
    let (number, scale) = match text.strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (text, 1.0),
    };
    let share = number.trim().parse::<f64>().ok().map(|number| number / scale);
    let share = share.filter(|share| (0.0..=1.0).contains(share));
    share.with_context(|| format!("\"{text}\" is not a share: give one from 0% to 100%, such as 0.1%"))
}

/// `0,2-3`: CPUs by their numbers, each once.
pub fn cpus(text: &str) -> anyhow::Result<Vec<usize>> {
    let number = |text: &str| {
        let number = text.trim().parse::<usize>().ok().filter(|cpu| *cpu <= CPU_MAX);
        number.with_context(|| format!("\"{text}\" is not the number of a CPU: give a list such as 0,2-3"))
    };
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (first, last) = match part.split_once('-') {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(part)?, number(part)?),
        };
        ensure!(first <= last, "the range {part} goes down: put the smaller number first");
        for cpu in first..=last {
            ensure!(!cpus.contains(&cpu), "CPU {cpu} stands twice: name each once");
            cpus.push(cpu);
        }
    }
    Ok(cpus)
}

/// `127.0.0.2-127.0.0.9,127.0.1.1`: addresses, each once.
pub fn sources(text: &str) -> anyhow::Result<Vec<IpAddr>> {
    let mut sources = Vec::new();
    for part in text.split(',') {
        let range = match part.split_once('-') {
            Some((first, last)) => range(address(first)?, address(last)?, part)?,
            None => vec![address(part)?],
        };
        for source in range {
            ensure!(!sources.contains(&source), "the source {source} stands twice: name each once");
            sources.push(source);
        }
    }
    Ok(sources)
}

fn address(text: &str) -> anyhow::Result<IpAddr> {
    let read = text.trim().parse();
    read.ok().with_context(|| {
        format!("\"{text}\" is not an IP address: give one, a list or a range such as 127.0.0.2-127.0.0.9")
    })
}

fn range(first: IpAddr, last: IpAddr, part: &str) -> anyhow::Result<Vec<IpAddr>> {
    let (first, last): (u128, u128) = match (first, last) {
        (IpAddr::V4(first), IpAddr::V4(last)) => (first.to_bits().into(), last.to_bits().into()),
        (IpAddr::V6(first), IpAddr::V6(last)) => (first.to_bits(), last.to_bits()),
        _ => bail!("the range {part} mixes IPv4 and IPv6: both ends must be of one kind"),
    };
    let is_v4 = !part.contains(':');
    ensure!(first <= last, "the range {part} goes down: put the smaller address first");
    ensure!(
        last - first < SOURCES_MAX as u128,
        "the range {part} has more than {SOURCES_MAX} addresses: give a shorter one"
    );
    let address = |bits: u128| match is_v4 {
        true => IpAddr::V4((bits as u32).into()),
        false => IpAddr::V6(bits.into()),
    };
    Ok((first..=last).map(address).collect())
}
