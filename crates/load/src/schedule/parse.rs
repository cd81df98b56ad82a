//! Rate profiles as text, in the units of the whole command, and back into text.
//!
//! A profile is a rate (`20k`), a ramp (`1k..20k/30s`: afterwards it stays at 20k) or steps (`1k:10s,5k:10s,20k`: the
//! last one lasts for ever, with a duration or without).

use std::{fmt, str::FromStr, time::Duration};

use thiserror::Error;

use super::profile::{ProfileError, RateProfile, Segment};
use tare_base::units::{DURATION_UNITS, UnitError, parse_duration, parse_rate};

/// Why a text is not a rate over time.
#[derive(Debug, Clone, PartialEq, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum SpecError {
    #[error(
        "the step {0:?} has no duration: only the last one lasts for ever, like 20k in 1k:10s,5k:10s,20k"
    )]
    StepWithoutDuration(String),
    #[error("the ramp {0:?} has no duration: give one after a slash, like 1k..20k/30s")]
    RampWithoutDuration(String),
    #[error(transparent)]
    Unit(#[from] UnitError),
    #[error(transparent)]
    Profile(#[from] ProfileError),
}

impl FromStr for RateProfile {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<RateProfile, SpecError> {
        if let Some((from, rest)) = text.split_once("..") {
            // Split at the last slash: each rate may contain one too, as in 1k/s..20k/s/30s.
            let ramp = rest.rsplit_once('/').filter(|(_, over)| over.trim() != "s");
            let (to, over) = ramp.ok_or_else(|| SpecError::RampWithoutDuration(text.to_owned()))?;
            return Ok(RateProfile::ramp(parse_rate(from)?, parse_rate(to)?, parse_duration(over)?)?);
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
        Ok(RateProfile::steps(&steps)?)
    }
}

/// The duration of the last step has no effect, but a zero duration is a mistake there too.
fn parse_step_duration(text: &str) -> Result<Duration, SpecError> {
    match parse_duration(text)? {
        Duration::ZERO => Err(ProfileError::ZeroDuration.into()),
        lasts => Ok(lasts),
    }
}

impl fmt::Display for RateProfile {
    /// The text that parses to the same profile.
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
    /// The shortest of the forms that parse to the same float.
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

/// Nanoseconds, printed in the largest unit of which they are a whole number.
struct DurationText(u64);

impl fmt::Display for DurationText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, unit_ns) =
            DURATION_UNITS.into_iter().find(|(_, ns)| self.0.is_multiple_of(*ns)).unwrap_or(("ns", 1));
        write!(f, "{}{unit}", self.0 / unit_ns)
    }
}
