//! Reads the time at which a server sent an event, from the data of the event. It allocates nothing.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

/// The Unix time in ns in `data`: a number, or the member of a JSON object.
pub(crate) fn sent_at_ns(data: &[u8], member: Option<&str>) -> Option<u64> {
    let Some(member) = member else {
        return ns_of(std::str::from_utf8(data).ok()?.trim());
    };
    let mut deserializer = serde_json::Deserializer::from_slice(data);
    TimeMember(member).deserialize(&mut deserializer).ok().flatten()
}

/// The time in a text such as `1732980000.25`, whose magnitude says its unit: s, ms, us or ns.
fn ns_of(text: &str) -> Option<u64> {
    match text.parse::<u64>() {
        Ok(whole) => whole.checked_mul(unit_ns(whole)),
        Err(_) => fraction_ns(text.parse::<f64>().ok()?),
    }
}

/// The time in a number with a fraction. The whole part is scaled alone, since a Unix time in ns has more digits
/// than such a number can hold.
fn fraction_ns(value: f64) -> Option<u64> {
    let whole = (value >= 0.0 && value < u64::MAX as f64).then_some(value.trunc() as u64)?;
    let unit_ns = unit_ns(whole);
    Some(whole.checked_mul(unit_ns)? + (value.fract() * unit_ns as f64) as u64)
}

/// The unit of a Unix time between the years 1973 and 5138.
fn unit_ns(value: u64) -> u64 {
    match value {
        0..100_000_000_000 => 1_000_000_000,
        100_000_000_000..100_000_000_000_000 => 1_000_000,
        100_000_000_000_000..100_000_000_000_000_000 => 1_000,
        _ => 1,
    }
}

/// Finds one member of an object.
struct TimeMember<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for TimeMember<'_> {
    type Value = Option<u64>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<u64>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for TimeMember<'_> {
    type Value = Option<u64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<u64>, A::Error> {
        let mut found = None;
        while let Some(Key(key)) = map.next_key()? {
            if key == self.0 {
                let Time(time) = map.next_value()?;
                found = time;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

/// A time as a number or as a text.
struct Time(Option<u64>);

impl<'de> serde::Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Time, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Option<u64>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a Unix time")
            }

            fn visit_u64<E>(self, whole: u64) -> Result<Option<u64>, E> {
                Ok(whole.checked_mul(unit_ns(whole)))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Option<u64>, E> {
                Ok(fraction_ns(value))
            }

            fn visit_str<E>(self, text: &str) -> Result<Option<u64>, E> {
                Ok(ns_of(text))
            }
        }
        deserializer.deserialize_any(Any).map(Time)
    }
}
