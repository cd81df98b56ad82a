//! The specification of a link. Its text form is `delay=26ms,jitter=1ms,loss=0.1%,rate=100mbit`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use tare_base::units::{SIZE_UNITS, parse_duration_with_unit, parse_size};

use tare_base::spelling::suggestion;

/// The largest IP packet on the link.
pub(crate) const MTU: usize = 1500;

/// The keys. With the prefix `up-` or `down-` a key applies to one direction.
const KEYS: [&str; 6] = ["delay", "jitter", "reorder", "loss", "rate", "queue"];
const RATE_UNITS: [(&str, u64); 4] =
    [("gbit", 1_000_000_000), ("mbit", 1_000_000), ("kbit", 1_000), ("bit", 1)];
const TIME_UNITS: [(&str, u64); 4] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];
/// Longer than over any satellite. The limit exists because travelling packets are held in memory.
const DELAY_NS_MAX: u64 = 10_000_000_000;
const RATE_BITS_MIN: u64 = 1_000;
const RATE_BITS_MAX: u64 = 100_000_000_000;
/// A smaller queue could not hold a full packet.
const QUEUE_BYTES_MIN: u64 = MTU as u64;
const QUEUE_MAX: u64 = 1 << 32;

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LinkSpec {
    /// From the client to the server.
    pub up: LinkDirection,
    /// From the server to the client.
    pub down: LinkDirection,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LinkDirection {
    /// Delay of a packet in this direction.
    pub delay_ns: u64,
    /// The delay of a packet is drawn uniformly from `delay - jitter` to `delay + jitter`.
    pub jitter_ns: u64,
    /// Whether a packet with a shorter delay may overtake an earlier packet.
    pub reorder: bool,
    /// Percentage of packets that are lost.
    pub loss_percent: f64,
    /// Bits of IP packets, headers included, per second. Absent: unlimited.
    pub rate_bits_per_s: Option<u64>,
    /// Length of the queue. Absent: [`Queue::USUAL`].
    pub queue: Option<Queue>,
}

/// Length of the queue of packets that wait for the line. A packet that finds the queue full is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queue {
    Packets(u64),
    Bytes(u64),
}

impl Queue {
    /// The default of an Ethernet device in Linux.
    pub const USUAL: Queue = Queue::Packets(1000);
}

impl LinkSpec {
    /// Round-trip time without jitter and queueing.
    pub fn rtt_ns(&self) -> u64 {
        self.up.delay_ns + self.down.delay_ns
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LinkSpecError {
    #[error("a link needs at least one of delay, jitter, loss, rate and queue, such as delay=26ms")]
    Empty,
    #[error("\"{0}\" is not a setting of a link: give a name and a value, such as delay=26ms")]
    Term(String),
    #[error("a link has no \"{name}\"{suggestion}")]
    Key { name: String, suggestion: String },
    #[error("\"{0}\" is given twice: give it once")]
    Twice(String),
    #[error("\"{0}\" is not a delay: give a time with its unit, up to 10s, such as 26ms or 500us")]
    Time(String),
    #[error("\"{0}\" is not a share of packets: give one from 0% to below 100%, such as 0.1%")]
    Share(String),
    #[error("\"{0}\" is not a rate: give one from 1kbit to 100gbit, such as 100mbit")]
    Rate(String),
    #[error("\"{0}\" is not a queue: give packets, such as 1000, or at least 1500B, such as 64KiB")]
    Queue(String),
    #[error("\"{0}\" is neither yes nor no: reorder=yes lets packets overtake each other by their jitter")]
    Reorder(String),
    #[error(
        "the jitter {jitter} {way} is longer than the delay {delay}: give a longer delay, or less jitter"
    )]
    Jitter { way: &'static str, jitter: String, delay: String },
    #[error("the queue {0} has no effect without a rate: give a rate, such as rate=100mbit")]
    QueueWithoutRate(&'static str),
    #[error("reorder=yes {0} has no effect without jitter: give one, such as jitter=1ms")]
    ReorderWithoutJitter(&'static str),
}

impl FromStr for LinkSpec {
    type Err = LinkSpecError;

    fn from_str(text: &str) -> Result<LinkSpec, LinkSpecError> {
        let mut terms = Vec::new();
        for term in text.split(',').map(str::trim).filter(|term| !term.is_empty()) {
            let (name, value) = term.split_once('=').ok_or_else(|| LinkSpecError::Term(term.to_owned()))?;
            if terms.iter().any(|(other, _)| *other == name) {
                return Err(LinkSpecError::Twice(name.to_owned()));
            }
            terms.push((name, value));
        }
        if terms.is_empty() {
            return Err(LinkSpecError::Empty);
        }
        // A setting of one direction overrides a setting of both, in any order.
        terms.sort_by_key(|(name, _)| key_of_one_way(name).is_some());
        let mut link = LinkSpec::default();
        for (name, value) in terms {
            match key_of_one_way(name) {
                Some((true, key)) => link.up.set(key, name, value)?,
                Some((false, key)) => link.down.set(key, name, value)?,
                None => {
                    link.up.set(name, name, value)?;
                    link.down.set(name, name, value)?;
                }
            }
        }
        link.up.check("up")?;
        link.down.check("down")?;
        Ok(link)
    }
}

/// The key without its prefix; true for `up-`, false for `down-`.
fn key_of_one_way(name: &str) -> Option<(bool, &str)> {
    let up = name.strip_prefix("up-").map(|key| (true, key));
    up.or_else(|| name.strip_prefix("down-").map(|key| (false, key)))
}

impl LinkDirection {
    fn set(&mut self, key: &str, name: &str, value: &str) -> Result<(), LinkSpecError> {
        match key {
            "delay" => self.delay_ns = time(value)?,
            "jitter" => self.jitter_ns = time(value)?,
            "reorder" => match value {
                "yes" => self.reorder = true,
                "no" => self.reorder = false,
                _ => return Err(LinkSpecError::Reorder(value.to_owned())),
            },
            "loss" => self.loss_percent = percent(value)?,
            "rate" => self.rate_bits_per_s = Some(rate(value)?),
            "queue" => self.queue = Some(queue(value)?),
            _ => {
                let suggestion = suggestion(key, KEYS);
                return Err(LinkSpecError::Key { name: name.to_owned(), suggestion });
            }
        }
        Ok(())
    }

    fn check(&self, way: &'static str) -> Result<(), LinkSpecError> {
        if self.jitter_ns > self.delay_ns {
            let (jitter, delay) = (print_time(self.jitter_ns), print_time(self.delay_ns));
            return Err(LinkSpecError::Jitter { way, jitter, delay });
        }
        if self.queue.is_some() && self.rate_bits_per_s.is_none() {
            return Err(LinkSpecError::QueueWithoutRate(way));
        }
        if self.reorder && self.jitter_ns == 0 {
            return Err(LinkSpecError::ReorderWithoutJitter(way));
        }
        Ok(())
    }

    /// The value of a key as text, unless it is the default.
    fn print(&self, key: &str) -> Option<String> {
        match key {
            "delay" => (self.delay_ns > 0).then(|| print_time(self.delay_ns)),
            "jitter" => (self.jitter_ns > 0).then(|| print_time(self.jitter_ns)),
            "reorder" => self.reorder.then(|| "yes".to_owned()),
            "loss" => (self.loss_percent > 0.0).then(|| format!("{}%", self.loss_percent)),
            "rate" => self.rate_bits_per_s.map(|rate| print_in(rate, &RATE_UNITS)),
            _ => self.queue.map(|queue| match queue {
                Queue::Packets(packets) => packets.to_string(),
                Queue::Bytes(bytes) => print_in(bytes, &SIZE_UNITS),
            }),
        }
    }
}

impl fmt::Display for LinkSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut terms = Vec::new();
        for key in KEYS {
            let (up, down) = (self.up.print(key), self.down.print(key));
            if up == down {
                terms.extend(up.map(|value| format!("{key}={value}")));
            } else {
                terms.extend(up.map(|value| format!("up-{key}={value}")));
                terms.extend(down.map(|value| format!("down-{key}={value}")));
            }
        }
        if terms.is_empty() {
            terms.push("delay=0ms".to_owned());
        }
        f.write_str(&terms.join(","))
    }
}

impl TryFrom<String> for LinkSpec {
    type Error = LinkSpecError;

    fn try_from(text: String) -> Result<LinkSpec, LinkSpecError> {
        text.parse()
    }
}

impl From<LinkSpec> for String {
    fn from(link: LinkSpec) -> String {
        link.to_string()
    }
}

fn time(text: &str) -> Result<u64, LinkSpecError> {
    // Elsewhere a number without a unit means seconds, far too long for a link, so a unit is required.
    let time = parse_duration_with_unit(text).ok();
    let ns = time.and_then(|time| u64::try_from(time.as_nanos()).ok()).filter(|ns| *ns <= DELAY_NS_MAX);
    ns.ok_or_else(|| LinkSpecError::Time(text.to_owned()))
}

fn percent(text: &str) -> Result<f64, LinkSpecError> {
    let number = text.strip_suffix('%').and_then(number).filter(|percent| *percent < 100.0);
    number.ok_or_else(|| LinkSpecError::Share(text.to_owned()))
}

fn rate(text: &str) -> Result<u64, LinkSpecError> {
    let bits = RATE_UNITS.into_iter().find_map(|unit| in_unit(text, unit));
    let bits = bits.filter(|bits| (RATE_BITS_MIN..=RATE_BITS_MAX).contains(bits));
    bits.ok_or_else(|| LinkSpecError::Rate(text.to_owned()))
}

fn queue(text: &str) -> Result<Queue, LinkSpecError> {
    let packets = text.parse().ok().filter(|packets| (1..=QUEUE_MAX).contains(packets)).map(Queue::Packets);
    let bytes = || {
        let bytes = parse_size(text).ok().filter(|_| !text.ends_with(|last: char| last.is_ascii_digit()));
        bytes.filter(|bytes| (QUEUE_BYTES_MIN..=QUEUE_MAX).contains(bytes)).map(Queue::Bytes)
    };
    packets.or_else(bytes).ok_or_else(|| LinkSpecError::Queue(text.to_owned()))
}

/// Reads `1.5mbit` as bits. Units are case-insensitive.
fn in_unit(text: &str, (name, factor): (&str, u64)) -> Option<u64> {
    let split = text.len().checked_sub(name.len()).filter(|split| text.is_char_boundary(*split))?;
    let (value, unit) = text.split_at(split);
    let value = number(value).filter(|_| unit.eq_ignore_ascii_case(name))? * factor as f64;
    // Above 2^53 a float cannot represent every integer.
    (value.fract() == 0.0 && value < (1_u64 << 53) as f64).then_some(value as u64)
}

/// A decimal number without sign, exponent or infinity.
fn number(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|number: &f64| plain && number.is_finite())
}

fn print_time(ns: u64) -> String {
    if ns == 0 { "0ms".to_owned() } else { print_in(ns, &TIME_UNITS) }
}

/// Prints the value in the largest unit that needs no fraction.
fn print_in(value: u64, units: &[(&str, u64)]) -> String {
    let exact = units.iter().find(|(_, factor)| value.is_multiple_of(*factor));
    exact.map_or_else(|| value.to_string(), |(name, factor)| format!("{}{name}", value / factor))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn error(text: &str) -> String {
        text.parse::<LinkSpec>().unwrap_err().to_string()
    }

    #[test]
    fn what_is_said_of_one_way_outdoes_what_is_said_of_both() {
        let link: LinkSpec =
            "up-delay=1ms, delay=26ms,jitter=500us,loss=0.1%,rate=1.5mbit,down-queue=64KiB".parse().unwrap();
        let both = LinkDirection {
            jitter_ns: 500_000,
            loss_percent: 0.1,
            rate_bits_per_s: Some(1_500_000),
            ..LinkDirection::default()
        };
        assert_eq!(link.up, LinkDirection { delay_ns: 1_000_000, ..both });
        assert_eq!(
            link.down,
            LinkDirection { delay_ns: 26_000_000, queue: Some(Queue::Bytes(65_536)), ..both }
        );
        let printed = "up-delay=1ms,down-delay=26ms,jitter=500us,loss=0.1%,rate=1500kbit,down-queue=64KiB";
        assert_eq!(link.to_string(), printed);
        assert_eq!("delay=0ms".parse::<LinkSpec>().unwrap().to_string(), "delay=0ms");
    }

    #[test]
    fn it_travels_as_text() {
        let link: LinkSpec = "delay=26ms,rate=100mbit,queue=50".parse().unwrap();
        let json = serde_json::to_string(&link).unwrap();
        assert_eq!(json, "\"delay=26ms,rate=100mbit,queue=50\"");
        assert_eq!(serde_json::from_str::<LinkSpec>(&json).unwrap(), link);
    }

    #[test]
    fn a_mistake_names_what_is_right() {
        let table = [
            ("", "a link needs at least one of delay, jitter, loss, rate and queue, such as delay=26ms"),
            ("26ms", "\"26ms\" is not a setting of a link: give a name and a value, such as delay=26ms"),
            ("dealy=26ms", "a link has no \"dealy\"; did you mean \"delay\"?"),
            ("up-lost=1%", "a link has no \"up-lost\"; did you mean \"loss\"?"),
            ("zzz=1", "a link has no \"zzz\"; valid names are: delay, jitter, reorder, loss, rate, queue"),
            ("delay=1ms,delay=2ms", "\"delay\" is given twice: give it once"),
            (
                "delay=1ms,jitter=2ms",
                "the jitter 2ms up is longer than the delay 1ms: give a longer delay, or less jitter",
            ),
            (
                "down-queue=9",
                "the queue down has no effect without a rate: give a rate, such as rate=100mbit",
            ),
        ];
        for (text, expected) in table {
            assert_eq!(error(text), expected);
        }
        for text in [
            "delay=26",
            "delay=11s",
            "delay=-1ms",
            "loss=0.1",
            "loss=100%",
            "loss=NaN%",
            "rate=100",
            "rate=0mbit",
            "rate=1e9bit",
            "queue=0",
            "queue=9B",
            "queue=1.5",
            "reorder=maybe",
            "reorder=yes",
        ] {
            assert!(text.parse::<LinkSpec>().is_err(), "{text}");
        }
    }

    fn way() -> impl Strategy<Value = LinkDirection> {
        let queue = prop_oneof![
            (1..QUEUE_MAX).prop_map(Queue::Packets),
            (QUEUE_BYTES_MIN..QUEUE_MAX).prop_map(Queue::Bytes)
        ];
        let rate = proptest::option::of((RATE_BITS_MIN..=RATE_BITS_MAX, proptest::option::of(queue)));
        (0..=DELAY_NS_MAX, 0.0..=1.0, any::<bool>(), 0.0..100.0, rate).prop_map(
            |(delay_ns, part, reorder, loss_percent, rate)| {
                let jitter_ns = (delay_ns as f64 * part) as u64;
                let (rate_bits_per_s, queue) =
                    (rate.map(|(rate, _)| rate), rate.and_then(|(_, queue)| queue));
                LinkDirection {
                    delay_ns,
                    jitter_ns,
                    reorder: reorder && jitter_ns > 0,
                    loss_percent,
                    rate_bits_per_s,
                    queue,
                }
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_again(up in way(), down in way(), alike in any::<bool>()) {
            let link = LinkSpec { up, down: if alike { up } else { down } };
            prop_assert_eq!(link.to_string().parse::<LinkSpec>(), Ok(link));
        }

        #[test]
        fn no_text_is_too_much(text in "(?s).{0,60}", value in "[0-9.%a-zA-Zµ-]{0,12}") {
            let _any = text.parse::<LinkSpec>();
            for key in KEYS {
                let _any = format!("{key}={value}").parse::<LinkSpec>();
            }
        }

        #[test]
        fn the_order_of_the_terms_does_not_matter(up in way(), down in way(), by in 0_usize..12) {
            let link = LinkSpec { up, down };
            let text = link.to_string();
            let mut terms: Vec<&str> = text.split(',').collect();
            let by = by % terms.len();
            terms.rotate_left(by);
            prop_assert_eq!(terms.join(",").parse::<LinkSpec>(), Ok(link));
            prop_assert_eq!(link.rtt_ns(), up.delay_ns + down.delay_ns);
        }
    }
}
