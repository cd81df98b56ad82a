//! Counts, durations and rate profiles as text, in the units of wrk, and profiles back into text.
//!
//! A profile is a rate (`20k`), a ramp (`1k..20k/30s`: afterwards it stays at 20k) or steps (`1k:10s,5k:10s,20k`: the
//! last one lasts for ever, with a duration or without). As in wrk, units are read in either case, 1k is 1000, and
//! a duration without a unit is in seconds.

use std::{fmt, str::FromStr, time::Duration};

use thiserror::Error;

use super::profile::{Profile, ProfileError, Segment};

/// Why a text is not what it was read as.
#[derive(Debug, Clone, PartialEq, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum SpecError {
    #[error("{0:?} is not a count: give a whole number with an optional k, M, G or T, like 500, 10k or 1.5M")]
    Count(String),
    #[error(
        "{0:?} is not a rate: give requests per second with an optional k, M, G or T, like 500, 20k or 1.5M"
    )]
    Rate(String),
    #[error(
        "{0:?} is not a duration: give a number with ns, us, ms, s, m or h (seconds without one), like 500ms or 1m, \
         up to 584 years"
    )]
    Duration(String),
    #[error(
        "the step {0:?} has no duration: only the last one lasts for ever, like 20k in 1k:10s,5k:10s,20k"
    )]
    StepWithoutDuration(String),
    #[error("the ramp {0:?} has no duration: give one after a slash, like 1k..20k/30s")]
    RampWithoutDuration(String),
    #[error(transparent)]
    Profile(#[from] ProfileError),
}

const COUNT_UNITS: [(&str, u32); 5] = [("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12)];

const DURATION_UNITS: [(&str, u64); 7] = [
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
    ("", 1_000_000_000),
];

/// A count in wrk's units: `500`, `10k`, `1.5M`. Always whole: `1.5` is an error.
///
/// # Errors
/// The text is not a whole number of requests in these units.
pub fn parse_count(text: &str) -> Result<u64, SpecError> {
    let read = || {
        let number = Number::split(text)?;
        let (count, is_exact) = number.scaled(10_u64.pow(number.unit_in(&COUNT_UNITS)?))?;
        is_exact.then_some(count)
    };
    read().ok_or_else(|| SpecError::Count(text.to_owned()))
}

/// A rate in requests per second, in the units of [`parse_count`] but not always whole.
///
/// # Errors
/// The text is not a finite rate in these units.
pub fn parse_rate(text: &str) -> Result<f64, SpecError> {
    let read = || {
        let number = Number::split(text)?;
        let exponent = number.unit_in(&COUNT_UNITS)?;
        // One rounding instead of two: 1.1k is 1100 and not the float next to it.
        let rate_per_s: f64 = format!("{}.{}e{exponent}", number.whole, number.fraction).parse().ok()?;
        rate_per_s.is_finite().then_some(rate_per_s)
    };
    read().ok_or_else(|| SpecError::Rate(text.to_owned()))
}

/// A duration: `500ms`, `2s`, `1m`, `1.5h`; without a unit in seconds, like wrk. Cut off below a nanosecond.
///
/// # Errors
/// The text is not a duration in these units, or a longer one than fits.
pub fn parse_duration(text: &str) -> Result<Duration, SpecError> {
    let read = || {
        let number = Number::split(text)?;
        let (ns, _) = number.scaled(number.unit_in(&DURATION_UNITS)?)?;
        Some(Duration::from_nanos(ns))
    };
    read().ok_or_else(|| SpecError::Duration(text.to_owned()))
}

/// A decimal number and the unit behind it.
struct Number<'a> {
    whole: &'a str,
    /// Without trailing zeros.
    fraction: &'a str,
    unit: &'a str,
}

impl<'a> Number<'a> {
    /// Digits, perhaps a point and more digits, and whatever follows. No sign, no exponent.
    fn split(text: &'a str) -> Option<Number<'a>> {
        let (whole, rest) = split_digits(text.trim())?;
        let (fraction, unit) = match rest.strip_prefix('.') {
            Some(rest) => split_digits(rest)?,
            None => ("", rest),
        };
        Some(Number { whole, fraction: fraction.trim_end_matches('0'), unit })
    }

    fn unit_in<T: Copy>(&self, units: &[(&str, T)]) -> Option<T> {
        units.iter().find(|(name, _)| name.eq_ignore_ascii_case(self.unit)).map(|&(_, value)| value)
    }

    /// The number times a scale, rounded down, and whether there was nothing to round; `None` beyond u64.
    fn scaled(&self, scale: u64) -> Option<(u64, bool)> {
        // More digits move the product of a scale below 10^13 by less than a millionth.
        const DIGITS_MAX: usize = 19;
        let kept = &self.fraction[..self.fraction.len().min(DIGITS_MAX)];
        let numerator = if kept.is_empty() { 0 } else { kept.parse::<u128>().ok()? * u128::from(scale) };
        let denominator = 10_u128.pow(kept.len() as u32);
        let part = u64::try_from(numerator / denominator).ok()?;
        let value = self.whole.parse::<u64>().ok()?.checked_mul(scale)?.checked_add(part)?;
        Some((value, numerator % denominator == 0 && kept.len() == self.fraction.len()))
    }
}

/// At least one digit, and the rest.
fn split_digits(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

impl FromStr for Profile {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Profile, SpecError> {
        if let Some((from, rest)) = text.split_once("..") {
            let (to, over) =
                rest.split_once('/').ok_or_else(|| SpecError::RampWithoutDuration(text.to_owned()))?;
            return Ok(Profile::ramp(parse_rate(from)?, parse_rate(to)?, parse_duration(over)?)?);
        }
        let mut parts = text.split(',').peekable();
        let mut steps = vec![];
        while let Some(part) = parts.next() {
            steps.push(match part.split_once(':') {
                Some((rate, lasts)) => (parse_rate(rate)?, parse_step_duration(lasts)?),
                None if parts.peek().is_some() => {
                    parse_rate(part)?;
                    return Err(SpecError::StepWithoutDuration(part.to_owned()));
                }
                None => (parse_rate(part)?, Duration::MAX),
            });
        }
        Ok(Profile::steps(&steps)?)
    }
}

/// The last step's duration means nothing, but one of no time is a slip there too.
fn parse_step_duration(text: &str) -> Result<Duration, SpecError> {
    match parse_duration(text)? {
        Duration::ZERO => Err(ProfileError::ZeroDuration.into()),
        lasts => Ok(lasts),
    }
}

impl fmt::Display for Profile {
    /// The text that reads back as this very profile.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let segments = self.segments();
        if let [first, last] = segments
            && first.slope_per_s2 != 0.0
        {
            let (from, to) = (RateText(first.rate_per_s), RateText(last.rate_per_s));
            return write!(f, "{from}..{to}/{}", DurationText(last.start_ns));
        }
        for pair in segments.windows(2) {
            write!(
                f,
                "{}:{},",
                RateText(pair[0].rate_per_s),
                DurationText(pair[1].start_ns - pair[0].start_ns)
            )?;
        }
        write!(f, "{}", RateText(segments.last().map_or(0.0, |last: &Segment| last.rate_per_s)))
    }
}

struct RateText(f64);

impl fmt::Display for RateText {
    /// The shortest of the forms that read back as the very same float.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shortest = self.0.to_string();
        for (scale, unit) in [(1e3, "k"), (1e6, "M"), (1e9, "G")] {
            let text = format!("{}{unit}", self.0 / scale);
            if text.len() < shortest.len() && parse_rate(&text) == Ok(self.0) {
                shortest = text;
            }
        }
        f.write_str(&shortest)
    }
}

/// Nanoseconds, in the largest unit that they are a whole number of.
struct DurationText(u64);

impl fmt::Display for DurationText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, unit_ns) =
            DURATION_UNITS.into_iter().find(|(_, ns)| self.0.is_multiple_of(*ns)).unwrap_or(("ns", 1));
        write!(f, "{}{unit}", self.0 / unit_ns)
    }
}
