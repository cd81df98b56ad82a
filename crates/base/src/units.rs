//! Counts, rates, durations and sizes as text: one grammar for options, experiments, manifests and contracts.
//!
//! A quantity is a decimal number with a unit (`20k`, `1.5M`, `500ms`, `64KiB`). A duration may be several of them, each unit
//! once and the longest first (`1m30s`). Units are read in either case, as wrk does, and 1k is 1000. A number without a unit
//! is a count, requests per second, seconds or bytes.

use std::{fmt, time::Duration};

use serde::{Deserialize, Deserializer, de};
use thiserror::Error;

/// Why a text is no valid quantity.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum UnitError {
    #[error("{0:?} is not a count: give a whole number with an optional k, M, G or T, like 500, 10k or 1.5M")]
    Count(String),
    #[error(
        "{0:?} is not a rate: give requests per second with an optional k, M, G or T, like 500, 20k, 1.5M or 5000/s"
    )]
    Rate(String),
    #[error(
        "{0:?} is not a duration: give a number with ns, us, ms, s, m or h (seconds without one), like 500ms, 1m30s or \
         90, up to 584 years"
    )]
    Duration(String),
    #[error("{0:?} is longer than 1000h, and nothing that is measured lasts so long")]
    TooLong(String),
    #[error("{0:?} has no unit: write {0}ms or {0}s")]
    NoUnit(String),
    #[error(
        "{0:?} is not a size: give bytes with an optional kB, MB, GB, KiB, MiB or GiB, like 1500B or 64KiB"
    )]
    Size(String),
}

/// 1000 hours. The sum of a few such times fits into a `u64` of ns.
pub const TIME_MAX: Duration = Duration::from_secs(1000 * 3600);

const COUNT_UNITS: [(&str, u32); 5] = [("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12)];

/// From the longest to the shortest: the order of units within a duration.
pub const DURATION_UNITS: [(&str, u64); 6] = [
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

const SECOND_NS: u64 = 1_000_000_000;

/// Sizes, from the largest unit to the smallest.
pub const SIZE_UNITS: [(&str, u64); 7] = [
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("kB", 1_000),
    ("B", 1),
];

/// Parses a count: `500`, `10k`, `1.5M`. It must be whole: `1.5` is an error.
///
/// # Errors
/// The text is not a whole number in these units.
pub fn parse_count(text: &str) -> Result<u64, UnitError> {
    let read = || {
        let number = Number::split(text)?;
        let (count, is_exact) = number.scaled(10_u64.pow(number.unit_in(&COUNT_UNITS)?))?;
        is_exact.then_some(count)
    };
    read().ok_or_else(|| UnitError::Count(text.to_owned()))
}

/// Parses a rate in requests per second, like [`parse_count`] but not always whole: `500`, `20k`, `5000/s`.
///
/// # Errors
/// The text is not a finite rate in these units.
pub fn parse_rate(text: &str) -> Result<f64, UnitError> {
    let read = || {
        let text = text.trim();
        let number = Number::split(text.strip_suffix("/s").unwrap_or(text))?;
        let exponent = number.unit_in(&COUNT_UNITS)?;
        // One rounding instead of two: 1.1k is 1100 and not the float next to it.
        let rate_per_s: f64 = format!("{}.{}e{exponent}", number.whole, number.fraction).parse().ok()?;
        rate_per_s.is_finite().then_some(rate_per_s)
    };
    read().ok_or_else(|| UnitError::Rate(text.to_owned()))
}

/// Parses a duration: `500ms`, `1.5s`, `1m30s`, `2h`. The default unit is seconds. Truncated to ns.
///
/// # Errors
/// The text is not a duration in these units, or a longer one than fits.
pub fn parse_duration(text: &str) -> Result<Duration, UnitError> {
    let number = || Number::split(text).filter(|number| number.unit.is_empty())?.scaled(SECOND_NS);
    match number() {
        Some((ns, _)) => Ok(Duration::from_nanos(ns)),
        None => with_units(text).ok_or_else(|| UnitError::Duration(text.to_owned())),
    }
}

/// Parses a time limit or the length of a measurement: a duration of at most [`TIME_MAX`].
///
/// # Errors
/// The errors of [`parse_duration`], or the duration is too long.
pub fn parse_time(text: &str) -> Result<Duration, UnitError> {
    match parse_duration(text)? {
        duration if duration > TIME_MAX => Err(UnitError::TooLong(text.trim().to_owned())),
        duration => Ok(duration),
    }
}

/// Parses a duration where seconds are not the obvious unit: only `0` needs no unit.
///
/// # Errors
/// The text is no duration in these units, or has no unit.
pub fn parse_duration_with_unit(text: &str) -> Result<Duration, UnitError> {
    let is_bare = Number::split(text).is_some_and(|number| number.unit.is_empty());
    match parse_duration(text)? {
        duration if is_bare && !duration.is_zero() => Err(UnitError::NoUnit(text.trim().to_owned())),
        duration => Ok(duration),
    }
}

/// Parses a size in bytes: `1500`, `64KiB`, `1.5MB`. It must be whole.
///
/// # Errors
/// The text is not a whole number of bytes in these units.
pub fn parse_size(text: &str) -> Result<u64, UnitError> {
    let read = || {
        let number = Number::split(text)?;
        let scale = if number.unit.is_empty() { Some(1) } else { number.unit_in(&SIZE_UNITS) };
        let (bytes, is_exact) = number.scaled(scale?)?;
        is_exact.then_some(bytes)
    };
    read().ok_or_else(|| UnitError::Size(text.to_owned()))
}

/// Sums terms with units, each unit shorter than the one before; only the last term may have a fraction.
fn with_units(text: &str) -> Option<Duration> {
    let (mut rest, mut ns, mut longest) = (text.trim(), 0_u64, 0);
    loop {
        let number = Number::split(rest)?;
        let end = number.unit.find(|c: char| c.is_ascii_digit()).unwrap_or(number.unit.len());
        let (unit, after) = number.unit.split_at(end);
        let unit = unit.trim_end();
        let number = Number { unit: if unit == "µs" { "us" } else { unit }, ..number };
        let place = DURATION_UNITS[longest..].iter().position(|unit| number.is_in(unit.0))? + longest;
        ns = ns.checked_add(number.scaled(DURATION_UNITS[place].1)?.0)?;
        if after.is_empty() {
            return Some(Duration::from_nanos(ns));
        }
        if !number.fraction.is_empty() {
            return None;
        }
        (rest, longest) = (after, place + 1);
    }
}

/// A count with its noun: `1 connection`, `400 connections`.
pub fn several<Count: fmt::Display + PartialEq + From<u8>>(count: Count, what: &str) -> String {
    let plural = if count == Count::from(1) { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// Formats a duration in the accepted form: `1m30s`, `500ms`, `0s`.
#[must_use]
pub fn spell_duration(duration: Duration) -> String {
    let mut ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    let mut text = String::new();
    for (unit, unit_ns) in DURATION_UNITS {
        if ns >= unit_ns {
            text += &format!("{}{unit}", ns / unit_ns);
            ns %= unit_ns;
        }
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}

/// A duration in a handwritten file: a text in quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lasting(pub Duration);

impl<'de> Deserialize<'de> for Lasting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Lasting, D::Error> {
        deserializer.deserialize_str(DurationVisitor).map(Lasting)
    }
}

/// Deserialises a field of type [`Duration`].
///
/// # Errors
/// The value is not a duration.
pub fn deserialize_duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    Lasting::deserialize(deserializer).map(|lasting| lasting.0)
}

/// Deserialises an optional field, which needs `#[serde(default)]` too.
///
/// # Errors
/// The value is not a duration.
pub fn deserialize_some_duration<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Duration>, D::Error> {
    deserialize_duration(deserializer).map(Some)
}

struct DurationVisitor;

impl de::Visitor<'_> for DurationVisitor {
    type Value = Duration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration in quotes, such as \"30s\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Duration, E> {
        parse_time(text).map_err(E::custom)
    }
}

/// A decimal number and the unit after it.
struct Number<'a> {
    whole: &'a str,
    /// The fraction, without trailing zeros.
    fraction: &'a str,
    unit: &'a str,
}

impl<'a> Number<'a> {
    /// Splits digits, an optional fraction, and the rest. It accepts no sign and no exponent.
    fn split(text: &'a str) -> Option<Number<'a>> {
        let (whole, rest) = split_digits(text.trim())?;
        let (fraction, unit) = match rest.strip_prefix('.') {
            Some(rest) => split_digits(rest)?,
            None => ("", rest),
        };
        Some(Number { whole, fraction: fraction.trim_end_matches('0'), unit: unit.trim_start() })
    }

    fn is_in(&self, unit: &str) -> bool {
        unit.eq_ignore_ascii_case(self.unit)
    }

    fn unit_in<T: Copy>(&self, units: &[(&str, T)]) -> Option<T> {
        units.iter().find(|(name, _)| self.is_in(name)).map(|&(_, value)| value)
    }

    /// The number times a scale, rounded down, and whether the result is exact; `None` beyond u64.
    fn scaled(&self, scale: u64) -> Option<(u64, bool)> {
        // Further digits change the product with a scale below 10^13 by less than a millionth.
        const DIGITS_MAX: usize = 19;
        let kept = &self.fraction[..self.fraction.len().min(DIGITS_MAX)];
        let numerator = if kept.is_empty() { 0 } else { kept.parse::<u128>().ok()? * u128::from(scale) };
        let denominator = 10_u128.pow(kept.len() as u32);
        let part = u64::try_from(numerator / denominator).ok()?;
        let value = self.whole.parse::<u64>().ok()?.checked_mul(scale)?.checked_add(part)?;
        Some((value, numerator % denominator == 0 && kept.len() == self.fraction.len()))
    }
}

/// Splits at least one digit from the rest.
fn split_digits(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const S: u64 = SECOND_NS;

    #[test]
    fn what_is_counted_has_its_number() {
        assert_eq!(
            [1, 2].map(|count| several(count, "generator thread")),
            ["1 generator thread", "2 generator threads"]
        );
        assert_eq!([0, 1, 2].map(|count| several(count, "block")), ["0 blocks", "1 block", "2 blocks"]);
    }

    #[test]
    fn counts_and_rates_by_table() {
        for (text, count) in [
            ("0", Some(0)),
            ("500", Some(500)),
            ("10k", Some(10_000)),
            ("10K", Some(10_000)),
            (" 1.5M ", Some(1_500_000)),
            ("2.50k", Some(2500)),
            ("1.0", Some(1)),
            ("1 k", Some(1000)),
            ("3G", Some(3_000_000_000)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("99999999T", None),
            ("1.5", None),
            ("1.0005k", None),
            ("0.00000000000000000000000000001k", None),
            ("", None),
            ("k", None),
            ("-1", None),
            ("+1", None),
            ("1.", None),
            (".5k", None),
            ("1e3", None),
            ("1kk", None),
            ("1k/s", None),
            ("١", None),
        ] {
            assert_eq!(parse_count(text).ok(), count, "{text:?}");
        }
        for (text, rate_per_s) in [
            ("1.1k", Some(1100.0)),
            ("0.5", Some(0.5)),
            ("20k", Some(20_000.0)),
            ("5000/s", Some(5_000.0)),
            ("8.01 k/s", Some(8_010.0)),
            ("1m", Some(1e6)),
            ("/s", None),
            ("1/m", None),
            ("inf", None),
            ("nan", None),
        ] {
            assert_eq!(parse_rate(text).ok(), rate_per_s, "{text:?}");
        }
        assert!(parse_rate(&"9".repeat(400)).is_err());
    }

    #[test]
    fn durations_by_table() {
        for (text, ns) in [
            ("2", Some(2 * S)),
            ("90", Some(90 * S)),
            ("2s", Some(2 * S)),
            ("500ms", Some(S / 2)),
            ("1m", Some(60 * S)),
            ("1M", Some(60 * S)),
            ("1.5h", Some(5400 * S)),
            ("0.1", Some(S / 10)),
            ("3us", Some(3000)),
            ("3µs", Some(3000)),
            ("7ns", Some(7)),
            ("0", Some(0)),
            ("1m30s", Some(90 * S)),
            ("1m 30s", Some(90 * S)),
            ("1h2m3.5s", Some(3_723 * S + S / 2)),
            ("1 h 30 m", Some(5_400 * S)),
            ("1s500ms", Some(3 * S / 2)),
            ("5124095h", Some(5_124_095 * 3600 * S)),
            ("5124096h", None),
            ("5124095h60m", None),
            ("30s1m", None),
            ("1m1m", None),
            ("1.5m30s", None),
            ("1m30", None),
            ("1us2µs", None),
            ("584y", None),
            ("1d", None),
            ("s", None),
            ("m30s", None),
            ("-3m", None),
            ("soon", None),
        ] {
            assert_eq!(parse_duration(text).ok(), ns.map(Duration::from_nanos), "{text:?}");
        }
    }

    #[test]
    fn what_is_measured_ends() {
        assert_eq!(parse_time("1000h"), Ok(TIME_MAX));
        let error = parse_time("999999h").unwrap_err().to_string();
        assert_eq!(error, "\"999999h\" is longer than 1000h, and nothing that is measured lasts so long");
        assert_eq!(parse_time("soon"), Err(UnitError::Duration("soon".to_owned())));
    }

    #[test]
    fn a_unit_may_be_required() {
        assert_eq!(parse_duration_with_unit("20ms"), Ok(Duration::from_millis(20)));
        assert_eq!(parse_duration_with_unit("0"), Ok(Duration::ZERO));
        let error = parse_duration_with_unit("20").unwrap_err().to_string();
        assert_eq!(error, "\"20\" has no unit: write 20ms or 20s");
        assert_eq!(parse_duration_with_unit("soon"), Err(UnitError::Duration("soon".to_owned())));
    }

    #[test]
    fn sizes_by_table() {
        for (text, bytes) in [
            ("1500", Some(1500)),
            ("1500B", Some(1500)),
            ("64KiB", Some(65_536)),
            ("64 kib", Some(65_536)),
            ("1.5MB", Some(1_500_000)),
            ("1GiB", Some(1 << 30)),
            ("1.5B", None),
            ("1k", None),
            ("-1", None),
            ("", None),
        ] {
            assert_eq!(parse_size(text).ok(), bytes, "{text:?}");
        }
    }

    #[test]
    fn a_file_gives_a_duration_in_quotes() {
        let read = |json: &str| serde_json::from_str::<Lasting>(json).map_err(|error| error.to_string());
        assert_eq!(read("\"1m30s\""), Ok(Lasting(Duration::from_secs(90))));
        let error = read("10").unwrap_err();
        assert!(error.contains("expected a duration in quotes, such as \"30s\""), "{error}");
        assert!(read("\"1d\"").unwrap_err().starts_with("\"1d\" is not a duration: give a number with"));
    }

    proptest! {
        #[test]
        fn what_is_spelled_is_read_again(ns in any::<u64>()) {
            let duration = Duration::from_nanos(ns);
            prop_assert_eq!(parse_duration_with_unit(&spell_duration(duration)), Ok(duration));
        }

        #[test]
        fn a_sum_of_terms_is_their_sum(hours in 0..100_u64, minutes in 0..100_u64, ms in 0..10_000_u64, space in " {0,2}") {
            let text = format!("{hours}h{space}{minutes}m{space}{ms}ms");
            let sum = Duration::from_secs(3600 * hours + 60 * minutes) + Duration::from_millis(ms);
            prop_assert_eq!(parse_duration(&text), Ok(sum));
        }

        #[test]
        fn a_number_means_seconds_and_case_means_nothing(number in "[0-9]{1,6}(\\.[0-9]{1,9})?") {
            prop_assert_eq!(parse_duration(&number), parse_duration(&format!("{number}s")));
            prop_assert_eq!(parse_duration(&format!("{number}MS")), parse_duration(&format!("{number}ms")));
            prop_assert_eq!(parse_rate(&number), parse_rate(&format!("{number}/s")));
        }

        #[test]
        fn a_rate_in_thousands_is_a_thousand_times_as_high(rate in 0..1_000_000_000_u64) {
            prop_assert_eq!(parse_rate(&format!("{rate}k")), Ok(rate as f64 * 1000.0));
            prop_assert_eq!(parse_count(&format!("{rate}k")), Ok(rate * 1000));
            prop_assert_eq!(parse_size(&format!("{rate}KiB")), Ok(rate * 1024));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "(?s).{0,40}", near in "[0-9kKmMgGtThsuµn.,:/ é-]{0,40}") {
            for text in [text, near] {
                let _ = (parse_count(&text), parse_rate(&text), parse_size(&text), parse_duration_with_unit(&text));
            }
        }
    }
}
