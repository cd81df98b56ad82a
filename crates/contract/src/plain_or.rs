//! A key of a contract that accepts a plain value or a table with details.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Unexpected, Visitor};

/// `#[serde(untagged)]` would report every error only as "no variant fits".
#[derive(Debug)]
pub(super) enum PlainOr<P, T> {
    Plain(P),
    Table(T),
}

/// A type whose plain value is accepted.
pub(super) trait ByItself: Sized {
    /// The accepted forms, for the error message.
    const EXPECTED: &str;

    fn of_text(_: &str) -> Option<Self> {
        None
    }

    fn of_integer(_: i64) -> Option<Self> {
        None
    }
}

impl ByItself for String {
    const EXPECTED: &str = "a text in quotes or a table";

    fn of_text(text: &str) -> Option<String> {
        Some(text.to_owned())
    }
}

impl ByItself for u64 {
    const EXPECTED: &str = "a number from 0 up or a table";

    fn of_integer(integer: i64) -> Option<u64> {
        u64::try_from(integer).ok()
    }
}

impl<'de, P: ByItself, T: Deserialize<'de>> Deserialize<'de> for PlainOr<P, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PlainOrVisitor(PhantomData))
    }
}

struct PlainOrVisitor<P, T>(PhantomData<(P, T)>);

impl<'de, P: ByItself, T: Deserialize<'de>> Visitor<'de> for PlainOrVisitor<P, T> {
    type Value = PlainOr<P, T>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(P::EXPECTED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        let plain = P::of_text(text).map(PlainOr::Plain);
        plain.ok_or_else(|| Error::invalid_type(Unexpected::Str(text), &self))
    }

    fn visit_i64<E: Error>(self, integer: i64) -> Result<Self::Value, E> {
        let plain = P::of_integer(integer).map(PlainOr::Plain);
        plain.ok_or_else(|| Error::invalid_value(Unexpected::Signed(integer), &self))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(PlainOr::Table)
    }
}
